#!/bin/sh
# Runs benchmarks in rounds and prints results for benchstat and bench/ratios.
#
#   bench/run.sh own|compare <regexp> [rounds [benchtime [processors [samples]]]]
#
# own is package bench, compare the module bench/compare. Each round is a process
# of its own that runs every matching row once (rounds: 10), so that the samples
# of a row are spread over the whole run and stand beside those of the other rows.
# With samples each row is run so many times in a round, one after the other: for rows
# that take far longer to fill than to measure.
# benchtime is 1s, for rows of single calls on 1 and 2 processors; 1x is for the
# rows of one op (Insert, Tail, Memory, GC), on 2 processors.
set -eu

suite=${1:?want own or compare}
pattern=${2:?want a regexp of benchmark names}
rounds=${3:-10}
benchtime=${4:-1s}
samples=${6:-1}

here=$(cd "$(dirname "$0")" && pwd)
case $suite in
own) dir=$here ;;
compare) dir=$here/compare ;;
*) echo "run.sh: $suite: want own or compare" >&2; exit 2 ;;
esac

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
(cd "$dir" && go test -c -o "$build/bench.test" .)

# Package testing makes the single op of 1x before it applies -cpu, so the rows
# of one op get their processors from the environment.
export GOMAXPROCS=2
case $benchtime in
1x) cpu=2 ;;
*) cpu=${5:-1,2} ;;
esac

echo "go: $(go env GOVERSION)"
echo "kernel: $(uname -sr)"
echo "commit: $(git -C "$here" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)"
echo "date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
echo "command: ${PENSTOCK_BENCH_KEYS:+PENSTOCK_BENCH_KEYS=$PENSTOCK_BENCH_KEYS }bench/run.sh $suite '$pattern' $rounds $benchtime${6:+ $cpu $samples}"
echo "load: $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown)"

round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	echo "run.sh: round $round of $rounds" >&2
	(cd "$dir" && "$build/bench.test" -test.run '^$' -test.bench "$pattern" \
		-test.benchtime "$benchtime" -test.cpu "$cpu" -test.count "$samples" -test.timeout 0)
done

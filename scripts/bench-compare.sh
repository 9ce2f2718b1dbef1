#!/bin/sh
# Measure everything beside other libraries, group by group, in rounds.
#
# A group is a result file, bench/results/<date>-<go>-<cpu>-compare-<group>.txt. Until
# its last round it ends in .partial: a run that was stopped goes on with the
# round it was in, and a group that has a file of this commit is skipped. A
# round in which a row fails leaves nothing; the other groups are run all the
# same, and the exit code is 1.
#
# Settings: FILTER (a regexp of groups: paired few hot many growth await parts most calls memory gc zipf
# latency rivals gcload waiter), ROUNDS (at most so many of a group: for a quick look),
# PENSTOCK_BENCH_FULL as for the benchmarks. All of it takes an hour and a half, by estimate:
# after each round it says how long what is left of the group will.
set -eu
cd "$(dirname "$0")/.."
most=${ROUNDS:-}
results=bench/results

# group, suite, benchmarks, benchtime, processors, numbers of keys, rounds x samples in each (see run.sh).
# One sample is enough of what is the same each time, or is a median already.
groups='paired  own     ^BenchmarkGate$                           200000x 1 1,1k,100k,1M,4M 10x1
few     compare ^Benchmark(Allow|Deny)$                   30ms    1,2 1,1k,100k 10x1
hot     compare ^BenchmarkHot$                            30ms    1,2 -         10x1
many    compare ^Benchmark(Allow|Deny)$                   100000x 1,2 1M        1x6
growth  own     ^Benchmark(Insert|Tail)$                  1x      2   -         10x1
await   own     ^BenchmarkAwait$                          10x     2   -         2x5
parts   own     ^Benchmark(Parts|Neighbours)$             100ms   1,2 -         2x5
most    compare ^Benchmark(Allow|Deny)$                   100000x 1,2 4M        1x6
calls   own     ^Benchmark(Call|Batch|KeyLength)$         100000x 1,2 -         2x5
memory  compare ^BenchmarkMemory$                         1x      2   -         1x1
gc      compare ^BenchmarkGC$                             1x      2   -         1x1
zipf    compare ^BenchmarkZipf(Deny)?$                    100000x 1,2 1M        1x6
latency compare ^BenchmarkLatency$                        200000x 1,2 1M        1x6
rivals  compare ^Benchmark(Insert|Tail)$/././=all$/=same$ 1x      2   -         2x1
gcload  compare ^BenchmarkGCLoad$                         1x      2   -         1x1
waiter  compare ^BenchmarkWaiter                          1x      2   -         10x1'

commit=$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
case $commit in
*-dirty) echo "bench-compare.sh: the tree has changes: commit them first, for the rounds of two states must not share a file" >&2; exit 2 ;;
esac
cpu=$(awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo 2>/dev/null || true)
[ -n "$cpu" ] || cpu=$(uname -m)
slug=$(echo "$cpu" | tr 'A-Z' 'a-z' | sed 's/(r)//g; s/(tm)//g; s/[^a-z0-9][^a-z0-9]*/-/g; s/^-//; s/-$//')
round=$(mktemp)
trap 'rm -f "$round" "$round.status"' EXIT

# file_of group: the file to go on with, or a new one. Nothing if the group is done.
file_of() {
	for old in "$results"/*-compare-"$1".txt.partial; do
		[ -e "$old" ] || continue
		grep -q "^commit: $commit\$" "$old" || {
			echo "bench-compare.sh: $old is of another commit: remove it, or go back to that commit" >&2
			return 1
		}
		echo "$old"
		return
	done
	for old in "$results"/*-compare-"$1".txt; do
		if [ -e "$old" ] && grep -q "^commit: $commit\$" "$old"; then
			echo "bench-compare.sh: $1: $old is of this commit, nothing to do" >&2
			return
		fi
	done
	echo "$results/$(date -u +%Y-%m-%d)-$(go env GOVERSION)-$slug-compare-$1.txt.partial"
}

# measure group suite benchmarks benchtime processors keys rounds-x-samples
measure() {
	rounds=${7%x*}
	if [ -n "$most" ] && [ "$most" -lt "$rounds" ]; then rounds=$most; fi
	if [ "$6" = - ]; then unset PENSTOCK_BENCH_KEYS; else export PENSTOCK_BENCH_KEYS="$6"; fi
	file=$(file_of "$1") || return 1
	[ -n "$file" ] || return 0
	finished=$(grep -c '^# round' "$file" 2>/dev/null || true)
	finished=${finished:-0}
	while [ "$finished" -lt "$rounds" ]; do
		start=$(date +%s)
		echo "bench-compare.sh: $1: round $((finished + 1)) of $rounds" >&2
		# POSIX sh has no pipefail: the status travels through a file.
		{
			code=0
			bench/run.sh "$2" "$3" 1 "$4" "$5" "${7#*x}" || code=$?
			echo "$code" >"$round.status"
		} | tee "$round" >&2
		[ "$(cat "$round.status")" = 0 ] || { echo "bench-compare.sh: $1: a round failed; it left nothing" >&2; return 1; }
		grep -q '^Benchmark' "$round" || { echo "bench-compare.sh: $1: no row in the round" >&2; return 1; }
		finished=$((finished + 1))
		{
			# The header once: other values in it would make a table of each round.
			if [ "$finished" = 1 ]; then cat "$round"; else sed -n '/^goos:/,$p' "$round"; fi
			echo "# round $finished of $rounds ended, load: $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown)"
		} >>"$file"
		took=$(($(date +%s) - start))
		echo "bench-compare.sh: $1: a round took $took s, about $(((rounds - finished) * took / 60)) minutes are left of the group" >&2
	done
	mv "$file" "${file%.partial}"
	echo "bench-compare.sh: written: ${file%.partial}" >&2
}

failed=
picked=$(echo "$groups" | grep -E "^(${FILTER:-.*}) " || true)
[ -n "$picked" ] || { echo "bench-compare.sh: FILTER=$FILTER picks no group of: $(echo "$groups" | cut -d' ' -f1 | tr '\n' ' ')" >&2; exit 2; }
while read -r group suite benchmarks benchtime processors keys counts; do
	measure "$group" "$suite" "$benchmarks" "$benchtime" "$processors" "$keys" "$counts" </dev/null || failed="$failed $group"
done <<EOF
$picked
EOF
[ -z "$failed" ] || { echo "bench-compare.sh: failed:$failed" >&2; exit 1; }

#!/bin/sh
# Measure everything beside other libraries, group by group, in rounds.
#
# A group is a result file, bench/results/<date>-<go>-<cpu>-compare-<group>.txt. Until
# its last round it ends in .partial: a run that was stopped goes on with the
# round it was in, and a group that has a file of this commit is skipped. A
# round in which a row fails leaves nothing; the other groups are run all the
# same, and the exit code is 1.
#
# Settings: FILTER (a regexp of groups: decide zipf latency hot growth memory gc
# waiter parts), ROUNDS (10). PENSTOCK_BENCH_KEYS and PENSTOCK_BENCH_FULL as for
# the benchmarks. Ten rounds of all take hours: after each round it says how long
# what is left of the group will.
set -eu
cd "$(dirname "$0")/.."
rounds=${ROUNDS:-10}
results=bench/results

# group, suite, benchmarks, benchtime
groups='decide  compare ^Benchmark(Allow|Deny)$       100ms
zipf    compare ^BenchmarkZipf(Deny)?$        100ms
latency compare ^BenchmarkLatency$            200ms
hot     compare ^BenchmarkHot$                100ms
growth  compare ^Benchmark(Insert|Tail)$      1x
memory  compare ^BenchmarkMemory$             1x
gc      compare ^Benchmark(GC|GCLoad)$        1x
waiter  compare ^BenchmarkWaiter              1x
parts   own     ^Benchmark(Parts|Neighbours)$ 200ms'

commit=$(git describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
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

# measure group suite benchmarks benchtime
measure() {
	file=$(file_of "$1") || return 1
	[ -n "$file" ] || return 0
	done=$(grep -c '^# round' "$file" 2>/dev/null || true)
	done=${done:-0}
	while [ "$done" -lt "$rounds" ]; do
		start=$(date +%s)
		echo "bench-compare.sh: $1: round $((done + 1)) of $rounds" >&2
		# POSIX sh has no pipefail: the status travels through a file.
		{
			code=0
			bench/run.sh "$2" "$3" 1 "$4" || code=$?
			echo "$code" >"$round.status"
		} | tee "$round" >&2
		[ "$(cat "$round.status")" = 0 ] || { echo "bench-compare.sh: $1: a round failed; it left nothing" >&2; return 1; }
		grep -q '^Benchmark' "$round" || { echo "bench-compare.sh: $1: no row in the round" >&2; return 1; }
		done=$((done + 1))
		{
			# The header once: other values in it would make a table of each round.
			if [ "$done" = 1 ]; then cat "$round"; else sed -n '/^goos:/,$p' "$round"; fi
			echo "# round $done of $rounds ended, load: $(cut -d' ' -f1-3 /proc/loadavg 2>/dev/null || echo unknown)"
		} >>"$file"
		took=$(($(date +%s) - start))
		echo "bench-compare.sh: $1: a round took $took s, about $(((rounds - done) * took / 60)) minutes are left of the group" >&2
	done
	mv "$file" "${file%.partial}"
	echo "bench-compare.sh: written: ${file%.partial}" >&2
}

failed=
picked=$(echo "$groups" | grep -E "^(${FILTER:-.*}) " || true)
[ -n "$picked" ] || { echo "bench-compare.sh: FILTER=$FILTER picks no group of: $(echo "$groups" | cut -d' ' -f1 | tr '\n' ' ')" >&2; exit 2; }
while read -r group suite benchmarks benchtime; do
	measure "$group" "$suite" "$benchmarks" "$benchtime" </dev/null || failed="$failed $group"
done <<EOF
$picked
EOF
[ -z "$failed" ] || { echo "bench-compare.sh: failed:$failed" >&2; exit 1; }

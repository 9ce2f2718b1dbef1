#!/bin/sh
# Run benchmarks and keep the output with what is needed to judge it.
#
#   bench.sh [--module folder] packages...
#
# The result goes to bench/results/<date>-<go>-<cpu>[-<module>].txt. Its header
# lines start with '#', which benchstat ignores; as "key: value" lines they would
# put every run into a table of its own. A run that fails leaves no result.
# Settings: BENCH (pattern), COUNT, BENCHTIME, BENCHFLAGS (such as -cpu=1,2).
set -eu
cd "$(dirname "$0")/.."
root=$PWD
go=${GO:-go}

folder=.
suffix=
if [ "${1-}" = --module ]; then
	folder=$2
	suffix=-$(basename "$2")
	shift 2
fi
[ -f "$folder/go.mod" ] || { echo "bench.sh: no module in $folder" >&2; exit 1; }

cpu_name() {
	if [ -r /proc/cpuinfo ]; then
		awk -F': *' '/^model name/ { print $2; exit }' /proc/cpuinfo
	elif command -v sysctl >/dev/null; then
		sysctl -n machdep.cpu.brand_string 2>/dev/null || true
	fi
}
cpu=$(cpu_name)
[ -n "$cpu" ] || cpu=$(uname -m)
slug=$(echo "$cpu" | tr 'A-Z' 'a-z' | sed 's/(r)//g; s/(tm)//g; s/[^a-z0-9][^a-z0-9]*/-/g; s/^-//; s/-$//')
version=$("$go" env GOVERSION)

stem=bench/results/$(date -u +%Y-%m-%d)-$version-$slug$suffix
out=$stem.txt
run=2
while [ -e "$out" ]; do
	out=$stem.$run.txt
	run=$((run + 1))
done

set -- test -run '^$' -bench "${BENCH:-.}" -benchmem -count "${COUNT:-10}" -timeout 0 \
	${BENCHTIME:+-benchtime "$BENCHTIME"} ${BENCHFLAGS-} "$@"

mkdir -p bench/results
partial=$root/$out.partial
status=$partial.status
trap 'rm -f "$partial" "$status"' EXIT
{
	echo "# machine: $cpu, $(getconf _NPROCESSORS_ONLN 2>/dev/null || echo '?') processors, $(uname -sr)"
	echo "# go: $("$go" version)"
	echo "# commit: $(git describe --always --dirty 2>/dev/null || echo unknown)"
	echo "# date: $(date -u +%Y-%m-%dT%H:%M:%SZ)"
	echo "# command (in $folder): go $*"
} | tee "$partial"
# POSIX sh has no pipefail: the status of go test travels through a file.
{
	code=0
	(cd "$folder" && "$go" "$@" 2>&1) || code=$?
	echo "$code" >"$status"
} | tee -a "$partial"
[ "$(cat "$status")" = 0 ] || { echo "bench.sh: the benchmarks failed; nothing kept" >&2; exit 1; }
grep -q '^Benchmark' "$partial" || { echo "bench.sh: no benchmark matches ${BENCH:-.}; nothing kept" >&2; exit 1; }
mv "$partial" "$out"
echo "written: $out"

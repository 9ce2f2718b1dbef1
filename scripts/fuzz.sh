#!/bin/sh
# Run every fuzz target of the module in the current folder for FUZZTIME, one
# after the other (go test fuzzes one target at a time). FUZZMINIMIZE (60s) bounds
# how long an input that is new, or fails, is made smaller. With FUZZREPORT, the name
# of a file, a row is added there for each target: what was run, what came of it.
set -eu
go=${GO:-go}
time=${FUZZTIME:-30s}
report=${FUZZREPORT:-}

# `go test -list` prints the targets of a package and then "ok <package> ...".
listed=$("$(dirname "$0")/packages-with.sh" '^func Fuzz' "$go" test -vet=off -list '^Fuzz') || { echo "$listed" >&2; exit 1; }
targets=$(echo "$listed" | awk '
	/^Fuzz/ { names[n++] = $1 }
	/^ok/   { for (i = 0; i < n; i++) print $2 ":" names[i]; n = 0 }')

# row <package> <target> <output> <passed|failed> adds a row of the last line of progress.
row() {
	[ -s "$report" ] || printf '%s\n' '| package | target | time | inputs run | new | corpus | result |' '|---|---|---|---|---|---|---|' >"$report"
	awk -v package="$1" -v target="$2" -v result="$4" '
		/^fuzz: elapsed: / && /execs: / { time = $3; execs = $5; fresh = $9; corpus = $11 }
		END { gsub(/[,)]/, "", time); gsub(/[,)]/, "", corpus)
			printf "| %s | %s | %s | %s | %s | %s | %s |\n", package, target, time, execs, fresh, corpus, result }' "$3" >>"$report"
}

count=0
failed=
out=$(mktemp)
trap 'rm -f "$out"' EXIT
for target in $targets; do
	package=${target%:*} name=${target##*:} result=passed
	echo "-- $target for $time"
	"$go" test -vet=off -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime "${FUZZMINIMIZE:-60s}" "$package" >"$out" 2>&1 || result=failed
	cat "$out"
	[ $result = passed ] || failed="$failed $name"
	[ -z "$report" ] || row "${package#github.com/penstock-go/penstock/}" "$name" "$out" $result
	count=$((count + 1))
done
echo "fuzz targets run: $count"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }

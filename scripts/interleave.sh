#!/bin/sh
# Explore every program of the packages that have some (files *_interleave_test.go), each in a process
# of its own, on all processors, and print a table of what was found. See docs/interleavings.md.
#
#   interleave.sh [pattern]
#
# The pattern chooses programs by the names of their tests, as for go test -run. Without it the number of
# schedules in all has to be LEAST or more: a program that lost its conflicts is no proof. FLAGS go to each
# process (-test.short bounds the longest programs).
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}
pattern=${1:-.}
least=${LEAST:-1000000}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# An exploration is short-lived garbage: collecting it less often is a third of the time.
export GOGC=400
export PENSTOCK_INTERLEAVE="$folder/table"
export FLAGS="${FLAGS:-}"
: >"$PENSTOCK_INTERLEAVE"

for package in $(find . -name '*_interleave_test.go' | sed 's,/[^/]*$,,' | sort -u); do
	binary=$folder/$(echo "$package" | tr -c 'a-z\n' '_').test
	"$go" test -c -vet=off -tags interleave -o "$binary" "$package"
	(cd "$package" && "$binary" -test.list '^TestInterleave') | sed "s,^,$package $binary ,"
done >"$folder/all"
awk -v pattern="$pattern" '$3 ~ pattern' "$folder/all" >"$folder/programs"
if ! [ -s "$folder/programs" ]; then
	echo "interleave.sh: no program matches $pattern; PROGRAMS is a part of the name of one of:" >&2
	sed 's,.* ,  ,' "$folder/all" >&2
	exit 1
fi

# A process that fails says why; the table is printed all the same.
failed=0
xargs -P "$(getconf _NPROCESSORS_ONLN)" -L 1 sh -c '
	cd "$1" && out=$("$2" $FLAGS -test.timeout 30m -test.run "^$3\$" 2>&1) || { echo "$out" >&2; exit 1; }
' run <"$folder/programs" || failed=1

awk -F '\t' -v least="$least" -v all="$pattern" '
	BEGIN {
		line = "%-34s %10s %10s %8s %8s %8s %10s %10s  %s\n"
		printf line, "program", "goroutines", "schedules", "pruned", "deepest", "bound", "time", "violations", "provoked"
	}
	{
		printf line, $1, $2, $3, $4, $5, $6, $7, $8, $9
		schedules += $3; pruned += $4; violations += $8
	}
	END {
		printf "%d programs, %d schedules run to their end, %d violations\n", NR, schedules, violations
		if (violations > 0) exit 1
		if (all == "." && schedules < least) {
			printf "interleave.sh: fewer than %d schedules\n", least > "/dev/stderr"
			exit 1
		}
	}' "$PENSTOCK_INTERLEAVE" || failed=1
exit $failed

#!/bin/sh
# Run every fuzz target of the module in the current folder for FUZZTIME, one
# after the other (go test fuzzes one target at a time).
set -eu
go=${GO:-go}
time=${FUZZTIME:-30s}

# `go test -list` prints the targets of a package and then "ok <package> ...".
listed=$("$go" test -list '^Fuzz' ./...) || { echo "$listed" >&2; exit 1; }
targets=$(echo "$listed" | awk '
	/^Fuzz/ { names[n++] = $1 }
	/^ok/   { for (i = 0; i < n; i++) print $2 ":" names[i]; n = 0 }')

count=0
for target in $targets; do
	echo "-- $target for $time"
	"$go" test -run '^$' -fuzz "^${target##*:}\$" -fuzztime "$time" "${target%:*}"
	count=$((count + 1))
done
echo "fuzz targets run: $count"

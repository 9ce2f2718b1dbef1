#!/bin/sh
# Run one shell command in the folder of every module (a folder with a go.mod).
#
#   each-module.sh [--all] 'command'
#
# A module without a Go package of its own (tools) is skipped, because the go
# command fails there for want of work; --all visits it too. Every module is
# visited even when one fails; then the exit status is 1 and the last line names
# those that failed.
set -eu
cd "$(dirname "$0")/.."

all=no
if [ "${1-}" = --all ]; then
	all=yes
	shift
fi
[ $# -eq 1 ] || { echo "usage: each-module.sh [--all] 'command'" >&2; exit 2; }

modules=$(find . \( -name '.?*' -o -name testdata -o -path ./bin \) -prune -o -name go.mod -print |
	sed 's,/go\.mod$,,' | sort)
[ -n "$modules" ] || { echo "each-module.sh: no go.mod below $PWD" >&2; exit 1; }

failed=
for module in $modules; do
	if [ $all = no ]; then
		# A module that cannot be listed is visited, so that the command tells why.
		packages=$(cd "$module" && "${GO:-go}" list ./... 2>/dev/null) || packages=unknown
		[ -n "$packages" ] || continue
	fi
	echo "== $module: $1"
	(cd "$module" && sh -c "$1") || failed="$failed $module"
done
[ -z "$failed" ] || { echo "failed in:$failed" >&2; exit 1; }

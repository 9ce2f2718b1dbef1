#!/bin/sh
# Run a command on the packages of the module in the current folder in whose Go files, tests included, some
# line matches an extended regular expression; on none, nothing is run, but that is an error in the root module,
# where each task has some: a wrong expression must not pass for a task that is done. Without a command print
# them. For a task that is about some packages: the go command would compile and link the others for nothing.
#
#   packages-with.sh '^func Test.*Stress' go test -run Stress
set -eu
pattern=$1
shift
files=$("${GO:-go}" list -f '{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .TestGoFiles}}{{$dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$dir}}/{{.}}
{{end}}' ./...)
echo | grep -qE -e "$pattern" || [ $? -eq 1 ] || { echo "packages-with.sh: '$pattern': want an extended regular expression" >&2; exit 2; }
packages=$(echo "$files" | while read -r file; do
	if [ -n "$file" ] && grep -qE -e "$pattern" "$file"; then echo "${file%/*}"; fi
done | sort -u)
if [ -z "$packages" ]; then
	grep -qx 'module github.com/penstock-go/penstock' go.mod || exit 0
	echo "packages-with.sh: '$pattern' matches in no package of the root module" >&2
	exit 1
fi
[ $# -gt 0 ] || set -- printf '%s\n'
IFS='
'
set -f
# shellcheck disable=SC2086 # a line is an argument
exec "$@" $packages

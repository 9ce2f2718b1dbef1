#!/bin/sh
# Run a command on the packages of the module in the current folder in whose Go files, tests included, some
# line matches an extended regular expression; on none, nothing is run. Without a command print them. For a
# task that is about some packages: the go command would compile and link the others for nothing.
#
#   packages-with.sh '^func Test.*Stress' go test -run Stress
set -eu
pattern=$1
shift
files=$("${GO:-go}" list -f '{{$dir := .Dir}}{{range .GoFiles}}{{$dir}}/{{.}}
{{end}}{{range .TestGoFiles}}{{$dir}}/{{.}}
{{end}}{{range .XTestGoFiles}}{{$dir}}/{{.}}
{{end}}' ./...)
packages=$(echo "$files" | while read -r file; do
	if [ -n "$file" ] && grep -qE -e "$pattern" "$file"; then echo "${file%/*}"; fi
done | sort -u)
[ -n "$packages" ] || exit 0
[ $# -gt 0 ] || set -- printf '%s\n'
IFS='
'
set -f
# shellcheck disable=SC2086 # a line is an argument
exec "$@" $packages

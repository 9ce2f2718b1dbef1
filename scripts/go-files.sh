#!/bin/sh
# Print every Go file of the repository, one a line. Folders named testdata are
# left out: what they hold may be wrong on purpose.
set -eu
cd "$(dirname "$0")/.."
find . \( -name '.?*' -o -name testdata -o -path ./bin \) -prune -o -name '*.go' -print

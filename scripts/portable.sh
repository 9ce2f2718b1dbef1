#!/bin/sh
# Build and vet the module in the current folder for other processors: of 32 bits
# (386), of weaker memory order (arm64), and with the most significant byte first
# (s390x). ARCHES names others.
set -eu
go=${GO:-go}
for arch in ${ARCHES:-386 arm64 s390x}; do
	echo "-- $arch"
	GOOS=linux GOARCH=$arch CGO_ENABLED=0 "$go" build ./...
	GOOS=linux GOARCH=$arch CGO_ENABLED=0 "$go" vet ./...
done

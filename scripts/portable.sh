#!/bin/sh
# Build and vet the module in the current folder for other processors: of 32 bits
# (386), of weaker memory order (arm64), and with the most significant byte first
# (s390x). ARCHES names others, and VETTED those that are vetted too, which takes longer:
# it compiles what the tests import. PACKAGES are all of the module, if not set.
set -eu
go=${GO:-go}
arches=${ARCHES:-386 arm64 s390x}
vetted=${VETTED:-$arches}
packages=${PACKAGES:-./...}
for arch in $arches; do
	echo "-- $arch"
	GOOS=linux GOARCH=$arch CGO_ENABLED=0 "$go" build $packages
	case " $vetted " in
	*" $arch "*) GOOS=linux GOARCH=$arch CGO_ENABLED=0 "$go" vet $packages ;;
	esac
done

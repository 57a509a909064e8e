#!/bin/bash
# SPDX-License-Identifier: MIT
#
# makefile - where the build cannot be configured, `make` says what to run, again the next
# time, and works once that was run.
#
#     makefile.sh SOURCE
set -u
cd "$1" || exit 1
unset MAKEFLAGS MAKELEVEL
make=$(command -v make)
where=$(mktemp -d)
trap 'rm -rf "$where"' EXIT
build=$where/build
advice='The build needs more than is installed here: run tools/install-deps'
failed=0

fail() {
    printf 'makefile: %s\n' "$*"
    failed=1
}

said=$(PATH=$where "$make" BUILD="$build" 2>/dev/null) && fail "make passes without cmake"
[ "$said" = "$advice" ] || fail "without cmake, make says: $said"

for time in first second; do
    said=$(make BUILD="$build" CMAKEFLAGS="-DGLOVEBOX_GRAMMARS=$where" 2>&1) &&
        fail "make passes without the parser"
    grep -qxF "$advice" <<<"$said" || fail "the $time time without the parser, make says: $said"
done

make BUILD="$build" CMAKEFLAGS="-DGLOVEBOX_GRAMMARS=$PWD/tools/npm/node_modules" \
    "$build/cmake_install.cmake" >"$where/said" 2>&1 ||
    fail "once the parser is there, make says: $(cat "$where/said")"
exit $failed

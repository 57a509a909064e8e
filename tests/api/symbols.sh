#!/bin/sh
# SPDX-License-Identifier: MIT
#
# symbols - the library exports what it did when symbols.txt was last changed on
# purpose, each under the version GLOVEBOX_0. A name that goes breaks programs.
#
#     symbols.sh LIBRARY SYMBOLS
set -eu
found=$(mktemp)
trap 'rm -f "$found"' EXIT
nm -D --defined-only "$1" | awk '$2 != "A" {print $3}' | sort -u >"$found"
if grep -v '@@GLOVEBOX_0$' "$found"; then
    echo "symbols: exported without a version"
    exit 1
fi
sed -i 's/@.*//' "$found"
diff -u "$2" "$found"

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# installed - what `make install` puts somewhere works from there: the command, the
# headers, the library by pkg-config, by its archive and by CMake's find_package, the
# manual and the completions. From a place that nothing was configured for, and with
# nothing of the build folder in sight.
#
#     tests/install/installed.sh BUILD SOURCE COMPILER
set -u

build=$1 source=$2 compiler=$3
top=$(mktemp -d "${TMPDIR:-/tmp}/gbx-installed-XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
prefix=$top/prefix
failed=0
unset GLOVEBOX_WORKER LD_LIBRARY_PATH PKG_CONFIG_PATH

fail() {
    echo "$*"
    failed=1
}

is() { # what expected command...
    local what=$1 expected=$2 found
    shift 2
    found=$("$@" 2>&1) || fail "$what: exit status $?"
    [ "$found" = "$expected" ] || fail "$what: '$found', not '$expected'"
}

DESTDIR='' cmake --install "$build" --prefix "$prefix" >"$top/log" 2>&1 ||
    { cat "$top/log"; exit 1; }

# The command, with the worker beside it.
is 'the command' 42 "$prefix/bin/glovebox" run '() => 6 * 7'
"$prefix/bin/glovebox" doctor >"$top/doctor" 2>&1 || fail "doctor: $(cat "$top/doctor")"
grep -q 'layers stand' "$top/doctor" || fail 'doctor names no layers'
is 'the memory runner' 42 "$prefix/bin/glovebox" run --runner memory '() => 6 * 7'

# Every public header, each by itself.
for header in "$source"/include/glovebox/*; do
    name=$(basename "$header" .in)
    [ -f "$prefix/include/glovebox/$name" ] || { fail "no header $name"; continue; }
    printf '#include <glovebox/%s>\nint main(void) { return 0; }\n' "$name" |
        "$compiler" -std=c99 -Wall -Wextra -Werror -fsyntax-only -xc \
            -I"$prefix/include" - || fail "$name does not compile"
done

# The example: by pkg-config, by the archive, by CMake. The library finds the worker from
# where it is itself; a program with the archive in it is told.
libdir=$(dirname "$(find "$prefix" -name libglovebox.so)")
export PKG_CONFIG_PATH=$libdir/pkgconfig
example=$source/examples/embed.c
said='OK ["A1"]'
# shellcheck disable=SC2046
"$compiler" -std=c17 "$example" -o "$top/shared" $(pkg-config --cflags --libs glovebox) &&
    is 'by pkg-config' "$said" env LD_LIBRARY_PATH="$libdir" "$top/shared"
[ -x "$top/shared" ] || fail 'the example does not link by pkg-config'
# shellcheck disable=SC2046
"$compiler" -std=c17 "$example" -o "$top/archive" $(pkg-config --cflags glovebox) \
    "$libdir/libglovebox.a" -lm \
    $(pkg-config --libs $(pkg-config --print-requires-private glovebox)) &&
    is 'by the archive' "$said" env GLOVEBOX_WORKER="$prefix/bin/glovebox-worker" \
        "$top/archive"
[ -x "$top/archive" ] || fail 'the example does not link with the archive'
if cmake -S "$source/tests/install/consumer" -B "$top/consumer" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$compiler" \
    -DEXAMPLE="$example" >"$top/log" 2>&1 &&
    cmake --build "$top/consumer" >>"$top/log" 2>&1; then
    is 'by find_package' "$said" "$top/consumer/embed"
else
    fail "find_package: $(cat "$top/log")"
fi

# A runner by its name, for a program that knows of no folder but by its own run path.
cat >"$top/runner.c" <<'END'
#include <glovebox/glovebox.h>
#include <stdio.h>
int main(void)
{
    gbx_options options = GBX_OPTIONS_INIT;
    gbx_engine *engine = NULL;
    gbx_error error = {0};

    options.runner_name = "memory";
    puts(gbx_engine_new(&options, &engine, &error) == GBX_OK ? "it runs" : error.message);
    gbx_engine_free(engine);
}
END
# shellcheck disable=SC2046
"$compiler" -std=c17 "$top/runner.c" -o "$top/runner" $(pkg-config --cflags --libs glovebox) \
    -Wl,-rpath,"$libdir" -Wl,--enable-new-dtags && is 'a runner by its name' 'it runs' "$top/runner"
[ -x "$top/runner" ] || fail 'a program that names a runner does not link'

# The rest: what is read, not run.
for file in bin/glovebox-keeper share/glovebox/policy.schema.json \
    share/glovebox/mcp.schema.json share/glovebox/container-seccomp.json share/doc/glovebox/LICENSE \
    share/bash-completion/completions/glovebox share/zsh/site-functions/_glovebox; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
bash -n "$prefix/share/bash-completion/completions/glovebox" || fail 'the completion fails'
for page in "$source"/docs/man/*.scd; do
    for named in $(grep -oE 'docs/[a-z/-]+\.md' "$page"); do
        [ -s "$prefix/share/doc/glovebox/$named" ] || fail "$page names $named"
    done
    # What fills a line may break a command after a hyphen that is not its own.
    sed -n '/^# EXAMPLES/,$p' "$page" | grep -q '^	' && fail "$page fills a command"
    page=$(basename "$page" .scd)
    [ -s "$prefix/share/man/man${page##*.}/$page" ] || fail "no page $page"
done
# Nothing that is installed knows where it was built.
grep -rlI "$build" "$prefix" && fail 'a file names the build folder'
for program in "$prefix"/bin/* "$libdir"/*.so; do
    readelf -d "$program" | grep -E 'R(UN)?PATH' | grep -qF "$build" &&
        fail "$program finds libraries in the build folder"
    readelf -d "$program" | grep -E 'R(UN)?PATH' | grep -qE '\[:|::|:\]' &&
        fail "$program finds libraries in the current folder"
done
exit $failed

#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bundle - the folder that tools/make-bundle.mjs has made in BUILD/dist is the same each time,
# and runs where nothing else is: no other program, no library, no loader.
#
#     tests/install/bundle.sh BUILD SOURCE
set -u

build=$1 source=$2
top=$(mktemp -d "${TMPDIR:-/tmp}/gbx-bundle-XXXXXX") || exit 1
trap 'chmod -R u+w "$top"; rm -rf "$top"' EXIT
failed=0
unset GLOVEBOX_WORKER LD_LIBRARY_PATH
PATH=$PATH:/usr/sbin # for chroot; an ordinary user's has none

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

"$source/tools/make-bundle.mjs" "$build" "$top/again" folder >"$top/log" 2>&1 ||
    { cat "$top/log"; exit 1; }
bundle=$(echo "$top"/again/glovebox-*)
cmp "$build/dist/$(basename "$bundle")/SHA256SUMS" "$bundle/SHA256SUMS" ||
    fail 'two bundles of one build differ'
(cd "$bundle" && sha256sum --check --quiet SHA256SUMS) || fail 'the sums are wrong'
(cd "$bundle" && find lib -name '*.so.*') | while read -r library; do
    grep -q "[ ]$library[,\"]" "$bundle/sbom.spdx.json" || echo "$library"
done >"$top/lacking"
[ ! -s "$top/lacking" ] || fail "the bill of materials lacks $(cat "$top/lacking")"

# Moved to a path with a blank, called through a link, with nothing writable in it.
root=$top/root
mkdir -p "$root/a b" "$root/proc" "$root/dev"
folder="$root/a b/bundle"
mv "$bundle" "$folder"
ln -s 'a b/bundle/bin/glovebox' "$root/glovebox"
cp "$source/examples/data/servers.json" "$root/"
chmod -R a-w "$folder"
is 'called through a link' 42 "$root/glovebox" run '() => 6 * 7'

# The engine's day is known here, too, and its age is a reason to warn.
aged() { # days expected-lines
    date -d "-$1 days" +%F >"$folder/lib/engine-date"
    is "an engine of $1 days" "$2" sh -c '"$1" doctor | grep -c "^The engine is .* days old"; true' sh "$root/glovebox"
}
grep -q "of $(cat "$folder/lib/engine-date")\"" <<<"$("$root/glovebox" doctor --json)" ||
    fail 'doctor: not the day of the engine'
chmod u+w "$folder/lib/engine-date"
aged 90 0
aged 91 1

# The addon runs on the C library of Node.js, which may be glibc 2.31; what it loads for fetch and
# crypto needs 2.34.
later() { # numbers-of-2-that-are-too-new libraries
    pattern=$1
    shift
    (cd "$folder/lib" && for library; do
        echo "$library"
        ldd "$library" | sed -n 's/^[[:space:]]*\(lib[^ ]*\) =>.*/\1/p'
    done | sort -u | while read -r library; do
        [ ! -e "$library" ] || objdump -p "$library" | sed -n "s/.* \(GLIBC_2[.]\($pattern\)\)/$library: \1/p"
    done) >"$top/later"
    [ ! -s "$top/later" ] || fail "too new a glibc: $(cat "$top/later")"
}
later '3[2-9]\|[4-9].' glovebox.node
later '3[5-9]\|[4-9].' libcurl.so.4 libcrypto.so.3 libidn2.so.0

# Alone in a root file system. proc is new there, since an ordinary user may not bind it.
alone() {
    unshare --map-root-user --mount --pid --fork sh -c 'root=$1; shift
        mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
        exec chroot "$root" "$@"' sh "$root" "$@"
}

# The package for Debian needs what is installed here, and no more.
mkdir "$top/debian"
dpkg-deb -x "$build"/dist/glovebox_*.deb "$top/debian"
is 'the package' 42 "$top/debian/usr/bin/glovebox" run '() => 6 * 7'
[ -r "$top/debian/usr/share/man/man1/glovebox.1.gz" ] || fail 'the package: no manual'
for package in $(dpkg-deb -f "$build"/dist/glovebox_*.deb Depends | tr -d ,); do
    dpkg-query -W "$package" >"$top/log" 2>&1 || fail "the package: $(cat "$top/log")"
done

# A copy that is not complete says so in a line.
incomplete() { # file expected command...
    local file=$1 expected=$2 found
    shift 2
    mv "$folder/lib/$file" "$top/away"
    found=$("$@" run '() => 1' 2>&1) && fail "without $file: it runs"
    [[ $found == *"$expected"* && $(wc -l <<<"$found") = 1 ]] || fail "without $file: '$found'"
    mv "$top/away" "$folder/lib/$file"
}
chmod -R u+w "$folder/lib"
incomplete ld.so 'unpack the bundle again' "$root/glovebox"
incomplete glovebox-worker 'cannot open the worker program' "$root/glovebox"

# install.sh needs no more than a shell and the tools of a small system.
"$folder/install.sh" "$top/prefix" >"$top/log" 2>&1 || fail "install.sh: $(cat "$top/log")"
is 'installed' 42 "$top/prefix/bin/glovebox" run '() => 6 * 7'
[ -r "$top/prefix/share/man/man1/glovebox.1" ] || fail 'install.sh: no manual'
"$folder/install.sh" "$top/prefix" >"$top/log" 2>&1 || fail "again: $(cat "$top/log")"
"$top/prefix/lib/glovebox/install.sh" --remove "$top/prefix" || fail 'install.sh --remove fails'
[ -z "$(find "$top/prefix" ! -type d)" ] || fail "left: $(find "$top/prefix" ! -type d)"

if alone /glovebox --version >/dev/null 2>&1; then
    found=$(unshare --map-root-user chroot "$root" /glovebox run '() => 1' 2>&1)
    [[ $found == *'/proc is not mounted here'* ]] || fail "without /proc: '$found'"
    again='unpack the bundle again'
    incomplete libseccomp.so.2 "'libseccomp.so.2' is missing: $again" alone /glovebox
    incomplete libjansson.so.4 libjansson.so.4 alone /glovebox
    is 'alone' '["db-1","web-7"]' alone /glovebox run \
        '(d) => d.filter((x) => x.risk > 90).map((x) => x.name)' --data /servers.json
    is 'time zones and languages' '"1.1.1970, 01:00:00"' alone /glovebox run \
        '() => new Date(0).toLocaleString("de-DE", { timeZone: "Europe/Berlin" })'
    is 'hashes' '"a9993e"' alone /glovebox run --allow crypto \
        '() => crypto.createHash("sha1").update("abc").digest("hex").slice(0, 6)'
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout "$top/key" \
        -out "$folder/lib/ca-certificates.crt" 2>"$top/log"
    : >"$top/server"
    openssl s_server -www -accept 127.0.0.1:0 -key "$top/key" \
        -cert "$folder/lib/ca-certificates.crt" >>"$top/server" 2>&1 &
    server=$!
    until grep -q '^ACCEPT' "$top/server" || ! kill -0 $server 2>/dev/null; do sleep 0.1; done
    site=https://localhost:$(sed -n 's/^ACCEPT .*://p' "$top/server")
    echo "{\"fetch\": {\"allow\": [\"$site\"]}}" >"$root/policy.json"
    is 'certificates of its own' 200 alone /glovebox run --policy /policy.json \
        "async () => (await fetch('$site')).status"
    kill $server
    alone /glovebox doctor --attack >"$top/attack" 2>&1
    grep -q 'none succeeds against the whole seal' "$top/attack" ||
        fail "the attacks: $(tail -5 "$top/attack")"
elif unshare --map-root-user --mount true 2>/dev/null; then
    fail "alone: $(alone /glovebox --version 2>&1)"
else
    echo 'not tried alone in a root file system: no user namespace can be made here'
fi

exit $failed

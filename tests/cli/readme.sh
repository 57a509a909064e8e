#!/bin/bash
# SPDX-License-Identifier: MIT
#
# readme - what README.md shows of `glovebox run` is what it prints. A line "..." stands for
# the rest.
#
#     tests/cli/readme.sh GLOVEBOX
set -u

glovebox=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
count=0

cat >servers.json <<'END'
[{"name": "db-1", "risk": 95}, {"name": "web-2", "risk": 12}, {"name": "web-7", "risk": 91}]
END
run() { # command line: what it prints, in whatever order it comes
    (
        glovebox() { "$glovebox" "$@"; }
        eval "$1"
    ) 2>&1 </dev/null
}

check() { # command line, what is shown of its output
    local got
    [ -n "$1" ] || return 0
    count=$((count + 1))
    got=$(run "$1")
    if [[ $2 == *$'\n...' ]]; then
        [[ $got == "${2%...}"* ]] && return 0
    elif [ "$got" = "$2" ]; then
        return 0
    fi
    printf 'not as shown: %s\n%s\nshown:\n%s\n' "$1" "$got" "$2"
    failed=1
}

# The first block of console lines: an example ends where an empty line is.
command=
shown=
while IFS= read -r line; do
    case $line in
    '$ glovebox run '*) command=${line#'$ '} shown= ;;
    '```' | '') check "$command" "$shown" && command= ;;
    *) shown+=${shown:+$'\n'}$line ;;
    esac
    [ "$line" = '```' ] && break
done < <(sed -n '/^```console/,$p' "$SOURCE/README.md" | tail -n +2)

# The place that the JSON has is that of the same example.
place=$(grep -o '"location":{"line":[0-9]*,"column":[0-9]*' "$SOURCE/README.md")
run "glovebox run '(d) => d.nme.length' --data servers.json --json" | grep -qF "$place" ||
    { echo "the JSON has another place than $place" && failed=1; }
[ "$count" -ge 3 ] || { echo "only $count examples were found" && failed=1; }
exit $failed

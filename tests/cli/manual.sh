#!/bin/bash
# SPDX-License-Identifier: MIT
#
# manual - the man pages say what the tables say: options, exit statuses, the example.
#
#     SOURCE=. tests/cli/manual.sh GLOVEBOX
set -u

glovebox=$1
pages=$SOURCE/docs/man
failed=0

fail() {
    echo "$*"
    failed=1
}

options_of() { # command
    "$glovebox" help "$1" | grep -oE '^  --[a-z-]+' | tr -d ' '
}

# Every status, as it is printed, is in glovebox.1.
while IFS= read -r line; do
    grep -qFx -- "$line" "$pages/glovebox.1.scd" || fail "glovebox.1 lacks: $line"
done < <("$glovebox" help exit-status | grep '^ ')
listed=$(grep -cE '^ {2,4}[0-9]+  [A-Z_]+ ' "$pages/glovebox.1.scd")
real=$("$glovebox" help exit-status | grep -c '^ ')
[ "$listed" -eq "$real" ] || fail "glovebox.1 lists $listed exit statuses, there are $real"

# Every option of run is in glovebox-run.1 (or is common), and the other way round.
for option in $(options_of run); do
    case $option in --color | --help) page=glovebox.1 ;; *) page=glovebox-run.1 ;; esac
    grep -qE "^\*$option\*" "$pages/$page.scd" || fail "$page lacks $option"
done
for option in $(grep -ohE '^\*--[a-z-]+' "$pages/glovebox-run.1.scd" | tr -d '*'); do
    options_of run | grep -qx -- "$option" || fail "glovebox-run.1 has $option, run has not"
done
for command in replay mcp runner; do
    for option in $(options_of $command); do
        case $option in --color | --help) page=glovebox.1 ;; *) page=glovebox-$command.1 ;; esac
        grep -qE "^\*$option\*" "$pages/$page.scd" || fail "$page lacks $option"
    done
    for option in $(grep -ohE '^\*--[a-z-]+' "$pages/glovebox-$command.1.scd" | tr -d '*'); do
        options_of $command | grep -qx -- "$option" ||
            fail "glovebox-$command.1 has $option, $command has not"
    done
done
for command in check audit runners doctor bench; do
    for option in $(options_of "$command"); do
        grep -qF -- "*$option*" "$pages/glovebox.1.scd" || fail "glovebox.1 lacks $option of $command"
    done
done
for command in $("$glovebox" help mcp | sed -n 's/^  mcp \([a-z-]*\) .*/\1/p'); do
    grep -qF "*mcp $command*" "$pages/glovebox-mcp.1.scd" || fail "glovebox-mcp.1 lacks mcp $command"
    for option in $("$glovebox" help mcp "$command" | grep -oE '^  --[a-z-]+' | tr -d ' '); do
        grep -qF -- "*$option*" "$pages/glovebox-mcp.1.scd" "$pages/glovebox.1.scd" ||
            fail "glovebox-mcp.1 lacks $option of mcp $command"
    done
done
for command in $("$glovebox" --help | grep -oE '^  [a-z]+'); do
    grep -qx "\*$command\*" "$pages/glovebox.1.scd" || fail "glovebox.1 lacks the command $command"
done

# The example of glovebox.3 is examples/embed.c.
shown=$(sed -n '/^```$/,/^```$/p' "$pages/glovebox.3.scd" | sed '/^```$/d; s/\\\\/\\/g')
[ "$shown" = "$(sed '1,2d' "$SOURCE/examples/embed.c")" ] || fail "glovebox.3 does not show examples/embed.c"

# They are well-formed.
if command -v scdoc >/dev/null; then
    for page in "$pages"/*.scd; do
        scdoc <"$page" >/dev/null || fail "$page is not scdoc"
    done
fi
exit $failed

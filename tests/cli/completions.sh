#!/bin/bash
# SPDX-License-Identifier: MIT
#
# completions - both shells complete what the command's tables have, no more, no less.
#
#     SOURCE=. tests/cli/completions.sh GLOVEBOX
set -u

glovebox=$1
failed=0

fail() {
    echo "$*"
    failed=1
}

# shellcheck source=/dev/null
. "$SOURCE/completions/glovebox.bash"

complete_words() { # words...: what bash would offer for the last
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _glovebox
    printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

commands=$("$glovebox" --help | grep -oE '^  [a-z]+' | tr -d ' ' | sort -u)
offered=$(complete_words glovebox '' | grep -v '^-')
[ "$commands" = "$offered" ] || fail "bash offers the commands: $offered"

for command in $commands; do
    real=$("$glovebox" help "$command" | grep -oE '^  --[a-z-]+' | tr -d ' ' | sort -u)
    offered=$(complete_words glovebox "$command" --)
    [ "$real" = "$offered" ] || fail "bash offers for $command:"$'\n'"$(diff <(echo "$real") <(echo "$offered"))"
    for option in $real; do
        grep -qE -- "[\"'{,]\*?$option[][{}'\"]" "$SOURCE/completions/_glovebox" ||
            fail "zsh does not know $option of $command"
    done
done

# The commands below mcp, and what each has.
below=$("$glovebox" help mcp | sed -n 's/^  mcp \([a-z-]*\) .*/\1/p' | sort -u)
[ "$below" = "$(complete_words glovebox mcp '')" ] || fail "bash offers below mcp: $(complete_words glovebox mcp '')"
for command in $below; do
    real=$("$glovebox" help mcp "$command" | grep -oE '^  --[a-z-]+' | tr -d ' ' | sort -u)
    offered=$(complete_words glovebox mcp "$command" --)
    [ "$real" = "$offered" ] || fail "bash offers for mcp $command: $offered"
    for option in $real; do
        grep -qE -- "[\"'{,]\*?$option[][{}'\"]" "$SOURCE/completions/_glovebox" ||
            fail "zsh does not know $option of mcp $command"
    done
done
for option in $(grep -oE -- '--[a-z-]+' "$SOURCE/completions/_glovebox" | sort -u); do
    [ "$option" = --version ] || {
        for command in $commands; do
            "$glovebox" help "$command"
        done
        for command in $below; do
            "$glovebox" help mcp "$command"
        done
    } | grep -qE -- "^  $option( |\$)" || fail "zsh offers $option, no command has it"
done

# The choices are those that the command accepts.
for option in --form --jit --require --globals --color; do
    for value in $(complete_words glovebox run $option ''); do
        "$glovebox" run --help $option "$value" >/dev/null || fail "bash offers $option $value"
    done
done
[ "$(complete_words glovebox run --jit = b)" = baseline ] || fail "bash: --jit=b"

[ "$(complete_words glovebox run --allow t)" = timers ] || fail "bash: --allow t"
mkdir -p folder/inside
[ "$(complete_words glovebox run --allow file = fold)" = folder ] || fail "bash: --allow file=fold"
[ -z "$(complete_words glovebox run --allow fetch = f)" ] || fail "bash: --allow fetch=f"

if command -v zsh >/dev/null; then
    zsh -n "$SOURCE/completions/_glovebox" || fail "zsh cannot read its completion"
fi
exit $failed

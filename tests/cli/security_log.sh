#!/bin/bash
# SPDX-License-Identifier: MIT
#
# security_log - where `--security-log` writes, who may read it, and what cannot be.
#
#     tests/cli/security_log.sh GLOVEBOX
set -u

glovebox=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0

fail() {
    echo "$*"
    failed=1
}

events_of() { # file: the names of its events, in one line
    sed -n 's/^{"time":"[0-9TZ:.-]*","seq":[0-9]*,"event":"\([a-z.]*\)",.*}$/\1/p' "$1" | tr '\n' ' '
}

# ---- a file: made for its owner alone, appended to ----
umask 0
[ "$("$glovebox" run '() => 1' --security-log calls.log 2>err)" = 1 ] || fail "no value"
[ -s err ] && fail "on standard error: $(cat err)"
[ "$(stat -c %a calls.log)" = 600 ] || fail "mode $(stat -c %a calls.log)"
[ "$(events_of calls.log)" = 'engine.started call.started call.ended engine.ended ' ] ||
    fail "lines: $(cat calls.log)"
result=$("$glovebox" run '() => require("fs")' --security-log=calls.log --json)
[ "$(wc -l <calls.log)" = 9 ] || fail "not appended: $(cat calls.log)"
id=$(sed -n 's/.*"callId":"\([0-9a-f]*-1\)".*/\1/p' <<<"$result")
[ "$(grep -c "\"callId\":\"$id\"" calls.log)" = 3 ] || fail "the call '$id' is not in the log"
grep -q '"event":"guard.violation".*"rule":"require","line":1,"column":7}' calls.log ||
    fail "no violation: $(cat calls.log)"

# ---- standard error, and nothing of it in the value ----
[ "$("$glovebox" run '() => 2' --security-log - 2>err)" = 2 ] || fail "no value beside '-'"
[ "$(events_of err)" = 'engine.started call.started call.ended engine.ended ' ] ||
    fail "on standard error: $(cat err)"

# ---- what cannot be opened is said before anything runs ----
ln -s calls.log link
mkdir folder
mkfifo fifo
for path in link folder fifo folder/none/x; do
    out=$("$glovebox" run '() => 3' --security-log "$path" 2>err)
    [ $? = 74 ] && [ -z "$out" ] || fail "$path: exit status, or a value: '$out'"
    grep -q "cannot open the security log '$path'" err || fail "$path: $(cat err)"
done
[ "$(wc -l <calls.log)" = 9 ] || fail "written through a link"

# ---- a line that is lost is said, and the value is still there ----
if [ -c /dev/full ]; then
    out=$("$glovebox" run '() => 4' --security-log /dev/full 2>err)
    [ $? = 74 ] && [ "$out" = 4 ] || fail "/dev/full: exit status, or '$out'"
    grep -q "cannot write the security log '/dev/full'" err || fail "/dev/full: $(cat err)"
fi

# ---- a file that may not grow is said, and is not the end of the call ----
out=$(ulimit -f 0 && "$glovebox" run '() => 5' --security-log grown.log 2>&1)
[ $? = 74 ] || fail "a limit of files: exit status"
[[ $out == *"cannot write the security log 'grown.log': File too large"*5* ]] ||
    fail "a limit of files: $out"

# ---- a file that several commands write to has whole lines ----
for i in 1 2 3 4 5 6; do
    "$glovebox" run '() => require("fs")' --security-log many.log 2>/dev/null &
done
wait
[ "$(wc -l <many.log)" = 30 ] || fail "$(wc -l <many.log) lines of six commands"
[ "$(events_of many.log | wc -w)" = 30 ] || fail "a line is not whole: $(cat many.log)"

# ---- an engine that cannot start ----
GLOVEBOX_WORKER=/nonexistent "$glovebox" run '() => 1' --security-log bad.log 2>/dev/null &&
    fail "an engine without a worker program"
[ "$(events_of bad.log)" = 'template.failed ' ] || fail "of a failed start: $(cat bad.log)"

exit $failed

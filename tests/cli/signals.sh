#!/bin/bash
# SPDX-License-Identifier: MIT
#
# signals - an interrupted command says so and leaves no process behind; and one that has
# secrets, no core.
#
#     tests/cli/signals.sh GLOVEBOX
set -u
umask 077 # a secret that others may read is refused
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}disable_coredump=0 # cores are looked at here

glovebox=$1
work=$(mktemp -d)
err=$work/err
trap 'rm -rf "$work"' EXIT
failed=0

fail() {
    echo "$*"
    failed=1
}

# Every process that descends from pid, one a line; by /proc, since ps may be missing.
descendants() {
    local stat line rest
    for stat in /proc/[0-9]*/stat; do
        line=
        read -r line 2>/dev/null <"$stat" || continue
        rest=${line##*) }
        # shellcheck disable=SC2086
        set -- "$1" $rest
        if [ "$3" = "$1" ]; then
            echo "${line%% *}"
            descendants "${line%% *}"
        fi
    done
}

# Wait until the call runs: the command, the template and a worker.
wait_for_worker() {
    local i
    for ((i = 0; i < 200; i++)); do
        [ "$(descendants "$1" | wc -l)" -ge 2 ] && return 0
        sleep 0.02
    done
    return 1
}

# A zombie has ended: in a container whose first process does not wait, it stays one.
has_ended() {
    local line
    read -r line 2>/dev/null <"/proc/$1/stat" || return 0
    case ${line##*) } in Z* | X*) return 0 ;; esac
    return 1
}

all_gone() {
    local pid i left
    for ((i = 0; i < 50; i++)); do
        left=
        for pid in "$@"; do
            has_ended "$pid" || left=$pid
        done
        [ -z "$left" ] && return 0
        sleep 0.02
    done
    return 1
}

# What is sent to all but the command itself changes nothing of the call.
spare_the_call() { # signal, code
    local pid status family
    setsid "$glovebox" run "$2" --timeout 1500 2>"$err" >/dev/null &
    pid=$!
    wait_for_worker "$pid" || fail "$1: no worker was seen"
    family=$(descendants "$pid")
    # shellcheck disable=SC2086
    kill -s "$1" $family
    wait "$pid"
    status=$?
    [ $status -eq 10 ] || fail "$1 to all but the command: status $status, wanted 10: $(cat "$err")"
}

interrupt() { # how, status wanted, who: pid of the command -> those to signal
    local signal=$1 wanted=$2 status pid family
    setsid "$glovebox" run '() => { for (;;) {} }' --timeout 20000 2>"$err" >/dev/null &
    pid=$!
    wait_for_worker "$pid" || fail "$signal: no worker was seen"
    sleep 0.1
    family=$(descendants "$pid")
    if [ "$3" = group ]; then
        kill -s "$signal" -- "-$pid"
    else
        kill -s "$signal" "$pid"
    fi
    wait "$pid" 2>/dev/null
    status=$?
    [ $status -eq "$wanted" ] || fail "$signal to the $3: status $status, wanted $wanted: $(cat "$err")"
    if [ "$wanted" -eq 17 ]; then
        grep -q '^glovebox: ABORTED: ' "$err" || fail "$signal to the $3: $(cat "$err")"
    fi
    # shellcheck disable=SC2086
    all_gone $family || fail "$signal to the $3: a process is left of: $family"
}

interrupt TERM 17 command
interrupt HUP 17 command
interrupt INT 17 command
# A terminal sends Ctrl-C to every process of the group.
interrupt INT 17 group
for signal in INT QUIT; do
    spare_the_call $signal '() => { for (;;) {} }'
done
for signal in HUP TERM; do
    spare_the_call $signal 'async () => { await sleep(20000) }'
done
# Nothing can be caught here: the kernel must clean up.
interrupt KILL 137 command

# Of a process that may not be looked at, the files in /proc are root's: whose they are shows
# to ordinary users alone.
ordinary=()
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    "${ordinary[@]}" "$glovebox" run '() => 1' >/dev/null 2>&1 || ordinary=()
fi
printf 'value-of-the-test' >"$work/secret"
printf '{"secrets": {"K": {"file": "secret", "functions": ["*"]}}}' >"$work/policy.json"
printf '{"mcpServers": {"mute": {"command": "sleep", "args": ["100"]}}}' >"$work/config.json"
[ ${#ordinary[@]} -eq 0 ] || chmod 644 "$work"/* # root's, which another user reads

# begin ARGUMENTS...: the command, with cores allowed; its input is the pipe "in".
begin() {
    (
        ulimit -S -c "$(ulimit -H -c)"
        exec "${ordinary[@]}" "$glovebox" "$@"
    ) <"$work/in" >"$work/out" 2>"$err" &
    pid=$!
}

# end_in_abort WHAT HIDDEN: is it hidden, once it runs, and is there no core then?
end_in_abort() {
    local owner limit wanted_owner=0 wanted_limit=0
    if [ "$2" = no ]; then
        wanted_owner=$(awk '/^Uid:/ { print $2 }' "/proc/$pid/status")
        wanted_limit=$(ulimit -H -c)
    fi
    owner=$(stat -c %u "/proc/$pid/environ")
    limit=$(awk '/^Max core file size/ { print $5 }' "/proc/$pid/limits")
    [ "$owner" = "$wanted_owner" ] || fail "$1: its memory is $owner's, wanted $wanted_owner"
    [ "$limit" = "$wanted_limit" ] || fail "$1: cores of $limit, wanted $wanted_limit"
    kill -s ABRT "$pid"
    wait "$pid" 2>/dev/null
    [ "$2" = no ] || [ -z "$(find . -maxdepth 1 -name 'core*')" ] || fail "$1: a core"
    rm -f core*
}

cd "$work" || exit 1
mkfifo in
exec 9<>in
for option in '' '--secret K=./secret@a.example' '--policy policy.json'; do
    # shellcheck disable=SC2086
    begin run '() => { for (;;) {} }' --timeout 20000 $option
    wait_for_worker "$pid" || fail "run $option: no worker was seen: $(cat "$err")"
    end_in_abort "run $option" "${option:-no}"
done
begin mcp doctor --config config.json
wait_for_worker "$pid" || fail "mcp doctor: no server was seen: $(cat "$err")"
end_in_abort 'mcp doctor' yes
for option in '' '--config config.json'; do
    : >out
    # shellcheck disable=SC2086
    begin mcp --data d=policy.json $option
    echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' >&9
    for ((i = 0; i < 500; i++)); do
        [ -s out ] && break
        sleep 0.02
    done
    [ -s out ] || fail "mcp $option: no answer: $(cat "$err")"
    end_in_abort "mcp $option" "${option:-no}"
done
exit $failed

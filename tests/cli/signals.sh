#!/bin/bash
# SPDX-License-Identifier: MIT
#
# signals - an interrupted command says so and leaves no process behind.
#
#     tests/cli/signals.sh GLOVEBOX
set -u

glovebox=$1
err=$(mktemp)
trap 'rm -f "$err"' EXIT
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
spare_the_call() { # signal
    local pid status family
    setsid "$glovebox" run '() => { for (;;) {} }' --timeout 1500 2>"$err" >/dev/null &
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
for signal in INT QUIT HUP TERM; do
    spare_the_call $signal
done
# Nothing can be caught here: the kernel must clean up.
interrupt KILL 137 command
exit $failed

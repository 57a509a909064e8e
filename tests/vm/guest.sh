#!/bin/bash
# SPDX-License-Identifier: MIT
#
# guest - in the virtual machine: first as its init, which starts systemd with services
# that are delegated their group or not; then as the last of these, which looks at what
# the others found and runs the tests of the kernel's part.
set -u

here=$(dirname "$(readlink -f "$0")")
build=$(sed -n 's/.*BUILD=\([^ ]*\).*/\1/p' /proc/cmdline)
export PATH=/usr/sbin:/usr/bin:/sbin:/bin GLOVEBOX_WORKER=$build/bin/glovebox-worker

service() { # name lines: `glovebox doctor` as a service
    printf '[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\n%s\n' "$2" \
        >"/run/systemd/system/try-$1.service"
    printf 'StandardOutput=file:/run/found/%s\nStandardError=inherit\n' "$1" \
        >>"/run/systemd/system/try-$1.service"
    printf 'ExecStart=%s/bin/glovebox doctor --color never\n' "$build" \
        >>"/run/systemd/system/try-$1.service"
}

as_init() {
    local all='try-root.service try-root-given.service try-user.service try-user-given.service'

    mkdir -p /run/systemd/system /run/found
    service root ''
    service root-given 'Delegate=yes'
    service user 'User=nobody'
    service user-given $'User=nobody\nDelegate=yes'
    {
        printf '[Unit]\nDefaultDependencies=no\nWants=%s\nAfter=%s\n' "$all" "$all"
        printf '[Service]\nType=oneshot\nStandardOutput=tty\nStandardError=tty\n'
        printf 'TTYPath=/dev/ttyS0\nExecStart=/bin/bash %s/guest.sh look\n' "$here"
    } >/run/systemd/system/look.service
    printf '[Unit]\nDefaultDependencies=no\nWants=look.service\n' \
        >/run/systemd/system/look.target
    exec /lib/systemd/systemd --unit=look.target --show-status=0
}

expect() { # name pattern
    grep -q "$2" "/run/found/$1" && return
    echo "vm: $1: not found: $2"
    grep -A1 'cgroup limits' "/run/found/$1"
    failed=1
}

look() {
    failed=0
    expect root "systemd's and not delegated"
    expect user 'not delegated to its user'
    expect root-given '^cgroup  *name glovebox'
    expect root-given 'stands *cgroup limits'
    expect user-given '^cgroup  *name glovebox'
    expect user-given 'stands *cgroup limits'
    [ -z "$(find /sys/fs/cgroup -name 'glovebox.[0-9]*')" ] ||
        { echo 'vm: a group was left'; failed=1; }
    systemd-run --quiet --scope -p Delegate=yes "$build/bin/test_cgroup_kernel" \
        >/run/found/tests 2>&1 || failed=1
    grep -v 'RUN  ' /run/found/tests
    grep -q SKIPPED /run/found/tests && failed=1
    [ "$failed" -eq 0 ] && echo 'vm: everything held'
    echo o >/proc/sysrq-trigger
    sleep 10
}

if [ "${1:-}" = look ]; then look; else as_init; fi

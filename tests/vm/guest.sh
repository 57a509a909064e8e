#!/bin/bash
# SPDX-License-Identifier: MIT
#
# guest - in the virtual machine: first as its init, which starts systemd with services
# that are delegated their group or not, and with one that is hardened; then as the last of these, which looks at what
# the others found and runs the tests of the kernel's part.
set -u

here=$(dirname "$(readlink -f "$0")")
build=$(sed -n 's/.*BUILD=\([^ ]*\).*/\1/p' /proc/cmdline)
command=$(sed -n 's/.*COMMAND=\([^ ]*\).*/\1/p' /proc/cmdline)
export PATH=/usr/sbin:/usr/bin:/sbin:/bin GLOVEBOX_WORKER=$build/bin/glovebox-worker

# Every directive that may take something from a sandbox of processes.
hardened='User=nobody
NoNewPrivileges=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateNetwork=yes
PrivateUsers=yes
ProtectSystem=strict
ProtectHome=read-only
ProtectProc=invisible
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectClock=yes
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
CapabilityBoundingSet=
SystemCallArchitectures=native
SystemCallFilter=@system-service seccomp mincore landlock_create_ruleset landlock_add_rule landlock_restrict_self
SystemCallErrorNumber=EPERM
UMask=0077'

# The settings of the unit for runners, but for what it runs, and its user and files.
runner_unit() {
    sed -n '/^\[Service\]/,/^\[Install\]/p' "$here/../../share/glovebox-runner.service" |
        sed -e '/^ExecStart=/{N;d}' -e '/^[[#]/d' \
            -e '/^\(EnvironmentFile\|LoadCredential\|Restart\|RestartSec\|Group\)=/d' \
            -e 's/^User=.*/User=nobody/'
}

service() { # name lines arguments: `glovebox doctor` as a service, after the last one
    printf '[Unit]\nDefaultDependencies=no\nAfter=try-%s.service\n[Service]\nType=oneshot\n%s\n' \
        "$last" "$2" \
        >"/run/systemd/system/try-$1.service"
    printf 'StandardOutput=file:/run/found/%s\nStandardError=inherit\n' "$1" \
        >>"/run/systemd/system/try-$1.service"
    printf 'ExecStart=%s doctor --color never %s\n' "$command" "${3:-}" \
        >>"/run/systemd/system/try-$1.service"
    last=$1
}

as_init() {
    local all last=none

    all=$(printf 'try-%s.service ' root root-given user user-given hardened runner \
        user-given-attacked hardened-attacked runner-attacked)
    mkdir -p /run/systemd/system /run/found
    service root ''
    service root-given 'Delegate=yes'
    service user 'User=nobody'
    service user-given $'User=nobody\nDelegate=yes'
    service hardened "$hardened"
    service runner "$(runner_unit)"
    service user-given-attacked $'User=nobody\nDelegate=yes' --attack
    service hardened-attacked "$hardened" --attack
    service runner-attacked "$(runner_unit)" --attack
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
    grep -A1 -e 'cgroup limits' -e '^glovebox:' "/run/found/$1" | sed 's/^/vm: /'
    failed=1
}

# A row of the table of docs/install.md, but for the last cell.
place() { # name what
    local absent attacks

    absent=$(sed -n 's/^  absent  \(.\{18\}\).*/\1/p' "/run/found/$1" | sed 's/ *$//' | paste -sd, | sed 's/,/, /g')
    attacks=$(sed -n 's/^Without any layer \([0-9]*\) succeed.*/\1/p' "/run/found/$1-attacked")
    printf 'vm: place | Linux %s, %s | yes | %s, not: %s | %s of %s\n' "$(uname -r | cut -d. -f1,2)" "$2" \
        "$(sed -n 's/^\([0-9]*\) of 17 layers stand$/\1/p' "/run/found/$1")" "$absent" \
        "$(sed -n 's/.* attacks; none succeeds .*/0/p; s/.* attacks; \([0-9]*\) SUCCEED.*/\1/p' "/run/found/$1-attacked")" "$attacks"
}

look() {
    failed=0
    expect root "systemd's and not delegated"
    expect user 'not delegated to its user'
    expect root-given '^cgroup  *name glovebox'
    expect root-given 'stands *cgroup limits'
    expect user-given '^cgroup  *name glovebox'
    expect user-given 'stands *cgroup limits'
    expect hardened 'of 17 layers stand'
    expect hardened-attacked 'none succeeds against the whole seal'
    expect runner '^16 of 17 layers stand' # "no new code" needs --jit off
    expect runner-attacked 'none succeeds against the whole seal'
    expect user-given-attacked 'none succeeds against the whole seal'
    place user-given 'user service of systemd, cgroup v2 delegated'
    place hardened 'hardened service of systemd'
    place runner 'the unit of glovebox runner'
    [ -z "$(find /sys/fs/cgroup -name 'glovebox.[0-9]*')" ] ||
        { echo 'vm: a group was left'; failed=1; }
    # Its libraries must be charged to others: from a full group the kernel would reclaim their
    # pages again and again, and kill late or never.
    "$build/bin/glovebox" run '() => 1' >/dev/null
    systemd-run --quiet --scope -p Delegate=yes "$build/bin/test_cgroup_kernel" \
        >/run/found/tests 2>&1 || failed=1
    grep -v 'RUN  ' /run/found/tests
    [ -e /sys/fs/cgroup/system.slice/cgroup.kill ] && grep -q SKIPPED /run/found/tests && failed=1
    [ "$failed" -eq 0 ] && echo 'vm: everything held'
    echo o >/proc/sysrq-trigger
    sleep 10
}

if [ "${1:-}" = look ]; then look; else as_init; fi

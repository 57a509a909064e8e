#!/bin/bash
# SPDX-License-Identifier: MIT
#
# run - the tests of control groups on Debian's own kernel under its systemd, in a
# virtual machine without disks: its root is this machine's, read-only. For machines
# whose own kernel has no memory controller in cgroup v2, and for what systemd does.
#
#     tests/vm/run.sh BUILD [RELEASE [COMMAND]]    (make vm; two minutes without hardware support)
#
# RELEASE is the release of Debian that the kernel is of, else this machine's; COMMAND the
# `glovebox` that runs as a service, else that of BUILD.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?usage: tests/vm/run.sh BUILD [RELEASE [COMMAND]]}" && pwd)
release=${2:-$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)}
command=${3:-$build/bin/glovebox}
work=$build/vm-$release
mkdir -p "$work/initramfs/modules" "$work/lists/partial"

if ! [ -d "$work/kernel/boot" ]; then
    mirror=$(apt-get indextargets --format '$(SITE)' 'Identifier: Packages' 'Origin: Debian' | head -1)
    echo "deb $mirror $release main" >"$work/sources.list"
    cat >"$work/apt.conf" <<EOF
Dir::Etc::SourceList "$work/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$work/lists";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
APT::Sandbox::User "root";
EOF
    export APT_CONFIG=$work/apt.conf
    apt-get -qq update
    package=$(apt-cache depends linux-image-amd64 |
        sed -n 's/.*Depends: \(linux-image-[0-9][^ ]*\).*/\1/p' | head -1)
    (cd "$work" && apt-get -q download "$package")
    dpkg -x "$work"/linux-image-*.deb "$work/kernel"
fi
kernel=$(find "$work/kernel/boot" -name 'vmlinuz-*' | head -1)
for module in virtio virtio_ring virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci \
    netfs fscache 9pnet 9pnet_virtio 9p overlay; do
    find "$work/kernel/lib/modules" -name "$module.ko" \
        -exec cp {} "$work/initramfs/modules/" \;
done
cc -O1 -Wall -Wextra -Werror -static -D_GNU_SOURCE "$here/init.c" -o "$work/initramfs/init"
(cd "$work/initramfs" && find . | cpio --quiet -o -H newc | gzip -1) >"$work/initramfs.gz"

# Without the kernel's KVM: a machine that is virtual itself may have one that hangs.
timeout 900 qemu-system-x86_64 -accel tcg,thread=multi -cpu max -smp 2 -m 2048 \
    -nographic -no-reboot -kernel "$kernel" -initrd "$work/initramfs.gz" \
    -fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap \
    -device virtio-9p-pci,fsdev=root,mount_tag=root \
    -append "console=ttyS0 quiet panic=-1 BUILD=$build COMMAND=$command GUEST=$here/guest.sh" |
    tee "$work/log" | grep -aE '^\[ .*\]|^vm:|skipped|ERROR|test_' || true
grep -qa 'vm: everything held' "$work/log"

#!/bin/sh
# SPDX-License-Identifier: MIT
#
# install.sh - puts this folder below a prefix and the command `glovebox` on the PATH.
#
#     ./install.sh [PREFIX]            (/usr/local for root, ~/.local for others)
#     ./install.sh --remove [PREFIX]
#
# PREFIX/lib/glovebox is the folder; PREFIX/bin and PREFIX/share get links into it.
set -eu

remove=
[ "${1-}" = --remove ] && remove=1 && shift
if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
prefix=${1-$prefix}
here=$(cd "$(dirname "$0")" && pwd)
folder=$prefix/lib/glovebox

if [ -e "$folder" ] && [ ! -f "$folder/SHA256SUMS" ]; then
    echo "install.sh: '$folder' is not a bundle of Glovebox: move it away" >&2
    exit 1
fi

links() { # the files of share/ and the command, relative to the folder
    (cd "${1}" && find bin share/man share/bash-completion share/zsh -type f)
}

if [ -d "$folder" ]; then
    links "$folder" | while read -r file; do
        [ "$(readlink "$prefix/$file")" != "$folder/$file" ] || rm "$prefix/$file"
    done
    chmod -R u+w "$folder" # it is as read-only as what it was copied from
    rm -r "$folder"
fi
[ -z "$remove" ] || exit 0

mkdir -p "$prefix/lib"
cp -R "$here" "$folder"
links "$folder" | while read -r file; do
    mkdir -p "$(dirname "$prefix/$file")"
    ln -sf "$folder/$file" "$prefix/$file"
done
"$prefix/bin/glovebox" --version
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "Add $prefix/bin to your PATH." ;;
esac

#!/usr/bin/env bash
# make.sh FOLDER: makes a small virtual machine's kernel and first file system in FOLDER, unless they are there.
#
# The kernel is Debian's own, taken out of its package and never installed; its modules hold what this machine's kernel may lack:
# cameras of V4L2's test driver (vivid), a camera that another program fills (v4l2loopback, compiled against that kernel's headers)
# and sound cards in a loop (snd-aloop).
set -euo pipefail
# Where depmod and modprobe are, whoever calls.
PATH=$PATH:/usr/sbin:/sbin

folder=$(mkdir -p "${1:?folder}" && cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
modules=(virtio_pci 9p 9pnet_virtio overlay vivid videodev snd-aloop)

package=$(apt-cache depends linux-image-amd64 | awk '/Depends: linux-image-[0-9]/ { print $2; exit }')
headers=${package/image/headers}
version=${package#linux-image-}
stamp="$version $(sha256sum "$here/make.sh" "$here/init" | sha256sum | cut -c 1-16)"
if [ "$(cat "$folder/made" 2> /dev/null)" = "$stamp" ]; then exit 0; fi

work=$(mktemp -d "$folder/work.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
# Taken apart only: nothing of the kernel reaches this machine's /boot.
apt-get download -qq "$package" "$headers" "${headers%-amd64}-common" v4l2loopback-dkms > /dev/null
kbuild=$(dpkg-deb -f "$headers"_*.deb Depends | grep -o 'linux-kbuild-[^ ,]*' | head -1)
apt-get download -qq "$kbuild" > /dev/null
for archive in *.deb; do dpkg-deb -x "$archive" tree; done
depmod -b tree "$version"

# The headers name their parts by paths from the root; here they are elsewhere.
build=$work/tree/usr/src/$headers
common=$work/tree/usr/src/${headers%-amd64}-common
find "$build" "$common" -type l -lname '/usr/*' -print0 | while IFS= read -r -d '' link; do
  ln -sfn "$work/tree$(readlink "$link")" "$link"
done
grep -rlZ --include=Makefile '/usr/src/linux-headers\|/usr/lib/linux-kbuild' "$build" | while IFS= read -r -d '' file; do
  sed -i "s|/usr/src/linux-headers|$work/tree/usr/src/linux-headers|g; s|/usr/lib/linux-kbuild|$work/tree/usr/lib/linux-kbuild|g" "$file"
done
source=$(echo tree/usr/src/v4l2loopback-*)
make -s -C "$build" M="$work/$source" modules > make.log 2>&1 || { tail -5 make.log >&2; exit 1; }

root=$work/root
mkdir -p "$root"/{bin,dev,proc,sys,host,modules}
cp /bin/busybox "$root/bin/busybox"
ln -s busybox "$root/bin/sh"
cp "$here/init" "$root/init"
for module in "${modules[@]}"; do
  modprobe -d tree -S "$version" --show-depends "$module" | awk '$1 == "insmod" { print $2 }'
done | awk '!seen[$0]++' | while read -r file; do
  cp "$file" "$root/modules/"
  basename "$file" >> "$root/modules/order"
done
cp "$source/v4l2loopback.ko" "$root/modules/"
echo v4l2loopback.ko >> "$root/modules/order"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$folder/initrd"
cp "tree/boot/vmlinuz-$version" "$folder/kernel"
echo "$stamp" > "$folder/made"

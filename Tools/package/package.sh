#!/usr/bin/env bash
# package.sh FOLDER: makes a Debian package of the release `sora` in FOLDER, and prints its name.
#
# The Swift runtime lies beside the program in /usr/lib/sora, where $ORIGIN in its search path finds it. What it is linked with besides are
# Debian's libraries (Depends); those that are loaded when they are used, of debian-packages.txt, are Recommends.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
here=Tools/package

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/debian/sora
Tools/install.sh "$tree/usr" > "$work/install.log" 2>&1 || { cat "$work/install.log" >&2; exit 1; }

# The program, and of what it needs that which isn't Debian's.
library=$tree/usr/lib/sora
install -d "$library"
mv "$tree/usr/bin/sora" "$library/sora"
ln -s ../lib/sora/sora "$tree/usr/bin/sora"
strip --strip-unneeded "$library/sora"
ldd "$library/sora" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | while read -r file; do
  dpkg -S "$(readlink -f "$file")" > /dev/null 2>&1 || dpkg -S "$file" > /dev/null 2>&1 || install -m 644 "$file" "$library/"
done

version=$("$library/sora" --version)
architecture=$(dpkg --print-architecture)
install -D -m 644 $here/sora.service "$tree/lib/systemd/system/sora.service"
install -d "$tree/etc/sora"
$here/conffile.sh "$library/sora" > "$tree/etc/sora/sora.conf"
chmod 644 "$tree/etc/sora/sora.conf"
install -D -m 644 LICENSE "$tree/usr/share/doc/sora/copyright"
install -m 644 Docs/operations.md Docs/nginx.conf "$tree/usr/share/doc/sora/"

# Those of Debian's packages that hold what is linked, with the versions that their symbols need.
printf 'Source: sora\nPackage: sora\nArchitecture: any\n' > "$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info -l"$library" -e"$library/sora" \
  $(find "$library" -name '*.so*' -printf '-e%p ') 2> "$work/shlibdeps.log" | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { cat "$work/shlibdeps.log" >&2; exit 1; }

# The libraries behind the -dev packages of the list's first part, as far as nothing is linked with them.
recommends=$($here/runtime_libraries.py debian-packages.txt "$depends")

install -d "$tree/DEBIAN"
cat > "$tree/DEBIAN/control" << CONTROL
Package: sora
Version: $version
Architecture: $architecture
Maintainer: Sora for Swift on Linux <sora-swift@localhost>
Section: net
Priority: optional
Installed-Size: $(du -sk "$tree" | cut -f1)
Depends: $depends
Recommends: $recommends
Description: WebRTC server compatible with the SFU Sora, and clients
 A forwarding server for video calls with signaling, TURN, recordings and an
 HTTP API, and commands that publish to it and play from it.
CONTROL
echo /etc/sora/sora.conf > "$tree/DEBIAN/conffiles"
for script in postinst prerm postrm; do install -m 755 "$here/$script" "$tree/DEBIAN/$script"; done
(cd "$tree" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)

package=$out/sora_${version}_$architecture.deb
dpkg-deb --root-owner-group -Zxz --build "$tree" "$package" > /dev/null
echo "$package"

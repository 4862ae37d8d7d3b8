#!/usr/bin/env bash
# check.sh PACKAGE.deb: checks what is in the package: files, control data, that the program runs from the unpacked tree, that the unit and
# the settings are right, and the example for nginx.
set -euo pipefail
package=$(readlink -f "$1")
cd "$(dirname "$0")/../.."
fail() { echo "check.sh: $*" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dpkg-deb -c "$package" > "$work/contents"
for file in ./usr/bin/sora ./usr/lib/sora/sora ./lib/systemd/system/sora.service ./etc/sora/sora.conf \
  ./usr/share/doc/sora/copyright ./usr/share/bash-completion/completions/sora; do
  grep -q " $file\( ->.*\)\?$" "$work/contents" || fail "$file isn't in the package"
done
if awk '$2 != "root/root"' "$work/contents" | grep -q .; then fail "not all files are root's"; fi

dpkg-deb --info "$package" > "$work/info"
for field in Version Architecture Depends Recommends; do
  grep -q "^ $field: ." "$work/info" || fail "control has no $field"
done
for library in libc6 libssl; do grep -q "^ Depends:.*$library" "$work/info" || fail "Depends has no $library"; done
for library in libvpx libopus; do grep -Eq "^ (Depends|Recommends):.*$library" "$work/info" || fail "$library is missing"; done

dpkg-deb -x "$package" "$work/tree"
# Each library that is needed is in the package, or one of Debian's.
for file in "$work/tree/usr/lib/sora/"*; do
  readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
done | sort -u | while read -r library; do
  [ -e "$work/tree/usr/lib/sora/$library" ] || dpkg -S "*/$library" > /dev/null 2>&1 || fail "nothing has $library"
done
"$work/tree/usr/bin/sora" --version > /dev/null
"$work/tree/usr/bin/sora" serve --config "$work/tree/etc/sora/sora.conf" --check-config > /dev/null

if command -v systemd-analyze > /dev/null; then
  # It looks for the program at its place: here that is another.
  sed "s|^ExecStart=/usr/bin/sora|ExecStart=$work/tree/usr/bin/sora|" "$work/tree/lib/systemd/system/sora.service" > "$work/sora.service"
  systemd-analyze verify --man=no "$work/sora.service" 2>&1 | grep -i 'sora\.service' && fail "the unit is wrong"
fi

if command -v nginx > /dev/null; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=sora.example.com -days 2 \
    -keyout "$work/key.pem" -out "$work/cert.pem" 2> /dev/null
  sed "s|/etc/ssl/sora/|$work/|" Docs/nginx.conf > "$work/site.conf"
  printf 'pid %s/pid; error_log stderr; events {}\nhttp { access_log off; include %s/site.conf; }\n' "$work" "$work" > "$work/nginx.conf"
  nginx -t -q -c "$work/nginx.conf" || fail "nginx doesn't take Docs/nginx.conf"
else
  echo "check.sh: there is no nginx here: its example isn't checked"
fi
echo "$(basename "$package") is right"

#!/usr/bin/env bash
# check.sh PACKAGE.deb: checks what is in the package: files, control data, that the program runs from the unpacked tree, that the unit and
# the settings are right, and that a call goes through the example for nginx.
set -euo pipefail
package=$(readlink -f "$1")
cd "$(dirname "$0")/../.."
fail() { echo "check.sh: $*" >&2; exit 1; }

work=$(mktemp -d)
started=()
stop() {
  local pid
  for pid in "${started[@]}"; do kill "$pid" 2> /dev/null && wait "$pid" 2> /dev/null || true; done
  rm -rf "$work"
}
trap stop EXIT

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

# A call behind the example: nginx has the certificate and carries signaling, media go past it.
behind_nginx() {
  local sora=$work/tree/usr/bin/sora url port
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=sora.example.com -days 2 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$work/key.pem" -out "$work/cert.pem" 2> /dev/null
  sed "s|/etc/ssl/sora/|$work/|" Docs/nginx.conf > "$work/site.conf"
  printf 'pid %s/pid; error_log stderr; events {}\nhttp { access_log off; include %s/site.conf; }\n' "$work" "$work" > "$work/nginx.conf"
  nginx -t -q -c "$work/nginx.conf" || fail "nginx doesn't take Docs/nginx.conf"

  : > "$work/serve.log"
  "$sora" serve --host 127.0.0.1 --port 0 --json > "$work/serve.log" 2> "$work/errors" &
  started+=($!)
  port=$(timeout 20 grep -m 1 '"type":"ready"' < <(tail --pid=$! -n +1 -f "$work/serve.log") \
    | sed -E 's/.*"port":([0-9]+).*/\1/')
  [ -n "$port" ] || fail "the server doesn't start: $(cat "$work/errors")"
  local outside
  outside=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  sed -i -e "s|127.0.0.1:5000|127.0.0.1:$port|" -e "s|listen 443 ssl|listen 127.0.0.1:$outside ssl|" "$work/site.conf"
  nginx -c "$work/nginx.conf" -g 'daemon off;' 2> "$work/errors" &
  started+=($!)
  url=wss://127.0.0.1:$outside/signaling
  timeout 20 bash -c "until curl -s -o /dev/null --cacert '$work/cert.pem' 'https://127.0.0.1:$outside/'; do sleep 0.1; done" \
    || fail "nginx doesn't start: $(cat "$work/errors")"
  "$sora" publish "$url" --ca "$work/cert.pem" --channel sora --duration 60 > /dev/null 2> "$work/published" &
  started+=($!)
  "$sora" play "$url" --ca "$work/cert.pem" --channel sora --duration 2 --timeout 20 > /dev/null 2> "$work/played" \
    || fail "no call behind nginx: $(cat "$work/published" "$work/played")"
}

if command -v nginx > /dev/null; then
  behind_nginx
else
  echo "check.sh: there is no nginx here: its example isn't checked"
fi
echo "$(basename "$package") is right"

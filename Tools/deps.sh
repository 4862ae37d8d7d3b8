#!/usr/bin/env bash
# Installs the packages of debian-packages.txt that are missing. Says nothing when there are none.
set -euo pipefail
cd "$(dirname "$0")/.."

mapfile -t wanted < <(sed 's/#.*//' debian-packages.txt | tr -s '[:space:]' '\n' | grep .)
if ! command -v dpkg-query > /dev/null; then
  echo "make deps knows Debian and its relatives only. Install what these packages hold: ${wanted[*]}" >&2
  exit 1
fi

# dpkg-query fails when it doesn't know one of the names, and still prints the others.
installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2> /dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qx "$package installed" <<< "$installed" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  if ! command -v sudo > /dev/null; then
    echo "missing: ${missing[*]}. Neither root nor sudo: install them, then try again" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null

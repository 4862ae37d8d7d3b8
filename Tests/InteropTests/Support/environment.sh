#!/bin/sh
# environment.sh FOLDER [REQUIREMENTS]: makes the peers' Python virtual environment, once; prints its interpreter's path.
# A stamp holds the requirements it was made from, so that later calls cost nothing and a change makes it anew.
set -eu
folder=$1
requirements=${2:-$(dirname "$0")/requirements.txt}
wanted="$(python3 --version) $(sha256sum < "$requirements")"

mkdir -p "$(dirname "$folder")"
exec 9> "$folder.lock"
flock 9
if [ "$(cat "$folder/stamp" 2> /dev/null || true)" != "$wanted" ]; then
  rm -rf "$folder"
  python3 -m venv "$folder" >&2
  "$folder/bin/pip" --disable-pip-version-check install --quiet -r "$requirements" >&2
  printf '%s\n' "$wanted" > "$folder/stamp"
fi
printf '%s\n' "$folder/bin/python3"

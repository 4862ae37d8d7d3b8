#!/usr/bin/env bash
# Publishes and plays each video codec at default settings, one after another, and prints one table. See README.md.
#   SORA               the command to measure; by default the release build's, which is built if it isn't there
#   REALTIME_SECONDS   what is measured of each call (15), after REALTIME_WARMUP seconds (5)
#   REALTIME_CODECS    which, and at another size where one is named (VP8 VP9 H264 AV1 H265 H265:640x360)
#   REALTIME_FOLDER    where logs and results go (.build/realtime)
set -euo pipefail
cd "$(dirname "$0")/.."

sora=${SORA:-.build/release/sora}
if [ ! -x "$sora" ]; then
  if [ -n "${SORA:-}" ]; then
    echo "realtime: SORA=$sora is no command" >&2
    exit 1
  fi
  Tools/product.sh sora
fi
read -r -a codecs <<< "${REALTIME_CODECS:-VP8 VP9 H264 AV1 H265 H265:640x360}"
seconds=${REALTIME_SECONDS:-15}
warmup=${REALTIME_WARMUP:-5}
folder=${REALTIME_FOLDER:-.build/realtime}

mkdir -p "$folder"
# Bounded: a call's start and end may each take half a minute.
limit=$((60 + ${#codecs[@]} * (seconds + warmup + 60)))
exec timeout --kill-after=10 "$limit" Tests/InteropTests/Support/namespace.sh \
  python3 -B Benchmarks/realtime.py --sora "$sora" --folder "$folder" \
  --seconds "$seconds" --warmup "$warmup" "${codecs[@]}"

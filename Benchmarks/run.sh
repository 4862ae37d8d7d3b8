#!/usr/bin/env bash
# Measures this SDK beside the official one (sora_sdk, libwebrtc): the same call and server, in turns. See README.md.
#   SORA           the command to measure; by default the release build's, which is built if it isn't there
#   BENCH_SECONDS  what is measured of each call (20), after BENCH_WARMUP seconds (8)
#   BENCH_ROUNDS   calls of each (3)
#   BENCH_FOLDER   where logs and results go (.build/bench)
set -euo pipefail
cd "$(dirname "$0")/.."

sora=${SORA:-.build/release/sora}
if [ ! -x "$sora" ]; then
  if [ -n "${SORA:-}" ]; then
    echo "bench: SORA=$sora is no command" >&2
    exit 1
  fi
  Tools/product.sh sora
fi
Tools/product.sh ConnectAgain
seconds=${BENCH_SECONDS:-20}
warmup=${BENCH_WARMUP:-8}
rounds=${BENCH_ROUNDS:-3}
folder=${BENCH_FOLDER:-.build/bench}

support=Tests/InteropTests/Support
python=$("$support/environment.sh" .build/interop-venv)
mkdir -p "$folder"
# Bounded: a call's start and end may each take half a minute, and the pictures are drawn once.
limit=$((60 + rounds * 2 * (seconds + warmup + 60)))
exec timeout --kill-after=10 "$limit" "$support/namespace.sh" \
  "$python" Benchmarks/side_by_side.py --sora "$sora" --connector .build/release/ConnectAgain --folder "$folder" \
  --seconds "$seconds" --warmup "$warmup" --rounds "$rounds"

#!/usr/bin/env bash
# Publishes over bad links with this SDK, the official one and Chromium, in turns. See ../README.md.
#   LINK_SECONDS, LINK_WARMUP  what is measured of each call, and what passes before (15, 6)
#   LINK_MAKES                 who publishes (ours,sora_sdk,Chromium)
#   LINK_CASES                 over which links, by name, between semicolons (all)
set -euo pipefail
cd "$(dirname "$0")/../.."

"${SWIFT:-swift}" build -c release --product sora
"${SWIFT:-swift}" build -c release --product LinkEmulator
seconds=${LINK_SECONDS:-15}
warmup=${LINK_WARMUP:-6}
support=Tests/InteropTests/Support
python=$("$support/environment.sh" .build/interop-venv)
# Bounded: 21 calls.
limit=$((60 + 21 * (seconds + warmup + 40)))
exec timeout --kill-after=10 "$limit" "$support/namespace.sh" \
  "$python" -B Benchmarks/Links/links.py --sora .build/release/sora --emulator .build/release/LinkEmulator \
  --folder "${BENCH_FOLDER:-.build/bench-links}" --seconds "$seconds" --warmup "$warmup" \
  ${LINK_MAKES:+--makes "$LINK_MAKES"} ${LINK_CASES:+--links "$LINK_CASES"}

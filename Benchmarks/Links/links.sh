#!/usr/bin/env bash
# Calls over bad links with this SDK, the official one and Chromium, in turns. See ../README.md.
#   LINK_SECONDS, LINK_WARMUP  what is measured of each call, and what passes before (15, 6)
#   LINK_KBPS                  of the video at most (2500)
#   LINK_MAKES                 who publishes and plays (ours,sora_sdk,Chromium); Chromium:ours is a publisher and another player;
#                              ours:prompt a player with --jitter-buffer-target 0
#   LINK_CASES                 over which links, by name, between semicolons (all)
#   LINK_SIDES                 whose link is bad: publisher, player, both, or several of them between commas (publisher)
#   SORA                       the command to measure; by default the release build's, which is built if it isn't there
#   BENCH_FOLDER               where logs, table.md and results.json go (.build/bench-links)
set -euo pipefail
cd "$(dirname "$0")/../.."

sora=${SORA:-.build/release/sora}
emulator=.build/release/LinkEmulator
if [ ! -x "$sora" ]; then
  if [ -n "${SORA:-}" ]; then
    echo "bench-links: SORA=$sora is no command" >&2
    exit 1
  fi
  Tools/product.sh sora
fi
if [ ! -x "$emulator" ]; then Tools/product.sh LinkEmulator; fi
seconds=${LINK_SECONDS:-15}
warmup=${LINK_WARMUP:-6}
support=Tests/InteropTests/Support
python=$("$support/environment.sh" .build/interop-venv)
# Bounded: 21 calls and three sides at most.
limit=$((60 + 63 * (seconds + warmup + 40)))
exec timeout --kill-after=10 "$limit" "$support/namespace.sh" \
  "$python" -B Benchmarks/Links/links.py --sora "$sora" --emulator "$emulator" \
  --folder "${BENCH_FOLDER:-.build/bench-links}" --seconds "$seconds" --warmup "$warmup" --kbps "${LINK_KBPS:-2500}" \
  ${LINK_MAKES:+--makes "$LINK_MAKES"} ${LINK_CASES:+--links "$LINK_CASES"} ${LINK_SIDES:+--sides "$LINK_SIDES"}

#!/usr/bin/env bash
# Measures how long two peers take from the offer until both are connected: ours, aiortc, and each with the other. See
# README.md.
#   PEER         the peer of tests to measure; by default the release build's
#   CONNECTIONS  of each pair (50)
set -euo pipefail
cd "$(dirname "$0")/.."

peer=${PEER:-.build/release/InteropPeer}
if [ -z "${PEER:-}" ]; then
  Tools/product.sh InteropPeer
fi
support=Tests/InteropTests/Support
python=$("$support/environment.sh" .build/interop-venv)
exec timeout --kill-after=10 300 "$support/namespace.sh" \
  "$python" -B Benchmarks/connecting.py --peer "$peer" --connections "${CONNECTIONS:-50}"

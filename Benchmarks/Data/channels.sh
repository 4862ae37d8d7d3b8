#!/usr/bin/env bash
# Measures data channels beside other whole stacks. See ../README.md.
#   CHANNEL_SECONDS  what each transfer takes, more or less (3)
#   CHANNEL_MAKES    who is measured (ours,Chromium,aiortc)
#   CHANNEL_DELAYS   of the path between the ends, one after the other: ms each way, 0 for loopback ("0 30")
#   BENCH_ROUNDS     of each (5)
#   BENCH_FOLDER     where logs go (.build/bench-channels)
set -euo pipefail
cd "$(dirname "$0")/../.."

Tools/product.sh InteropPeer LinkEmulator
rounds=${BENCH_ROUNDS:-5}
seconds=${CHANNEL_SECONDS:-3}
support=Tests/InteropTests/Support
python=$("$support/environment.sh" .build/interop-venv)
# Bounded: a pair makes six transfers, and some take longer than they should.
limit=$((120 + rounds * 3 * (30 + 12 * ${seconds%.*})))
for delay in ${CHANNEL_DELAYS:-0 30}; do
  timeout --kill-after=10 "$limit" "$support/namespace.sh" \
    "$python" -B Benchmarks/Data/channels.py --peer .build/release/InteropPeer --emulator .build/release/LinkEmulator \
    --folder "${BENCH_FOLDER:-.build/bench-channels}" \
    --seconds "$seconds" --rounds "$rounds" --makes "${CHANNEL_MAKES:-ours,Chromium,aiortc}" --delay "$delay"
done

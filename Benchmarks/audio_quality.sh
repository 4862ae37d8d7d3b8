#!/usr/bin/env bash
# Plays speech over bad networks to this SDK and to others, the same packets at the same times, and scores what is heard. See README.md.
#   AUDIO_SEGMENTS  speech of 8 s each (6)
#   AUDIO_POINTS    all, or short
#   AUDIO_PEERS     virtual,ours,official,aiortc,chromium (all of them)
#   AUDIO_FOLDER    where traces, what was heard and results go (.build/audio-quality)
set -euo pipefail
cd "$(dirname "$0")/.."

Tools/product.sh AudioTrace AudioTracePeers
folder=${AUDIO_FOLDER:-.build/audio-quality}
mkdir -p "$folder"
python=$(Tests/InteropTests/Support/environment.sh .build/audio-venv Benchmarks/Audio/requirements.txt)
exec timeout --kill-after=10 1500 Tests/InteropTests/Support/namespace.sh \
  "$python" -B Benchmarks/Audio/scorecard.py --programs .build/release --folder "$folder" \
  --segments "${AUDIO_SEGMENTS:-6}" --points "${AUDIO_POINTS:-all}" --peers "${AUDIO_PEERS:-virtual,ours,official,aiortc,chromium}"

#!/usr/bin/env bash
# Measures from mouth to ear through a PulseAudio server with null sinks: this SDK, and others, at once. See README.md.
#   SOUND_SECONDS  how long (60); 600 for the soak
#   SOUND_PEERS    ours,official,chromium (all)
#   SOUND_FOLDER   where logs go (.build/sound)
set -euo pipefail
cd "$(dirname "$0")/.."

Tools/product.sh sora SoundPerson
seconds=${SOUND_SECONDS:-60}
folder=${SOUND_FOLDER:-.build/sound}
mkdir -p "$folder"
python=$(Tests/InteropTests/Support/environment.sh .build/audio-venv Benchmarks/Audio/requirements.txt)
# The socket's path has to be short.
exec timeout --kill-after=10 $((seconds + 120)) Tests/InteropTests/Support/namespace.sh \
  "$python" -B Benchmarks/Audio/sound.py --programs .build/release --folder "$(realpath "$folder")" \
  --seconds "$seconds" --peers "${SOUND_PEERS:-ours,official,chromium}"

"""Speech for the audio scorecard: sentences of espeak-ng's voices, and recordings of Allison Smith from Debian's Asterisk package."""

import pathlib
import subprocess

import numpy as np
import soundfile

RATE = 48000
SECONDS = 8  # of each voice; what PESQ is made for
RECORDINGS = pathlib.Path("/usr/share/asterisk/sounds/en_US_f_Allison")
# Harvard sentences (IEEE, 1969).
SENTENCES = [
    "The birch canoe slid on the smooth planks. Glue the sheet to the dark blue background. It is easy to tell the depth of a well.",
    "These days a chicken leg is a rare dish. Rice is often served in round bowls. The juice of lemons makes fine punch.",
    "The box was thrown beside the parked truck. The hogs were fed chopped corn and garbage. Four hours of steady work faced us.",
]
VOICES = ["en-us+m3", "en-gb+f2", "en-gb+m1"]


def decode(arguments, target):
    subprocess.run(["ffmpeg", "-nostdin", "-loglevel", "error", "-y", *arguments, "-ar", str(RATE), "-ac", "1", target], check=True)
    return soundfile.read(target)[0]


def segment(samples):
    """8 s that begin with 0.3 s of silence, at one loudness."""
    room = np.zeros(SECONDS * RATE)
    start = int(0.3 * RATE)
    samples = samples[: len(room) - start - int(0.2 * RATE)]
    loud = samples[np.abs(samples) > 0.01]
    room[start : start + len(samples)] = samples * (0.1 / np.sqrt(np.mean(loud**2)))
    return np.clip(room, -0.99, 0.99)


def make(folder, count):
    """Writes `speech.wav` with `count` segments; returns it as an array."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for index, (voice, text) in enumerate(zip(VOICES, SENTENCES)):
        spoken = folder / f"voice{index}.wav"
        subprocess.run(["espeak-ng", "-v", voice, "-s", "150", "-w", spoken, text], check=True)
        sources.append(decode(["-i", spoken], folder / "decoded.wav"))
    for name, start in [("demo-instruct", 2), ("basic-pbx-ivr-main", 1), ("demo-congrats", 3)]:
        recording = RECORDINGS / f"{name}.g722"
        if recording.exists():
            sources.append(decode(["-f", "g722", "-i", recording], folder / "decoded.wav")[start * RATE :])
    # In turns, so that a short run has a recording as well.
    order = [0, 3, 1, 4, 2, 5] if len(sources) == 6 else list(range(len(sources)))
    samples = np.concatenate([segment(sources[order[index % len(order)]]) for index in range(count)])
    soundfile.write(folder / "speech.wav", samples, RATE, subtype="PCM_16")
    return samples

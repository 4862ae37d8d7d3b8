"""Plays speech over bad networks to our SDK and to others, the same packets at the same times, and scores what each made of them.

scorecard.py --programs FOLDER --folder FOLDER [--segments N] [--together N] [--points short|all] [--peers ours,official,...]
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import soundfile

import scores
import speech

here = pathlib.Path(__file__).resolve().parent
NAMES = {"virtual": "ours, virtual time", "ours": "ours", "official": "libwebrtc", "aiortc": "aiortc", "chromium": "Chromium"}


class Point:
    def __init__(self, loss, burst, jitter, protection):
        self.loss, self.burst, self.jitter, self.protection = loss, burst, jitter, protection
        shape = "b" if burst > 1 else "r"
        self.name = f"l{loss}{shape}-j{jitter}-{protection}"

    def options(self, seed):
        options = ["--loss", str(self.loss / 100), "--burst", str(self.burst), "--jitter", str(self.jitter), "--seed", str(seed)]
        return options + {"none": [], "FEC": ["--fec"], "RED": ["--red", "1"]}[self.protection]

    @property
    def network(self):
        words = [f"{self.loss} %" + ("" if self.loss == 0 else " bursts" if self.burst > 1 else " random")]
        return ", ".join(words + ([f"jitter {self.jitter} ms"] if self.jitter else []))


def points(which):
    if which == "short":
        return [Point(10, 1, 0, "FEC")]
    found = []
    for protection in ["none", "FEC", "RED"]:
        found.append(Point(0, 1, 0, protection))
        for loss in [5, 10, 20, 30]:
            found += [Point(loss, 1, 0, protection), Point(loss, 3, 0, protection)]
        found += [Point(0, 1, 100, protection), Point(10, 1, 100, protection)]
    return found


def timeline(folder, name, start, seconds):
    """What was heard, from the time at which the first packet was sent on."""
    samples = np.frombuffer((folder / f"{name}.raw").read_bytes(), "<i2").astype(np.float64) / 32768
    blocks = np.loadtxt(folder / f"{name}.times", dtype=np.int64, ndmin=2)
    if len(blocks) == 0:
        return np.zeros(0)
    # Callbacks are late by chance, and a loudspeaker plays evenly: the middle one tells when the first sample came out. What is left
    # out of a silence before the first packet comes as a leap of the clock.
    during = blocks[(blocks[:, 1] > start) & (blocks[:, 1] < start + seconds * 1_000_000_000)]
    if len(during) == 0:
        return np.zeros(0)
    origin = np.median(during[:, 1] - during[:, 0] * (1_000_000_000 / speech.RATE))
    first = int(round((start - origin) * speech.RATE / 1_000_000_000))
    return samples[first:] if first >= 0 else np.concatenate([np.zeros(-first), samples])


class Program:
    def __init__(self, command, log):
        self.process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=open(log, "w"), text=True)
        self.log = log

    def line(self, beginning):
        for line in self.process.stdout:
            if line.startswith("refused"):
                print(f"{self.log}: {line.strip()}", file=sys.stderr)
            if line.startswith(beginning):
                return line.strip()
        sys.exit(f"{self.process.args[0]} has ended: see {self.log}")

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def receiver(peer, programs, folder, url, names, python):
    if peer == "ours":
        return [programs / "AudioTracePeers", "receive", url, folder, *names]
    return [python, here / f"{peer}_receiver.py", url, folder, *names]


def play(batch, peers, options, seconds):
    """All points of a batch at once."""
    traces = options.folder / "traces"
    server = Program([options.programs / "AudioTracePeers", "serve", options.address, traces], options.folder / "server.log")
    url = server.line("ws://")
    names = [point.name for point in batch]
    clients = []
    for peer in peers:
        folder = options.folder / peer
        folder.mkdir(exist_ok=True)
        clients.append(Program(receiver(peer, options.programs, folder, url, names, options.python), folder / "log"))
    for client in clients:
        client.line("ready")
    server.process.stdin.write("\n")
    server.process.stdin.flush()
    start = int(server.line("start ").split()[1])
    time.sleep(seconds + 3)
    for client in clients:
        client.end()
    server.end()
    return start


scorer = None


def prepare(reference):
    global scorer
    scorer = scores.Scorer(soundfile.read(reference)[0])


def score(task):
    kind, folder, name, start, seconds = task
    heard = soundfile.read(folder / f"{name}.wav")[0] if kind == "virtual" else timeline(folder, name, start, seconds)
    return scorer.score(heard)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--address", default="10.99.0.1")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--segments", type=int, default=6)
    parser.add_argument("--together", type=int, default=11)
    parser.add_argument("--points", default="all")
    parser.add_argument("--peers", default="ours,official")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    peers = options.peers.split(",")
    live = [peer for peer in peers if peer != "virtual"]
    (options.folder / "traces").mkdir(parents=True, exist_ok=True)
    (options.folder / "virtual").mkdir(exist_ok=True)
    seconds = len(speech.make(options.folder, options.segments)) / speech.RATE
    chosen = points(options.points)
    for point in chosen:
        subprocess.run(
            [options.programs / "AudioTrace", options.folder / "speech.wav", *point.options(options.seed),
             "--trace", options.folder / "traces" / f"{point.name}.trace",
             "--output", options.folder / "virtual" / f"{point.name}.wav"], check=True, stdout=subprocess.DEVNULL)
    tasks, keys = [], []
    for first in range(0, len(chosen), options.together):
        batch = chosen[first : first + options.together]
        start = play(batch, live, options, seconds) if live else 0
        for point in batch:
            for peer in peers:
                tasks.append((peer, options.folder / peer, point.name, start, seconds))
                keys.append((point, peer))
    results = {}
    with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), initializer=prepare, initargs=(options.folder / "speech.wav",)) as pool:
        for (point, peer), result in zip(keys, pool.map(score, tasks)):
            results.setdefault(point, {})[peer] = result
            print(f"{point.name} {peer}: {result}", file=sys.stderr, flush=True)
    (options.folder / "results.json").write_text(json.dumps({point.name: value for point, value in results.items()}, indent=1))
    print(table(results, peers))


def number(value, digits):
    return "–" if value is None else f"{value:.{digits}f}"


MEASURES = [("PESQ", "pesq", 2), ("ViSQOL", "visqol", 2), ("Delay (ms)", "delay", 0)]


def table(results, peers):
    """A table a measure, with a row a point, and how many of the points ours wins."""
    lines = []
    for title, what, digits in MEASURES:
        lines += [f"{title}:", "", "| network | protection | " + " | ".join(NAMES[peer] for peer in peers) + " |", "|---|---|" + "--:|" * len(peers)]
        for point, values in results.items():
            cells = [number(values[peer][what], digits) for peer in peers]
            lines.append(f"| {point.network} | {point.protection} | " + " | ".join(cells) + " |")
        known = {peer: [values[peer][what] for values in results.values() if values[peer][what] is not None] for peer in peers}
        mean = [number(np.mean(known[peer]) if known[peer] else None, digits) for peer in peers]
        lines += ["| mean | | " + " | ".join(mean) + " |", ""]
    ours = "ours" if "ours" in peers else "virtual"
    for peer in peers:
        if peer in ("ours", "virtual"):
            continue
        def wins(what, sign):
            return sum(1 for values in results.values()
                       if None not in (values[ours][what], values[peer][what]) and sign * (values[ours][what] - values[peer][what]) >= 0)
        lines += [f"Of {len(results)} points, ours is at or above {NAMES[peer]} in {wins('pesq', 1)} by PESQ and in "
                  f"{wins('visqol', 1)} by ViSQOL, at no higher delay in {wins('delay', -1)}.", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    main()

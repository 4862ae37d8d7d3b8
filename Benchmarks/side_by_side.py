"""Runs the same call with this SDK and with the official one, in turns, and prints what each needed. See README.md."""

import argparse
import json
import os
import signal
import statistics
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../Tests/InteropTests/Peers"))

import pictures  # noqa: E402
from harness import World  # noqa: E402
from processes import Watched, cpu_seconds, frames, machine_seconds, processor  # noqa: E402

KBPS = 2500
# Of a player, in each call.
CONNECTIONS = 3
# Of a publisher, in one process.
AGAIN = 6


class Side:
    """Who publishes and plays."""

    def __init__(self, world, name, y4m, arrays, connector):
        self.world, self.name, self.connector = world, name, connector
        self.y4m, self.arrays = y4m, arrays

    def publish(self, channel):
        if self.name == "ours":
            return self.world.tool(
                "publish", channel, "--video", self.y4m, "--video-codec", "VP8", "--video-bit-rate", str(KBPS),
                name=f"{channel}-publish")
        return self.official("publish", channel, self.arrays)

    def play(self, channel, name="play"):
        if self.name == "ours":
            return self.world.tool("play", channel, "--video-codec", "VP8", name=f"{channel}-{name}")
        return self.official("play", channel, name=name)

    def connect(self, channel):
        """A publisher that connects `AGAIN` times."""
        if self.name == "ours":
            command = [self.connector, self.world.url, channel, str(KBPS), str(AGAIN)]
            return self.world.start(f"{channel}-connect", command)
        return self.official("connect", channel, str(AGAIN))

    def official(self, role, channel, *more, name=None):
        command = [sys.executable, os.path.join(here, "official_peer.py"), role, self.world.url, channel, str(KBPS)]
        return self.world.start(f"{channel}-{name or role}", command + list(more))


def reading_milliseconds(y4m):
    """CPU for each picture that is read from the file, as `sora publish` does."""
    buffer = bytearray(pictures.WIDTH * pictures.HEIGHT * 3 // 2)
    with open(y4m, "rb", buffering=0) as file:
        before = time.process_time()
        for _ in range(pictures.COUNT):
            file.readinto(buffer)
        return 1000 * (time.process_time() - before) / pictures.COUNT


def call(world, server, side, number, seconds, warmup):
    """One call; what was measured."""
    channel = f"{side.name}-{number}"
    publisher = side.publish(channel)
    publisher.wait_for("sent picture", lambda: frames(publisher), 30)
    player = side.play(channel)
    player.wait_for("received picture", lambda: frames(player), 30)
    time.sleep(warmup)
    machine = machine_seconds()
    watched = {
        "publish": Watched(publisher, side.arrays if side.name == "official" else None),
        "play": Watched(player), "serve": Watched(server),
    }
    own = sum(one.cpu for one in watched.values())
    time.sleep(seconds)
    machine = machine_seconds() - machine
    own = sum(cpu_seconds(one.pid) for one in watched.values()) - own
    result = {name: one.finish() for name, one in watched.items()}
    feeding = publisher.last("feeding")
    result["publish"]["feeding"] = feeding["ms"] if feeding else reading_milliseconds(side.y4m)
    result["connections"] = [[result["play"].get("connect"), result["play"].get("first frame")]]
    result["others"] = max(0, machine - own) / seconds
    player.finish()
    # More connections, because one differs much from another.
    for again in range(CONNECTIONS - 1):
        player = side.play(channel, f"play-again-{again + 1}")
        player.wait_for("received picture", lambda: frames(player), 30)
        line = player.last("stats")
        result["connections"].append([line["connectMs"], line["firstFrameMs"]])
        player.finish()
    publisher.finish()
    connector = side.connect(f"{channel}-again")
    connector.wait_for("all connections", lambda: len(connector.messages("connection")) == AGAIN, 60)
    first, *again = [line["connectMs"] for line in connector.messages("connection")]
    result["running"] = {"first": first, "again": statistics.median(again)}
    connector.finish()
    return result


ROWS = [
    ("play", "first frame", "connect to first frame, player", "ms"),
    ("play", "connect", "connect, player", "ms"),
    ("running", "first", "connect, publisher in an app that runs, first", "ms"),
    ("running", "again", "  again", "ms"),
    ("publish", "connect", "connect, publisher, process just started", "ms"),
    ("publish", "cpu", "CPU a minute, publisher", "s"),
    ("play", "cpu", "CPU a minute, player", "s"),
    ("serve", "cpu", "CPU a minute, `sora serve`", "s"),
    ("publish", "per frame", "CPU a frame sent, publisher", "ms"),
    ("publish", "feeding", "  of it: reading or converting a picture", "ms"),
    ("play", "per frame", "CPU a frame decoded, player", "ms"),
    ("publish", "resident", "resident memory, publisher", "MB"),
    ("publish", "peak", "  at most", "MB"),
    ("publish", "private", "private memory, publisher", "MB"),
    ("play", "resident", "resident memory, player", "MB"),
    ("play", "peak", "  at most", "MB"),
    ("play", "private", "private memory, player", "MB"),
    ("publish", "frames", "frames sent", ""),
    ("play", "frames", "frames decoded", ""),
    ("publish", "fps", "frames a second, sent", "fps"),
    ("play", "fps", "frames a second, decoded", "fps"),
    ("publish", "kbps", "video bit rate, sent", "kbit/s"),
    ("play", "kbps", "video bit rate, received", "kbit/s"),
]


# Where they are in `connections`.
CONNECTION = {"connect": 0, "first frame": 1}


def text(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def table(results):
    """Lines: the medians of both sides and their ratio."""
    lines = ["| | ours | official | ours / official |", "|---|--:|--:|--:|"]
    for who, what, title, unit in ROWS:
        medians = []
        for side in ("ours", "official"):
            values = [result[who].get(what) for result in results[side]]
            if who == "play" and what in CONNECTION:
                values = [pair[CONNECTION[what]] for result in results[side] for pair in result["connections"]]
            values = [value for value in values if value is not None]
            medians.append(statistics.median(values) if values else None)
        ours, official = medians
        ratio = f"{ours / official:.2f}" if ours is not None and official else "-"
        cells = [text(ours), text(official)]
        lines.append(f"| {title}{f' ({unit})' if unit else ''} | {cells[0]} | {cells[1]} | {ratio} |")
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sora", required=True)
    parser.add_argument("--connector", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--warmup", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.stdout.reconfigure(line_buffering=True)
    y4m, arrays = pictures.write(options.folder)
    world = World(options.sora, options.folder)
    results, problems = {"ours": [], "official": []}, []
    try:
        server = world.serve()
        for number in range(1, options.rounds + 1):
            for name in results:
                try:
                    side = Side(world, name, y4m, arrays, options.connector)
                    result = call(world, server, side, number, options.seconds, options.warmup)
                except Exception as error:  # noqa: BLE001 - a call that fails costs its round only
                    problems.append(f"{name}, round {number}: {error}")
                    print(f"bench: {problems[-1]}", file=sys.stderr)
                    if not server.alive():
                        raise
                    continue
                finally:
                    for process in world.processes[1:]:
                        process.end()
                    del world.processes[1:]
                results[name].append(result)
                print(
                    f"{name} {number}/{options.rounds}: publish {result['publish']['cpu']:.1f}, play "
                    f"{result['play']['cpu']:.1f} s of CPU a minute, {result['play'].get('fps', 0):.1f} fps, "
                    f"first frame {result['play'].get('first frame')} ms; "
                    f"others on the machine: {result['others']:.2f} cores")
    finally:
        world.end()
    print()
    print("\n".join(table(results)))
    sizes = sorted({result["play"].get("size") for side in results.values() for result in side} - {None})
    others = [result["others"] for side in results.values() for result in side]
    print(
        f"\nMedians of {options.rounds} calls each, {options.seconds:.0f} s of each after {options.warmup:.0f} s; "
        f"{', '.join(sizes)} at {pictures.RATE} fps, VP8 at {KBPS} kbit/s, Opus; {os.cpu_count()} cores, {processor()}."
    )
    for name, side in results.items():
        firsts = sorted(pair[1] for result in side for pair in result["connections"] if pair[1] is not None)
        if firsts:
            print(f"Connect to first frame, {name}: {', '.join(map(str, firsts))} ms.")
    if others:
        print(f"Other processes used {min(others):.2f} to {max(others):.2f} cores meanwhile.")
    with open(os.path.join(options.folder, "results.json"), "w") as file:
        json.dump({"results": results, "problems": problems}, file, indent=1)
    # Slowness is no failure; a side of which no media came is.
    dead = [
        name for name, side in results.items()
        if not any(result["play"].get("frames") for result in side)]
    for name in dead:
        print(f"bench: no media came of {name}", file=sys.stderr)
    sys.stdout.flush()
    os._exit(1 if dead else 0)


main()

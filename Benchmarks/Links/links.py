"""Calls over bad links: this SDK, the official one (libwebrtc) and Chromium publish over the same link in turns, through the same server, and
each plays what its own kind publishes. See README.md."""

import argparse
import json
import os
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "../..")
sys.path[:0] = [os.path.join(here, ".."), os.path.join(root, "Tests/InteropTests/Peers")]

from harness import World  # noqa: E402
from harness.namespaces import Further, Link  # noqa: E402
from link.calls import Meter  # noqa: E402
from processes import machine_seconds, processor  # noqa: E402

# Whole macroblocks: the official SDK leaves out what goes beyond them.
WIDTH, HEIGHT, RATE = 960, 544, 30
SIZE = [str(WIDTH), str(HEIGHT)]
PATH = {"delayMs": 25, "queueMs": 300}
# What the link does, both ways; of a staircase what it becomes, each for an equal part of the time.
LINKS = {
    "1 % lost": [{**PATH, "loss": 0.01}], "5 % lost": [{**PATH, "loss": 0.05}], "10 % lost": [{**PATH, "loss": 0.1}],
    "500 kbit/s": [{**PATH, "kbps": 500}], "2 Mbit/s": [{**PATH, "kbps": 2000}],
    "100 ms of jitter": [{**PATH, "delayMs": 60, "jitterMs": 100}],
    "3, 0.7, 3 Mbit/s": [{**PATH, "kbps": kbps} for kbps in (3000, 700, 3000)],
}
MAKES = ("ours", "sora_sdk", "Chromium")
# A player of ours that shows each picture as soon as it can be decoded.
PROMPT = "prompt"
# Whose link is bad.
SIDES = {"publisher": ["publisher"], "player": ["player"], "both": ["publisher", "player"]}


class Lab:
    """A server between two links: publishers are behind one, players behind the other."""

    def __init__(self, world, kbps):
        self.world = world
        # What the video has at most.
        self.kbps = str(kbps)
        first = Link(world)
        publishers, middle = first.hosts
        second = Further(world, middle)
        self.links = {"publisher": first, "player": second}
        self.hosts = {"publisher": publishers, "player": second.hosts[1]}
        server = world.start("serve", [world.sora, "serve", "--host", "0.0.0.0", "--port", "0", "--json"], namespace=middle)
        port = server.wait_for("readiness", lambda: server.last("ready"))["port"]
        self.urls = {
            "publisher": f"ws://{first.ADDRESSES[1]}:{port}/signaling", "player": f"ws://{second.ADDRESSES[0]}:{port}/signaling"}
        self.servers = list(world.processes)

    def publish(self, make, channel):
        url = self.urls["publisher"]
        command = {
            "ours": [
                self.world.sora, "publish", url, "--channel", channel, "--json", "--video-codec", "vp8", "--resolution", f"{WIDTH}x{HEIGHT}",
                "--video-bit-rate", self.kbps],
            "sora_sdk": python("official_publisher.py", url, channel, self.kbps, *SIZE),
            "Chromium": python("chromium_peer.py", "publish", url, channel, self.kbps, *SIZE),
        }[make]
        process = self.start("publisher", make, channel, command)
        process.wait_for("connection", lambda: process.last("connected") or (process.last("stats") or {}).get("connectionId"), 60)

    def play(self, make, channel):
        url = self.urls["player"]
        command = {
            "ours": python("tool_player.py", self.world.sora, url, channel, *SIZE, self.world.folder),
            PROMPT: python("tool_player.py", self.world.sora, url, channel, *SIZE, self.world.folder, "--jitter-buffer-target", "0"),
            "sora_sdk": python("official_player.py", url, channel, *SIZE),
            "Chromium": python("chromium_peer.py", "play", url, channel, self.kbps, *SIZE),
        }[make]
        process = self.start("player", make, channel, command)
        process.wait_for("picture", lambda: process.last("playing"), 60)
        return process

    def start(self, side, make, channel, command):
        # A browser needs its privileges to give them up in its own way.
        return self.world.start(f"{channel}-{side}", command, privileged=make == "Chromium", namespace=self.hosts[side])

    def call(self, makes, name, side, seconds, warmup):
        """One call of a publisher and a player; what was seen of it."""
        publisher, player = makes
        steps = LINKS[name]
        channel = f"{publisher}-{player}-{side}-{list(LINKS).index(name)}"
        bad = [self.links[one] for one in SIDES[side]]
        try:
            for link in self.links.values():
                link.set()
            self.publish(publisher, channel)
            playing = self.play(player, channel)
            self.change(bad, steps[0])
            # What is measured is what comes after: the one wait for time.
            time.sleep(warmup)
            meters = {one: Meter(link) for one, link in self.links.items()}
            say(playing, "begin")
            started, machine = time.monotonic(), machine_seconds()
            for number, step in enumerate(steps):
                self.change(bad, step)
                time.sleep(max(0, started + (number + 1) * seconds / len(steps) - time.monotonic()))
            machine = machine_seconds() - machine
            say(playing, "end")
            # Publishers are behind the first end of their link, players behind the second of theirs: both get and send media forward.
            counted = {one: meter.counted()["ours"] for one, meter in meters.items()}
            seen = playing.wait_for("report", lambda: playing.last("seen"), 60)
            playing.wait(30)
            return {
                **seen, "kbps": counted["player"]["deliveredKbps"], "sentKbps": counted["publisher"]["sentKbps"], "cores": round(machine / seconds, 2), "own": playing.last("own")}
        finally:
            for process in reversed(self.world.processes[len(self.servers):]):
                process.end()
            del self.world.processes[len(self.servers):]

    @staticmethod
    def change(links, step):
        for link in links:
            link.set(**step)


def python(script, *arguments):
    return [sys.executable, "-B", os.path.join(here, script), *arguments]


def say(process, line):
    process.write(line + "\n")


HEADS = [
    "link", "call", "frames per second", "freezes", "frozen (ms)", "longest pause (ms)", "uneven (ms)", "size", "PSNR (dB)",
    "delay p50 (ms)", "p95 (ms)", "received (kbit/s)", "sound concealed (%)", "cores",
]


def cell(value, form="{}"):
    return "-" if value is None else form.format(value)


def table(found, side):
    text = "| " + " | ".join(HEADS) + " |\n|---|---|--:|--:|--:|--:|--:|---|" + "--:|" * (len(HEADS) - 8) + "\n"
    for (where, name, makes), one in found.items():
        if where != side:
            continue
        latency = one["latencyMs"] or {}
        row = [
            name, makes[0] if makes[0] == makes[1] else " to ".join(makes), cell(one["fps"], "{:.1f}"), one["freezes"], one["frozenMs"],
            one["longestPauseMs"], cell(one["unevenMs"]), ", ".join(one["sizes"]) or "-", cell(one["psnr"], "{:.1f}"), cell(latency.get("p50")),
            cell(latency.get("p95")), one["kbps"], cell(one["concealed"], "{:.1f}"), one["cores"],
        ]
        text += "| " + " | ".join(map(str, row)) + " |\n"
    return text


def parse(make):
    """A publisher and a player of one make, or of two: `Chromium:ours`."""
    publisher, _, player = make.partition(":")
    return publisher, player or publisher


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sora", required=True)
    parser.add_argument("--emulator", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--warmup", type=float, required=True)
    parser.add_argument("--kbps", type=int, required=True)
    parser.add_argument("--makes", default=",".join(MAKES))
    parser.add_argument("--links", default=";".join(LINKS))
    parser.add_argument("--sides", default="publisher")
    options = parser.parse_args()
    makes = [parse(make) for make in options.makes.split(",")]
    links, sides = options.links.split(";"), options.sides.split(",")
    publishers, players = zip(*makes)
    for names, known in ((publishers, MAKES), (players, (*MAKES, PROMPT)), (links, LINKS), (sides, SIDES)):
        for name in names:
            if name not in known:
                parser.error(f"{name} is none of {', '.join(known)}")
    os.makedirs(options.folder, exist_ok=True)
    world = World(options.sora, options.folder, emulator=options.emulator)
    found, problems = {}, []
    machine, began = machine_seconds(), time.monotonic()
    try:
        lab = Lab(world, options.kbps)
        for side in sides:
            for name in links:
                for pair in makes:
                    what = f"{' to '.join(pair)}, {name}, {side}"
                    try:
                        found[side, name, pair] = lab.call(pair, name, side, options.seconds, options.warmup)
                        print(f"{what}: {json.dumps(found[side, name, pair])}", file=sys.stderr, flush=True)
                    except Exception as error:  # noqa: BLE001 - a call that fails costs its row only
                        problems.append(f"{what}: {error}")
                        print(f"links: {problems[-1]}", file=sys.stderr, flush=True)
    finally:
        world.end()
    busy = (machine_seconds() - machine) / (time.monotonic() - began)
    text = "\n".join(
        f"{heading(side)}\n\n{table(found, side)}" for side in sides) + (
        f"\n{WIDTH}x{HEIGHT} at {RATE} frames per second, VP8 at {options.kbps} kbit/s at most, Opus; {options.seconds:g} s of each after {options.warmup:g} s; "
        f"{os.cpu_count()} cores, {processor()}, used to {busy:.2f}.\n")
    print(text)
    with open(os.path.join(options.folder, "table.md"), "w") as file:
        file.write(text)
    with open(os.path.join(options.folder, "results.json"), "w") as file:
        calls = [{"side": side, "link": name, "publisher": pair[0], "player": pair[1], **one} for (side, name, pair), one in found.items()]
        json.dump({"calls": calls, "problems": problems}, file, indent=1)
    sys.exit(1 if problems else 0)


def heading(side):
    return {"publisher": "The publisher's link is bad:", "player": "The player's link is bad:", "both": "Both links are bad:"}[side]


main()

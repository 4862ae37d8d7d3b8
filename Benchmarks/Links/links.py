"""Calls over bad links: this SDK, the official one (libwebrtc) and Chromium publish over the same link in turns, through the same server, and
the same player says what is seen of it. See README.md."""

import argparse
import json
import mimetypes
import os
import sys
import time
import urllib.parse

here = os.path.dirname(os.path.abspath(__file__))
root = os.path.join(here, "../..")
sys.path[:0] = [os.path.join(here, ".."), os.path.join(root, "Tests/InteropTests/Peers")]

from browsers.browser import Browser  # noqa: E402
from harness import World, wait_for  # noqa: E402
from harness.namespaces import Link  # noqa: E402
from link.calls import Meter  # noqa: E402
from processes import machine_seconds, processor  # noqa: E402

# Whole macroblocks: the official SDK leaves out what goes beyond them.
WIDTH, HEIGHT, RATE, KBPS = 960, 544, 30, 2500
PATH = {"delayMs": 25, "queueMs": 300}
# What the link does, both ways; of a staircase what it becomes, each for an equal part of the time.
LINKS = {
    "1 % lost": [{**PATH, "loss": 0.01}], "5 % lost": [{**PATH, "loss": 0.05}], "10 % lost": [{**PATH, "loss": 0.1}],
    "500 kbit/s": [{**PATH, "kbps": 500}], "2 Mbit/s": [{**PATH, "kbps": 2000}],
    "100 ms of jitter": [{**PATH, "delayMs": 60, "jitterMs": 100}],
    "3, 0.7, 3 Mbit/s": [{**PATH, "kbps": kbps} for kbps in (3000, 700, 3000)],
}
PAGE = os.path.join(root, "Packages/SoraServer/Sources/SoraServer/Page")


class Tool:
    def __init__(self, lab, channel):
        self.process = lab.world.start(
            f"{channel}-publish",
            [lab.world.sora, "publish", lab.url, "--channel", channel, "--json", "--video-codec", "vp8",
             "--resolution", f"{WIDTH}x{HEIGHT}", "--video-bit-rate", str(KBPS)], namespace=lab.far)
        self.process.wait_for("connection", lambda: (self.process.last("stats") or {}).get("connectionId"), 30)

    def end(self):
        self.process.end()


class Official:
    def __init__(self, lab, channel):
        self.process = lab.world.start(
            f"{channel}-publish",
            [sys.executable, "-B", os.path.join(here, "official_publisher.py"), lab.url, channel, str(KBPS), str(WIDTH), str(HEIGHT)],
            namespace=lab.far)
        self.process.wait_for("connection", lambda: self.process.last("connected"), 60)

    def end(self):
        self.process.end()


class Chromium:
    """The development page, on an address that a browser trusts with a camera; its signaling goes over the link."""

    def __init__(self, lab, channel):
        self.page = lab.browser().chromium.new_page()
        self.page.route("**/*", self.answer)
        self.page.goto(f"http://localhost/?channel={channel}")
        with open(os.path.join(here, "pattern.js")) as file:
            self.page.evaluate(file.read(), [WIDTH, HEIGHT, RATE])
        self.page.evaluate(
            """([url, kbps]) => {
              const Real = WebSocket;
              window.WebSocket = class extends Real {
                constructor() { super(url); }
                send(text) {
                  const message = JSON.parse(text);
                  if (message.type === "connect") message.video.bit_rate = kbps;
                  super.send(JSON.stringify(message));
                }
              };
            }""", [lab.url, KBPS])
        self.page.evaluate("() => { document.getElementById('codec').value = 'VP8'; document.querySelector('[data-role=sendonly]').click(); }")
        wait_for("connection of Chromium", lambda: self.page.evaluate("sora.state") == "connected", 30)

    def answer(self, route):
        name = urllib.parse.urlsplit(route.request.url).path.strip("/") or "index.html"
        with open(os.path.join(PAGE, name), "rb") as file:
            route.fulfill(body=file.read(), content_type=mimetypes.guess_type(name)[0])

    def end(self):
        self.page.close()


MAKES = {"ours": Tool, "sora_sdk": Official, "Chromium": Chromium}


class Lab:
    def __init__(self, world):
        self.world = world
        self.link = Link(world)
        self.far, self.near = self.link.hosts
        server = world.start("serve", [world.sora, "serve", "--host", "0.0.0.0", "--port", "0", "--json"], namespace=self.near)
        port = server.wait_for("readiness", lambda: server.last("ready"))["port"]
        self.url = f"ws://{Link.ADDRESSES[1]}:{port}/signaling"
        self.near_url = f"ws://127.0.0.1:{port}/signaling"
        self.opened = None

    def browser(self):
        self.opened = self.opened or Browser(self.world, self.far)
        return self.opened

    def call(self, make, name, seconds, warmup):
        steps = LINKS[name]
        channel = f"{make}-{list(LINKS).index(name)}"
        self.link.set()
        publisher = MAKES[make](self, channel)
        self.link.set(**steps[0])
        # What is measured is what comes after: the one wait for time.
        time.sleep(warmup)
        meter = Meter(self.link)
        player = self.world.start(
            f"{channel}-play", [self.world.sora, "play", self.near_url, "--channel", channel, "--json", "--duration", str(seconds)],
            namespace=self.near)
        player.wait_for("picture", lambda: ((player.last("stats") or {}).get("video") or {}).get("frames"), 30)
        started = time.monotonic()
        for number, step in enumerate(steps):
            self.link.set(**step)
            time.sleep(max(0, started + (number + 1) * seconds / len(steps) - time.monotonic()))
        counted = meter.counted()["ours"]
        player.wait(30)
        publisher.end()
        summary = player.last("summary")
        video, audio = summary["video"], summary["audio"]
        return {
            "fps": video["fps"], "size": f"{video['width']}x{video['height']}", "freezes": video["freezeCount"],
            "kbps": counted["deliveredKbps"], "psnr": video["psnrDb"], "latency": video["latencyMs"],
            "queue": counted["longestQueueMs"], "concealed": round(100 * audio["concealedMs"] / 1000 / max(audio["seconds"], 0.01), 1),
        }


def table(found, makes):
    print("| link | publisher | frames per second | freezes | size | PSNR (dB) | latency p50 (ms) | p95 (ms) | through the link (kbit/s) | sound concealed (%) |")
    print("|---|---|--:|--:|---|--:|--:|--:|--:|--:|")
    for name in LINKS:
        for make in makes:
            one = found.get((make, name))
            if not one:
                continue
            latency = one["latency"] or {"p50": None, "p95": None}
            psnr = "" if one["psnr"] is None else f"{one['psnr']:.1f}"
            print(
                f"| {name} | {make} | {one['fps']:.1f} | {one['freezes']} | {one['size']} | {psnr} | {latency['p50']} | {latency['p95']} | "
                f"{one['kbps']} | {one['concealed']} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sora", required=True)
    parser.add_argument("--emulator", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=int, required=True)
    parser.add_argument("--warmup", type=int, required=True)
    parser.add_argument("--makes", default=",".join(MAKES))
    parser.add_argument("--links", default=";".join(LINKS))
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    world = World(options.sora, os.path.abspath(options.folder), emulator=options.emulator)
    makes = options.makes.split(",")
    found = {}
    machine, began = machine_seconds(), time.monotonic()
    lab = Lab(world)
    try:
        for name in options.links.split(";"):
            for make in makes:
                found[make, name] = lab.call(make, name, options.seconds, options.warmup)
                print(f"{make} over {name}: {json.dumps(found[make, name])}", file=sys.stderr, flush=True)
    finally:
        if lab.opened:
            lab.opened.close()
        world.end()
    table(found, makes)
    busy = (machine_seconds() - machine) / (time.monotonic() - began)
    print(
        f"\n{WIDTH}x{HEIGHT} at {RATE} frames per second, VP8 at {KBPS} kbit/s at most, Opus; {options.seconds} s of each after {options.warmup} s; "
        f"{os.cpu_count()} cores, {processor()}, used to {busy:.2f}.")


main()

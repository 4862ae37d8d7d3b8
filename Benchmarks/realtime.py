"""A publisher and a player of each video codec at default settings: does it keep up, and at what cost? See README.md."""

import argparse
import json
import os
import signal
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../Tests/InteropTests/Peers"))

from harness import World  # noqa: E402
from processes import Watched, cpu_seconds, frames, machine_seconds, processor  # noqa: E402

RATE = 30
# What two cores shall bear of each: encoding AV1 and H.265 costs several times what the others cost.
SIZES = {"AV1": "960x540", "H265": "960x540"}
USUAL = "1280x720"


def call(world, entry, seconds, warmup):
    """One call of a codec, or of a codec and a size such as H265:640x360; what was measured."""
    codec, _, size = entry.partition(":")
    channel = entry.replace(":", "-")
    publisher = world.tool(
        "publish", channel, "--video-codec", codec, "--resolution", size or SIZES.get(codec, USUAL), "--fps", str(RATE),
        name=f"{channel}-publish")
    publisher.wait_for("sent picture", lambda: frames(publisher), 30)
    player = world.tool("play", channel, name=f"{channel}-play")
    player.wait_for("received picture", lambda: frames(player), 30)
    time.sleep(warmup)
    machine = machine_seconds()
    watched = {"publish": Watched(publisher), "play": Watched(player)}
    own = sum(one.cpu for one in watched.values())
    time.sleep(seconds)
    machine = machine_seconds() - machine
    own = sum(cpu_seconds(one.pid) for one in watched.values()) - own
    result = {name: one.finish() for name, one in watched.items()}
    result["others"] = max(0, machine - own) / seconds
    for name, process in (("play", player), ("publish", publisher)):
        result[name]["status"] = process.finish()
        result[name]["summary"] = process.last("summary")
    return result


def cell(value, form="{:.1f}"):
    return "-" if value is None else form.format(value)


def row(entry, result):
    publish, play = result["publish"], result["play"]
    video = play["summary"]["video"]
    latency = video.get("latencyMs") or {}
    stamps = video.get("stamps") or {}
    sync = video.get("lipSyncMs") or {}
    unreadable = stamps.get("unreadable")
    missing = stamps.get("missing")
    return [
        entry.partition(":")[0], play.get("size", "-"), cell(publish.get("fps")), cell(play.get("fps")), cell(publish.get("kbps"), "{:.0f}"),
        cell(latency.get("p50"), "{}"), cell(latency.get("p95"), "{}"), cell(missing, "{}"), cell(unreadable, "{}"),
        cell(publish["cpu"] / 60, "{:.2f}"), cell(play["cpu"] / 60, "{:.2f}"), cell(publish["private"]), cell(play["private"]),
        cell(sync.get("p95"), "{}"), cell(video.get("psnrDb")),
    ]


HEADS = [
    "codec", "size", "fps sent", "fps received", "kbit/s", "latency p50 (ms)", "p95", "frames missing", "stamps unreadable",
    "cores, publisher", "cores, player", "private MB, publisher", "player", "lip sync p95 (ms)", "PSNR (dB)",
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sora", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--warmup", type=float, default=5)
    parser.add_argument("codecs", nargs="+", help="such as VP8, or H265:640x360")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    sys.stdout.reconfigure(line_buffering=True)
    world = World(options.sora, options.folder)
    results, problems = {}, []
    print("| " + " | ".join(HEADS) + " |")
    print("|---|---|" + "--:|" * (len(HEADS) - 2))
    try:
        world.serve()
        for codec in options.codecs:
            try:
                results[codec] = call(world, codec, options.seconds, options.warmup)
                print("| " + " | ".join(row(codec, results[codec])) + " |")
            except Exception as error:  # noqa: BLE001 - a codec that fails costs its row only
                problems.append(f"{codec}: {error}")
                print(f"realtime: {problems[-1]}", file=sys.stderr)
            finally:
                for process in world.processes[1:]:
                    process.end()
                del world.processes[1:]
    finally:
        world.end()
    others = [result["others"] for result in results.values()]
    if others:
        print(
            f"\n{options.seconds:.0f} s of each call after {options.warmup:.0f} s; the test pattern at {RATE} fps and "
            f"Opus; {os.cpu_count()} cores, {processor()}. Latency, frames missing, lip sync and PSNR are of the whole call, private memory of its end. Other "
            f"processes, the server among them, used {min(others):.2f} to {max(others):.2f} cores meanwhile.")
    with open(os.path.join(options.folder, "results.json"), "w") as file:
        json.dump({"results": results, "problems": problems}, file, indent=1)
    sys.exit(1 if problems else 0)


main()

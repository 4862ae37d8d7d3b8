#!/usr/bin/env python3
"""Runs the codec benchmarks and prints one table: our modules beside their libraries' own command-line tools.

    codecs.py                      every codec, scene and size (about a quarter of an hour)
    codecs.py --sizes 720p --scenes noise --codecs vp8 av1 --frames 60 --rounds 3
    codecs.py --speeds             of codecs that choose their speed by the time that frames take: what each speed costs

Each figure is the median of the rounds; ours and the tool's take turns. `fps` is the encoder's or decoder's own time, as
the tools report theirs; CPU is the process's, with the tools' reading and writing of files. `ratio` is our fps divided by
the tool's, at the same settings and one thread each."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent


def median(rows, side, key):
    values = [row[side][key] for row in rows if row.get(side) and row[side].get(key) is not None]
    return statistics.median(values) if values else None


def text(value, form="{:.0f}"):
    return "-" if value is None else form.format(value)


def columns(key, rows):
    codec, way, scene, size, tool = key
    ratios = [row["ours"]["fps"] / row["theirs"]["fps"] for row in rows if row.get("theirs")]
    return [
        codec, way, scene, size, tool,
        text(median(rows, "ours", "fps")), text(median(rows, "theirs", "fps")),
        text(statistics.median(ratios) if ratios else None, "{:.2f}"),
        text(median(rows, "ours", "cpuMilliseconds"), "{:.2f}"),
        text(median(rows, "theirs", "cpuMilliseconds"), "{:.2f}"),
        text(median(rows, "ours", "allocations"), "{:.1f}"),
        text(median(rows, "ours", "peakMegabytes")), text(median(rows, "theirs", "peakMegabytes")),
        text(median(rows, "ours", "kilobitsPerSecond")), text(median(rows, "theirs", "kilobitsPerSecond")),
        text(median(rows, "ours", "psnr"), "{:.1f}"), text(median(rows, "theirs", "psnr"), "{:.1f}"),
    ]


HEAD = ["codec", "way", "scene", "size", "tool", "fps", "tool's", "ratio", "CPU ms", "tool's", "mallocs", "peak MB",
        "tool's", "kbit/s", "tool's", "PSNR", "tool's"]


def table(rows):
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in ("codec", "way", "scene", "size", "tool"))].append(row)
    draw([HEAD] + [columns(key, group) for key, group in sorted(groups.items())])


def draw(lines):
    """Markdown; the first five columns are words."""
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    for number, line in enumerate(lines):
        print("| " + " | ".join(
            cell.ljust(width) if i < 5 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))) + " |")
        if number == 0:
            print("|" + "|".join("-" * (width + 1) + ("-" if i < 5 else ":") for i, width in enumerate(widths)) + "|")


SPEED_HEAD = ["codec", "scene", "size", "speed", "tool's name for it", "CPU ms", "tool's", "kbit/s", "tool's", "PSNR", "tool's",
              "time / ultrafast", "dB to ultrafast"]


def speed_table(rows):
    """A ladder of speeds a codec, scene and size: what each costs and gains beside ultrafast, at the same bit rate."""
    groups = defaultdict(list)
    for row in rows:
        groups[(row["codec"], row["size"], row["scene"], int(row["way"].split()[-1]), row["tool"])].append(row)
    lines = []
    for (codec, size, scene, speed, tool), group in sorted(groups.items()):
        ultrafast = next(
            one for key, one in groups.items() if key[:3] == (codec, size, scene) and key[3] == 0)
        times = [median(one, "ours", "cpuMilliseconds") for one in (group, ultrafast)]
        qualities = [median(one, "ours", "psnr") for one in (group, ultrafast)]
        lines.append([
            codec, scene, size, str(speed), tool, text(times[0], "{:.1f}"),
            text(median(group, "theirs", "cpuMilliseconds"), "{:.1f}"),
            text(median(group, "ours", "kilobitsPerSecond")), text(median(group, "theirs", "kilobitsPerSecond")),
            text(qualities[0], "{:.1f}"), text(median(group, "theirs", "psnr"), "{:.1f}"),
            text(times[0] / times[1], "{:.2f}"), text(qualities[0] - qualities[1], "{:+.1f}"),
        ])
    draw([SPEED_HEAD] + lines)


def main():
    parser = argparse.ArgumentParser(description="Our codec modules beside their libraries' own tools.")
    parser.add_argument("--codecs", nargs="+", default=[], help="vp8 vp9 av1 h264 h265 opus; all where left out")
    parser.add_argument("--sizes", nargs="+", default=["360p", "720p", "1080p"])
    parser.add_argument("--scenes", nargs="+", default=["pattern", "noise", "text"])
    parser.add_argument("--speeds", action="store_true", help="measure the speeds among which a codec chooses, instead")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="sora-codecs-")
    environment = dict(
        os.environ, SORA_BENCH_FOLDER=folder, SORA_BENCH_SIZES=" ".join(options.sizes),
        SORA_BENCH_SCENES=" ".join(options.scenes), SORA_BENCH_FRAMES=str(options.frames),
        SORA_BENCH_ROUNDS=str(options.rounds))
    if options.speeds:
        environment["SORA_BENCH_SPEEDS"] = "1"
    if options.codecs:
        environment["SORA_BENCH_CODECS"] = " ".join(options.codecs)
    try:
        # What the benchmark package prints itself goes to standard error: the table is what this is for.
        result = subprocess.run(
            ["swift", "package", "--package-path", str(HERE / "Codecs"),
             "--scratch-path", str(HERE.parent / ".build/bench-codecs"), "--disable-sandbox",
             "benchmark", "--no-progress", "--quiet"], env=environment, stdout=sys.stderr)
        rows = Path(folder, "rows.jsonl")
        if not rows.exists():
            sys.exit("codecs.py: nothing was measured; see above")
        (speed_table if options.speeds else table)([json.loads(line) for line in rows.read_text().splitlines()])
        sys.exit(result.returncode)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

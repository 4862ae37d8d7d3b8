"""Connects two peers again and again, each a process of its own, and prints how long that took. See README.md."""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

from processes import machine_seconds, processor

AIORTC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "aiortc_peer.py")
# The first connections load libraries and fill caches.
WARMUP = 5


class Peer:
    """A process that takes requests and tells events, a line of JSON each: see `InteropPeer`."""

    def __init__(self, name, command):
        self.name = name
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, kind, **values):
        self.child.stdin.write(json.dumps({"type": kind, **values}) + "\n")
        self.child.stdin.flush()

    def wait(self, kind, **values):
        """The next event of a kind; others before it are left aside."""
        for line in self.child.stdout:
            event = json.loads(line)
            if event["type"] == kind and all(event.get(name) == value for name, value in values.items()):
                return event
            # A connection that its other end closed has failed, too.
            if event["type"] == "error" or event["type"] == "failed" and kind != "opened":
                raise RuntimeError(f"{self.name}: {event['error']}")
        raise RuntimeError(f"{self.name} ended")

    def end(self):
        self.child.stdin.close()
        self.child.wait()


def connect(offerer, answerer):
    """Milliseconds from the request for an offer until both ends are connected."""
    for peer in (offerer, answerer):
        peer.tell("open", media=False)
        peer.wait("opened")
    started = time.monotonic()
    offerer.tell("create")
    answerer.tell("offer", sdp=offerer.wait("offer")["sdp"])
    offerer.tell("answer", sdp=answerer.wait("answer")["sdp"])
    for peer in (offerer, answerer):
        peer.wait("state", state="connected")
    milliseconds = (time.monotonic() - started) * 1000
    for peer in (offerer, answerer):
        peer.tell("close")
    return milliseconds


def percentile(times, percent):
    return sorted(times)[min(len(times) - 1, len(times) * percent // 100)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", required=True)
    parser.add_argument("--connections", type=int, required=True)
    options = parser.parse_args()
    peers = {
        name: [Peer(name, command) for _ in range(2)]
        for name, command in (("ours", [options.peer]), ("aiortc", [sys.executable, "-B", AIORTC]))
    }
    times = {(offers, answers): [] for offers in peers for answers in peers}
    machine, own = machine_seconds(), os.times()
    started = time.monotonic()
    # In turns, so that a change of the machine's load meets all.
    for index in range(WARMUP + options.connections):
        for (offers, answers), found in times.items():
            milliseconds = connect(peers[offers][0], peers[answers][1])
            if index >= WARMUP:
                found.append(milliseconds)
    elapsed = time.monotonic() - started
    for pair in peers.values():
        for peer in pair:
            peer.end()
    machine, used = machine_seconds() - machine, os.times()
    own = sum(used[:4]) - sum(own[:4])
    reference = statistics.median(times["aiortc", "aiortc"])
    print("| offers | answers | offer to connected, p50 (ms) | p95 (ms) | p50 / aiortc's |")
    print("|---|---|--:|--:|--:|")
    for (offers, answers), found in times.items():
        median = statistics.median(found)
        print(f"| {offers} | {answers} | {median:.1f} | {percentile(found, 95):.1f} | {median / reference:.2f} |")
    print(
        f"\n{options.connections} connections of each pair in turns, two processes, host candidates, no media; "
        f"{os.cpu_count()} cores, {processor()}.\nOther processes used {max(0, machine - own) / elapsed:.2f} cores meanwhile.")


main()

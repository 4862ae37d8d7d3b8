"""Data channels of whole stacks, over sockets, ICE and DTLS: two of ours, two of Chromium's and two of aiortc's. See README.md."""

import argparse
import os
import statistics
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "../../Tests/InteropTests/Peers")]

from channels_peer import RemoteEnd  # noqa: E402
from browsers.browser import Browser  # noqa: E402
from ends.data import DataPageEnd, OurDataEnd  # noqa: E402
from ends.direct import Call  # noqa: E402
from harness import World  # noqa: E402
from harness.namespaces import Link  # noqa: E402
from processes import machine_seconds, processor  # noqa: E402

# The kinds of bulk: a message's bytes, and how many are sent to see how fast it is.
BULK = {"64 KiB": (65_536, 64), "16 KiB": (16_384, 128), "32 B": (32, 2_000)}
# No call sends more than this, however fast it is.
MOST_BYTES, MOST_MESSAGES = 1 << 30, 1_000_000
OPENINGS = 20


class Pair:
    """Two ends of one make that are connected: over loopback, or each in its host."""

    def __init__(self, world, make, browser, hosts=(None, None)):
        self.world, self.before = world, len(world.processes)
        names = [f"{make}-{side}-{self.before}" for side in "ab"]
        if make == "ours":
            self.ends = [OurDataEnd(world, name, namespace=host) for name, host in zip(names, hosts)]
        elif make == "Chromium" and browser:
            self.ends = [DataPageEnd(browser.blank()) for _ in range(2)]
        else:
            self.ends = [RemoteEnd(world, make, name, host) for name, host in zip(names, hosts)]
        self.sender, self.receiver = self.ends
        self.sender.open("first")
        self.call = Call(self.sender, self.receiver, True)
        self.opened("first")

    def opened(self, label):
        def are_open():
            return all((end.channel(label) or {}).get("state") == "open" for end in self.ends)

        self.call.wait_for(label, are_open, 60)

    def bulk(self, label, count, size):
        """Seconds until all has come."""
        self.sender.open(label)
        self.opened(label)
        self.receiver.quiet(label)
        started = time.monotonic()
        total = self.sender.bulk(label, count, size)
        self.call.wait_for("all bytes", lambda: self.receiver.channel(label)["bytes"] >= count * size, 300)
        seconds = time.monotonic() - started
        if self.receiver.channel(label)["sum"] != total:
            raise RuntimeError(f"{label}: what came isn't what was sent")
        return seconds

    def measure(self, seconds):
        found = {}
        for kind, (size, probe) in BULK.items():
            # Windows grow, and the count that takes long enough is found.
            pace = probe / self.bulk(f"{kind} probe", probe, size)
            count = int(max(probe, min(pace * seconds, MOST_BYTES // size, MOST_MESSAGES)))
            passed = self.bulk(kind, count, size)
            found[kind] = count / passed / 1000 if size < 1000 else count * size * 8 / passed / 1e6
        found["opening"] = statistics.median(self.sender.openings(OPENINGS))
        return found

    def close(self):
        self.call.close()
        for process in reversed(self.world.processes[self.before:]):
            process.end()
        del self.world.processes[self.before:]


class Path:
    """Two hosts with a link between them that delays."""

    # More than any window here: what is measured are the ends, and no device's queue.
    QUEUE = 20_000

    def __init__(self, world, delay):
        link = Link(world)
        for host in link.hosts:
            host.run(f"ip link set link0 txqueuelen {self.QUEUE}")
        link.set(delayMs=delay)
        self.hosts = link.hosts


ROWS = {
    "64 KiB": "goodput, messages of 64 KiB (Mbit/s)", "16 KiB": "goodput, messages of 16 KiB (Mbit/s)",
    "32 B": "messages of 32 B (1,000 per second)", "opening": "open a channel, a message there and back (ms)",
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peer", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--makes", default="ours,Chromium,aiortc")
    parser.add_argument("--delay", type=int, default=0)
    parser.add_argument("--emulator")
    options = parser.parse_args()
    makes = options.makes.split(",")
    os.makedirs(options.folder, exist_ok=True)
    world = World(None, options.folder, peer=options.peer, emulator=options.emulator)
    browser = Browser(world) if "Chromium" in makes and not options.delay else None
    found = {make: [] for make in makes}
    machine, started = machine_seconds(), time.monotonic()
    try:
        hosts = Path(world, options.delay).hosts if options.delay else (None, None)
        # In turns, so that a change of the machine's load meets all.
        for _ in range(options.rounds):
            for make in makes:
                pair = Pair(world, make, browser, hosts)
                found[make].append(pair.measure(options.seconds))
                pair.close()
    finally:
        if browser:
            browser.close()
        world.end()
    busy = (machine_seconds() - machine) / (time.monotonic() - started)
    print("| | " + " | ".join(f"{make} to {make}" for make in makes) + " |")
    print("|---|" + "--:|" * len(makes))
    for row, title in ROWS.items():
        cells = []
        for make in makes:
            values = sorted(one[row] for one in found[make])
            cells.append(f"{statistics.median(values):.4g} ({values[0]:.4g} to {values[-1]:.4g})")
        print(f"| {title} | " + " | ".join(cells) + " |")
    print(
        f"\n{options.delay} ms each way. Medians of {options.rounds} rounds, the least and the greatest; two ends on one machine of {os.cpu_count()} cores, {processor()}, "
        f"which were used to {busy:.2f}.")


main()

"""Subscribers of `sora serve` whose link is narrower than the stream, or jittery, beside one whose link isn't: what the server
sends into the link, and what is seen behind it.
"""

import time

from ends.official_end import Remote
from harness import main
from harness.namespaces import Link
from link.calls import Meter
from secure.calls import each

STREAM = ["--resolution", "640x360", "--video-codec", "vp8", "--video-bit-rate", "1500"]
NARROW = {"delayMs": 20, "kbps": 500, "queueMs": 300}
# The link, who publishes and who plays behind it, and what the link becomes while the call runs.
CASES = {
    "ours to ours": (NARROW, "ours", "ours", []),
    "ours to official": (NARROW, "ours", "official", []),
    "official to ours": (NARROW, "official", "ours", []),
    "official to official": (NARROW, "official", "official", []),
    "staircase": ({**NARROW, "kbps": 2000}, "ours", "ours", [400, 2000]),
    "jitter": ({"delayMs": 40, "jitterMs": 30}, "ours", "official", []),
}
# A link that changes is watched for so long before each change, and all for so long at the end.
SETTLING, WATCHED = 2, 10


class Player:
    """`sora play`. What it has seen is as old as its last line, and so is the time of that."""

    def __init__(self, process):
        self.process = process

    def seen(self):
        stats = self.process.last("stats") or {}
        video, audio = stats.get("video") or {}, stats.get("audio") or {}
        return {"at": stats.get("elapsedMs", 0) / 1000, "frames": video.get("frames", 0), "audioSeconds": audio.get("seconds", 0) - audio.get("concealedMs", 0) / 1000}


class OfficialPlayer:
    def __init__(self, remote):
        self.remote = remote
        self.process = remote.process

    def seen(self):
        found = self.remote.ask("seen")
        return {"at": time.monotonic(), "frames": found["frames"], "audioSeconds": found["audioSeconds"]}


def rate(key, before, after, digits):
    """What is seen per second."""
    return round((after[key] - before[key]) / max(after["at"] - before["at"], 0.01), digits)


class Lab:
    def __init__(self, world):
        self.world = world
        self.link = Link(world)
        self.near, self.far = self.link.hosts
        server = world.start(
            "serve", [world.sora, "serve", "--host", "0.0.0.0", "--port", "0", "--json"], namespace=self.near)
        port = server.wait_for("readiness", lambda: server.last("ready"))["port"]
        self.url = f"ws://{Link.ADDRESSES[0]}:{port}/signaling"

    def tool(self, name, command, channel, namespace, *arguments):
        process = self.world.start(
            name, [self.world.sora, command, self.url, "--channel", channel, "--json", *arguments], namespace=namespace)
        process.wait_for("connection", lambda: (process.last("stats") or {}).get("connectionId"), 30)
        return process

    def publish(self, kind, label):
        if kind == "ours":
            return self.tool(f"{label}-publish", "publish", label, self.near, *STREAM)
        remote = Remote(self.world, f"{label}-publish", self.near, self.url)
        remote.ask("connect", role="sendonly", channel=label, video_bit_rate=1500)
        return remote.process

    def play(self, kind, label):
        if kind == "ours":
            return Player(self.tool(f"{label}-play", "play", label, self.far))
        remote = Remote(self.world, f"{label}-play", self.far, self.url)
        remote.ask("connect", role="recvonly", channel=label)
        return OfficialPlayer(remote)

    def call(self, name):
        conditions, publisher, player, steps = CASES[name]
        label = name.replace(" ", "-")
        # Nobody waits for a connection over the narrow link: that is another test's matter.
        self.link.set()
        publish = self.publish(publisher, label)
        fast = Player(self.tool(f"{label}-fast", "play", label, self.near))
        slow = self.play(player, label)
        # Who joins only as the link narrows is spared the worst: that frames wait for it which were let in by what it took before.
        for end in [fast, slow]:
            end.process.wait_for("frames", lambda: end.seen()["frames"] > 30, 30)
        result = {"spans": []}
        for kbps in [conditions.get("kbps"), *steps]:
            self.link.set(**{**conditions, **({"kbps": kbps} if kbps else {})})
            # The one wait for time: what is measured is what is sent behind it.
            time.sleep(SETTLING)
            result["spans"].append({"kbps": kbps, **self.watch(slow, fast)})
        for process in self.world.processes:
            if process.name.startswith(label):
                process.end()
        return result

    def watch(self, slow, fast):
        before, others = slow.seen(), fast.seen()
        rates, frames = [], [before["frames"]]
        queue = 0
        for _ in range(WATCHED):
            meter = Meter(self.link)
            time.sleep(1)
            counted = meter.counted()["ours"]
            rates.append(counted["sentKbps"])
            queue = counted["longestQueueMs"]
            frames.append(slow.seen()["frames"])
        after, then = slow.seen(), fast.seen()
        return {
            "sentKbps": rates, "longestQueueMs": queue,
            "framesEach": [later - earlier for earlier, later in zip(frames, frames[1:])],
            "fps": rate("frames", before, after, 2), "audio": rate("audioSeconds", before, after, 3),
            "fastFps": rate("frames", others, then, 2), "fastAudio": rate("audioSeconds", others, then, 3),
        }


def scenario(world):
    lab = Lab(world)
    return {"calls": each(world, world.arguments or CASES, lab.call)}


main(scenario)

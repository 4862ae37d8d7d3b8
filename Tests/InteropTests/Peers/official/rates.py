"""What an official client asks for in kbit/s is what its own estimate reaches, and what its encoder is told no more than."""

import time

import numpy as np

from ends.official import Official
from harness import Timeout, main, stamps, wait_for
from harness.camera import Camera

ESTIMATES = (500, 1200, 2500, 4000, 5500)
PATIENCE = 8
TRIES = 3
LOW = 300
WIDTH, HEIGHT = 480, 272
# What the encoder gets of it at least: audio, headers and repairs take the rest.
SHARE = 0.6
# So long an encoder settles.
SETTLING = 5


class Noise(Camera):
    """Noise, which no encoder makes small: what may be sent is sent."""

    def __init__(self, width, height):
        super().__init__(width, height)
        self.pictures = np.random.default_rng(1).integers(0, 256, (8, height, width, 3), np.uint8)

    def picture(self, index):
        picture = self.pictures[index % 8].copy()
        stamps.draw(picture, index)
        return picture


def figures(client):
    """The estimate, and what the encoder is told to make of it, in kbit/s."""
    found = client.stats()
    available = [one.get("availableOutgoingBitrate", 0) for one in found if one["type"] == "candidate-pair" and one.get("nominated")]
    targets = [one.get("targetBitrate", 0) for one in found if one["type"] == "outbound-rtp" and one["kind"] == "video"]
    return max(available, default=0) / 1000, max(targets, default=0) / 1000


def publisher(world, kbps):
    client = Official(world, "sendonly", f"rate-{kbps}", size=(WIDTH, HEIGHT), camera=Noise, video_bit_rate=kbps)
    return client.connect()


def reaches(world, kbps):
    """Seconds from the connection on until the estimate is what was asked for, and the encoder told so; None where it isn't in time."""
    client = publisher(world, kbps)
    started = time.monotonic()
    highest, target = 0, 0

    def enough():
        nonlocal highest, target
        available, told = figures(client)
        highest, target = max(highest, available), max(target, told)
        return highest >= kbps and target >= SHARE * kbps

    try:
        wait_for("an estimate", enough, PATIENCE)
        seconds = round(time.monotonic() - started, 2)
    except Timeout:
        seconds = None
    bit_rate = client.offer["video_bit_rate"]
    client.disconnect()
    return {"seconds": seconds, "highestKbps": round(highest), "targetKbps": round(target), "offered": bit_rate}


def estimates(world, kbps):
    """Probes measure the machine, too: one that is busy for a moment has a few connections for it."""
    tries = []
    while len(tries) < TRIES and not (tries and tries[-1]["seconds"]):
        tries.append(reaches(world, kbps))
    return {**tries[-1], "tries": [one["highestKbps"] for one in tries]}


def low(world):
    """What the encoder is told where little was asked for."""
    client = publisher(world, LOW)
    time.sleep(SETTLING)
    _, target = figures(client)
    client.disconnect()
    return target


def scenario(world):
    world.serve()
    outcome = {"estimates": {str(kbps): estimates(world, kbps) for kbps in ESTIMATES}}
    outcome["lowKbps"] = low(world)
    return outcome


main(scenario)

"""The pictures that both publish: the test pattern of SoraCapture, drawn once, as a Y4M file and as rows of R, G, B.

The stamp's blocks are there, with their checksums inverted: they cost the encoders what a stamp costs, but are none to
`sora play`, which would otherwise compare five pictures a second with the pattern (and its official peer wouldn't).
"""

import hashlib
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Tests/InteropTests/Peers"))
from harness import stamps  # noqa: E402

WIDTH, HEIGHT, RATE = 1280, 720, 30
# One turn of the waves; the square's path takes two, and jumps back once a turn.
COUNT = 120


def wave(period, count, low, high):
    phase = np.arange(count) % period
    half = period // 2
    rising = phase < half
    along = np.where(rising, phase / half, (phase - half) / (period - half))
    bow = 4 * along * (1 - along)
    return (low + np.where(rising, 0.5 + bow / 2, 0.5 - bow / 2) * (high - low)).astype(np.uint8)


def rows(samples, offsets, width):
    """Each row a piece of `samples`, from its offset on."""
    return samples[offsets[:, None] + np.arange(width)]


class Pattern:
    def __init__(self, width=WIDTH, height=HEIGHT):
        self.width, self.height = width, height
        self.period = height // 2
        self.luma = wave(self.period, width + self.period, 50, 200)
        self.u = wave(height, width // 2 + height, 96, 160)
        self.v = wave(height, width // 2 + height, 104, 152)

    def planes(self, index):
        start = index % 120 * self.period // 120
        y = rows(self.luma, (start + np.arange(self.height)) % self.period, self.width)
        start = index % 120 * self.height // 120
        lines = np.arange(self.height // 2)
        u = rows(self.u, (start + lines) % self.height, self.width // 2)
        v = rows(self.v, (2 * self.height - start + lines) % self.height, self.width // 2)
        self.square(y, index)
        self.blocks(y, u, v, index)
        return y, u, v

    def square(self, y, index):
        edge, radius = self.height // 6, self.height // 4
        quarter, part = index % 240 // 60, index % 60
        along = radius * part // 60
        across, down = [
            (along, along - radius), (radius - along, along), (-along, radius - along), (along - radius, -along),
        ][quarter]
        left, top = self.width // 2 + across - edge // 2, self.height // 2 + down - edge // 2
        y[top : top + edge, left : left + edge] = 220

    def blocks(self, y, u, v, index):
        edge = self.width // stamps.BLOCKS
        for row, value in enumerate([index, 33 * index]):
            bits = np.array(stamps.row_bits(value))
            bits[-8:] ^= 1
            y[row * edge : (row + 1) * edge] = np.repeat(np.where(bits, 235, 16), edge)
        u[:edge] = v[:edge] = 128


def bgr(y, u, v):
    """BT.601 in studio swing, as libyuv takes it apart again."""
    u, v = (np.kron(plane, np.ones((2, 2), np.uint8)).astype(np.float32) - 128 for plane in (u, v))
    y = 1.164 * (y.astype(np.float32) - 16)
    channels = [y + 2.018 * u, y - 0.391 * u - 0.813 * v, y + 1.596 * v]
    return np.clip(np.stack(channels, axis=2) + 0.5, 0, 255).astype(np.uint8)


def write(folder):
    """The paths of both files, which are written where they aren't there."""
    with open(os.path.abspath(__file__), "rb") as file:
        version = hashlib.sha256(file.read()).hexdigest()[:8]
    y4m, arrays = (os.path.join(folder, f"pictures-{version}.{kind}") for kind in ("y4m", "npy"))
    if os.path.exists(y4m) and os.path.exists(arrays):
        return y4m, arrays
    pattern = Pattern()
    made = np.lib.format.open_memmap(arrays + ".part", "w+", np.uint8, (COUNT, HEIGHT, WIDTH, 3))
    with open(y4m + ".part", "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 C420jpeg\n" % (WIDTH, HEIGHT, RATE))
        for index in range(COUNT):
            planes = pattern.planes(index)
            file.write(b"FRAME\n" + b"".join(plane.tobytes() for plane in planes))
            made[index] = bgr(*planes)
    made.flush()
    os.replace(arrays + ".part", arrays)
    os.replace(y4m + ".part", y4m)
    return y4m, arrays

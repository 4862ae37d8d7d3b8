"""The frame stamp of the test pattern in numpy: two rows of 40 square blocks, each 32 bits and their CRC-8."""

import time

import numpy as np

BLOCKS = 40
ROWS = 2


def checksum(value):
    """CRC-8, polynomial 0x07, initial value 0, over the four bytes of `value`, most significant first."""
    crc = 0
    for byte in value.to_bytes(4, "big"):
        crc ^= byte
        for _ in range(8):
            crc = ((crc << 1) ^ 0x07 if crc & 0x80 else crc << 1) & 0xFF
    return crc


def now_milliseconds():
    return int(time.time() * 1000) & 0xFFFFFFFF


def row_bits(value):
    code = value << 8 | checksum(value)
    return [code >> (BLOCKS - 1 - block) & 1 for block in range(BLOCKS)]


def draw(picture, index):
    """Stamps a picture (height x width x 3, 8 bits a channel). Full white and black become luma 235 and 16."""
    edge = picture.shape[1] // BLOCKS
    bits = np.array([row_bits(index), row_bits(now_milliseconds())], np.uint8) * 255
    blocks = np.kron(bits, np.ones((edge, edge), np.uint8))
    picture[: ROWS * edge, : BLOCKS * edge] = blocks[:, :, None]


def read(picture):
    """(index, milliseconds) of a picture (height x width x channels); None where there is no stamp or it came out damaged."""
    height, width = picture.shape[:2]
    edge = width // BLOCKS
    if edge == 0 or height < ROWS * edge:
        return None
    area = picture[: ROWS * edge, : BLOCKS * edge].mean(axis=2)
    margin = edge // 4
    middle = area.reshape(ROWS, edge, BLOCKS, edge)[:, margin : edge - margin, :, margin : edge - margin]
    return decode(middle.mean(axis=(1, 3)) > 128)


def decode(rows):
    """(index, milliseconds) of the blocks' bits, row by row; None where a checksum isn't right."""
    values = []
    for row in rows:
        code = 0
        for bit in row:
            code = code << 1 | int(bit)
        if checksum(code >> 8) != code & 0xFF:
            return None
        values.append(code >> 8)
    # A black picture reads as zeros whose checksum is right. A real stamp has a time.
    return None if values == [0, 0] else tuple(values)


class Meter:
    """What the stamps of one received stream tell."""

    def __init__(self):
        self.frames = 0
        self.unreadable = 0
        self.backwards = 0
        # Shown again: the newest frame is encoded once more where a key frame is asked for before the next.
        self.repeated = 0
        self.first = None
        self.last = None
        self.size = None
        self.latencies = []

    def add(self, picture):
        self.frames += 1
        self.size = [picture.shape[1], picture.shape[0]]
        stamp = read(picture)
        if stamp is None:
            self.unreadable += 1
            return
        index, milliseconds = stamp
        late = (now_milliseconds() - milliseconds) & 0xFFFFFFFF
        self.latencies.append(late - (1 << 32) if late >= 1 << 31 else late)
        if self.first is None:
            self.first = index
        elif index < self.last:
            self.backwards += 1
        elif index == self.last:
            self.repeated += 1
        self.last = index

    def report(self):
        stamped = self.frames - self.unreadable
        expected = 0 if self.last is None else self.last - self.first + 1
        ordered = sorted(self.latencies)
        return {
            "frames": self.frames, "unreadable": self.unreadable, "backwards": self.backwards, "repeated": self.repeated,
            "missing": max(0, expected - stamped), "first": self.first, "last": self.last, "size": self.size,
            "latencyMs": {"p50": ordered[len(ordered) // 2], "max": ordered[-1]} if ordered else None,
        }

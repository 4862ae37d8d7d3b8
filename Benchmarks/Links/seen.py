"""What a player sees, and its measures, which are the same for all players: each hands over its frames with the time at which they came."""

import json
import sys
import time

import numpy as np

from harness import stamps
from pictures import Pattern

# Some pictures are compared with the pattern, behind the call: seconds between two of them, and how many are kept at most.
INTERVAL, MOST = 0.2, 600
# W3C's webrtc-stats: what a freeze is measured by.
LATEST = 30


class Seen:
    """Frames and pictures of one stream. `width` and `height` are those at which it was drawn."""

    def __init__(self, width, height):
        self.width, self.height = width, height
        # Seconds, the stamp or None, the size.
        self.frames = []
        # Index and luma.
        self.pictures = []
        self.began = self.ended = None

    def begin(self):
        self.began = self.due = time.time()

    def end(self):
        self.ended = time.time()

    def add(self, at, stamp, size, luma):
        """A frame that came at `at`; `luma` makes a copy of its plane where it is to be compared."""
        self.frames.append((at, stamp, size))
        if stamp and self.began and not self.ended and at >= self.due and len(self.pictures) < MOST:
            self.due = at + INTERVAL
            self.pictures.append((stamp[0], luma()))

    def report(self):
        new = [frame for frame, before in zip(self.frames, [None, *self.frames]) if is_new(frame, before)]
        inside = [frame for frame in new if self.began <= frame[0] < self.ended]
        seconds = self.ended - self.began
        freezes, frozen, longest = pauses([frame[0] for frame in new], self.began, self.ended)
        gaps = np.diff([frame[0] for frame in inside])
        late = sorted(delay(at, stamp[1]) for at, stamp, _ in inside if stamp)
        quality = self.quality()
        return {
            "seconds": round(seconds, 2), "fps": round(len(inside) / seconds, 1), "freezes": freezes, "frozenMs": round(1000 * frozen),
            "longestPauseMs": round(1000 * longest), "unevenMs": round(1000 * float(np.std(gaps))) if len(gaps) else None,
            "sizes": sizes(inside), "unreadable": sum(1 for frame in inside if not frame[1]),
            "latencyMs": {"p50": late[len(late) // 2], "p95": late[int(0.95 * (len(late) - 1))]} if late else None,
            "psnr": round(float(np.mean(quality)), 2) if quality else None, "compared": len(quality),
        }

    def quality(self):
        """PSNR (dB) of luma below the stamps, at the size at which it was drawn: whoever sends less sharp pictures has a less sharp one."""
        pattern = Pattern(self.width, self.height)
        top = stamps.ROWS * (self.width // stamps.BLOCKS)
        found = []
        for index, luma in self.pictures:
            shown = stretched(luma, self.width, self.height)[top:].astype(np.float32)
            error = float(np.mean((shown - pattern.planes(index)[0][top:]) ** 2))
            found.append(min(100.0, 10 * np.log10(255 * 255 / error)) if error > 0 else 100.0)
        return found


def is_new(frame, before):
    """Shown again isn't a frame: who encodes or writes the newest once more shows nothing new."""
    return before is None or frame[1] is None or before[1] is None or frame[1][0] != before[1][0]


def pauses(times, began, ended):
    """Freezes by W3C's definition, their seconds, and the longest time without a new frame, of the pauses that end within the window.
    What lasts at its end ends there."""
    freezes, frozen, longest = 0, 0.0, 0.0
    before = [time for time in times if time < ended]
    durations = []
    for earlier, later in zip(before, [*before[1:], ended]):
        pause = later - earlier
        if later > began:
            longest = max(longest, pause)
            average = sum(durations[-LATEST:]) / len(durations[-LATEST:]) if durations else 0
            if average and pause >= max(3 * average, average + 0.15):
                freezes, frozen = freezes + 1, frozen + pause
        durations.append(pause)
    return freezes, frozen, longest


def delay(at, milliseconds):
    late = (int(1000 * at) - milliseconds) & 0xFFFFFFFF
    return late - (1 << 32) if late >= 1 << 31 else late


def sizes(frames):
    """The sizes that were seen, the most frequent first."""
    counts = {}
    for _, _, size in frames:
        counts[size] = counts.get(size, 0) + 1
    return ["%dx%d" % size for size in sorted(counts, key=counts.get, reverse=True)]


def stretched(luma, width, height):
    """The plane at another size, bilinear: what a window of the sent size shows."""
    if luma.shape == (height, width):
        return luma

    def places(count, wanted):
        at = np.clip((np.arange(wanted) + 0.5) * count / wanted - 0.5, 0, count - 1)
        first = np.minimum(at.astype(int), max(count - 2, 0))
        return first, np.minimum(first + 1, count - 1), (at - first).astype(np.float32)

    top, bottom, down = places(luma.shape[0], height)
    left, right, across = places(luma.shape[1], width)
    plane = luma.astype(np.float32)
    rows = plane[top] * (1 - down)[:, None] + plane[bottom] * down[:, None]
    return rows[:, left] * (1 - across) + rows[:, right] * across


def tell(kind, **values):
    print(json.dumps({"type": kind, **values}), flush=True)


def follow(seen, sound):
    """Follows the lines of standard input until what is between `begin` and `end` has been seen. `sound` says what was heard so far: samples,
    and those of them that were concealed. Returns the share that was concealed (%)."""
    before = (0, 0)
    for line in sys.stdin:
        if line.strip() == "begin":
            before = sound()
            seen.begin()
        elif line.strip() == "end":
            seen.end()
            samples, concealed = (now - then for now, then in zip(sound(), before))
            return round(100 * concealed / samples, 1) if samples else None
    sys.exit("standard input ended before the measurement")


def heard(stats):
    """The same of W3C's statistics."""
    audio = inbound(stats, "audio")
    return audio.get("totalSamplesReceived", 0), audio.get("concealedSamples", 0)


def inbound(stats, kind):
    return next((one for one in stats if one["type"] == "inbound-rtp" and one.get("kind") == kind), {})


def tell_own(stats):
    """What a player says itself of the whole call, to check by."""
    video = inbound(stats, "video")
    count = video.get("jitterBufferEmittedCount")
    tell(
        "own", frames=video.get("framesDecoded"), freezes=video.get("freezeCount"),
        jitterBufferMs=round(1000 * video["jitterBufferDelay"] / count) if count else None)

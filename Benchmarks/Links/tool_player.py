"""`sora play` plays, and what it sees is told (seen.py): tool_player.py SORA URL CHANNEL WIDTH HEIGHT FOLDER [OPTION...].

Its pictures come through a pipe, as the film that it records. A film has places: when a picture comes, the one before it is written as often as
it stood. So a picture's first row comes with the next one, and what comes after a pause tells when that came. Of pictures that come at once only
the newest takes a place: see `fill`.
"""

import fcntl
import os
import sys
import threading
import time

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "../../Tests/InteropTests/Peers")]

from harness import Process, stamps  # noqa: E402
from seen import Seen, delay, follow, tell  # noqa: E402

# More places than frames per second: each gets one, except where several come at once.
PLACES = 60
# More than what the writer may hold back of the picture before.
ENOUGH = 1 << 16
PIPE = 1 << 20


class Film:
    """The film as it is written: pictures with the times at which they came."""

    def __init__(self, path, seen, size):
        self.path, self.seen, self.size = path, seen, size
        self.playing, self.film = threading.Event(), None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        with open(self.path, "rb", buffering=0) as file:
            fcntl.fcntl(file, fcntl.F_SETPIPE_SZ, PIPE)
            header = self.line(file).split()
            # Of the first picture, which comes over a good link: all others are stretched to it.
            width, height = (int(field[1:]) for field in header[1:3])
            self.film = f"{width}x{height}"
            frame = memoryview(bytearray(width * height * 3 // 2))
            luma = np.frombuffer(frame, np.uint8, width * height).reshape(height, width)
            previous, shown = None, None
            while self.line(file):
                if not read(file, frame[:ENOUGH]):
                    break
                now = time.time()
                if not read(file, frame[ENOUGH:]):
                    break
                stamp = stamps.read(luma[:, :, None])
                # Without a stamp it is what it looks like.
                look = stamp[0] if stamp else luma[::16, ::16].tobytes()
                if look == shown:
                    continue
                if previous:
                    self.seen.add(previous, stamp, self.size() or (width, height), luma.copy)
                    self.playing.set()
                previous, shown = now, look

    @staticmethod
    def line(file):
        text = b""
        while not text.endswith(b"\n"):
            byte = file.read(1)
            if not byte:
                return b""
            text += byte
        return text


def read(file, memory):
    """Fills the memory; false where the film ends before."""
    at = 0
    while at < len(memory):
        count = file.readinto(memory[at:])
        if not count:
            return False
        at += count
    return True


def fill(frames, count):
    """Puts `count` frames back that came together with the one after them, and so had no place: the player's own count says how many there
    were. It is behind a pause that frames come at once, so those of the latest frames were theirs; the others' publisher left some out."""
    gaps = [
        (delay(after[0], after[1][1]), before, after) for before, after in zip(frames, frames[1:])
        if before[1] and after[1] and after[1][0] - before[1][0] > 1]
    found = []
    for _, before, after in sorted(gaps, key=lambda gap: gap[0], reverse=True):
        distance = after[1][0] - before[1][0]
        step = ((after[1][1] - before[1][1]) & 0xFFFFFFFF) / distance
        for back in range(1, min(distance - 1, count - len(found)) + 1):
            found.append((after[0], (after[1][0] - back, round(after[1][1] - back * step) & 0xFFFFFFFF), after[2]))
    frames += found
    frames.sort(key=lambda frame: (frame[0], frame[1] or ()))
    return len(found)


def main():
    sora, url, channel, width, height, folder, *options = sys.argv[1:]
    path = os.path.join(folder, f"{channel}.y4m")
    if os.path.exists(path):
        os.remove(path)
    os.mkfifo(path)
    player = Process(
        f"{channel}-tool", [sora, "play", url, "--channel", channel, "--json", "--record", path, "--fps", str(PLACES), *options], folder)

    def last(kind):
        return (player.last("stats") or {}).get(kind) or {}

    def size():
        video = last("video")
        return (video["width"], video["height"]) if video.get("width") else None

    def sound():
        audio = last("audio")
        return audio.get("seconds", 0), audio.get("concealedMs", 0) / 1000

    seen = Seen(int(width), int(height))
    film = Film(path, seen, size)
    player.wait_for("picture", film.playing.is_set, 30)
    tell("playing")
    concealed = follow(seen, sound)
    player.finish()
    film.thread.join(10)
    os.remove(path)
    summary = (player.last("summary") or {}).get("video") or {}
    # The film's first picture has no time.
    lacking = summary.get("frames", 0) - summary.get("stamps", {}).get("duplicates", 0) - 1 - len(seen.frames)
    filled = fill(seen.frames, max(0, lacking))
    tell("own", film=film.film, filled=filled, **{key: summary.get(key) for key in ("frames", "freezeCount", "latencyMs", "psnrDb")})
    tell("seen", concealed=concealed, **seen.report())


main()

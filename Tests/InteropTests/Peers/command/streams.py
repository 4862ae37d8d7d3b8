"""`sora play` while publishers come and go: what it follows, what it records, and what it says."""

import os
import shutil

from harness import main, stamps

SIZES = {"first": (320, 180), "second": (640, 360)}
FILM_RATE = 20


def publish(world, name, *arguments):
    width, height = SIZES.get(name, (320, 180))
    return world.tool(
        "publish", "ch", "--video-codec", "vp8", "--resolution", f"{width}x{height}", "--fps", "16", *arguments, name=name)


def last(play, condition):
    stats = play.last("stats")
    return stats if stats and condition(stats) else None


def shows(play, name, frames=24):
    """Waits until `play` follows the publisher of that name, and returns the line that says so."""
    return play.wait_for(
        f"pictures of the {name}", lambda: last(play, lambda stats: (
            stats["streamsLive"] == 1 and stats["video"] and stats["video"]["width"] == SIZES[name][0]
            and stats["video"]["frames"] >= frames and stats["video"]["fps"] > 0)), 30)


def film(path):
    """The film's header, and the index in each frame's stamp."""
    import numpy as np

    with open(path, "rb") as file:
        header = file.readline().decode().split()
        width, height = (int(field[1:]) for field in header[1:3])
        indices = []
        while file.readline():
            picture = file.read(width * height * 3 // 2)
            luma = np.frombuffer(picture[: width * height], np.uint8).reshape(height, width, 1)
            stamp = stamps.read(luma)
            indices.append(stamp[0] if stamp else None)
    return header, indices


def succession(world):
    """One publisher leaves, another comes a little later."""
    path, sound, snapshot = (os.path.join(world.folder, name) for name in ("film.y4m", "sound.wav", "picture.png"))
    play = world.tool(
        "play", "ch", "--record", path, "--record", sound, "--snapshot", snapshot, "--fps", str(FILM_RATE))
    first = publish(world, "first")
    followed = shows(play, "first")["streamId"]
    first.finish()
    play.wait_for("end of the first", lambda: last(play, lambda stats: stats["streamsLive"] == 0))
    # A second without anybody, at least.
    gone = play.wait_for("a gap", lambda: last(play, lambda stats: stats["goneMs"] > 1_000))
    second = publish(world, "second")
    next_followed = shows(play, "second")["streamId"]
    status = play.finish()
    second.finish()
    summary = play.last("summary")
    header, indices = film(path)
    split = next(
        place for place in range(1, len(indices))
        if None not in indices[place - 1 : place + 1] and indices[place] < indices[place - 1])
    runs = [index for place, index in enumerate(indices) if place == 0 or index != indices[place - 1]]
    return {
        "status": status, "summary": summary, "rateWhileGone": gone["video"]["fps"], "header": header[1:4],
        "followed": [followed, next_followed], "filmSeconds": len(indices) / FILM_RATE,
        "soundSeconds": (os.path.getsize(sound) - 44) / 4 / 48_000, "hasSnapshot": os.path.exists(snapshot),
        "longestRun": longest_run(indices), "unreadable": indices.count(None), "distinct": len(runs),
        "filmFramesOfSecond": len(indices) - split, "messages": play.log_text().strip().splitlines(),
    }


def longest_run(indices):
    longest = run = 1
    for before, index in zip(indices, indices[1:]):
        run = run + 1 if index == before else 1
        longest = max(longest, run)
    return longest


def table(world):
    """The live table of a terminal with two publishers, one of which is killed."""
    if not shutil.which("script"):
        raise RuntimeError("script is missing: it belongs to bsdutils")
    capture = os.path.join(world.folder, "table.typescript")
    command = f"stty cols 120 rows 30; exec {world.sora} play {world.url} --channel table"
    publishers = [world.tool("publish", "table", "--resolution", "320x180", name=f"table-{index}") for index in range(2)]
    play = world.start("table", ["script", "-qefc", command, capture])

    def text():
        with open(capture, errors="replace") as file:
            return file.read()

    play.wait_for("two streams", lambda: os.path.exists(capture) and "2 streams, 2 live" in text(), 30)
    publishers[0].child.kill()
    play.wait_for("one stream", lambda: "2 streams, 1 live" in text(), 30)
    publishers[1].finish()
    play.wait_for("no stream", lambda: "2 streams, 0 live  stream gone for" in text(), 30)
    # What Ctrl-C sends.
    play.write("\x03")
    play.wait_for("summary", lambda: "live at the end" in text())
    play.wait()
    return {"text": text()}


def scenario(world):
    world.serve()
    return {"succession": succession(world), "table": table(world)["text"]}


main(scenario)

"""What `sora` does when what it writes can't be written, and when a file that it reads was cut."""

import os
import struct
import subprocess

from harness import main, received
from harness.world import UNPRIVILEGED

TONE = [1000 if index // 24 % 2 else -1000 for index in range(96_000)]


def commands(world):
    """Each runs for ever, if nobody stops it, but for `codecs`, which says what it has to say at once."""
    return {
        "publish": ["publish", world.url, "--channel", "ch", "--resolution", "320x180", "--json"],
        "play": ["play", world.url, "--channel", "ch", "--json"],
        "serve": ["serve", "--port", "0", "--json"],
        "serve for people": ["serve", "--port", "0"],
        "codecs": ["codecs", "--json"],
        "codecs for people": ["codecs"],
        "help": ["play", "--help"],
    }


def ended(process):
    try:
        _, errors = process.communicate(timeout=20)
        return {"status": process.returncode, "lines": errors.decode().splitlines()}
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return {"status": -1, "lines": ["it went on for 20 s"]}


def start(world, arguments, output):
    return subprocess.Popen(
        UNPRIVILEGED + [world.sora, *arguments], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)


def head(world, arguments):
    """Like `| head -1`."""
    reading, writing = os.pipe()
    process = start(world, arguments, writing)
    os.close(writing)
    with os.fdopen(reading) as lines:
        line = lines.readline()
    return ended(process) | {"line": line}


def full(world, arguments):
    with open("/dev/full", "w") as output:
        return ended(start(world, arguments, output))


def full_film(world):
    path = os.path.join(world.folder, "film.y4m")
    os.symlink("/dev/full", path)
    process = world.tool("play", "ch", "--duration", "2", "--record", path, name="full-film")
    status = process.wait(30)
    return {"status": status, "lines": process.log_text().splitlines(), "error": process.last("summary")["error"]}


def cut_sound(world):
    """A second of sound whose header promises two."""
    path = os.path.join(world.folder, "cut.wav")
    samples = struct.pack(f"<{len(TONE)}h", *TONE)
    header = struct.pack(
        "<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + len(samples), b"WAVE", b"fmt ", 16, 1, 1, 48_000, 96_000, 2, 16, b"data",
        len(samples))
    with open(path, "wb") as file:
        file.write(header + samples[: len(samples) // 2])
    play = world.tool("play", "cut", name="cut-play")
    publish = world.tool("publish", "cut", "--audio", path, "--resolution", "320x180", name="cut-publish")
    play.wait_for("sound", received(play), 30)
    status = publish.finish()
    play.finish()
    return {"status": status, "lines": publish.log_text().splitlines()}


def scenario(world):
    world.serve()
    publisher = world.tool("publish", "ch", "--resolution", "320x180", name="publisher")
    publisher.wait_for("sending", lambda: publisher.last("stats"))
    results = {
        "head": {name: head(world, arguments) for name, arguments in commands(world).items()},
        "full": {name: full(world, arguments) for name, arguments in commands(world).items()},
        "film": full_film(world), "sound": cut_sound(world),
    }
    publisher.finish()
    return results


main(scenario)

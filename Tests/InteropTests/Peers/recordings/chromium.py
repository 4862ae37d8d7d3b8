"""Records every codec in every container that holds it, and plays the files in Chromium's video elements."""

import http.server
import json
import os
import re
import subprocess
import threading

from browsers.browser import Browser
from harness import main, wait_for

CONTAINERS = {
    "vp8": ["webm", "mkv"],
    "vp9": ["webm", "mkv", "mp4"],
    "av1": ["webm", "mkv", "mp4"],
    "h264": ["mkv", "mp4"],
    "h265": ["mkv", "mp4"],
}

# What a page asks to learn whether the browser decodes a codec at all. It answers nothing for Matroska's own type.
TYPES = {
    "vp8": 'video/webm; codecs="vp8"',
    "vp9": 'video/webm; codecs="vp09.00.10.08"',
    "av1": 'video/mp4; codecs="av01.0.04M.08"',
    "h264": 'video/mp4; codecs="avc1.42E01F"',
    "h265": 'video/mp4; codecs="hvc1.1.6.L93.B0"',
}

MEDIA_TYPES = {"webm": "video/webm", "mkv": "video/x-matroska", "mp4": "video/mp4"}

# Starts all files at once: together they take no longer than the longest.
START = """
(names) => {
  window.runs = names.map((name) => {
    const video = document.createElement("video");
    const run = { name, video, state: "playing", error: null };
    video.onended = () => { run.state = "ended"; };
    video.onerror = () => { run.state = "failed"; run.error = `${video.error.code} ${video.error.message}`; };
    video.width = 160;
    document.body.append(video);
    video.src = name;
    video.play().catch((error) => { run.error ??= String(error); });
    return run;
  });
}
"""

SEEN = """
() => runs.map(({ name, video, state, error }) => {
  const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality();
  return {
    name, state, error, width: video.videoWidth, height: video.videoHeight,
    duration: Number.isFinite(video.duration) ? video.duration : -1, position: video.currentTime,
    frames: totalVideoFrames, dropped: droppedVideoFrames, audioBytes: video.webkitAudioDecodedByteCount,
  };
})
"""


def record(world):
    """The files' names, each with its codec."""
    world.serve()
    publishers, players, files = [], [], {}
    for codec, containers in CONTAINERS.items():
        publishers.append(world.tool(
            "publish", codec, "--video-codec", codec, "--resolution", "320x180", "--fps", "15",
            name=f"publish-{codec}"))
        for container in containers:
            name = f"{codec}.{container}"
            files[name] = codec
            players.append(world.tool(
                "play", codec, "--duration", "3", "--timeout", "30", "--record", os.path.join(world.folder, name),
                name=f"play-{name}"))
    statuses = [player.wait(45) for player in players]
    for publisher in publishers:
        publisher.finish()
    assert not any(statuses), statuses
    return files


def probe(path):
    """What ffprobe counts when it decodes all of a file."""
    output = subprocess.run(
        ["ffprobe", "-v", "error", "-count_frames", "-show_streams", "-show_format", "-of", "json", path],
        check=True, capture_output=True, text=True, timeout=30)
    found = json.loads(output.stdout)
    video = next(stream for stream in found["streams"] if stream["codec_type"] == "video")
    return {
        "complaints": output.stderr, "frames": int(video["nb_read_frames"]), "width": video["width"],
        "height": video["height"], "duration": float(found["format"]["duration"]),
    }


class Files(http.server.BaseHTTPRequestHandler):
    """Files with ranges, which a video element asks for."""

    def do_GET(self):
        name = os.path.basename(self.path)
        path = os.path.join(self.server.folder, name)
        if name == "":
            data, kind = b"<!doctype html><body>", "text/html"
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                data = file.read()
            kind = MEDIA_TYPES[name.rsplit(".", 1)[1]]
        else:
            self.send_error(404)
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        size, first = len(data), 0
        if wanted:
            first = int(wanted[1])
            data = data[first:int(wanted[2]) + 1 if wanted[2] else None]
            if not data:
                self.send_error(416)
                return
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{first + len(data) - 1}/{size}")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except ConnectionError:
            # The browser stops reading what it has enough of.
            pass

    def log_message(self, *_):
        pass


def watch(world, names):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.folder = world.folder
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(world)
    try:
        page = browser.chromium.new_page()
        page.goto(f"http://127.0.0.1:{server.server_address[1]}/")
        answers = {
            codec: page.evaluate("(type) => document.createElement('video').canPlayType(type)", kind)
            for codec, kind in TYPES.items()
        }
        page.evaluate(START, names)
        try:
            wait_for("end of every file", lambda: page.evaluate("runs.every((run) => run.state != 'playing')"), 30)
        finally:
            seen = page.evaluate(SEEN)
        return answers, {run["name"]: run for run in seen}
    finally:
        browser.close()
        server.shutdown()


def scenario(world):
    files = record(world)
    recorded = {name: probe(os.path.join(world.folder, name)) for name in files}
    answers, seen = watch(world, list(files))
    return {
        "files": [
            {"name": name, "codec": codec, "isDecodable": answers[codec] != "", "recorded": recorded[name],
             "seen": seen[name]}
            for name, codec in files.items()
        ]
    }


main(scenario)

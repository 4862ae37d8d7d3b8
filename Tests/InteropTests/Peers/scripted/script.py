"""The script that speaks the protocol as the official client for browsers does, in an empty page of Chromium."""

import os

from harness import wait_for

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "client.js")
KEY = "a key of thirty-two bytes or more"

# Chromium's own camera and beeping microphone, which run without a picture of the page.
CAMERA = "async ([width, height]) => { window.camera ??= await navigator.mediaDevices.getUserMedia({ video: { width, height, frameRate: 30 }, audio: true }); }"

# Noise, which no encoder makes small: what may be sent is sent.
NOISE = """
([width, height]) => {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d");
  const pictures = Array.from({ length: 8 }, () => {
    const picture = context.createImageData(width, height);
    const words = new Uint32Array(picture.data.buffer);
    for (let at = 0; at < words.length; at++) words[at] = 0xff000000 | (Math.random() * 0x1000000);
    return picture;
  });
  let index = 0;
  setInterval(() => context.putImageData(pictures[index++ % 8], 0, 0), 1000 / 30);
  window.camera = canvas.captureStream();
}
"""


class Script:
    """One client, in a page of its own."""

    def __init__(self, browser, role="sendrecv", channel="room", access=KEY, size=(640, 360), has_media=True, trailer=None, camera=CAMERA, **connect):
        self.page = browser.blank()
        self.page.add_script_tag(path=SOURCE)
        metadata = {"metadata": {"access_token": access}} if access else {}
        self.page.evaluate(
            "([url, role, channel, options]) => { window.one = new SoraScript(url, role, channel, options); }",
            [browser.world.url, role, channel, {"connect": {**metadata, **connect}, "trailer": trailer}])
        sends = role != "recvonly" and has_media
        if sends:
            self.page.evaluate(camera, size)
        # It isn't waited for: a refused client never gets any further.
        self.page.evaluate(f"() => {{ one.connect({'window.camera' if sends else 'null'}); }}")

    def evaluate(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def wait_for(self, what, condition, seconds=15):
        return wait_for(f"{what} of a script ({self.evaluate('one.log').__len__()} messages)", lambda: self.evaluate(f"() => {condition}"), seconds)

    def created(self):
        self.wait_for("connection.created", "one.createdAt !== null", 20)
        return self

    def ready(self):
        """Signaling goes over data channels."""
        self.created()
        self.wait_for("switched", "one.switched !== null")
        return self

    @property
    def offer(self):
        return self.evaluate("one.offer")

    @property
    def connection_id(self):
        return self.evaluate("one.offer.connection_id")

    def stats(self, kind, media=None):
        return [s for s in self.evaluate("one.peer ? one.stats() : []") if s["type"] == kind and media in (None, s.get("kind"))]

    def disconnect(self):
        """Leaves as a user does; how that ended on the WebSocket."""
        self.evaluate("one.disconnect()")
        self.wait_for("the end of the WebSocket", "one.ended")
        return self.close()

    def close(self):
        ended, complaints = self.evaluate("one.ended"), self.evaluate("one.complaints")
        self.page.close()
        if complaints:
            raise RuntimeError(f"the script complains: {complaints}")
        return ended


def section(sdp, kind):
    """The first section of a kind."""
    parts = sdp.replace("\r", "").split("\nm=")
    return next("m=" + part for part in parts[1:] if part.startswith(kind))


def codecs(text):
    """The names that rtpmap lines tell."""
    return [line.split(" ")[1].split("/")[0] for line in text.splitlines() if line.startswith("a=rtpmap:")]


def lines(text, start):
    return [line for line in text.splitlines() if line.startswith(start)]

"""Chromium publishes the test pattern with its stamps, or plays and tells what it sees (seen.py), on the development page.

chromium_peer.py publish|play URL CHANNEL KBPS WIDTH HEIGHT: a publisher stays until standard input ends.
"""

import base64
import mimetypes
import os
import signal
import sys
import urllib.parse

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "../../Tests/InteropTests/Peers")]

from browsers.browser import Browser  # noqa: E402
from browsers.page import STATS  # noqa: E402
from harness import stamps, wait_for  # noqa: E402
from seen import Seen, follow, heard, tell, tell_own  # noqa: E402

RATE = 30
PAGE = os.path.join(here, "../../Packages/SoraServer/Sources/SoraServer/Page")

# The page signals where it is told to, and asks for so many bits.
SIGNALING = """
([url, kbps]) => {
  const Real = WebSocket;
  window.WebSocket = class extends Real {
    constructor() { super(url); }
    send(text) {
      const message = JSON.parse(text);
      if (message.type === "connect" && message.role === "sendonly") message.video.bit_rate = kbps;
      super.send(JSON.stringify(message));
    }
  };
}
"""

# Fewer frames where there are too few bits, and not smaller ones, as the official SDK is told, too.
KEEP_SIZE = """
async () => {
  const sender = sora.peer.getSenders().find((one) => one.track?.kind === "video");
  const parameters = sender.getParameters();
  parameters.degradationPreference = "maintain-resolution";
  await sender.setParameters(parameters);
  return sender.getParameters().degradationPreference;
}
"""


def answer(route):
    """The page, on an address that a browser trusts with a camera: only its signaling goes over the link."""
    name = urllib.parse.urlsplit(route.request.url).path.strip("/") or "index.html"
    with open(os.path.join(PAGE, name), "rb") as file:
        route.fulfill(body=file.read(), content_type=mimetypes.guess_type(name)[0])


def script(name):
    with open(os.path.join(here, name)) as file:
        return file.read()


class Played(Seen):
    """What the page has kept."""

    def __init__(self, page, width, height):
        super().__init__(width, height)
        self.page = page

    def begin(self):
        super().begin()
        self.page.evaluate("() => { seen.due = 0; }")

    def end(self):
        super().end()
        self.page.evaluate("() => { seen.due = Infinity; }")

    def take(self):
        problem = self.page.evaluate("seen.problem")
        if problem:
            sys.exit(problem)
        for at, bits, width, height in self.page.evaluate("seen.frames"):
            self.frames.append((at, stamps.decode([map(int, bits[:40]), map(int, bits[40:])]), (width, height)))
        for number in range(self.page.evaluate("seen.pictures.length")):
            frame, text = self.page.evaluate("(n) => [seen.pictures[n].frame, seen.pictures[n].luma.toBase64()]", number)
            _, stamp, (width, height) = self.frames[frame]
            if stamp:
                self.pictures.append((stamp[0], np.frombuffer(base64.b64decode(text), np.uint8).reshape(height, width)))


def main():
    what, url, channel, kbps, width, height = sys.argv[1:4] + [int(word) for word in sys.argv[4:]]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    browser = Browser(None)
    try:
        page = browser.chromium.new_page()
        page.route("**/*", answer)
        page.goto(f"http://localhost/?channel={channel}")
        page.evaluate(SIGNALING, [url, kbps])
        if what == "publish":
            page.evaluate(script("pattern.js"), [width, height, RATE])
        role = "sendonly" if what == "publish" else "recvonly"
        page.evaluate("(role) => { document.getElementById('codec').value = 'VP8'; document.querySelector(`[data-role=${role}]`).click(); }", role)
        wait_for("connection of Chromium", lambda: page.evaluate("sora.state") == "connected", 30)
        if what == "publish":
            tell("connected", preference=page.evaluate(KEEP_SIZE))
            sys.stdin.read()
            return
        wait_for("stream", lambda: page.evaluate("[...sora.streams.values()].some((tile) => !tile.isOwn && tile.stream.getTracks().length === 2)"), 30)
        page.evaluate(script("player.js"))
        wait_for("picture", lambda: page.evaluate("seen.problem || seen.frames.length > 0"), 30)
        tell("playing")
        played = Played(page, width, height)
        concealed = follow(played, lambda: heard(page.evaluate(STATS)))
        tell_own(page.evaluate(STATS))
        played.take()
        tell("seen", concealed=concealed, **played.report())
    finally:
        browser.close()


main()

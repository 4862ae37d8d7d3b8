"""A browser on the page as a peer of the matrix."""

from browsers.page import CAMERA
from harness import wait_for
from harness.camera import HEIGHT, RATE, WIDTH


class PagePeer:
    def __init__(self, browser, role, channel, codec):
        self.page = browser.open(channel)
        if role == "sendonly":
            self.page.evaluate(CAMERA, [WIDTH, HEIGHT, RATE])
        self.page.press(role, codec)

    def sent(self):
        codec, video = wait_for("statistics of what is sent", lambda: self.page.rtp("outbound-rtp"))
        return {
            "codec": codec, "frames": video["framesSent"], "size": [video["frameWidth"], video["frameHeight"]],
            "implementation": video.get("encoderImplementation"), "limitation": video.get("qualityLimitationReason"),
            "pli": video.get("pliCount"), "nack": video.get("nackCount"),
        }

    def received(self, frames):
        return self.page.watch(frames)

    def leave(self):
        self.page.stop()
        if self.page.messages:
            raise RuntimeError(f"the page complains: {self.page.messages}")
        self.page.close()

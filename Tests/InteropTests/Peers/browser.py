"""Debian's Chromium, headless, with a fake camera and microphone, on the page of `sora serve`."""

from playwright.sync_api import sync_playwright

from harness import wait_for

# Reads the frame stamps of `count` frames of a stream's video element through a canvas, as they are presented.
STAMPS = """
async ([streamId, count]) => {
  const video = sora.streams.get(streamId).video;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const checksum = (value) => {
    let crc = 0;
    for (const shift of [24, 16, 8, 0]) {
      crc ^= (value >>> shift) & 0xff;
      for (let i = 0; i < 8; i++) crc = ((crc & 0x80 ? (crc << 1) ^ 0x07 : crc << 1) & 0xff);
    }
    return crc;
  };
  const read = () => {
    const width = video.videoWidth, edge = Math.floor(width / 40);
    if (!edge) return null;
    canvas.width = width;
    canvas.height = edge * 2;
    context.drawImage(video, 0, 0, width, edge * 2, 0, 0, width, edge * 2);
    const pixels = context.getImageData(0, 0, width, edge * 2).data;
    const values = [];
    for (let row = 0; row < 2; row++) {
      let value = 0, crc = 0;
      for (let block = 0; block < 40; block++) {
        const at = ((row * edge + (edge >> 1)) * width + block * edge + (edge >> 1)) * 4;
        const bit = pixels[at] + pixels[at + 1] + pixels[at + 2] > 3 * 128 ? 1 : 0;
        if (block < 32) value = ((value << 1) | bit) >>> 0;
        else crc = (crc << 1) | bit;
      }
      if (checksum(value) !== crc) return null;
      values.push(value);
    }
    const now = Date.now() % 4294967296;
    return { index: values[0], late: now - values[1] };
  };
  const found = [];
  while (found.length < count) {
    await new Promise((done) => video.requestVideoFrameCallback(done));
    found.push(read());
  }
  return found;
}
"""

STATS = "async () => peer ? [...(await peer.getStats()).values()] : []"


class Browser:
    """A browser with as many pages of the server as are opened."""

    def __init__(self, world):
        self.world = world
        self.playwright = sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(
            executable_path="/usr/bin/chromium", headless=True, args=[
                "--no-sandbox",
                "--use-fake-device-for-media-stream=fps=30",
                "--use-fake-ui-for-media-stream",
                "--disable-features=WebRtcHideLocalIpsWithMdns",
                "--autoplay-policy=no-user-gesture-required",
                "--disable-background-timer-throttling",
                "--disable-renderer-backgrounding",
                "--disable-backgrounding-occluded-windows",
            ])

    def open(self, channel, role, **query):
        return Page(self, channel, role, query)

    def close(self):
        self.chromium.close()
        self.playwright.stop()


class Page:
    def __init__(self, browser, channel, role, query):
        self.page = browser.chromium.new_page(viewport={"width": 1280, "height": 800})
        self.messages = []
        self.page.on("console", lambda message: self.messages.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        query = {"channel": channel, "role": role, "codec": "VP8", **query}
        text = "&".join(f"{key}={value}" for key, value in query.items())
        self.page.goto(f"http://127.0.0.1:{browser.world.port}/?{text}")
        self.wait_for("connection", "sora.state !== 'connecting' && sora.state !== 'idle'")
        if self.state() != "connected":
            raise RuntimeError(f"the page is {self.state()}: {self.evaluate('sora.error')} {self.messages}")

    def evaluate(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def state(self):
        return self.evaluate("sora.state")

    def wait_for(self, what, condition, seconds=20):
        """The first true value of a condition in JavaScript."""

        def check():
            return self.evaluate(f"() => {condition}")

        return wait_for(f"{what} in the page", check, seconds)

    def stats(self, kind, media=None):
        found = self.evaluate(STATS)
        return [s for s in found if s["type"] == kind and (media is None or s.get("kind") == media)]

    def remote_streams(self):
        """Ids of the tiles that show other people."""
        return self.evaluate("[...sora.streams.values()].filter((t) => t.name !== 'you').map((t) => t.stream.id)")

    def negotiated(self):
        transport = next(iter(self.stats("transport")), {})
        pair = next((s for s in self.stats("candidate-pair") if s["id"] == transport.get("selectedCandidatePairId")), {})
        return {
            "srtp": transport.get("srtpCipher"), "dtls": transport.get("tlsVersion"),
            "cipher": transport.get("dtlsCipher"), "rttMs": round(pair.get("currentRoundTripTime", 0) * 1000, 2),
            "availableKbps": round(pair.get("availableOutgoingBitrate", 0) / 1000),
        }

    def screenshot(self, path):
        self.page.screenshot(path=path, full_page=True)

    def stop(self):
        """Presses the page's stop button."""
        self.page.click("#stop")
        self.wait_for("end", "sora.state === 'idle'")

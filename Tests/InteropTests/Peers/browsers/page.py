"""The page of `sora serve` in some browser: what a test does with it and reads from it."""

from harness import Timeout, wait_for

# The stamp's checksum (`stamps.checksum`), for the scripts below.
CHECKSUM = """
  const checksum = (value) => {
    let crc = 0;
    for (const shift of [24, 16, 8, 0]) {
      crc ^= (value >>> shift) & 0xff;
      for (let i = 0; i < 8; i++) crc = ((crc & 0x80 ? (crc << 1) ^ 0x07 : crc << 1) & 0xff);
    }
    return crc;
  };
"""

# Reads the frame stamps of `count` frames of a stream's video element through a canvas, as they are presented.
STAMPS = """
async ([streamId, count]) => {
  const video = sora.streams.get(streamId).video;
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
""" + CHECKSUM + """  const read = () => {
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

# Puts a picture with stamps in the camera's place. The microphone stays what it is.
CAMERA = """
([width, height, rate]) => {
""" + CHECKSUM + """
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d");
  const edge = Math.floor(width / 40);
  const row = (y, value) => {
    const code = [...value.toString(2).padStart(32, "0"), ...checksum(value).toString(2).padStart(8, "0")];
    code.forEach((bit, block) => {
      context.fillStyle = bit === "1" ? "white" : "black";
      context.fillRect(block * edge, y, edge, edge);
    });
  };
  let index = 0;
  const track = canvas.captureStream().getVideoTracks()[0];
  const draw = () => {
    const shades = context.createLinearGradient(-((index * 2) % width), 0, 2 * width - ((index * 2) % width), height);
    for (let stop = 0; stop <= 4; stop++) shades.addColorStop(stop / 4, stop % 2 ? "#a08060" : "#406080");
    context.fillStyle = shades;
    context.fillRect(0, 0, width, height);
    row(0, index);
    row(edge, Date.now() % 4294967296);
    index += 1;
  };
  setInterval(draw, 1000 / rate);
  const devices = navigator.mediaDevices;
  const real = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async () => new MediaStream([...(await real({ audio: true })).getAudioTracks(), track]);
}
"""

# A tone in the microphone's place, which `speak(true)` turns on; before that it is silent.
TONE = """
() => {
  const context = new AudioContext();
  const oscillator = new OscillatorNode(context, { frequency: 440 });
  const gain = new GainNode(context, { gain: 0 });
  const destination = new MediaStreamAudioDestinationNode(context);
  oscillator.connect(gain).connect(destination);
  oscillator.start();
  window.speak = (on) => { gain.gain.value = on ? 0.4 : 0; };
  const devices = navigator.mediaDevices;
  const real = devices.getUserMedia.bind(devices);
  devices.getUserMedia = async (wanted) => new MediaStream([
    ...(wanted.video ? (await real({ video: wanted.video })).getVideoTracks() : []), ...destination.stream.clone().getAudioTracks()]);
}
"""

# How bright the middle of a stream's picture is, from 0 to 255.
BRIGHTNESS = """
async (streamId) => {
  const { video } = sora.streams.get(streamId);
  const canvas = new OffscreenCanvas(16, 16);
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 16, 16);
  const { data } = context.getImageData(0, 0, 16, 16);
  let all = 0;
  for (let at = 0; at < data.length; at += 4) all += (data[at] + data[at + 1] + data[at + 2]) / 3;
  return all / 256;
}
"""

STATS = "async () => sora.peer ? [...(await sora.peer.getStats()).values()] : []"


class Page:
    """One page. A browser of its own says how a script is evaluated in it."""

    port = None

    def navigate(self, url):
        raise NotImplementedError

    def evaluate(self, script, argument=None):
        """The value of an expression, or what the function that it is returns."""
        raise NotImplementedError

    def go(self, channel, **query):
        text = "&".join(f"{key}={value}" for key, value in {"channel": channel, **query}.items())
        self.navigate(f"http://127.0.0.1:{self.port}/?{text}")
        # Modules that wait for something run on behind the load event.
        try:
            self.wait_for("script", "globalThis.sora !== undefined")
        except Timeout as error:
            raise Timeout(f"{error}: {self.messages}") from None

    def connected(self):
        self.wait_for("connection", "sora.state !== 'connecting' && sora.state !== 'idle'")
        if self.state() != "connected":
            raise RuntimeError(f"the page is {self.state()}: {self.evaluate('sora.error')} {self.messages}")

    def press(self, role, codec):
        """Chooses a codec, presses the button of a role, and waits for the connection."""
        chosen = self.evaluate("(name) => { const field = document.getElementById('codec'); field.value = name; return field.value; }", codec)
        if chosen != codec:
            raise RuntimeError(f"the page doesn't have {codec}")
        self.evaluate(f"document.querySelector('[data-role={role}]').click()")
        self.connected()

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

    def inbound(self, kind):
        """What came of each remote stream so far: statistics by the streams' ids."""
        found = {s.get("trackIdentifier"): s for s in self.stats("inbound-rtp", kind)}
        tracks = self.evaluate(
            "(kind) => [...sora.streams.values()].filter((t) => !t.isOwn).map((t) => [t.stream.id, t.stream.getTracks().find((k) => k.kind === kind)?.id])",
            kind)
        return {stream: found[track] for stream, track in tracks if track in found}

    def remote_streams(self):
        """Ids of the tiles that show other people."""
        return self.evaluate("[...sora.streams.values()].filter((t) => !t.isOwn).map((t) => t.stream.id)")

    def negotiated(self):
        transport = next(iter(self.stats("transport")), {})
        pair = next((s for s in self.stats("candidate-pair") if s["id"] == transport.get("selectedCandidatePairId")), {})
        return {
            "srtp": transport.get("srtpCipher"), "dtls": transport.get("tlsVersion"),
            "cipher": transport.get("dtlsCipher"), "rttMs": round(pair.get("currentRoundTripTime", 0) * 1000, 2),
            "availableKbps": round(pair.get("availableOutgoingBitrate", 0) / 1000),
        }

    def rtp(self, kind):
        """The statistics of the video that goes one way, with its codec's name; None while there is none."""
        stats = self.evaluate(STATS)
        found = next((s for s in stats if s["type"] == kind and s.get("kind") == "video" and s.get("codecId")), None)
        if found is None:
            return None
        return next(s["mimeType"] for s in stats if s["id"] == found["codecId"]).split("/")[1], found

    def watch(self, frames):
        """Decodes at least so many frames of the only stream, and reads the stamps of those that are shown meanwhile."""
        stream = wait_for("tile", lambda: next(iter(self.remote_streams()), None))
        self.wait_for("picture", f"sora.streams.get('{stream}').video.videoWidth > 0")
        stamps = self.evaluate(STAMPS, [stream, frames * 2 // 3])

        def enough():
            found = self.rtp("inbound-rtp")
            return found if found and found[1]["framesDecoded"] >= frames else None

        codec, video = wait_for(f"{frames} frames", enough)
        read = [stamp for stamp in stamps if stamp]
        indices = [stamp["index"] for stamp in read]
        late = sorted(stamp["late"] for stamp in read)
        return {
            "codec": codec, "frames": video["framesDecoded"], "shown": len(stamps), "unreadable": len(stamps) - len(read),
            "backwards": sum(1 for a, b in zip(indices, indices[1:]) if b < a), "distinct": len(set(indices)),
            "size": [video["frameWidth"], video["frameHeight"]], "implementation": video.get("decoderImplementation"),
            "dropped": video.get("framesDropped"), "stream": stream,
            "latencyMs": {"p50": late[len(late) // 2], "max": late[-1]} if late else None,
        }

    def click(self, selector):
        self.evaluate(f"document.querySelector({selector!r}).click()")

    def stop(self):
        """Presses the page's stop button."""
        self.evaluate("document.getElementById('stop').click()")
        self.wait_for("end", "sora.state === 'idle'")

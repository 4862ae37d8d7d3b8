"""aiortc as a media end: an independent WebRTC stack in Python, whose inner state can be read."""

import asyncio
import fractions
import threading
import time

import numpy as np
from aiortc import AudioStreamTrack, RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription, VideoStreamTrack
from aiortc.mediastreams import MediaStreamError
from aiortc.sdp import candidate_from_sdp
from av import AudioFrame, VideoFrame

from harness import stamps
from harness.camera import RATE, Camera

SAMPLE_RATE = 48000


class CameraTrack(VideoStreamTrack):
    """The stamped picture in real time."""

    def __init__(self):
        super().__init__()
        self.camera = Camera()
        self.frames = 0
        self.started = None

    async def recv(self):
        self.started = self.started or time.monotonic()
        # The clock of the camera; a picture that is late already is left out.
        due = self.started + self.frames / RATE
        late = int((time.monotonic() - due) * RATE)
        self.frames += max(0, late)
        await asyncio.sleep(max(0, due - time.monotonic()))
        frame = VideoFrame.from_ndarray(self.camera.picture(self.frames), format="rgb24")
        frame.pts, frame.time_base = self.frames * 90000 // RATE, fractions.Fraction(1, 90000)
        self.frames += 1
        return frame


class ToneTrack(AudioStreamTrack):
    """440 Hz, in real time."""

    def __init__(self):
        super().__init__()
        self.blocks = 0
        self.started = None

    async def recv(self):
        self.started = self.started or time.monotonic()
        count = SAMPLE_RATE // 50
        await asyncio.sleep(max(0, self.started + self.blocks / 50 - time.monotonic()))
        at = np.arange(count) + self.blocks * count
        samples = (np.sin(at * 2 * np.pi * 440 / SAMPLE_RATE) * 8000).astype(np.int16)
        frame = AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.sample_rate, frame.pts = SAMPLE_RATE, self.blocks * count
        frame.time_base = fractions.Fraction(1, SAMPLE_RATE)
        self.blocks += 1
        return frame


class AiortcEnd:
    """One peer connection on an event loop of its own."""

    def __init__(self, namespace=None, servers=()):
        self.meter = stamps.Meter()
        self.samples = 0
        self.servers = [RTCIceServer(**server) for server in servers]
        self.loop = asyncio.new_event_loop()

        def run():
            if namespace:
                namespace.enter()
            self.loop.run_forever()

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        self.receiving = []
        self.peer = self.run(self.make())

    def run(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(15)

    async def make(self):
        # Without a configuration it would ask a public STUN server.
        peer = RTCPeerConnection(RTCConfiguration(iceServers=self.servers))
        peer.on("track", lambda track: self.receiving.append(asyncio.ensure_future(self.receive(track))))
        return peer

    async def receive(self, track):
        try:
            while True:
                frame = await track.recv()
                if track.kind == "video":
                    # The luma plane is enough for the stamp.
                    plane = frame.reformat(format="gray").to_ndarray()
                    self.meter.add(plane[:, :, None])
                else:
                    self.samples += frame.samples
        except MediaStreamError:
            pass

    def answer(self, sdp, mids):
        return self.run(self.make_answer(sdp, mids))

    def trickle(self, send_candidate):
        """Nothing: aiortc gathers before it answers."""

    async def make_answer(self, sdp, mids):
        await self.peer.setRemoteDescription(RTCSessionDescription(sdp, "offer"))
        # Of two sections of a kind aiortc takes the second one's candidates, and a bundle's are in the first.
        for line in sdp.splitlines():
            if line.startswith("a=candidate:"):
                await self.add_candidate(line.removeprefix("a="))
        for transceiver in self.peer.getTransceivers():
            if transceiver.mid == mids.get(transceiver.kind):
                transceiver.sender.replaceTrack(CameraTrack() if transceiver.kind == "video" else ToneTrack())
                transceiver.direction = "sendonly"
        # Gathers, too: the candidates are in the description.
        await self.peer.setLocalDescription(await self.peer.createAnswer())
        return self.peer.localDescription.sdp

    async def add_candidate(self, line):
        candidate = candidate_from_sdp(line.removeprefix("candidate:"))
        candidate.sdpMLineIndex = 0
        await self.peer.addIceCandidate(candidate)

    def stats(self, kind, media):
        found = self.run(self.peer.getStats())
        return next((s for s in found.values() if s.type == kind and s.kind == media), None)

    def codec(self):
        """The one that was negotiated for video: aiortc's statistics don't name it."""
        transceiver = next(t for t in self.peer.getTransceivers() if t.kind == "video")
        return transceiver._codecs[0].mimeType.split("/")[1]

    def sent(self):
        track = next(t.sender.track for t in self.peer.getTransceivers() if t.kind == "video")
        return {"codec": self.codec(), "frames": track.frames, "packets": self.stats("outbound-rtp", "video").packetsSent}

    def received(self):
        return {"codec": self.codec(), **self.meter.report(), "audioSeconds": round(self.samples / SAMPLE_RATE, 2)}

    def frames(self):
        return self.meter.frames

    def close(self):
        self.run(self.peer.close())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(5)

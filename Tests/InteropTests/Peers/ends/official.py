"""The official Sora Python SDK (libwebrtc) as a peer."""

import json
import threading
import time

import numpy as np
import sora_sdk

from harness import stamps, wait_for
from harness.camera import RATE, Camera

SAMPLE_RATE = 48000


# The official SDK crashes now and then while one connection's objects are freed: none is, before the process ends.
KEPT = []


class Official:
    """One connection of the official client: what it was told, saw and heard."""

    def __init__(self, world, role, channel, codec="VP8", size=(), camera=Camera, **options):
        KEPT.append(self)
        self.sora = sora_sdk.Sora()
        self.role = role
        self.camera = camera(*size)
        self.connection_id = None
        self.offer = None
        self.notifications = []
        self.tracks = []
        self.streams = {}
        self.sinks = []
        self.ended = None
        self.lock = threading.Lock()
        sends = role != "recvonly"
        self.audio = self.sora.create_audio_source(1, SAMPLE_RATE) if sends else None
        self.video = self.sora.create_video_source() if sends else None
        self.connection = self.sora.create_connection(
            signaling_urls=[world.url], role=role, channel_id=channel, audio_source=self.audio,
            video_source=self.video, video_codec_type=codec,
            # The stamp is read at the size at which it was drawn.
            degradation_preference=sora_sdk.SoraDegradationPreference.MAINTAIN_RESOLUTION, **options)
        self.connection.on_set_offer = self.on_set_offer
        self.connection.on_notify = lambda text: self.notifications.append(json.loads(text))
        self.connection.on_track = self.on_track
        self.connection.on_disconnect = self.on_disconnect
        # What went over signaling: its way, its direction and its type.
        self.said = []
        self.connection.on_signaling_message = lambda way, direction, text: self.said.append(
            (way.name, direction.name, json.loads(text)["type"]))
        self.source = None

    def on_set_offer(self, text):
        self.offer = json.loads(text)
        self.connection_id = self.offer["connection_id"]

    def on_disconnect(self, code, message):
        self.ended = {"code": code.name, "message": message}

    def on_track(self, track):
        stream = self.streams.setdefault(track.stream_id, Received())
        self.tracks.append(track)
        if track.kind == "video":
            sink = sora_sdk.SoraVideoSink(track)
            sink.on_frame = stream.on_video
        else:
            sink = sora_sdk.SoraAudioStreamSink(track, SAMPLE_RATE, 1)
            sink.on_frame = stream.on_audio
        self.sinks.append(sink)

    def created(self):
        """The notification of this connection's own start."""
        for event in list(self.notifications):
            if event["event_type"] == "connection.created" and event["connection_id"] == self.connection_id:
                return event
        return None

    def connect(self):
        self.connection.connect()
        wait_for("connection of the official client", self.created)
        return self.begin()

    def begin(self):
        """Camera and microphone run."""
        if self.video:
            self.source = Source(self.audio, self.video, self.camera)
        return self

    def count(self, kind):
        """How many messages of a type went over signaling."""
        return [said for _, _, said in list(self.said)].count(kind)

    def answers(self, more_than=-1):
        """Waits until it has answered what it was offered, more than so many times. The official SDK crashes where its connection ends
        while it answers."""
        wait_for("answers of the official client", lambda: more_than < self.count("re-offer") == self.count("re-answer"))

    def disconnect(self):
        """Leaves; how that ended."""
        self.answers()
        if self.source:
            self.source.stop()
        self.connection.disconnect()
        wait_for("end of the official client", lambda: self.ended)
        return self.ended

    def stats(self):
        return json.loads(self.connection.get_stats())

    def negotiated(self):
        """What transport the official client got."""
        stats = self.stats()
        transport = next((s for s in stats if s["type"] == "transport"), {})
        pair = next((s for s in stats if s["id"] == transport.get("selectedCandidatePairId")), {})
        return {
            "srtp": transport.get("srtpCipher"), "dtls": transport.get("tlsVersion"),
            "cipher": transport.get("dtlsCipher"), "rttMs": round(pair.get("currentRoundTripTime", 0) * 1000, 2),
            "availableKbps": round(pair.get("availableOutgoingBitrate", 0) / 1000),
        }

    def pair(self):
        """The selected pair's candidates: their types, and what its own speaks to its relay."""
        stats = {s["id"]: s for s in self.stats()}
        transport = next(s for s in stats.values() if s["type"] == "transport")
        pair = stats[transport["selectedCandidatePairId"]]
        local, remote = (stats[pair[f"{side}CandidateId"]] for side in ("local", "remote"))
        return {
            "local": local["candidateType"], "remote": remote["candidateType"], "relayProtocol": local.get("relayProtocol"),
        }

    def outbound(self, kind):
        return next((s for s in self.stats() if s["type"] == "outbound-rtp" and s["kind"] == kind), {})


def leave(clients):
    """They leave one after another, each when it has answered to the leaving of who sent before; how that ended."""
    ended = []
    for position, client in enumerate(clients):
        others = [(other, other.count("re-offer")) for other in clients[position + 1:]]
        ended.append(client.disconnect())
        for other, before in others:
            other.answers(before)
    return ended


class Received:
    """What came of one stream."""

    def __init__(self):
        self.meter = stamps.Meter()
        self.samples = 0
        self.energy = 0.0

    def on_video(self, frame):
        self.meter.add(frame.data())

    def on_audio(self, frame):
        samples = frame.data().astype(np.float64) / 32768
        self.samples += len(samples)
        self.energy += float((samples ** 2).sum())

    def report(self):
        return {
            **self.meter.report(), "audioSeconds": round(self.samples / SAMPLE_RATE, 2),
            "audioLevel": (self.energy / self.samples) ** 0.5 if self.samples else 0,
        }


class Source:
    """A camera and a microphone: a smooth moving picture with the stamp, and a 440 Hz tone, in real time."""

    def __init__(self, audio, video, camera):
        self.audio, self.video, self.camera = audio, video, camera
        self.frames = 0
        # Else the microphone is silent.
        self.speaks = True
        self.stopped = threading.Event()
        self.started = time.monotonic()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        per_frame = SAMPLE_RATE // RATE
        phase = np.arange(per_frame) * 2 * np.pi * 440 / SAMPLE_RATE
        step = 2 * np.pi * 440 * per_frame / SAMPLE_RATE
        # Not a wait for something else: this is the clock of the camera.
        while not self.stopped.wait(max(0, self.started + self.frames / RATE - time.monotonic())):
            self.video.on_captured(self.camera.picture(self.frames))
            tone = np.sin(phase + step * self.frames) * (8000 if self.speaks else 0)
            self.audio.on_data(tone.astype(np.int16)[:, None])
            self.frames += 1

    def stop(self):
        self.stopped.set()
        self.thread.join()
        self.seconds = time.monotonic() - self.started

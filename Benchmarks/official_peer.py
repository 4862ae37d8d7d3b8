"""The official SDK as a process of its own: publishes or plays, and prints lines like those of `sora ... --json`.

official_peer.py publish|play URL CHANNEL KBPS [PICTURES]: until it is interrupted.
official_peer.py connect URL CHANNEL KBPS COUNT: connects as a publisher, one time after the other, like `ConnectAgain`.
"""

import json
import os
import signal
import sys
import threading
import time

import numpy as np
import sora_sdk

WIDTH, HEIGHT, RATE, SAMPLE_RATE = 1280, 720, 30, 48000


class Peer:
    def __init__(self, sora, role, url, channel, **options):
        self.connected = threading.Event()
        self.first_frame = None
        self.id = None
        self.sinks = []
        self.before = (0, 0, 0)
        self.sora = sora
        self.connection = sora.create_connection(
            signaling_urls=[url], role=role, channel_id=channel, video_codec_type="VP8",
            # The official SDK would send smaller pictures, ours sends fewer: only the same size can be compared.
            degradation_preference=sora_sdk.SoraDegradationPreference.MAINTAIN_RESOLUTION, **options)
        self.connection.on_set_offer = self.on_set_offer
        self.connection.on_notify = self.on_notify
        self.connection.on_track = self.on_track

    def on_set_offer(self, text):
        self.id = json.loads(text)["connection_id"]

    def on_notify(self, text):
        event = json.loads(text)
        if event["event_type"] == "connection.created" and event["connection_id"] == self.id:
            self.connected_at = time.monotonic()
            self.connected.set()

    def on_track(self, track):
        if track.kind == "video":
            sink = sora_sdk.SoraVideoSink(track)
        else:
            sink = sora_sdk.SoraAudioStreamSink(track, SAMPLE_RATE, 1)
            sink.on_frame = lambda frame: None
        self.sinks.append(sink)

    def wait_for_first_frame(self):
        """By the statistics: a sink with a callback turns every frame into R, G, B, one without only takes them."""
        while self.received("video").get("framesDecoded", 0) == 0:
            if time.monotonic() > self.started + 15:
                sys.exit("no picture within 15 s")
            time.sleep(0.002)
        self.first_frame = time.monotonic()

    def received(self, kind):
        stats = json.loads(self.connection.get_stats())
        return next((s for s in stats if s["type"] == "inbound-rtp" and s["kind"] == kind), {})

    def connect(self):
        self.started = time.monotonic()
        self.connection.connect()
        if not self.connected.wait(15):
            sys.exit("no connection within 15 s")

    def milliseconds(self, at):
        return None if at is None else round(1000 * (at - self.started))

    def tell(self):
        kind, frames_name, bytes_name = (
            ("inbound-rtp", "framesDecoded", "bytesReceived") if self.sinks
            else ("outbound-rtp", "framesSent", "bytesSent"))
        stats = json.loads(self.connection.get_stats())
        video = next((s for s in stats if s["type"] == kind and s["kind"] == "video"), {})
        audio = next((s for s in stats if s["type"] == kind and s["kind"] == "audio"), {})
        now, frames, size = time.monotonic(), video.get(frames_name, 0), video.get(bytes_name, 0)
        then, frames_before, size_before = self.before
        self.before = (now, frames, size)
        print(json.dumps({
            "type": "stats", "elapsedMs": self.milliseconds(now), "connectMs": self.milliseconds(self.connected_at),
            "firstFrameMs": self.milliseconds(self.first_frame),
            "audio": {"bytes": audio.get(bytes_name, 0)},
            "video": {
                "frames": frames, "bitrateKbps": round(8 * (size - size_before) / (now - then) / 1000),
                "width": video.get("frameWidth"), "height": video.get("frameHeight"),
                "implementation": video.get("encoderImplementation") or video.get("decoderImplementation"),
                "limitation": video.get("qualityLimitationReason"), "qpSum": video.get("qpSum"),
                "targetKbps": round(video.get("targetBitrate", 0) / 1000),
            },
        }), flush=True)


def tell_feeding(sora, frames):
    """What it costs to give pictures to a source that leads nowhere: a copy, and from R, G, B to I420."""
    source = sora.create_video_source()
    count, start, cpu = 2 * RATE, time.monotonic(), time.process_time()
    for n in range(count):
        time.sleep(max(0, start + n / RATE - time.monotonic()))
        source.on_captured(frames[n % len(frames)])
    time.sleep(0.1)
    print(json.dumps({"type": "feeding", "ms": 1000 * (time.process_time() - cpu) / count}), flush=True)


def sound():
    """A second of a tone, in blocks of 10 ms."""
    wave = np.sin(np.arange(SAMPLE_RATE) * 2 * np.pi * 440 / SAMPLE_RATE) * 8000
    return [block[:, None].copy() for block in wave.astype(np.int16).reshape(100, -1)]


def publish(url, channel, kbps, pictures):
    sora = sora_sdk.Sora()
    audio, video = sora.create_audio_source(1, SAMPLE_RATE), sora.create_video_source()
    # Mapped, and touched: no page fault is measured, and the benchmark leaves the mapping out of the memory.
    frames = np.load(pictures, mmap_mode="c")
    frames[:, ::16, ::16].max()
    frames = [np.asarray(frame) for frame in frames]
    tone = sound()
    tell_feeding(sora, frames)
    peer = Peer(sora, "sendonly", url, channel, audio_source=audio, video_source=video, video_bit_rate=kbps)
    peer.connect()
    start = time.monotonic()

    def run_audio():
        for n in range(1 << 40):
            time.sleep(max(0, start + n / 100 - time.monotonic()))
            audio.on_data(tone[n % len(tone)])

    def run_video():
        n = 0
        while True:
            time.sleep(max(0, start + n / RATE - time.monotonic()))
            video.on_captured(frames[n % len(frames)])
            # What `sora publish` does too: who is more than two frames late leaves some out.
            behind = int((time.monotonic() - start) * RATE - (n + 1))
            n += 1 + (behind if behind > 2 else 0)

    threading.Thread(target=run_audio, daemon=True).start()
    threading.Thread(target=run_video, daemon=True).start()
    return peer


def play(url, channel):
    peer = Peer(sora_sdk.Sora(), "recvonly", url, channel)
    peer.connect()
    peer.wait_for_first_frame()
    return peer


def connect(url, channel, kbps, count):
    sora = sora_sdk.Sora()
    audio, video = sora.create_audio_source(1, SAMPLE_RATE), sora.create_video_source()
    time.sleep(1)
    for _ in range(count):
        peer = Peer(sora, "sendonly", url, channel, audio_source=audio, video_source=video, video_bit_rate=kbps)
        peer.connect()
        milliseconds = 1000 * (peer.connected_at - peer.started)
        print(json.dumps({"type": "connection", "connectMs": milliseconds}), flush=True)
        peer.connection.disconnect()


def main():
    role, url, channel, kbps, *pictures = sys.argv[1:]
    if role == "connect":
        connect(url, channel, int(kbps), int(*pictures))
        # See below.
        os._exit(0)
    stopped = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    peer = publish(url, channel, int(kbps), *pictures) if role == "publish" else play(url, channel)
    while not stopped.wait(1):
        peer.tell()
    peer.connection.disconnect()
    sys.stdout.flush()
    # sora_sdk's bindings complain about leaks at an orderly exit.
    os._exit(0)


main()

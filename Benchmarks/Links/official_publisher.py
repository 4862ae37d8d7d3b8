"""The official SDK publishes the test pattern with its stamps: official_publisher.py URL CHANNEL KBPS WIDTH HEIGHT, until it is interrupted."""

import json
import os
import signal
import sys
import threading
import time

import numpy as np
import sora_sdk

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "../../Tests/InteropTests/Peers")]

from harness import stamps  # noqa: E402
from pictures import Pattern, bgr  # noqa: E402

RATE, SAMPLE_RATE = 30, 48000


def main():
    url, channel, kbps, width, height = sys.argv[1:3] + [int(word) for word in sys.argv[3:]]
    pattern = Pattern(width, height)
    # Its API takes R, G and B alone. The stamps are drawn when the frame is due.
    frames = [bgr(*pattern.planes(index)) for index in range(240)]
    sora = sora_sdk.Sora()
    audio, video = sora.create_audio_source(1, SAMPLE_RATE), sora.create_video_source()
    connected = threading.Event()
    connection = sora.create_connection(
        signaling_urls=[url], role="sendonly", channel_id=channel, audio_source=audio, video_source=video, video_codec_type="VP8",
        video_bit_rate=kbps, degradation_preference=sora_sdk.SoraDegradationPreference.MAINTAIN_RESOLUTION)
    connection.on_notify = lambda text: connected.set()
    connection.connect()
    if not connected.wait(30):
        sys.exit("no connection within 30 s")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    tone = (np.sin(np.arange(SAMPLE_RATE // RATE) * 2 * np.pi * 440 / SAMPLE_RATE) * 8000).astype(np.int16)[:, None]
    started, index = time.monotonic(), 0
    print(json.dumps({"type": "connected"}), flush=True)
    while not stopped.wait(max(0, started + index / RATE - time.monotonic())):
        frame = frames[index % 240].copy()
        stamps.draw(frame, index)
        video.on_captured(frame)
        audio.on_data(tone)
        # Who is late leaves frames out, as `sora publish` does.
        index = max(index + 1, int((time.monotonic() - started) * RATE))
    connection.disconnect()
    # sora_sdk's bindings complain about leaks at an orderly exit.
    os._exit(0)


main()

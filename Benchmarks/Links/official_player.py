"""The official SDK plays, and tells what it sees (seen.py): official_player.py URL CHANNEL WIDTH HEIGHT."""

import json
import os
import sys
import threading
import time

import numpy as np
import sora_sdk

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, ".."), os.path.join(here, "../../Tests/InteropTests/Peers")]

from harness import stamps  # noqa: E402
from seen import Seen, follow, heard, tell, tell_own  # noqa: E402

SAMPLE_RATE = 48000


def luma(picture):
    """Of B, G and R in BT.601's studio swing: the sink gives nothing else."""
    return np.clip(picture.astype(np.float32) @ np.float32([0.098, 0.504, 0.257]) + 16.5, 0, 255).astype(np.uint8)


def main():
    url, channel, width, height = sys.argv[1:3] + [int(word) for word in sys.argv[3:]]
    seen, sinks, playing = Seen(width, height), [], threading.Event()

    def on_frame(frame):
        now, picture = time.time(), frame.data()
        # The conversion waits until the call is over.
        seen.add(now, stamps.read(picture), (picture.shape[1], picture.shape[0]), picture.copy)
        playing.set()

    def on_track(track):
        if track.kind == "video":
            sink = sora_sdk.SoraVideoSink(track)
            sink.on_frame = on_frame
        else:
            sink = sora_sdk.SoraAudioStreamSink(track, SAMPLE_RATE, 1)
            sink.on_frame = lambda frame: None
        sinks.append(sink)

    connection = sora_sdk.Sora().create_connection(signaling_urls=[url], role="recvonly", channel_id=channel, video_codec_type="VP8")
    connection.on_track = on_track
    connection.connect()
    if not playing.wait(30):
        sys.exit("no picture within 30 s")
    tell("playing")
    concealed = follow(seen, lambda: heard(json.loads(connection.get_stats())))
    tell_own(json.loads(connection.get_stats()))
    connection.disconnect()
    seen.pictures = [(index, luma(picture)) for index, picture in seen.pictures]
    tell("seen", concealed=concealed, **seen.report())
    # sora_sdk's bindings complain about leaks at an orderly exit.
    os._exit(0)


main()

"""The official SDK (libwebrtc's NetEq) as a client of several channels: writes what it heard, as AudioTracePeers does.

official_receiver.py URL FOLDER CHANNEL...: until standard input ends.
"""

import os
import pathlib
import sys
import threading
import time

import numpy as np
import sora_sdk


class Receiver:
    def __init__(self, url, channel):
        self.channel, self.blocks, self.times, self.count = channel, [], [], 0
        self.connected = threading.Event()
        # One for each: tracks of one factory are pulled one after the other.
        self.sora = sora_sdk.Sora()
        self.connection = self.sora.create_connection(
            signaling_urls=[url], role="recvonly", channel_id=channel, audio=True, video=False)
        self.connection.on_track = self.on_track
        self.connection.on_set_offer = lambda text: None
        self.connection.on_notify = lambda text: self.connected.set()
        self.connection.connect()

    def on_track(self, track):
        self.sink = sora_sdk.SoraAudioStreamSink(track, 48000, 1)
        self.sink.on_frame = self.on_frame

    def on_frame(self, frame):
        now = time.monotonic_ns()
        samples = np.array(frame.data(), dtype=np.int16)[:, 0]
        self.times.append((self.count, now))
        self.blocks.append(samples)
        self.count += len(samples)

    def write(self, folder):
        samples = np.concatenate(self.blocks) if self.blocks else np.zeros(0, np.int16)
        (folder / f"{self.channel}.raw").write_bytes(samples.astype("<i2").tobytes())
        (folder / f"{self.channel}.times").write_text("".join(f"{count} {at}\n" for count, at in list(self.times)))


def main():
    url, folder, *channels = sys.argv[1:]
    receivers = [Receiver(url, channel) for channel in channels]
    for receiver in receivers:
        if not receiver.connected.wait(20):
            sys.exit(f"no connection to {receiver.channel} within 20 s")
    print("ready", flush=True)
    sys.stdin.read()
    for receiver in receivers:
        receiver.write(pathlib.Path(folder))
    # sora_sdk's bindings complain about leaks at an orderly exit.
    sys.stdout.flush()
    os._exit(0)


main()

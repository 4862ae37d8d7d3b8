"""The official SDK with a microphone and a loudspeaker of a PulseAudio server: through its PCM interface, with parec and pacat, as its wheel
opens no sound devices.

official_talker.py publish|play URL CHANNEL DEVICE: until it is interrupted.
"""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import sora_sdk

RATE, BLOCK = 48000, 480
FORMAT = ["--raw", f"--rate={RATE}", "--channels=1", "--format=s16le"]


def main():
    role, url, channel, device = sys.argv[1:]
    stopped = threading.Event()
    signal.signal(signal.SIGINT, lambda *_: stopped.set())
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    sora = sora_sdk.Sora()
    if role == "publish":
        source = sora.create_audio_source(1, RATE)
        connection = sora.create_connection(
            signaling_urls=[url], role="sendonly", channel_id=channel, audio_source=source, video=False)
        recorder = subprocess.Popen(["parec", "-d", device, *FORMAT, "--latency-msec=10"], stdout=subprocess.PIPE)

        def talk():
            while block := recorder.stdout.read(BLOCK * 2):
                source.on_data(np.frombuffer(block, "<i2")[:, None].copy())

        threading.Thread(target=talk, daemon=True).start()
        helper = recorder
    else:
        connection = sora.create_connection(signaling_urls=[url], role="recvonly", channel_id=channel, video=False)
        player = subprocess.Popen(["pacat", "-d", device, *FORMAT, "--latency-msec=30"], stdin=subprocess.PIPE, bufsize=0)
        sinks = []

        def on_track(track):
            if track.kind != "audio":
                return
            sink = sora_sdk.SoraAudioStreamSink(track, RATE, 1)
            sink.on_frame = lambda frame: player.stdin.write(np.array(frame.data(), dtype="<i2")[:, 0].tobytes())
            sinks.append(sink)

        connection.on_track = on_track
        helper = player
    connection.on_set_offer = lambda text: None
    connection.connect()
    stopped.wait()
    helper.terminate()
    sys.stdout.flush()
    # sora_sdk's bindings complain about leaks at an orderly exit.
    os._exit(0)


main()

"""aiortc as a client of several channels: writes what it heard, as AudioTracePeers does.

aiortc_receiver.py URL FOLDER CHANNEL...: until standard input ends. aiortc has no clock that audio is played by, and conceals nothing: its
frames stand at their timestamps here, silence between them, as if played so late that 95 % of them come in time.
"""

import asyncio
import json
import pathlib
import sys
import time

import numpy as np
import websockets
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError


class Receiver:
    def __init__(self, channel):
        self.channel, self.frames = channel, []
        self.peer = RTCPeerConnection()
        self.peer.on("track", lambda track: asyncio.ensure_future(self.listen(track)))

    async def connect(self, url):
        self.socket = await websockets.connect(url)
        await self.socket.send(json.dumps({"type": "connect", "role": "recvonly", "channel_id": self.channel, "audio": True, "video": False}))
        offer = json.loads(await self.socket.recv())
        await self.peer.setRemoteDescription(RTCSessionDescription(offer["sdp"], "offer"))
        await self.peer.setLocalDescription(await self.peer.createAnswer())
        await self.socket.send(json.dumps({"type": "answer", "sdp": self.peer.localDescription.sdp}))
        while json.loads(await self.socket.recv())["type"] != "notify":
            pass

    async def listen(self, track):
        try:
            while True:
                frame = await track.recv()
                samples = frame.to_ndarray().reshape(-1, len(frame.layout.channels))[:, 0]
                self.frames.append((time.monotonic_ns(), frame.pts, samples))
        except MediaStreamError:
            pass

    def write(self, folder):
        samples, times = np.zeros(0, np.int16), ""
        if self.frames:
            first = min(pts for _, pts, _ in self.frames)
            late = np.percentile([at - (pts - first) * 1e9 / 48000 for at, pts, _ in self.frames], 95)
            samples = np.zeros(max(pts - first + len(part) for _, pts, part in self.frames), np.int16)
            for at, pts, part in self.frames:
                if at - (pts - first) * 1e9 / 48000 <= late:
                    samples[pts - first : pts - first + len(part)] = part
            # The time of a sample in the middle, which is within the run whatever was before.
            middle = len(samples) // 2
            times = f"{middle} {int(late + middle * 1e9 / 48000)}\n"
        (folder / f"{self.channel}.raw").write_bytes(samples.astype("<i2").tobytes())
        (folder / f"{self.channel}.times").write_text(times)


async def main():
    url, folder, *channels = sys.argv[1:]
    receivers = [Receiver(channel) for channel in channels]
    await asyncio.wait_for(asyncio.gather(*[receiver.connect(url) for receiver in receivers]), 20)
    print("ready", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    for receiver in receivers:
        receiver.write(pathlib.Path(folder))
    await asyncio.gather(*[receiver.peer.close() for receiver in receivers])


asyncio.run(main())

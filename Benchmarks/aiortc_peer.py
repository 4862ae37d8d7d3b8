"""aiortc as a peer for connecting.py: what `InteropPeer` takes and tells, as far as connecting needs it."""

import asyncio
import json
import sys

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription


def tell(kind, **values):
    sys.stdout.write(json.dumps({"type": kind, **values}) + "\n")
    sys.stdout.flush()


class Peer:
    connection = None

    async def open(self, _):
        # Without a configuration it would ask a public STUN server.
        connection = self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        connection.on("connectionstatechange", lambda: tell("state", state=connection.connectionState))
        connection.addTransceiver("audio")
        connection.addTransceiver("video")
        tell("opened")

    async def create(self, _):
        await self.describe("offer", await self.connection.createOffer())

    async def offer(self, request):
        await self.connection.setRemoteDescription(RTCSessionDescription(request["sdp"], "offer"))
        await self.describe("answer", await self.connection.createAnswer())

    async def answer(self, request):
        await self.connection.setRemoteDescription(RTCSessionDescription(request["sdp"], "answer"))

    async def close(self, _):
        await self.connection.close()

    async def describe(self, kind, description):
        # Gathers first: the description has all candidates.
        await self.connection.setLocalDescription(description)
        tell(kind, sdp=self.connection.localDescription.sdp)


async def main():
    reader = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    peer = Peer()
    while line := await reader.readline():
        request = json.loads(line)
        await getattr(peer, request["type"])(request)


asyncio.run(main())

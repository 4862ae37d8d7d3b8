"""aiortc and GStreamer as ends of calls without a server: see direct.py. Both put all candidates into descriptions or
take them from there, and neither restarts ICE."""

from aiortc import RTCSessionDescription

from aiortc_end import AiortcEnd, CameraTrack, ToneTrack
from direct import attribute
from gstreamer_end import GStreamerEnd


class AiortcPeer(AiortcEnd):
    def __init__(self):
        super().__init__()
        self.run(self.add_tracks())

    async def add_tracks(self):
        # On the loop: a track's clock belongs to it.
        self.peer.addTrack(ToneTrack())
        self.peer.addTrack(CameraTrack())

    def create(self, restart=False):
        return self.run(self.make_offer())

    async def make_offer(self):
        await self.peer.setLocalDescription(await self.peer.createOffer())
        return self.peer.localDescription.sdp

    def answer(self, sdp):
        # It sends on every section by itself.
        return super().answer(sdp, {})

    def accept(self, sdp):
        self.run(self.peer.setRemoteDescription(RTCSessionDescription(sdp, "answer")))

    def add(self, candidate):
        """Nothing: ours are in its description."""

    def candidates(self):
        return []

    def state(self):
        return self.peer.connectionState

    def states(self):
        return [self.peer.connectionState]

    def stats(self):
        transport = self.peer.getTransceivers()[0].sender.transport
        version = transport._ssl.get_protocol_version() if transport._ssl else 0
        return [
            {"id": "transport", "type": "transport", "tlsVersion": f"{version:04X}"},
            {"id": "video", "type": "inbound-rtp", "kind": "video", "framesDecoded": self.frames()},
            {"id": "audio", "type": "inbound-rtp", "kind": "audio", "packetsReceived": self.samples // 960},
        ]


class GStreamerPeer(GStreamerEnd):
    def __init__(self, world, name, is_server=False):
        super().__init__(world, name)
        self.is_server = is_server

    def answer(self, sdp):
        if self.is_server:
            # Who is left the choice becomes the client.
            sdp = sdp.replace("a=setup:actpass", "a=setup:active")
        # It sends on every section.
        mids = {}
        for section in sdp.split("\nm=")[1:]:
            mids[section.split(" ", 1)[0]] = attribute(section, "mid")
        return super().answer(sdp, mids)

    def add(self, candidate):
        """Nothing: ours are in its description."""

    def candidates(self):
        found = [line["candidate"] for line in self.process.messages("candidate")[self.taken :]]
        self.taken += len(found)
        return found

    def state(self):
        return self.report()["state"]

    def states(self):
        return [self.state()]

    def stats(self):
        # webrtcbin's own say nothing of DTLS.
        received = self.report()["received"]
        return [
            {"id": "video", "type": "inbound-rtp", "kind": "video", "framesDecoded": received["frames"]},
            {"id": "audio", "type": "inbound-rtp", "kind": "audio",
             "packetsReceived": int(received["audioSeconds"] * 50)},
        ]

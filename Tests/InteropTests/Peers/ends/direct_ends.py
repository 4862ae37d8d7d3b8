"""aiortc and GStreamer as ends of calls without a server: see direct.py. aiortc puts all of its candidates into
descriptions, GStreamer takes all of ours from there, and neither restarts ICE."""

from aiortc import RTCSessionDescription

from ends.aiortc_end import AiortcEnd, CameraTrack, ToneTrack
from ends.direct import attribute
from ends.gstreamer_end import GStreamerEnd


class AiortcPeer(AiortcEnd):
    def __init__(self, namespace=None, servers=()):
        super().__init__(namespace, servers)
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
        self.run(self.add_candidate(candidate))

    def candidates(self):
        return []

    def state(self):
        return self.peer.connectionState

    def states(self):
        return [self.peer.connectionState]

    def stats(self):
        transport = self.peer.getTransceivers()[0].sender.transport
        version = transport._ssl.get_protocol_version() if transport._ssl else 0
        # Its statistics know neither pairs nor candidates.
        pair = transport.transport.iceGatherer._connection._nominated.get(1)
        candidates = [
            {"id": name, "type": name, "address": one.host, "port": one.port, "candidateType": one.type}
            for name, one in (("local", pair.local_candidate), ("remote", pair.remote_candidate))] if pair else []
        return [
            {"id": "transport", "type": "transport", "tlsVersion": f"{version:04X}",
             "selectedCandidatePairId": "pair" if pair else None},
            {"id": "pair", "type": "candidate-pair", "localCandidateId": "local", "remoteCandidateId": "remote"},
            *candidates,
            {"id": "video", "type": "inbound-rtp", "kind": "video", "framesDecoded": self.frames()},
            {"id": "audio", "type": "inbound-rtp", "kind": "audio", "packetsReceived": self.samples // 960},
        ]


class GStreamerPeer(GStreamerEnd):
    def __init__(self, world, name, is_server=False, namespace=None):
        super().__init__(world, name, namespace)
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

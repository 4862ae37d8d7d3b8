"""The official Python SDK: VP8, VP9 and AV1, both ways."""

from ends.official import Official
from harness import main, wait_for
from media.matrix import peer_publishes, ten_bits, walk


# Freeing one connection's objects while the next is made crashes the official SDK.
KEPT = []


class Peer(Official):
    def __init__(self, world, role, channel, codec, **more):
        super().__init__(world, role, channel, codec, data_channel_signaling=False, **more)
        KEPT.append(self)
        self.connect()
        if role == "recvonly":
            self.stream = wait_for("stream", lambda: next(iter(self.streams.values()), None))

    def rtp(self, kind):
        """The statistics of the video that goes one way, with its codec's name."""
        stats = self.stats()
        found = next(s for s in stats if s["type"] == kind and s["kind"] == "video")
        codec = next(s["mimeType"] for s in stats if s["id"] == found["codecId"])
        return codec.split("/")[1], found

    def sent(self):
        codec, video = self.rtp("outbound-rtp")
        return {"codec": codec, "frames": video["framesSent"], "implementation": video.get("encoderImplementation"),
                "limitation": video.get("qualityLimitationReason"), "pli": video.get("pliCount")}

    def received(self, frames):
        wait_for("frames", lambda: self.stream.meter.frames >= frames, 30)
        codec, video = self.rtp("inbound-rtp")
        return {"codec": codec, **self.stream.report(), "implementation": video.get("decoderImplementation"),
                "dropped": video.get("framesDropped")}

    def leave(self):
        return self.disconnect()


def scenario(world):
    server = world.serve()
    join = lambda *arguments: Peer(world, *arguments)
    profile_2 = lambda *arguments: Peer(world, *arguments, video_vp9_params={"profile_id": 2})
    outcome = walk(world, server, ["VP8", "VP9", "AV1"], join) | ten_bits(world, server, join)
    outcome["tenBitsFromPeer"] = peer_publishes(world, server, "VP9", profile_2, channel="VP9-of-10-from-peer")
    return outcome


main(scenario)

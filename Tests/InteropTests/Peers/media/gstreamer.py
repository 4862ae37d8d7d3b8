"""GStreamer's webrtcbin, by Sora's signaling: VP8 and H.264, both ways."""

from ends.gstreamer_end import GStreamerEnd
from ends.signaling import Client
from harness import main
from media.matrix import walk


class Peer:
    def __init__(self, world, role, channel, codec):
        self.end = GStreamerEnd(world, f"gstreamer-{channel}")
        self.client = Client(world, role, channel, codec, self.end)
        self.leave = self.client.leave

    def report(self):
        report = self.end.report()
        if report["errors"]:
            raise RuntimeError(f"GStreamer: {report['errors']}")
        return report

    def sent(self):
        report = self.report()
        return {"codec": report["codec"], **report["sent"]}

    def received(self, frames):
        self.client.wait_for("frames", lambda: self.report()["received"]["frames"] >= frames, 30)
        report = self.report()
        return {"codec": report["codec"], **report["received"]}


def scenario(world):
    server = world.serve()
    return walk(world, server, ["VP8", "H264"], lambda *arguments: Peer(world, *arguments))


main(scenario)

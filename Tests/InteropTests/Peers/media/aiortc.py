"""aiortc, by Sora's signaling: VP8 and H.264, both ways."""

from ends.aiortc_end import AiortcEnd
from ends.signaling import Client
from harness import main
from media.matrix import walk


class Peer:
    def __init__(self, world, role, channel, codec):
        self.end = AiortcEnd()
        self.client = Client(world, role, channel, codec, self.end)
        self.sent, self.leave = self.end.sent, self.client.leave

    def received(self, frames):
        self.client.wait_for("frames", lambda: self.end.frames() >= frames, 30)
        return self.end.received()


def scenario(world):
    server = world.serve()
    return walk(world, server, ["VP8", "H264"], lambda *arguments: Peer(world, *arguments))


main(scenario)

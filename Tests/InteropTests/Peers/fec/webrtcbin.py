"""ULPFEC of GStreamer's webrtcbin, which answers, in a call; what it makes of ours is seen packet by packet in gstreamer.py."""

from ends.direct_ends import GStreamerPeer
from fec import calls
from harness import main


def scenario(world):
    def make(namespace):
        peer = GStreamerPeer(world, "gstreamer", namespace=namespace)
        peer.repair = 50
        return peer

    return {"calls": {"ULPFEC": calls.walk(world, make, lambda seen: seen["used"] >= calls.ENOUGH, ours_offers=True)}}


main(scenario)

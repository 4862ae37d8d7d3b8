"""Data channels between GStreamer's webrtcbin and the bare Swift peer."""

from channels.calls import Limits, walk
from ends.data import GStreamerDataEnd
from harness import main

# Without a=max-message-size it takes 64 KiB. A channel that both sides make, made in the middle of a call, never opens there; its
# numbers of empty texts and of empty binary messages are each other's (RFC 8831 §8 has 56 and 57), and it can't send either.
LIMITS = Limits(largest=65_536, size=16_384, agreed=False, empty=False)


def scenario(world):
    return {"ours offers": walk(world, "ours-offers", GStreamerDataEnd(world, "gstreamer"), True, LIMITS)}


main(scenario)

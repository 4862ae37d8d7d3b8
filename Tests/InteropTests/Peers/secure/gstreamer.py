"""GStreamer's webrtcbin and the bare Swift peer: versions and roles of DTLS. It only answers."""

from ends.direct_ends import GStreamerPeer
from harness import main
from secure.calls import each, handshake

# Which of the handshakes, and whether it is the server of DTLS.
CASES = {
    "server": ("ours offers", False), "server 1.2": ("ours offers 1.2", False),
    "server libssl": ("ours offers libssl", False), "client 1.2": ("ours offers 1.2", True),
}


def scenario(world):
    def case(name):
        kind, is_server = CASES[name]
        return handshake(world, kind, GStreamerPeer(world, f"gstreamer-{name.replace(' ', '-')}", is_server))

    return {"handshakes": each(world, CASES, case)}


main(scenario)

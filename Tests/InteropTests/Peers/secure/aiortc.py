"""aiortc and the bare Swift peer: versions and roles of DTLS."""

from ends.direct_ends import AiortcPeer
from harness import main
from secure.calls import HANDSHAKES, each, handshake


def scenario(world):
    return {"handshakes": each(world, HANDSHAKES, lambda name: handshake(world, name, AiortcPeer()))}


main(scenario)

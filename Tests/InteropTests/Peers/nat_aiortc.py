"""aiortc and the bare Swift peer behind routers that translate addresses. It neither trickles candidates nor restarts ICE,
and never leaves the pair that it has chosen first."""

import nat
from direct_ends import AiortcPeer
from harness import main

CASES = ["symmetric and cone", "symmetric", "blocked"]


def scenario(world):
    network = nat.Network(world)

    def theirs(configuration):
        return AiortcPeer(namespace=network.theirs.host, servers=configuration["iceServers"])

    try:
        return {"calls": nat.walk(network, theirs, CASES, restarts=False)}
    finally:
        network.close()


main(scenario)

"""aiortc and the bare Swift peer behind routers that translate addresses. It neither trickles candidates nor restarts ICE,
and never leaves the pair that it has chosen first."""

from ends.direct_ends import AiortcPeer
from harness import main
from nat import calls

CASES = ["symmetric and cone", "symmetric", "blocked"]


def scenario(world):
    network = calls.Network(world)

    def theirs(configuration):
        return AiortcPeer(namespace=network.theirs.host, servers=configuration["iceServers"])

    try:
        return {"calls": calls.walk(network, theirs, CASES, restarts=False)}
    finally:
        network.close()


main(scenario)

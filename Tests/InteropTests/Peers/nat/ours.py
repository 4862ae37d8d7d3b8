"""Two bare Swift peers behind routers that translate addresses."""

from ends.direct import OurEnd
from harness import main
from nat import calls


# Of those that differ in the servers only, one is enough here.
CASES = ["restricted", "symmetric and cone", "cone and symmetric", "symmetric and restricted", "symmetric", "blocked, TLS"]


def scenario(world):
    network = calls.Network(world)

    def theirs(configuration):
        return OurEnd(
            world, f"theirs-{len(world.processes)}", namespace=network.theirs.host,
            turnAuthorities=network.coturn.certificate, **configuration)

    try:
        return {"calls": calls.walk(network, theirs, CASES)}
    finally:
        network.close()


main(scenario)

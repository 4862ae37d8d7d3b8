"""Two bare Swift peers with a bad link between them."""

import link
from direct import OurEnd
from harness import main


def scenario(world):
    def theirs(namespace):
        return OurEnd(world, f"theirs-{len(world.processes)}", namespace=namespace)

    return {"calls": link.walk(world, theirs, ["bad", "dies"])}


main(scenario)

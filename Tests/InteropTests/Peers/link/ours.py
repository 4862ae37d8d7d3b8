"""Two bare Swift peers with a bad link between them."""

from ends.direct import OurEnd
from harness import main
from link import calls


def scenario(world):
    def theirs(namespace):
        return OurEnd(world, f"theirs-{len(world.processes)}", namespace=namespace)

    return {"calls": calls.walk(world, theirs, ["bad", "dies"])}


main(scenario)

"""aiortc and the bare Swift peer with a bad link between them."""

from ends.direct_ends import AiortcPeer
from harness import main
from link import calls


def scenario(world):
    return {"calls": calls.walk(world, AiortcPeer, ["bad"])}


main(scenario)

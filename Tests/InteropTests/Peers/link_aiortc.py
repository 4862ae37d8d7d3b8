"""aiortc and the bare Swift peer with a bad link between them."""

import link
from direct_ends import AiortcPeer
from harness import main


def scenario(world):
    return {"calls": link.walk(world, AiortcPeer, ["bad"])}


main(scenario)

"""Data channels between aiortc and the bare Swift peer."""

from channels.calls import Limits, walk
from ends.data import AiortcDataEnd
from harness import main

# Its own limit of a message.
LIMITS = Limits(largest=65_536, size=16_384)


def scenario(world):
    return {
        "ours offers": walk(world, "ours-offers", AiortcDataEnd(), True, LIMITS),
        "theirs offers": walk(world, "theirs-offers", AiortcDataEnd(), False, LIMITS, whole=False),
    }


main(scenario)

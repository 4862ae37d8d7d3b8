"""Firefox and the bare Swift peer: versions and roles of DTLS, ICE restarts, relays."""

from browsers.firefox import Firefox
from harness import main
from secure.calls import walk


def scenario(world):
    browser = Firefox(world)
    try:
        return walk(world, browser)
    finally:
        browser.close()


main(scenario)

"""Firefox and the bare Swift peer: versions and roles of DTLS, ICE restarts, relays."""

from firefox import Firefox
from harness import main
from secure import walk


def scenario(world):
    browser = Firefox(world)
    try:
        return walk(world, browser)
    finally:
        browser.close()


main(scenario)

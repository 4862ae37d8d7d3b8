"""Chromium and the bare Swift peer: versions and roles of DTLS, ICE restarts, relays."""

from browsers.browser import Browser
from harness import main
from secure.calls import walk


def scenario(world):
    browser = Browser(world)
    try:
        return walk(world, browser)
    finally:
        browser.close()


main(scenario)

"""Data channels between Chromium and the bare Swift peer."""

from browsers.browser import Browser
from channels.calls import walk
from ends.data import DataPageEnd
from harness import main


def scenario(world):
    world.serve()
    browser = Browser(world)
    try:
        page = browser.open("unused")
        return {
            "ours offers": walk(world, "ours-offers", DataPageEnd(page), True),
            "theirs offers": walk(world, "theirs-offers", DataPageEnd(page), False, whole=False),
        }
    finally:
        browser.close()


main(scenario)

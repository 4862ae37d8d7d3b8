"""Chromium and the bare Swift peer with a bad link between them."""

from browsers.browser import Browser
from ends.direct import PageEnd
from harness import main
from link import calls


def scenario(world):
    browsers = []

    def theirs(namespace):
        if not browsers:
            browser = Browser(world, namespace)
            browsers.append((browser, browser.blank()))
        return PageEnd(browsers[0][1])

    try:
        return {"calls": calls.walk(world, theirs)}
    finally:
        for browser, _ in browsers:
            browser.close()


main(scenario)

"""Chromium and the bare Swift peer with a bad link between them."""

import link
from browser import Browser
from direct import PageEnd
from harness import main


def scenario(world):
    browsers = []

    def theirs(namespace):
        if not browsers:
            browser = Browser(world, namespace)
            browsers.append((browser, browser.blank()))
        return PageEnd(browsers[0][1])

    try:
        return {"calls": link.walk(world, theirs)}
    finally:
        for browser, _ in browsers:
            browser.close()


main(scenario)

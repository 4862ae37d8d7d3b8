"""Chromium on the page: VP8, VP9, AV1 and H.264, both ways."""

from browser import Browser
from harness import main
from matrix import walk
from page_peer import PagePeer


def scenario(world):
    server = world.serve()
    browser = Browser(world)
    try:
        return walk(world, server, ["VP8", "VP9", "AV1", "H264"], lambda *arguments: PagePeer(browser, *arguments))
    finally:
        browser.close()


main(scenario)

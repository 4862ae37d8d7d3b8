"""Chromium on the page: VP8, VP9, AV1 and H.264, both ways."""

from browsers.browser import Browser
from browsers.page_peer import PagePeer
from harness import main
from media.matrix import ten_bits, walk


def scenario(world):
    server = world.serve()
    browser = Browser(world)
    try:
        join = lambda *arguments: PagePeer(browser, *arguments)
        return walk(world, server, ["VP8", "VP9", "AV1", "H264"], join) | ten_bits(world, server, join)
    finally:
        browser.close()


main(scenario)

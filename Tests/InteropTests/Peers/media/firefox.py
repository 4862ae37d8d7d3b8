"""Firefox on the page: VP8, VP9 and AV1, both ways."""

from browsers.firefox import Firefox
from browsers.page_peer import PagePeer
from harness import main
from media.matrix import walk


def scenario(world):
    server = world.serve()
    browser = Firefox(world)
    try:
        return walk(world, server, ["VP8", "VP9", "AV1"], lambda *arguments: PagePeer(browser, *arguments))
    finally:
        browser.close()


main(scenario)

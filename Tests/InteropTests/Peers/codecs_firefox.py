"""Firefox on the page: VP8, VP9 and AV1, both ways."""

from firefox import Firefox
from harness import main
from matrix import walk
from page_peer import PagePeer


def scenario(world):
    server = world.serve()
    browser = Firefox(world)
    try:
        return walk(world, server, ["VP8", "VP9", "AV1"], lambda *arguments: PagePeer(browser, *arguments))
    finally:
        browser.close()


main(scenario)

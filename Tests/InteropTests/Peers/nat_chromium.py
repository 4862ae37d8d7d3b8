"""Chromium and the bare Swift peer behind routers that translate addresses."""

import nat
from browser import Browser
from direct import PageEnd
from harness import main


def scenario(world):
    network = nat.Network(world)
    browser = Browser(world, network.theirs.host)
    page = browser.blank()
    try:
        result = {"kinds": nat.kinds(network)}
        result["calls"] = nat.walk(network, lambda configuration: PageEnd(page, **configuration))
        return result
    finally:
        browser.close()
        network.close()


main(scenario)

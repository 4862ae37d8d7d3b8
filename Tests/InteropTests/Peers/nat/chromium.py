"""Chromium and the bare Swift peer behind routers that translate addresses."""

from browsers.browser import Browser
from ends.direct import PageEnd
from harness import main
from nat import calls


def scenario(world):
    network = calls.Network(world)
    browser = Browser(world, network.theirs.host)
    page = browser.blank()
    try:
        result = {"kinds": calls.kinds(network)}
        result["calls"] = calls.walk(network, lambda configuration: PageEnd(page, **configuration))
        return result
    finally:
        browser.close()
        network.close()


main(scenario)

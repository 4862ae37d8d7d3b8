"""Chromium on the page and `sora publish` meet in a channel: the page sends and receives at once."""

import os

from browsers.browser import STAMPS, Browser
from harness import main, received, wait_for

FRAMES = 30


def scenario(world):
    world.serve()
    browser = Browser(world)
    page = browser.open("room", "sendrecv")
    # The page is there first: publisher and player reach it by re-offers.
    play = world.tool("play", "room")
    play.wait_for("picture and sound", received(play), 30)
    publish = world.tool("publish", "room", "--resolution", "640x360", "--fps", "30")
    stream = wait_for("tile", lambda: next(iter(page.remote_streams()), None))
    page.wait_for("picture", f"sora.streams.get('{stream}').video.videoWidth > 0")
    found = page.evaluate(STAMPS, [stream, FRAMES])
    # The player sees both: the browser and the tool.
    play.wait_for(
        "two streams", lambda: sum(1 for s in play.last("stats").get("streams") or [] if s["video"] and s["audio"]) == 2)
    page.screenshot(os.path.join(os.path.dirname(world.folder), "meets.png"))
    tiles = page.evaluate("sora.streams.size")
    counters = page.evaluate("sora.counters")
    page.stop()
    messages = page.messages
    browser.close()
    status = [publish.finish(), play.finish()]
    return {
        "frames": FRAMES, "stamped": sum(1 for stamp in found if stamp), "tiles": tiles,
        "counters": [counters[f"channel_{kind}connections"] for kind in ("", "sendrecv_", "sendonly_", "recvonly_")],
        "status": status, "streams": play.last("summary").get("streams"), "messages": messages,
    }


main(scenario)

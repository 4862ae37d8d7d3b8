"""One page publishes in layers, another watches and presses the buttons of its tile: sizes of frames prove the layer."""

import os
import time

from browsers.browser import Browser
from harness import main, wait_for

# Of smaller pictures libwebrtc makes two layers.
HEIGHTS = {"r2": 540, "r1": 270, "r0": 135}
OPTIONS = {"simulcast": 1, "size": "960x540", "fps": 15}
CODECS = ("VP8", "VP9")
PATIENCE = 30


def pixels(page, stream):
    return page.inbound("video").get(stream, {}).get("frameHeight", 0)


def arrived(page, stream, seconds):
    """Frames that come in a time: that nothing comes can only be seen by waiting."""
    before = page.inbound("video")[stream]["framesReceived"]
    time.sleep(seconds)
    return page.inbound("video")[stream]["framesReceived"] - before


def run(browser, codec):
    publisher = browser.open(codec, "sendonly", codec=codec, bit_rate=2500, **OPTIONS)
    viewer = browser.open(codec, "recvonly", codec=codec, simulcast=1)
    stream = wait_for("tile", lambda: next(iter(viewer.remote_streams()), None))
    tile = f"[data-stream={stream!r}]"
    viewer.wait_for("buttons of layers", f"!document.querySelector({tile + ' .layers'!r}).hidden")
    wait_for("the highest layer, which nobody asked for", lambda: abs(pixels(viewer, stream) - HEIGHTS["r2"]) <= 16, PATIENCE)
    switches = []
    for rid in ("r0", "r1", "r2", "r0"):
        viewer.click(f"{tile} [data-rid={rid}]")
        started = time.monotonic()
        wait_for(f"{rid} of {codec}", lambda: abs(pixels(viewer, stream) - HEIGHTS[rid]) <= 16, PATIENCE)
        ms = round((time.monotonic() - started) * 1000)
        viewer.wait_for(f"{rid} as the one that comes", f"document.querySelector({tile + ' .current'!r})?.dataset.rid === {rid!r}")
        switches.append({"rid": rid, "height": pixels(viewer, stream), "ms": ms})
    viewer.click(f"{tile} [data-rid=none]")
    viewer.wait_for("none as the one that comes", f"document.querySelector({tile + ' .current'!r})?.dataset.rid === 'none'")
    wait_for("the end of what was on its way", lambda: arrived(viewer, stream, 0.5) == 0)
    result = {"switches": switches, "framesWhileNone": arrived(viewer, stream, 2)}
    publisher.wait_for("its layers in its tile", "document.querySelectorAll('.sent li').length === 3")
    sent = [s for s in publisher.stats("outbound-rtp", "video") if s.get("framesSent")]
    publisher.screenshot(os.path.join(publisher.folder, f"layers-{codec}.png"))
    result["overflow"] = viewer.picture(f"layers-{codec}")
    result["sent"] = sorted(s["rid"] for s in sent)
    result["messages"] = publisher.messages + viewer.messages
    for page in (viewer, publisher):
        page.stop()
        page.close()
    return result


def again(browser):
    """Where the token allows no RPC, another layer is a new connection's."""
    publisher = browser.open("again", "sendonly", bit_rate=2500, **OPTIONS)
    viewer = browser.open("again", "recvonly", simulcast=1)
    # What a token's `rpc_methods` says.
    viewer.evaluate("() => { sora.client.offer.rpc_methods = []; }")
    stream = wait_for("tile", lambda: next(iter(viewer.remote_streams()), None))
    before = viewer.evaluate("sora.connectionId")
    viewer.wait_for("a layer", "[...sora.streams.values()][0].video.videoHeight > 0")
    viewer.click(f"[data-stream={stream!r}] [data-rid=r0]")
    viewer.wait_for("another connection", f"sora.connectionId && sora.connectionId !== {before!r}")
    viewer.connected()
    wait_for("r0", lambda: abs(pixels(viewer, stream) - HEIGHTS["r0"]) <= 16, PATIENCE)
    for page in (viewer, publisher):
        page.stop()
        page.close()
    return True


def scenario(world):
    world.serve()
    browser = Browser(world)
    outcome = {"codecs": {codec: run(browser, codec) for codec in CODECS}, "again": again(browser)}
    browser.close()
    return outcome


main(scenario)

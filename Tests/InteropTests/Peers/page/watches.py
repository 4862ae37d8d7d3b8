"""Chromium opens the page and watches what `sora publish` sends."""

import os

from browsers.browser import STAMPS, Browser
from harness import main, wait_for

FRAMES = 60


def scenario(world):
    world.serve()
    publish = world.tool("publish", "ch", "--resolution", "640x360", "--fps", "30")
    publish.wait_for("connection", lambda: (publish.last("stats") or {}).get("connectionId"))
    browser = Browser(world)
    page = browser.open("ch", "recvonly")
    stream = wait_for("tile", lambda: next(iter(page.remote_streams()), None))
    page.wait_for("picture", f"sora.streams.get('{stream}').video.videoWidth > 0")
    found = page.evaluate(STAMPS, [stream, FRAMES])
    audio = wait_for(
        "sound", lambda: next((s for s in page.stats("inbound-rtp", "audio") if s.get("totalAudioEnergy", 0) > 0), None))
    video = page.stats("inbound-rtp", "video")[0]
    page.wait_for("numbers in the caption", "document.querySelector('figcaption').textContent.includes('kbit/s')")
    page.screenshot(os.path.join(os.path.dirname(world.folder), "watches.png"))
    negotiated = page.negotiated()
    counters = page.evaluate("sora.counters")
    # The publisher goes: so does its tile.
    status = publish.finish()
    page.wait_for("empty channel", "sora.streams.size === 0")
    # The tile goes with the new offer, and the number with a notification of its own.
    page.wait_for("the number of who is left", "sora.counters.channel_connections !== 2")
    left = page.evaluate("sora.counters")
    page.stop()
    messages = page.messages
    browser.close()
    stamps = [stamp for stamp in found if stamp]
    indices = [stamp["index"] for stamp in stamps]
    late = sorted(stamp["late"] for stamp in stamps)
    return {
        "frames": FRAMES, "stamped": len(stamps),
        "backwards": sum(1 for a, b in zip(indices, indices[1:]) if b < a),
        "distinct": len(set(indices)), "latencyMs": {"p50": late[len(late) // 2], "max": late[-1]} if late else None,
        "audioEnergy": audio["totalAudioEnergy"], "audioSeconds": audio["totalSamplesDuration"],
        "concealedMs": audio["concealedSamples"] / 48,
        "size": [video["frameWidth"], video["frameHeight"]], "decoder": video.get("decoderImplementation"),
        "streamId": stream, "connectionId": publish.last("summary")["connectionId"], "negotiated": negotiated,
        "connections": [counters["channel_connections"], left["channel_connections"]],
        "status": status, "messages": messages,
    }


main(scenario)

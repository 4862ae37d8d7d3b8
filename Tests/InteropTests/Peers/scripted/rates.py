"""What a client asks for in kbit/s is what Chromium's estimate reaches, and what it sends no more than."""

import time

from browsers.browser import Browser
from harness import Timeout, main, wait_for
from scripted.script import CAMERA, KEY, NOISE, Script, lines, section

ESTIMATES = (500, 1200, 2500, 4000, 5500)
PATIENCE = 8
TRIES = 3
LOW = 300
# For so long it is looked at what comes out of an encoder that has settled.
SETTLING, WATCHED = 5, 5


def estimate(script):
    found = [pair.get("availableOutgoingBitrate", 0) for pair in script.stats("candidate-pair") if pair.get("nominated")]
    return max(found, default=0) / 1000


def reaches(browser, kbps):
    """Seconds from the connection on until the estimate is what was asked for; None where it isn't in time."""
    one = Script(browser, "sendonly", f"rate-{kbps}", size=(480, 270), camera=NOISE, video={"codec_type": "VP8", "bit_rate": kbps}).created()
    started = time.monotonic()
    highest = 0

    def enough():
        nonlocal highest
        highest = max(highest, estimate(one))
        return highest >= kbps

    try:
        wait_for("an estimate", enough, PATIENCE)
        seconds = round(time.monotonic() - started, 2)
    except Timeout:
        seconds = None
    video = section(one.offer["sdp"], "video")
    one.close()
    return {"seconds": seconds, "highestKbps": round(highest), "offered": lines(video, "b=")}


def estimates(browser, kbps):
    """Probes measure the machine, too: one that is busy for a moment has a few connections for it."""
    tries = []
    while len(tries) < TRIES and not (tries and tries[-1]["seconds"]):
        tries.append(reaches(browser, kbps))
    return {**tries[-1], "tries": [one["highestKbps"] for one in tries]}


def sent(script, kind):
    found = script.stats("outbound-rtp", kind)[0]
    return found["bytesSent"], found["timestamp"]


def low(browser, name, camera):
    """What comes out where little was asked for, in kbit/s: as the encoder is told, and as payload in a few seconds."""
    one = Script(browser, "sendonly", f"low-{name}", size=(480, 270), camera=camera, video={"codec_type": "VP8", "bit_rate": LOW}).created()
    time.sleep(SETTLING)
    before = sent(one, "video")
    time.sleep(WATCHED)
    after = sent(one, "video")
    target = one.stats("outbound-rtp", "video")[0]["targetBitrate"]
    one.close()
    return {"targetKbps": target / 1000, "sentKbps": round((after[0] - before[0]) * 8 / (after[1] - before[1]), 1)}


def audio(browser, name, options):
    options = {"audio": {"codec_type": "OPUS", **options}} if options else {}
    one = Script(browser, "sendonly", f"audio-{name}", video=False, **options).created()
    target = [s.get("targetBitrate") for s in one.stats("outbound-rtp", "audio")]
    wait_for("a target", lambda: [s.get("targetBitrate") for s in one.stats("outbound-rtp", "audio")] != [None])
    target = one.stats("outbound-rtp", "audio")[0].get("targetBitrate")
    text = section(one.offer["sdp"], "audio")
    one.close()
    return {"targetKbps": target / 1000, "fmtp": lines(text, "a=fmtp:")}


def scenario(world):
    world.serve("--secret-key", KEY)
    browser = Browser(world)
    outcome = {"estimates": {str(kbps): estimates(browser, kbps) for kbps in ESTIMATES}}
    outcome["low"] = {name: low(browser, name, camera) for name, camera in (("camera", CAMERA), ("noise", NOISE))}
    wishes = {"none": {}, "24": {"bit_rate": 24}, "96": {"bit_rate": 96}, "dtx": {"bit_rate": 40, "opus_params": {"usedtx": True}}}
    outcome["audio"] = {name: audio(browser, name, options) for name, options in wishes.items()}
    browser.close()
    return outcome


main(scenario)

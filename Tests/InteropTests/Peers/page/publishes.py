"""Chromium opens the page and publishes its fake camera and microphone; `sora play` receives them."""

from browsers.browser import Browser
from harness import main, received, wait_for

SECONDS = 6


def scenario(world):
    world.serve()
    play = world.tool("play", "ch")
    play.wait_for("connection", lambda: (play.last("stats") or {}).get("connectionId"))
    browser = Browser(world)
    page = browser.open("ch", "sendonly")
    play.wait_for("picture and sound", received(play), 30)
    play.wait_for("seconds of sound", lambda: play.last("stats")["audio"]["seconds"] >= SECONDS, 30)

    def same_size():
        video = play.last("stats")["video"]
        sent = page.stats("outbound-rtp", "video")[0]
        size = [sent.get("frameWidth"), sent.get("frameHeight")]
        return size if [video["width"], video["height"]] == size else None

    size = wait_for("the size that the browser says it sends", same_size)
    sent = page.stats("outbound-rtp", "video")[0]
    camera = page.evaluate("sora.localStream.getVideoTracks()[0].getSettings()")
    negotiated = page.negotiated()
    page.stop()
    messages = page.messages
    browser.close()
    status = play.finish()
    return {
        "size": size, "camera": [camera["width"], camera["height"]], "framesSent": sent["framesSent"],
        "encoder": sent.get("encoderImplementation"), "limitation": sent.get("qualityLimitationReason"),
        "negotiated": negotiated, "status": status, "summary": play.last("summary"), "messages": messages,
    }


main(scenario)

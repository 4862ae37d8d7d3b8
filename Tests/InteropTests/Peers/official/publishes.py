"""The official SDK publishes VP8 and Opus; `sora play` receives them."""

from ends.official import Official
from harness import main, received, wait_for
from harness.camera import RATE

SECONDS = 10


def scenario(world):
    world.serve()
    play = world.tool("play", "ch")
    # The player is there first, so that it can see every frame.
    play.wait_for("connection", lambda: (play.last("stats") or {}).get("connectionId"))
    official = Official(world, "sendonly", "ch").connect()
    play.wait_for("picture and sound", received(play))
    wait_for("frames", lambda: official.source.frames >= SECONDS * RATE, 2 * SECONDS)
    negotiated = official.negotiated()
    official.source.stop()
    sent = official.outbound("video")
    # What is under way arrives: the player's count stands still.
    counts = []

    def settled():
        stats = play.messages("stats")
        if len(stats) > len(counts):
            counts.append(stats[-1]["video"]["frames"])
        return len(counts) > 2 and counts[-1] == counts[-2]

    play.wait_for("last frame", settled)
    ended = official.disconnect()
    status = play.finish()
    return {
        "captured": official.source.frames, "captureSeconds": official.source.seconds,
        "framesSent": sent["framesSent"], "keyFramesSent": sent["keyFramesEncoded"],
        "pliReceived": sent["pliCount"], "limitation": sent.get("qualityLimitationReason"),
        "negotiated": negotiated, "ended": ended, "status": status, "summary": play.last("summary"),
    }


main(scenario)

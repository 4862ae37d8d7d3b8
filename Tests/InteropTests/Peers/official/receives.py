"""`sora publish` sends the test pattern and the tone; the official SDK receives them."""

from ends.official import Official
from harness import main, wait_for

FRAMES = 240


def scenario(world):
    world.serve()
    publish = world.tool("publish", "ch", "--resolution", "640x360", "--fps", "30")
    publish.wait_for("connection", lambda: (publish.last("stats") or {}).get("connectionId"))
    official = Official(world, "recvonly", "ch", data_channel_signaling=False).connect()
    stream = wait_for("stream", lambda: next(iter(official.streams.values()), None))
    wait_for("frames", lambda: stream.meter.frames >= FRAMES, 30)
    wait_for("sound", lambda: stream.samples > 0)
    negotiated = official.negotiated()
    report = stream.report()
    stream_id = next(iter(official.streams))
    ended = official.disconnect()
    status = publish.finish()
    return {
        "received": report, "streamId": stream_id, "negotiated": negotiated, "ended": ended, "status": status,
        "summary": publish.last("summary"),
    }


main(scenario)

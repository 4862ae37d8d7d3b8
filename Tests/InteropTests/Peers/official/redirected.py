"""Two servers of a cluster: the official SDK comes to the one that hasn't the channel, and receives what is published on the other."""

from ends.official import Official
from harness import free_port, main, wait_for

FRAMES = 60


def scenario(world):
    port = free_port()
    world.start("redis", ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""])
    cluster = ["--cluster", f"redis://127.0.0.1:{port}"]
    home = world.serve(*cluster, name="home")
    publish = world.tool("publish", "ch", "--resolution", "640x360", "--fps", "30")
    publish.wait_for("connection", lambda: (publish.last("stats") or {}).get("connectionId"))
    other = world.serve(*cluster, name="other")
    official = Official(world, "recvonly", "ch", data_channel_signaling=False).connect()
    stream = wait_for("stream", lambda: next(iter(official.streams.values()), None))
    wait_for("frames", lambda: stream.meter.frames >= FRAMES, 30)
    joined = [
        [line["connectionId"] for line in server.messages("join")] for server in (home, other)]
    report = stream.report()
    ended = official.disconnect()
    status = publish.finish()
    return {
        "received": report, "joinedHome": official.connection_id in joined[0], "joinedOther": len(joined[1]),
        "ended": ended, "status": status,
    }


main(scenario)

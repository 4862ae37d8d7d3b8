"""Meetecho's whip-client, GStreamer behind it, publishes to `sora serve`; `sora play` sees what comes. Its interrupt ends the session."""

import os
import signal
import subprocess

from harness import main, received, wait_for

AUDIO = ("audiotestsrc is-live=true wave=sine ! audioconvert ! audioresample ! queue ! opusenc ! rtpopuspay pt=100 ssrc=1 ! queue"
         " ! application/x-rtp,media=audio,encoding-name=OPUS,payload=100")
VIDEO = ("videotestsrc is-live=true ! video/x-raw,width=640,height=360,framerate=30/1 ! videoconvert ! queue"
         " ! vp8enc deadline=1 keyframe-max-dist=60 ! rtpvp8pay pt=96 ssrc=2 ! queue"
         " ! application/x-rtp,media=video,encoding-name=VP8,payload=96")


def scenario(world):
    server = world.serve("--secret-key", "k")
    os.environ["GST_REGISTRY"] = os.path.join(world.folder, "registry.bin")
    player = world.tool("play", "ch", "--metadata", '{"access_token":"k"}')
    client = world.start("whip-client", [
        "whip-client", "-u", f"http://127.0.0.1:{world.port}/whip/ch", "-t", "k", "-o", "-A", AUDIO, "-V", VIDEO])
    player.wait_for("media", received(player), 30)
    wait_for("two seconds", lambda: player.last("stats")["video"]["frames"] > 60, 20)
    stats = player.last("stats")
    client.child.send_signal(signal.SIGINT)
    client.wait()
    left = wait_for("its end", lambda: "HTTP-DELETE" in server.log_text())
    return {"video": stats["video"], "audio": stats["audio"], "left": bool(left), "status": player.finish()}


main(scenario)

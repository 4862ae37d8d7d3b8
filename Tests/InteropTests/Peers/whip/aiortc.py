"""aiortc publishes by WHIP to `sora serve`, which records it and where `sora play` sees it, and plays by WHEP what `sora publish` sends."""

import glob
import os

from ends.direct_ends import AiortcPeer
from ends.whip import Session
from harness import main, received, wait_for


def connect(url):
    peer = AiortcPeer()
    session = Session(url, peer.create())
    peer.accept(session.answer)
    wait_for("path", lambda: peer.state() == "connected")
    return peer, session


def scenario(world):
    folder = os.path.join(world.folder, "recordings")
    world.serve("--record", folder)
    base = f"http://127.0.0.1:{world.port}"
    player = world.tool("play", "up")
    publisher, publishing = connect(f"{base}/whip/up")
    player.wait_for("media", received(player), 30)
    seen = player.last("stats")["video"]
    # An offer of aiortc's is sendrecv: the same client plays.
    world.tool("publish", "down", "--video-codec", "vp8", "--resolution", "320x180", "--fps", "15")
    watcher, watching = connect(f"{base}/whep/down")
    frames = wait_for("pictures", lambda: (count := watcher.frames()) > 15 and count, 30)
    ends = [publishing.end(), watching.end()]
    wait_for("recording", lambda: [
        path for path in glob.glob(os.path.join(folder, "**", "*.webm"), recursive=True) if os.path.getsize(path) > 10_000])
    return {
        "status": [publishing.status, watching.status], "width": seen["width"], "frames": frames,
        "ends": ends, "left": player.finish(),
    }


main(scenario)

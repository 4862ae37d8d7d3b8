"""curl carries the requests of a publisher and of a player, as a terminal or a script of OBS's kind makes them: POST with an offer, DELETE.
The descriptions are aiortc's."""

import json
import os
import subprocess
import time
from urllib.parse import urljoin

from ends.direct_ends import AiortcPeer
from harness import main, received, wait_for
from harness.tokens import token

KEY = "a-key-of-thirty-two-bytes-or-more"


class Curl:
    """curl with a token, and what its answers were: status, headers by lower-case names, body."""

    def __init__(self, folder):
        self.folder = folder
        self.count = 0

    def __call__(self, method, url, offer=None, access=None):
        self.count += 1
        paths = {name: os.path.join(self.folder, f"curl-{self.count}.{name}") for name in ("headers", "body", "offer")}
        command = [
            "curl", "--silent", "--show-error", "--max-time", "10", "--request", method, "--dump-header", paths["headers"],
            "--output", paths["body"], "--write-out", "%{http_code}", url]
        if access:
            command += ["--header", f"Authorization: Bearer {access}"]
        if offer is not None:
            with open(paths["offer"], "w", newline="") as file:
                file.write(offer)
            command += ["--header", "Content-Type: application/sdp", "--data-binary", f"@{paths['offer']}"]
        status = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        with open(paths["headers"]) as file:
            lines = [line.split(":", 1) for line in file.read().splitlines() if ":" in line]
        headers = {}
        for name, value in lines:
            headers.setdefault(name.strip().lower(), []).append(value.strip())
        body = ""
        if os.path.exists(paths["body"]):
            with open(paths["body"], newline="") as file:
                body = file.read()
        return status, headers, body


class Session:
    def __init__(self, curl, url, access):
        self.curl, self.access = curl, access
        self.peer = AiortcPeer()
        self.status, self.headers, answer = curl("POST", url, self.peer.create(), access)
        if self.status != 201:
            raise RuntimeError(f"{url}: {self.status} {answer}")
        self.url = urljoin(url, self.headers["location"][0])
        self.peer.accept(answer)
        wait_for("path", lambda: self.peer.state() == "connected")

    def described(self):
        tag = self.headers["etag"][0]
        return {
            "status": self.status, "type": self.headers["content-type"][0], "location": self.headers["location"][0].startswith("/whi")
            or self.headers["location"][0].startswith("/whe"), "tag": tag[0] == tag[-1] == '"' and len(tag) > 2,
            "links": all('rel="ice-server"' in link for link in self.headers.get("link", [])) and bool(self.headers.get("link")),
        }

    def end(self):
        """Statuses of DELETE without a token, with it, and once more."""
        return [self.curl("DELETE", self.url, access=access)[0] for access in (None, self.access, self.access)]


def scenario(world):
    server = world.serve("--secret-key", KEY, "--turn")
    base = f"http://127.0.0.1:{world.port}"
    curl = Curl(world.folder)
    access = token({"channel_id": "ch", "exp": int(time.time()) + 60}, KEY)
    offer = AiortcPeer().create()
    outcome = {"refused": {
        "no token": curl("POST", f"{base}/whip/ch", offer)[0], "wrong token": curl("POST", f"{base}/whip/ch", offer, "x" * 40)[0],
        "another channel's": curl("POST", f"{base}/whip/hall", offer, access)[0], "no offer": curl("POST", f"{base}/whip/ch", "v=0\r\n", access)[0],
    }}
    publishing = Session(curl, f"{base}/whip/ch", access)
    player = world.tool("play", "ch", "--metadata", json.dumps({"access_token": access}))
    player.wait_for("media", received(player), 30)
    playing = Session(curl, f"{base}/whep/ch", access)
    outcome["frames"] = wait_for("frames", lambda: (count := playing.peer.frames()) > 15 and count, 30)
    outcome["sessions"] = [publishing.described(), playing.described()]
    outcome["ends"] = {"playing": playing.end(), "publishing": publishing.end()}
    player.wait_for("the end of the stream", lambda: player.last("stats").get("streamsLive") == 0, 20)
    wait_for("both leavings", lambda: len(server.messages("leave")) == 2)
    outcome["left"] = player.finish()
    return outcome


main(scenario)

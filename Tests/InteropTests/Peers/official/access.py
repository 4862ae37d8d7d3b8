"""The official client is let in with a token or the key, turned away without, and ended with its lifetime; webhooks hear of it."""

import http.server
import json
import threading
import time
import urllib.request

from ends.official import Official
from harness import main, wait_for
from harness.tokens import token

KEY = "a key of thirty-two bytes or more"
OTHER = "another key of thirty-two bytes.."


class Hooks:
    """The webhooks' server: keeps what it is posted, and lets everybody in."""

    def __init__(self):
        self.posted = []
        hooks = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                hooks.posted.append((self.path, self.headers.get("sora-connection-id"), body))
                reply = json.dumps({"allowed": True, "client_id": "ann", "metadata": {"seat": 1}}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.server.server_port}/{path}"

    def events(self):
        return [body["type"] for path, _, body in list(self.posted) if path == "/event"]


def client(world, access, **options):
    """A client that has begun to connect, and may never get there."""
    metadata = {"access_token": access} if access else None
    one = Official(world, "recvonly", "room", metadata=metadata, **options)
    one.connection.connect()
    return one


def refused(world, access):
    one = client(world, access)
    wait_for("a refusal", lambda: one.ended)
    return one.ended["message"].partition("wscode=")[2]


def scenario(world):
    hooks = Hooks()
    server = world.serve(
        "--secret-key", KEY, "--auth-webhook", hooks.url("auth"), "--event-webhook", hooks.url("event"), "--api-port", "0", "--verbose")
    now = int(time.time())
    outcome = {"refusals": {
        "missing": refused(world, None), "forged": refused(world, token({"channel_id": "room"}, OTHER)),
        "unsigned": refused(world, token({"channel_id": "room"}, KEY, algorithm="none")),
        "expired": refused(world, token({"channel_id": "room", "exp": now - 5}, KEY)),
        "elsewhere": refused(world, token({"channel_id": "hall", "exp": now + 60}, KEY)),
    }}
    # Nobody was asked about those.
    outcome["asked"] = len(hooks.posted)
    claims = {"channel_id": "room", "exp": now + 60, "connection_lifetime": 2, "video_codec_type": "AV1", "rpc_methods": []}
    outcome["lifetimes"] = {}
    for name, ignores in (("webSocket", False), ("dataChannel", True)):
        one = client(world, token(claims, KEY), data_channel_signaling=True, ignore_disconnect_websocket=ignores)
        wait_for("the end of a lifetime", lambda: one.ended)
        outcome["lifetimes"][name] = one.ended
        outcome["offer"] = {
            "client": one.offer["client_id"], "metadata": one.offer["metadata"], "methods": one.offer["rpc_methods"],
            "codec": one.offer["video_codec_type"],
        }
    bare = client(world, KEY)
    wait_for("the start of a client with the key", bare.created)
    outcome["bare"] = bare.disconnect()
    wait_for("twelve events", lambda: len(hooks.events()) >= 12)
    outcome["events"] = hooks.events()
    outcome["named"] = all(name == body["connection_id"] for path, name, body in hooks.posted if path == "/auth")
    page = server.last("ready")["apiUrl"] + "metrics"
    with urllib.request.urlopen(page, timeout=10) as reply:
        metrics = reply.read().decode().splitlines()
    outcome["metrics"] = [line for line in metrics if line.startswith(("sora_access_refusals_total ", "sora_connections_created_total "))]
    log = server.log_text()
    outcome["logged"] = "not let in" in log
    outcome["leaked"] = KEY in log or token(claims, KEY) in log
    return outcome


main(scenario)

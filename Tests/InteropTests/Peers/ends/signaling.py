"""Sora's signaling as a small client with an exchangeable media end, for peers that are no Sora clients themselves."""

import json
import threading

from websockets.sync.client import connect

from harness import wait_for

# Candidates of an answer that are sent by themselves afterwards, as clients do that gather them later.
CANDIDATE = "a=candidate:"


class Client:
    """One connection. Its media end has

    - `answer(sdp, mids)`: the answer to an offer. `mids` are the media sections on which this client sends, by kind;
    - `trickle(send_candidate)`: called when the answer is out, for the candidates that aren't in it;
    - `close()`.
    """

    def __init__(self, world, role, channel, codec, end):
        self.end = end
        self.connection_id = None
        self.notifications = []
        self.error = None
        self.closed = None
        self.socket = connect(world.url, compression=None)
        self.lock = threading.Lock()
        self.send({
            "type": "connect", "role": role, "channel_id": channel, "sora_client": f"{type(end).__name__} of the tests",
            "audio": True, "video": {"codec_type": codec}, "data_channel_signaling": False,
        })
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        self.wait_for("own connection.created", self.created)

    def run(self):
        try:
            for text in self.socket:
                self.handle(json.loads(text))
            self.closed = self.socket.close_reason or "closed"
        except Exception as error:  # noqa: BLE001 - who waits shows it
            self.error = error

    def handle(self, message):
        kind = message["type"]
        if kind == "offer":
            self.connection_id = message["connection_id"]
            self.answer("answer", message["sdp"], message.get("mid") or {})
        elif kind == "re-offer":
            self.answer("re-answer", message["sdp"], {})
        elif kind == "notify":
            self.notifications.append(message)
        elif kind == "ping":
            self.send({"type": "pong"})

    def answer(self, kind, offer, mids):
        sdp = self.end.answer(offer, mids)
        lines = sdp.splitlines()
        kept = [line for line in lines if not line.startswith((CANDIDATE, "a=end-of-candidates"))]
        self.send({"type": kind, "sdp": "\r\n".join(kept) + "\r\n"})
        # All sections share one transport, and each lists its candidates.
        for line in dict.fromkeys(line for line in lines if line.startswith(CANDIDATE)):
            self.send_candidate(line[2:])
        self.end.trickle(self.send_candidate)

    def send_candidate(self, candidate):
        self.send({"type": "candidate", "candidate": candidate})

    def send(self, message):
        with self.lock:
            self.socket.send(json.dumps(message))

    def created(self):
        return next(
            (event for event in list(self.notifications)
             if event["event_type"] == "connection.created" and event["connection_id"] == self.connection_id), None)

    def wait_for(self, what, condition, seconds=15):
        """Like the harness's, and gives up where the connection broke."""

        def check():
            if self.error:
                raise self.error
            if self.closed:
                raise RuntimeError(f"the server closed: {self.closed}")
            return condition()

        return wait_for(what, check, seconds)

    def leave(self):
        self.send({"type": "disconnect", "reason": "NO-ERROR"})
        self.thread.join(5)
        self.socket.close()
        self.end.close()

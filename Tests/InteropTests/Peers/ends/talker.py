"""An official client with channels of its app, which says and hears messages there."""

import json

from ends.official import Official
from harness import wait_for

HEADER = [{"type": "sender_connection_id"}]


class Talker(Official):
    """One official client with channels of its app."""

    def __init__(self, world, name, labels, ignores, role="sendrecv", **options):
        self.name = name
        self.messages = []
        self.open = []
        self.switched = []
        self.pushes = []
        self.closes = []
        super().__init__(
            world, role, "room", data_channel_signaling=True, ignore_disconnect_websocket=ignores, data_channels=labels,
            **options)
        self.connection.on_data_channel = self.open.append
        self.connection.on_message = lambda label, data: self.messages.append((label, bytes(data)))
        self.connection.on_switched = lambda text: self.switched.append(json.loads(text))
        self.connection.on_push = lambda text: self.pushes.append(json.loads(text))
        self.connection.on_ws_close = lambda code, reason: self.closes.append((code, reason))

    def connect(self):
        super().connect()
        wait_for(f"switched of {self.name}", lambda: self.switched)
        wait_for(f"the app's channels of {self.name}", lambda: [label for label in self.open if label.startswith("#")])
        return self

    def say(self, label, data):
        if not self.connection.send_data_channel(label, data):
            raise RuntimeError(f"{self.name} can't send on {label}")

    def hears(self, label, data, sender):
        wait_for(f"{len(data)} bytes of {sender.name} at {self.name} on {label}", lambda: (label, sender.header(label, self) + data) in self.messages)

    def header(self, label, receiver):
        options = next(item for item in receiver.offer["data_channels"] if item["label"] == label)
        return self.connection_id.encode() if options.get("header") else b""

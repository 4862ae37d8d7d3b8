"""One official client and two of ours, all sendrecv, come and go: join, leave, join, join, leave, leave."""

from ends.official import Official
from harness import main, wait_for

COUNTERS = [
    "channel_connections", "channel_sendrecv_connections", "channel_sendonly_connections",
    "channel_recvonly_connections",
]


class Ours:
    """A client of our SDK in the face that the script uses for the official one."""

    def __init__(self, world, name):
        self.process = world.start(name, [world.client, world.url, "room", "sendrecv"])
        connected = self.process.wait_for("connection", lambda: self.process.last("connected"))
        self.connection_id = connected["connectionId"]
        self.process.wait_for("its own connection.created", lambda: self.event("connection.created", self.connection_id))

    @property
    def notifications(self):
        return self.process.messages("notify")

    def event(self, kind, connection_id):
        return event(self, kind, connection_id)

    def streams_now(self):
        now = []
        for line in list(self.process.lines):
            if line["type"] == "added":
                now.append(line["streamId"])
            elif line["type"] == "removed" and line["streamId"] in now:
                now.remove(line["streamId"])
        return sorted(now)

    def report(self):
        """What has come of each stream until now."""
        before = len(self.process.messages("report"))
        self.process.write("report\n")
        self.process.wait_for("report", lambda: len(self.process.messages("report")) > before)
        return self.process.last("report")

    def plays(self, stream_id):
        stream = self.report()["streams"].get(stream_id, {})
        return stream.get("stamped", 0) > 5 and stream.get("levelDb", -999) > -80

    def leave(self):
        self.process.child.stdin.close()
        status = self.process.wait()
        return {"status": status, "error": self.process.last("disconnected")["error"]}


class Theirs(Official):
    """The official client; libwebrtc doesn't tell Python of streams that go, so each new one's media is the proof."""

    def plays(self, stream_id):
        stream = self.streams.get(stream_id)
        return stream is not None and stream.meter.frames - stream.meter.unreadable > 5 and stream.energy > 0

    def streams_now(self):
        return sorted(self.streams)


def event(client, kind, connection_id):
    for candidate in list(client.notifications):
        if candidate["event_type"] == kind and candidate["connection_id"] == connection_id:
            return candidate
    return None


def counters(message):
    return [message[name] for name in COUNTERS]


def see(steps, step, clients, kind, who):
    """Every client in the channel hears of the change; notes the counters that each was told."""
    told = {}
    for name, client in clients.items():
        message = wait_for(f"{kind} of {step} at {name}", lambda c=client: event(c, kind, who))
        told[name] = counters(message)
    steps.append({"step": step, "counters": told})


def media(step, clients):
    """Every client sees and hears every other one, and has no other stream."""
    for name, client in clients.items():
        others = sorted(other.connection_id for other in clients.values() if other is not client)
        if isinstance(client, Ours):
            wait_for(f"streams at {name} after {step}", lambda c=client, o=others: c.streams_now() == o)
        for other in others:
            wait_for(f"media of {other} at {name} after {step}", lambda c=client, o=other: c.plays(o), 20)


def scenario(world):
    world.serve()
    steps = []
    clients = {}

    def join(name, make):
        client = make()
        clients[name] = client
        see(steps, f"{name} joins", clients, "connection.created", client.connection_id)
        own = event(client, "connection.created", client.connection_id)
        listed = sorted(other["connection_id"] for other in own.get("data") or [])
        expected = sorted(other.connection_id for other in clients.values() if other is not client)
        steps[-1]["others"] = listed == expected
        media(f"{name} joins", clients)

    def leave(name, go):
        client = clients.pop(name)
        ended = go(client)
        see(steps, f"{name} leaves", clients, "connection.destroyed", client.connection_id)
        steps[-1]["ended"] = ended
        media(f"{name} leaves", clients)

    # Asks for what this server doesn't have yet, and must live with the answer.
    join("official", lambda: Theirs(world, "sendrecv", "room", data_channel_signaling=True).connect())
    join("first", lambda: Ours(world, "first"))
    leave("first", lambda client: client.leave())
    join("second", lambda: Ours(world, "second"))
    join("third", lambda: Ours(world, "third"))
    transport = clients["third"].report()["transport"]
    own = clients["official"].streams.get(clients["official"].connection_id)
    leave("second", lambda client: client.leave())
    leave("official", lambda client: client.disconnect())
    leave("third", lambda client: client.leave())
    return {"steps": steps, "transport": transport, "echoed": own is not None}


main(scenario)

"""Official clients signal over data channels, with the WebSocket and without it, and send each other messages."""

from ends.talker import HEADER, Talker
from harness import main, wait_for
from harness.api import call

BYTES = bytes(range(256)) * 200
PLAIN = [{"label": "#plain", "direction": "sendrecv"}]
ALL = PLAIN + [
    {"label": "#rich", "direction": "sendrecv", "compress": True, "header": HEADER, "ordered": False, "max_retransmits": 3},
    {"label": "#retried", "direction": "sendrecv", "max_retransmits": 3},
    # Long enough that nothing is given up while other programs hold the processor.
    {"label": "#timed", "direction": "sendrecv", "ordered": False, "max_packet_life_time": 5000, "protocol": "sora"},
]


def talk(sender, receiver, label, ordered):
    """Messages of many sizes, unlike those of other channels and ways: each comes once, and in order where that was asked for."""
    def came():
        return [data for name, data in list(receiver.messages) if name == label][before:]

    before = len([name for name, _ in list(receiver.messages) if name == label])
    mark = f"{sender.name} {label}".encode()
    sent = [mark, b"", b"a", mark * 1000, BYTES + mark, b"the last of " + mark]
    for data in sent:
        sender.say(label, data)
    wait_for(f"messages of {sender.name} at {receiver.name} on {label}", lambda: len(came()) >= len(sent))
    expected = [sender.header(label, receiver) + data for data in sent]
    if (came() if ordered else sorted(came())) != (expected if ordered else sorted(expected)):
        raise RuntimeError(f"what came of {sender.name} at {receiver.name} on {label} isn't what was sent")


def scenario(world):
    outcome = {}
    for ignores in (False, True):
        server = world.serve("--api-port", "0", name=f"serve-{ignores}")
        api = server.last("ready")["apiUrl"]
        first = Talker(world, "first", ALL, ignores).connect()
        second = Talker(world, "second", ALL, ignores).connect()
        third = Talker(world, "third", PLAIN, ignores).connect()
        talkers = [first, second, third]

        # The media of who came later was offered over the data channel.
        for talker in talkers:
            for other in talkers:
                if other is not talker:
                    wait_for(f"media of {other.name} at {talker.name}", lambda t=talker, o=other: o.connection_id in t.streams
                             and t.streams[o.connection_id].meter.frames > 5, 20)
        for sender, receivers in ((first, (second, third)), (third, (first, second))):
            sender.say("#plain", BYTES)
            for receiver in receivers:
                receiver.hears("#plain", BYTES, sender)
        for sender, receiver in ((first, second), (second, first)):
            wait_for(f"all channels of {sender.name}", lambda s=sender: {item["label"] for item in ALL} <= set(s.open))
            for item in ALL:
                talk(sender, receiver, item["label"], item.get("ordered", True))
        call(api, "Sora_20160711.PushChannel", channel_id="room", data={"a": [1, "b"]})
        for talker in talkers:
            wait_for(f"push at {talker.name}", lambda t=talker: t.pushes)
        before = first.count("re-offer"), third.count("re-offer")
        left = second.disconnect()
        wait_for("the leaving of second at first", lambda: [
            event for event in list(first.notifications)
            if event["event_type"] == "connection.destroyed" and event["connection_id"] == second.connection_id])
        first.answers(before[0])
        third.answers(before[1])
        before = first.count("re-offer")
        call(api, "Sora_20151104.DisconnectConnection", channel_id="room", connection_id=third.connection_id)
        wait_for("end of third", lambda: third.ended)
        first.answers(before)
        labels = {item["label"] for item in ALL}
        own = [label for label, _ in first.messages + second.messages if label not in labels]
        own += [label for label, _ in third.messages if label != "#plain"]
        outcome["without" if ignores else "with"] = {
            "labels": sorted(set(first.open)), "announced": sorted(item["label"] for item in first.offer["data_channels"]),
            "switched": [talker.switched[0]["ignore_disconnect_websocket"] for talker in talkers],
            "overChannels": sorted({kind for way, _, kind in first.said if way == "DATACHANNEL"}),
            "push": first.pushes[0]["data"], "others": len(own), "left": left, "disconnected": third.ended,
            "last": first.disconnect(),
        }
        server.finish()
    return outcome


main(scenario)

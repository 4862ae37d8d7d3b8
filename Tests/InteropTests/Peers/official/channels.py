"""Official clients signal over data channels, with the WebSocket and without it, and send each other messages."""

from ends.talker import HEADER, Talker
from harness import main, wait_for
from harness.api import call

BYTES = bytes(range(256)) * 200


def scenario(world):
    outcome = {}
    for ignores in (False, True):
        server = world.serve("--api-port", "0", name=f"serve-{ignores}")
        api = server.last("ready")["apiUrl"]
        plain = [{"label": "#plain", "direction": "sendrecv"}]
        both = plain + [{"label": "#rich", "direction": "sendrecv", "compress": True, "header": HEADER, "ordered": False, "max_retransmits": 3}]
        first = Talker(world, "first", both, ignores).connect()
        second = Talker(world, "second", both, ignores).connect()
        third = Talker(world, "third", plain, ignores).connect()
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
        for data in (b"", b"a", BYTES):
            second.say("#rich", data)
            first.hears("#rich", data, second)
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
        own = [label for label, data in first.messages + second.messages + third.messages if label not in ("#plain", "#rich")]
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

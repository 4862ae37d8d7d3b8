"""Data channels between another peer and the bare Swift one: every case one call, without a server of signaling."""

import os
import time
import zlib

from ends.data import OurDataEnd
from ends.direct import Call

# What channels are made with, by label. Each end opens them under its own prefix; `agreed` is made by both.
KINDS = {
    "reliable": {}, "unordered": {"ordered": False, "protocol": "sora"}, "retransmits": {"maxRetransmits": 3},
    "lifetime": {"ordered": False, "maxPacketLifeTime": 500},
}
AGREED = 100
# So many bytes each way; a gigabyte where somebody waits for it.
BULK = int(os.environ.get("CHANNEL_BYTES", 8 << 20))


class Limits:
    """What another peer takes and does."""

    def __init__(self, largest=262_144, many=1000, bulk=BULK, size=65_536, seconds=60, agreed=True, empty=True):
        self.largest, self.many, self.bulk, self.size, self.seconds = largest, many, bulk, size, seconds
        self.agreed, self.empty = agreed, empty


class Channels:
    def __init__(self, world, name, theirs, ours_offers, limits, dtls="native"):
        self.ours, self.theirs, self.limits = OurDataEnd(world, name, dtls=dtls), theirs, limits
        # There has to be one to offer.
        (self.ours if ours_offers else theirs).open("first")
        self.call = Call(self.ours, theirs, ours_offers)
        self.wait("the first channel", lambda: self.is_open("first"))

    def wait(self, what, condition):
        return self.call.wait_for(what, condition, self.limits.seconds)

    def both(self, label):
        return self.ours.channel(label), self.theirs.channel(label)

    def is_open(self, label):
        return all(report and report["state"] == "open" for report in self.both(label))

    def is_closed(self, label):
        return all(report and report["state"] == "closed" for report in self.both(label))

    def kinds(self):
        """What each side says of each kind, opened by either."""
        result = {}
        for prefix, opener in (("ours", self.ours), ("theirs", self.theirs)):
            for kind, options in KINDS.items():
                label = f"{prefix} {kind}"
                opener.open(label, **options)
                self.wait(label, lambda: self.is_open(label))
        if self.limits.agreed:
            for end in (self.ours, self.theirs):
                end.open("agreed", id=AGREED)
            self.wait("agreed", lambda: self.is_open("agreed"))
        facts = ("id", "ordered", "protocol", "maxRetransmits", "maxPacketLifeTime")
        for label in self.agreed() + [f"{prefix} {kind}" for prefix in ("ours", "theirs") for kind in KINDS]:
            ours, theirs = self.both(label)
            result[label] = {"ours": {key: ours[key] for key in facts}, "theirs": {key: theirs[key] for key in facts}}
        return result

    def agreed(self):
        return ["agreed"] if self.limits.agreed else []

    def messages(self, label):
        """Of every kind, both ways; what was sent and what came, short."""
        messages = [
            "grüße, 世界", "", b"", b"\0", bytes(range(256)), "x" * 40_000, bytes(range(256)) * (self.limits.largest // 256)]
        if not self.limits.empty:
            messages = [message for message in messages if message]

        def brief(message):
            data = message.encode() if isinstance(message, str) else bytes(message)
            return f"{'text' if isinstance(message, str) else 'binary'} {len(data)} {zlib.crc32(data):08x}"

        result = {"sent": [brief(message) for message in messages]}
        for key, sender, receiver in (("toTheirs", self.ours, self.theirs), ("toOurs", self.theirs, self.ours)):
            for message in messages:
                sender.send(label, message)
            self.wait(f"messages {key} on {label}", lambda: len(receiver.messages(label)) >= len(messages))
            result[key] = [brief(message) for message in receiver.messages(label)]
        return result

    def bulk(self, key, sender, receiver):
        """As fast as it goes: what was sent and what came."""
        label, size = f"bulk {key}", self.limits.size
        count = max(1, self.limits.bulk // size)
        self.ours.open(label)
        self.wait(label, lambda: self.is_open(label))
        receiver.quiet(label)
        started = time.monotonic()
        total = sender.bulk(label, count, size)
        self.wait("all bytes", lambda: receiver.channel(label)["bytes"] >= count * size)
        seconds = time.monotonic() - started
        report = receiver.channel(label)
        return {
            "sentSum": total, "sum": report["sum"], "sentBytes": count * size, "bytes": report["bytes"],
            "messages": report["messages"], "sentMessages": count, "megabitsPerSecond": round(count * size * 8 / seconds / 1e6, 1)}

    def many(self):
        """Many channels, half of them of each side's, with a message each; then all are closed. How many came so far."""
        labels = [f"many {number}" for number in range(self.limits.many)]
        for number, label in enumerate(labels):
            (self.ours if number % 2 == 0 else self.theirs).open(label)
        self.wait("many channels", lambda: all(self.is_open(label) for label in labels))
        for number, label in enumerate(labels):
            (self.ours if number % 3 == 0 else self.theirs).send(label, label)

        def right():
            return sum(
                (self.theirs if number % 3 == 0 else self.ours).messages(label) == [label]
                for number, label in enumerate(labels))

        self.wait("many messages", lambda: right() == len(labels))
        for number, label in enumerate(labels):
            (self.ours if number % 5 == 0 else self.theirs).shut(label)
        self.wait("many ends", lambda: all(self.is_closed(label) for label in labels))
        return right()

    def closing(self, key, closer, other):
        """Closing while the other side sends: both hear of it, and the rest goes on."""
        label = f"closing {key}"
        other.open(label)
        self.wait(label, lambda: self.is_open(label))
        closer.quiet(label)
        other.bulk(label, 20, 16_384)
        closer.shut(label)
        self.wait(f"the end of {label}", lambda: self.is_closed(label))
        # What was sent before its own close comes, at least.
        other.open(f"{label} after")
        self.wait(f"{label} after", lambda: self.is_open(f"{label} after"))
        other.send(f"{label} after", "still here")
        self.wait("a message after it", lambda: closer.messages(f"{label} after") == ["still here"])
        return True


def walk(world, name, theirs, ours_offers, limits=None, whole=True, dtls="native"):
    """Every case in one call; of a second call with the peer no more than kinds and messages."""
    channels = Channels(world, name, theirs, ours_offers, limits or Limits(), dtls)
    ours, theirs = channels.ours, channels.theirs
    result = {
        "kinds": channels.kinds(),
        "messages": {label: channels.messages(label) for label in ["ours reliable", "theirs reliable"] + channels.agreed()},
    }
    if whole:
        result["bulk"] = {
            "toTheirs": channels.bulk("to theirs", ours, theirs), "toOurs": channels.bulk("to ours", theirs, ours)}
        result["many"] = [channels.limits.many, channels.many()]
        result["closing"] = [channels.closing("ours", ours, theirs), channels.closing("theirs", theirs, ours)]
    channels.call.close()
    return result

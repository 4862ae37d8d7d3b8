"""Data channels between another peer and the bare Swift one: every case one call, without a server of signaling."""

import time
import zlib

from ends.bulk import BULK, summary
from ends.data import OurDataEnd
from ends.direct import Call
from ends.pattern import pattern

# What channels are made with, by label. Each end opens them under its own prefix; `agreed` is made by both.
KINDS = {
    "reliable": {}, "unordered": {"ordered": False, "protocol": "sora"}, "retransmits": {"maxRetransmits": 3},
    # Long enough that nothing is given up while other programs hold the processor.
    "lifetime": {"ordered": False, "maxPacketLifeTime": 5000},
}
AGREED = 100
MANY = 1000
# What is waited for; a thousand channels are asked one by one. Bulk may be as slow as 8 Mbit/s.
SECONDS = 120
BULK_SECONDS = SECONDS + BULK / 1e6


class Limits:
    """What another peer takes and does."""

    def __init__(self, largest=262_144, size=65_536, agreed=True, empty=True):
        self.largest, self.size, self.agreed, self.empty = largest, size, agreed, empty


def brief(message):
    """Kind, size and CRC-32 of a message."""
    data = message.encode() if isinstance(message, str) else bytes(message)
    return f"{'text' if isinstance(message, str) else 'binary'} {len(data)} {zlib.crc32(data):08x}"


class Channels:
    def __init__(self, world, name, theirs, ours_offers, limits, dtls="native"):
        self.ours, self.theirs, self.limits = OurDataEnd(world, name, dtls=dtls), theirs, limits
        # There has to be one to offer.
        (self.ours if ours_offers else theirs).open("first")
        self.call = Call(self.ours, theirs, ours_offers)
        self.wait("the first channel", lambda: self.is_open("first"))

    def wait(self, what, condition, seconds=SECONDS):
        return self.call.wait_for(what, condition, seconds)

    def both(self, label):
        return self.ours.channel(label), self.theirs.channel(label)

    def is_open(self, label):
        return all(report and report["state"] == "open" for report in self.both(label))

    def is_closed(self, label):
        return all(report and report["state"] == "closed" for report in self.both(label))

    def wait_for_all(self, what, numbered, condition):
        """Waits until it is so for each; what was so once isn't asked again, as a thousand answers take seconds."""
        waiting = list(numbered)

        def check():
            while waiting and condition(*waiting[-1]):
                waiting.pop()
            return not waiting

        self.wait(what, check)

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
        for label in self.labels():
            ours, theirs = self.both(label)
            result[label] = {"ours": {key: ours[key] for key in facts}, "theirs": {key: theirs[key] for key in facts}}
        return result

    def labels(self):
        """Those of `kinds`."""
        return [f"{prefix} {kind}" for prefix in ("ours", "theirs") for kind in KINDS] + (["agreed"] if self.limits.agreed else [])

    def composed(self, label, key):
        """Texts and binary messages of many sizes, unlike those of any other channel and way."""
        mark = f"{label} {key}"
        number = zlib.crc32(mark.encode())
        messages = [
            f"grüße, 世界: {mark}", "", b"", bytes([number & 255]), pattern(number, 257), (mark * 2000)[:40_000],
            pattern(number, self.limits.largest), f"the last of {mark}"]
        return [message for message in messages if message or self.limits.empty]

    def messages(self):
        """Of every kind on every channel, both ways; what was sent and what came, short."""
        ways = {"toTheirs": (self.ours, self.theirs), "toOurs": (self.theirs, self.ours)}
        sent = {}
        for label in self.labels():
            for key, (sender, receiver) in ways.items():
                sent[label, key] = self.composed(label, key)
                for message in sent[label, key]:
                    sender.send(label, message)
                self.wait(f"messages {key} on {label}", lambda: len(receiver.messages(label)) >= len(sent[label, key]))
        # Only now: what came twice, or on another's channel, has come.
        return {
            label: {
                key: {"sent": [brief(message) for message in sent[label, key]], "came": [brief(message) for message in receiver.messages(label)]}
                for key, (_, receiver) in ways.items()}
            for label in self.labels()}

    def bulk(self, key, sender, receiver):
        """As fast as it goes: what was sent and what came."""
        label, size = f"bulk {key}", self.limits.size
        count = max(1, BULK // size)
        self.ours.open(label)
        self.wait(label, lambda: self.is_open(label))
        receiver.quiet(label)
        started = time.monotonic()
        total = sender.bulk(label, count, size, BULK_SECONDS)
        self.wait("all bytes", lambda: receiver.channel(label)["bytes"] >= count * size, BULK_SECONDS)
        seconds = time.monotonic() - started
        return summary(count, size, total, receiver.channel(label), seconds)

    def many(self):
        """Many channels, half of them of each side's, with a message each; then all are closed. How many came so far."""
        labels = list(enumerate(f"many {number}" for number in range(MANY)))
        for number, label in labels:
            (self.ours if number % 2 == 0 else self.theirs).open(label)
        self.wait_for_all("many channels", labels, lambda _, label: self.is_open(label))
        for number, label in labels:
            (self.ours if number % 3 == 0 else self.theirs).send(label, label)

        def is_right(number, label):
            return (self.theirs if number % 3 == 0 else self.ours).messages(label) == [label]

        self.wait_for_all("many messages", labels, is_right)
        for number, label in labels:
            (self.ours if number % 5 == 0 else self.theirs).shut(label)
        self.wait_for_all("many ends", labels, lambda _, label: self.is_closed(label))
        return sum(is_right(number, label) for number, label in labels)

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
    result = {"kinds": channels.kinds(), "messages": channels.messages()}
    if whole:
        result["bulk"] = {
            "toTheirs": channels.bulk("to theirs", ours, theirs), "toOurs": channels.bulk("to ours", theirs, ours)}
        result["many"] = [MANY, channels.many()]
        result["closing"] = [channels.closing("ours", ours, theirs), channels.closing("theirs", theirs, ours)]
    channels.call.close()
    return result

"""Calls over a bad link: the bare Swift peer at one end, another at the other."""

import time

from ends.direct import Call, OurEnd, PageEnd
from harness.namespaces import Link
from secure.calls import each

# What the link does, both ways, and who offers.
CASES = {
    # 40 ms ± 10 ms, and 2 % lost in bursts, behind 1.5 Mbit/s with a queue of 300 ms.
    "bad": ({"delayMs": 40, "jitterMs": 10, "bursts": {"loss": 0.02, "length": 3}, "kbps": 1500, "queueMs": 300}, True),
    # Less than either side would like to send.
    "narrow": ({"delayMs": 20, "kbps": 300, "queueMs": 300}, True),
    "lossy, ours offers": ({"delayMs": 10, "loss": 0.2}, True),
    "lossy, theirs offers": ({"delayMs": 10, "loss": 0.2}, False),
    # Larger packets vanish without a word.
    "small": ({"delayMs": 5, "mtu": 1280}, True),
    "dies": ({"delayMs": 20}, True),
}
# Pictures that both sides decode while they are watched, and packets that the bad link loses meanwhile.
FRAMES = 30
LOSSES = 5


class Lab:
    def __init__(self, world, make_link_end):
        """`make_link_end` makes the other end in a namespace."""
        self.world = world
        self.link = Link(world)
        self.make_theirs = lambda: make_link_end(self.link.hosts[1])

    def call(self, name):
        conditions, ours_offers = CASES[name]
        self.link.set(**conditions)
        # By default ours gives up after 5 s, and a browser takes about as long to notice anything.
        patience = {"consentSeconds": 30} if name == "dies" else {}
        ours = OurEnd(self.world, name.replace(" ", "-"), namespace=self.link.hosts[0], **patience)
        theirs = self.make_theirs()
        meter = Meter(self.link)
        call = Call(ours, theirs, ours_offers)
        result = {"connectSeconds": meter.seconds(), "handshake": meter.counted()}
        if name == "narrow":
            result["settled"] = self.settle(call, conditions["kbps"])
        if name == "dies":
            result["death"] = self.kill(call, conditions)
        result["watched"] = self.watch(call, losses=LOSSES if name == "bad" else 0)
        result.update(call.facts())
        result["states"] = {"ours": ours.states(), "theirs": theirs.states()}
        if name == "dies" and isinstance(theirs, PageEnd):
            result["handshakes"] = theirs.handshakes()
        call.close()
        return result

    def watch(self, call, frames=FRAMES, losses=0):
        """What crosses the link, and what is seen of it, until both sides have decoded so many more pictures, and the link has lost
        so many packets each way."""
        meter, before = Meter(self.link), call.facts()

        def seen():
            now = call.facts()
            more = all(
                now[name]["frames"] >= before[name]["frames"] + frames and now[name]["sound"] > before[name]["sound"]
                for name in now)
            return now if more and all(way["lostInBursts"] >= losses for way in meter.counted().values()) else None

        now = call.wait_for("pictures and sound both ways", seen, 60)
        seconds = meter.seconds()
        return {
            "seconds": seconds, "link": meter.counted(),
            **{
                name: {
                    "fps": round((now[name]["frames"] - before[name]["frames"]) / seconds, 1),
                    "sound": round((now[name]["sound"] - before[name]["sound"]) / seconds, 1),
                    "freezes": now[name]["freezes"] - before[name]["freezes"],
                } for name in now},
        }

    def settle(self, call, kbps):
        """Watches until both sides send less than the link takes and nothing is dropped; how that came."""
        spans = []

        def settled():
            spans.append(self.watch(call, 15))
            return all(
                way["sentKbps"] <= kbps and way["droppedByQueue"] == 0 for way in spans[-1]["link"].values())

        call.wait_for("rate below the link's", settled, 40)
        return spans

    def kill(self, call, conditions):
        """Takes the link away until both sides have noticed, and gives it back."""
        meter = Meter(self.link)
        self.link.set(**conditions, isUp=False)
        call.wait_for(
            "loss of the connection", lambda: call.ours.state() == call.theirs.state() == "disconnected")
        noticed = meter.seconds()
        self.link.set(**conditions)
        call.wait_for("return", lambda: call.ours.state() == call.theirs.state() == "connected")
        return {"noticed": noticed, "returned": round(meter.seconds() - noticed, 2), "link": meter.counted()}


class Meter:
    """What the link counts from now on."""

    def __init__(self, link):
        self.link, self.started, self.before = link, time.monotonic(), link.statistics()

    def seconds(self):
        return round(time.monotonic() - self.started, 2)

    def counted(self):
        now, seconds = self.link.statistics(), max(self.seconds(), 0.01)
        result = {}
        for way, name in (("forward", "ours"), ("backward", "theirs")):
            counted = {key: now[way][key] - self.before[way][key] for key in now[way]}
            result[name] = {
                **counted, "longestQueueMs": now[way]["longestQueueMs"],
                "sentKbps": round(counted["sentBytes"] * 8 / 1000 / seconds),
                "deliveredKbps": round(counted["deliveredBytes"] * 8 / 1000 / seconds)}
        return result


def walk(world, make_theirs, names=CASES):
    lab = Lab(world, make_theirs)
    return each(world, names, lab.call)

"""Calls over a link that is long and loses packets: what repair packets make good there."""

from ends.direct import Call, OurEnd
from harness.namespaces import Link

# Far away: near by, Chromium leaves losses to retransmissions.
DELAY_MS, LOSS = 60, 0.1
# Repair packets of which ours has made something: as many as 64 may wait for others, and don't count as discarded yet.
ENOUGH = 64 + 36


class Ours(OurEnd):
    """Ours, which offers repair packets. Without `nack` nothing is sent again, either way."""

    def __init__(self, world, namespace, nack=True):
        super().__init__(world, "ours", namespace=namespace, repair=True)
        self.nack = nack

    def answer(self, sdp):
        if not self.nack:
            # Behind an offer without it the answer doesn't have it, either.
            lines = [line for line in sdp.splitlines() if not (line.startswith("a=rtcp-fb:") and line.endswith(" nack"))]
            sdp = "".join(f"{line}\r\n" for line in lines)
        return super().answer(sdp)


def video(end, kind):
    """An end's statistics of its video, one way."""
    return next((entry for entry in end.stats() if entry["type"] == kind and entry.get("kind") == "video"), {})


def walk(world, make_theirs, is_enough, ours_offers=False, nack=True, loss=LOSS):
    """One call, watched until what was seen of it is enough; `make_theirs` makes the other end in a namespace."""
    link = Link(world)
    link.set(delayMs=DELAY_MS, loss=loss)
    ours = Ours(world, link.hosts[0], nack)
    theirs = make_theirs(link.hosts[1])
    call = Call(ours, theirs, ours_offers)
    seen, start = {}, {"sent": 0, "theirFrames": 0}

    def watch():
        mine, other, sent = video(ours, "inbound-rtp"), video(theirs, "inbound-rtp"), video(ours, "outbound-rtp")
        seen.update({
            "repairPackets": mine.get("fecPacketsReceived", 0),
            "used": mine.get("fecPacketsReceived", 0) - mine.get("fecPacketsDiscarded", 0),
            "lost": mine.get("packetsLost", 0), "frames": mine.get("framesDecoded", 0),
            # Chromium tells of FlexFEC alone.
            "theirRepairPackets": other.get("fecPacketsReceived", 0),
            "sent": sent.get("framesSent", 0) - start["sent"], "theirFrames": other.get("framesDecoded", 0) - start["theirFrames"],
            "asked": sent.get("nackCount", 0) + mine.get("nackCount", 0),
        })
        return is_enough(seen)

    if not nack:
        # Repair begins with the first losses that are told of.
        call.wait_for("frames", lambda: watch() or seen["sent"] >= 150, 30)
        start = {name: seen[name] for name in start}
    call.wait_for("repair", watch, 90)
    call.close()
    link.process.end()
    return seen

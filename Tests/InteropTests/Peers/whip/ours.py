"""Our own WebRTC publishes by WHIP to `sora serve`, plays by WHEP, and restarts ICE at both ends."""


from ends.whip import Session, fragment
from harness import main, wait_for


class Peer:
    """A process with one connection: see `InteropPeer`."""

    def __init__(self, world, name, sends):
        self.process = world.start(name, [world.peer])
        self.say(type="open", media=sends)
        self.process.wait_for("connection", lambda: self.process.last("opened"))

    def say(self, **request):
        self.process.tell(request)

    def next(self, kind, **request):
        return self.process.ask(request, kind)

    def connect(self, url):
        self.session = Session(url, self.next("offer", type="create")["sdp"])
        self.say(type="answer", sdp=self.session.answer)
        self.process.wait_for(
            "path", lambda: any(line["state"] == "connected" for line in self.process.messages("state")))
        return self.session

    def restart(self):
        """Starts ICE over; the status of the request that says so."""
        offer = self.next("offer", type="create", restart=True)["sdp"]
        status, answer = self.session.trickle(
            fragment(offer, [line[2:] for line in offer.splitlines() if line.startswith("a=candidate:")]), "*")
        values = dict(line[2:].split(":", 1) for line in answer.splitlines() if line.startswith("a=ice-") and ":" in line)
        lines = []
        for line in self.session.answer.splitlines():
            for key, value in values.items():
                if line.startswith(f"a={key}:"):
                    line = f"a={key}:{value}"
            lines.append(line)
        self.session.answer = "\r\n".join([*lines, ""])
        self.say(type="answer", sdp=self.session.answer)
        return status

    def stats(self, kind, medium):
        found = self.next("stats", type="stats")["stats"]
        return next((one for one in found if one["type"] == kind and one.get("kind") == medium), {})

    def frames(self):
        return self.stats("inbound-rtp", "video").get("framesDecoded", 0)


def scenario(world):
    world.serve("--turn")
    base = f"http://127.0.0.1:{world.port}"
    player = Peer(world, "player", False)
    playing = player.connect(f"{base}/whep/ch")
    publisher = Peer(world, "publisher", True)
    publishing = publisher.connect(f"{base}/whip/ch")
    first = wait_for("pictures", lambda: (frames := player.frames()) > 15 and frames)
    restarts = [publisher.restart(), player.restart()]
    second = wait_for("further pictures", lambda: (frames := player.frames()) > first + 30 and frames)
    audio = player.stats("inbound-rtp", "audio")
    ends = [publishing.end(), playing.end()]
    return {
        "status": [publishing.status, playing.status], "links": [len(publishing.links), len(playing.links)],
        "restarts": restarts, "frames": [first, second], "audioPackets": audio.get("packetsReceived", 0),
        "ends": ends,
    }


main(scenario)

"""Calls without a server between: two ends, whose descriptions and candidates are carried here.

An end has

- `create(restart)`: an offer that is applied already, with new ICE credentials where `restart` says so;
- `answer(offer)`: the answer to an offer, applied; `accept(answer)`: takes the answer to its own offer;
- `add(candidate)`: takes a candidate line; `candidates()`: those of its own that came since the last call;
- `state()`: of the connection, in the W3C's words; `states()`: all that it went through;
- `stats()`: the objects of the W3C's report;
- `close()`.
"""


from harness import wait_for

# So many frames are decoded on both sides before and after what is tested.
FRAMES = 12


class OurEnd:
    """The bare Swift peer, a process of its own."""

    def __init__(self, world, name="ours", namespace=None, **options):
        self.process = world.start(name, [world.peer], namespace=namespace)
        self.taken = 0
        self.ask("open", "opened", **options)

    def tell(self, kind, **values):
        self.process.tell({"type": kind, **values})

    def ask(self, kind, reply, **values):
        before = len(self.process.messages(reply))
        self.tell(kind, **values)

        def replied():
            errors = self.process.messages("error")
            if errors:
                raise RuntimeError(f"{kind}: {errors[-1]['error']}")
            return len(self.process.messages(reply)) > before

        self.process.wait_for(reply, replied)
        return self.process.last(reply)

    def create(self, restart=False):
        return self.ask("create", "offer", restart=restart)["sdp"]

    def answer(self, sdp):
        return self.ask("offer", "answer", sdp=sdp)["sdp"]

    def accept(self, sdp):
        self.tell("answer", sdp=sdp)

    def add(self, candidate):
        self.tell("candidate", candidate=candidate)

    def candidates(self):
        found = [line["candidate"] for line in self.process.messages("candidate")[self.taken :]]
        self.taken += len(found)
        return found

    def states(self):
        return [line["state"] for line in self.process.messages("state")]

    def state(self):
        for kind in ("failed", "error"):
            for line in self.process.messages(kind):
                raise RuntimeError(line["error"])
        return (self.states() or ["new"])[-1]

    def stats(self):
        return self.ask("stats", "stats")["stats"]

    def close(self):
        self.process.child.stdin.close()
        self.process.wait()


class PageEnd:
    """A `RTCPeerConnection` of a browser, with its fake camera and microphone."""

    SCRIPT = """
    async (configuration) => {
      const peer = new RTCPeerConnection(configuration);
      const direct = { peer, candidates: [], states: [], dtls: [] };
      peer.onicecandidate = (event) => { if (event.candidate) direct.candidates.push(event.candidate.candidate); };
      peer.onconnectionstatechange = () => direct.states.push(peer.connectionState);
      peer.ontrack = (event) => {
        // Where nothing shows them, a browser may leave pictures undecoded.
        const element = document.createElement(event.track.kind);
        element.muted = true;
        element.srcObject = new MediaStream([event.track]);
        document.body.append(element);
        element.play();
      };
      const stream = await navigator.mediaDevices.getUserMedia(
        { audio: true, video: { width: 320, height: 180, frameRate: 15 } });
      for (const track of stream.getTracks()) peer.addTrack(track, stream);
      direct.apply = async (description) => {
        await peer.setLocalDescription(description);
        const transport = peer.getSenders()[0].transport;
        if (transport && direct.transport !== transport) {
          direct.transport = transport;
          transport.onstatechange = () => direct.dtls.push(transport.state);
        }
        return peer.localDescription.sdp;
      };
      window.direct?.peer.close();
      window.direct = direct;
    }
    """

    def __init__(self, page, **configuration):
        self.page = page
        page.evaluate(self.SCRIPT, configuration)

    def create(self, restart=False):
        return self.page.evaluate(
            """async (restart) => {
              if (restart) direct.peer.restartIce();
              return direct.apply(await direct.peer.createOffer());
            }""", restart)

    def answer(self, sdp):
        return self.page.evaluate(
            """async (sdp) => {
              await direct.peer.setRemoteDescription({ type: "offer", sdp });
              return direct.apply(await direct.peer.createAnswer());
            }""", sdp)

    def accept(self, sdp):
        self.page.evaluate("(sdp) => direct.peer.setRemoteDescription({ type: 'answer', sdp })", sdp)

    def add(self, candidate):
        self.page.evaluate(
            "(candidate) => direct.peer.addIceCandidate({ candidate, sdpMLineIndex: 0 })", candidate)

    def candidates(self):
        return self.page.evaluate("() => direct.candidates.splice(0)")

    def states(self):
        return self.page.evaluate("() => direct.states")

    def state(self):
        return self.page.evaluate("() => direct.peer.connectionState")

    def handshakes(self):
        """The states of its DTLS transport."""
        return self.page.evaluate("() => direct.dtls")

    def stats(self):
        return self.page.evaluate("async () => [...(await direct.peer.getStats()).values()]")

    def close(self):
        self.page.evaluate("() => direct.peer.close()")


def attribute(sdp, name):
    """The first value of an attribute."""
    return next(line.split(":", 1)[1] for line in sdp.splitlines() if line.startswith(f"a={name}:"))


class Call:
    """Two ends that send each other pictures and sound. `theirs` may be of any make."""

    def __init__(self, ours, theirs, ours_offers):
        self.ours, self.theirs = ours, theirs
        self.described = {}
        self.role = None
        self.exchange(ours_offers)
        self.wait_for("connection", lambda: self.ours.state() == self.theirs.state() == "connected")

    def exchange(self, ours_offers, restart=False):
        """One offer and its answer."""
        offerer, answerer = (self.ours, self.theirs) if ours_offers else (self.theirs, self.ours)
        offer = offerer.create(restart)
        answer = answerer.answer(offer)
        offerer.accept(answer)
        self.described = {offerer: offer, answerer: answer}
        # RFC 5763 §5: whoever is active is the client.
        is_client = (attribute(answer, "setup") == "active") != ours_offers
        self.role = "client" if is_client else "server"

    def pump(self):
        for end, other in ((self.ours, self.theirs), (self.theirs, self.ours)):
            for candidate in end.candidates():
                other.add(candidate)

    def wait_for(self, what, condition, seconds=30):
        def check():
            self.pump()
            for end in (self.ours, self.theirs):
                if end.state() in ("failed", "closed"):
                    raise RuntimeError(f"{what}: {type(end).__name__} went through {end.states()}")
            return condition()

        return wait_for(what, check, seconds)

    def facts(self):
        return {
            name: {**facts(end.stats()), "ufrag": attribute(self.described[end], "ice-ufrag")}
            for name, end in (("ours", self.ours), ("theirs", self.theirs))
        }

    def media(self):
        """Waits until both sides decode more pictures and get more sound than up to now; the last facts."""
        before = self.facts()

        def flows():
            now = self.facts()
            more = all(
                now[name]["frames"] >= before[name]["frames"] + FRAMES
                and now[name]["sound"] >= before[name]["sound"] + FRAMES for name in now)
            return now if more else None

        return self.wait_for("pictures and sound both ways", flows)

    def restart(self, ours_offers):
        """Restarts ICE from one side, waits until both use another pair, and for media over it."""
        before = self.facts()
        # Ours keeps its sockets: between two of them the new pair's addresses are the old one's.
        key = "selected" if isinstance(self.theirs, OurEnd) else "pair"
        self.exchange(ours_offers, restart=True)

        def moved():
            now = self.facts()
            return now if all(now[name][key] not in (None, before[name][key]) for name in now) else None

        return {"before": before, "moved": self.wait_for("other pairs", moved), "after": self.media()}

    def report(self):
        return {**self.media(), "role": self.role}

    def close(self):
        self.theirs.close()
        self.ours.close()


def facts(stats):
    """What a report of the W3C's statistics says of the path and of what came over it."""
    objects = {entry["id"]: entry for entry in stats}

    def all_of(name, **values):
        return [
            entry for entry in stats
            if entry["type"] == name and all(entry.get(key) == value for key, value in values.items())]

    transport = next(iter(all_of("transport")), {})
    pair = objects.get(transport.get("selectedCandidatePairId"))
    if not transport:
        # Firefox has no statistics of transports.
        pair = next(iter(all_of("candidate-pair", selected=True)), None)
    local = objects.get(pair["localCandidateId"], {}) if pair else {}
    remote = objects.get(pair["remoteCandidateId"], {}) if pair else {}
    if pair and not (local and remote):
        # Across a restart, a pair in use may be one whose candidates are gone already.
        pair = None
    video, audio = (next(iter(all_of("inbound-rtp", kind=kind)), {}) for kind in ("video", "audio"))
    return {
        "tlsVersion": transport.get("tlsVersion"), "srtp": transport.get("srtpCipher"),
        "pair": [f"{end.get('address')}:{end.get('port')}" for end in (local, remote)] if pair else None,
        "selected": pair["id"] if pair else None,
        "local": local.get("candidateType"), "remote": remote.get("candidateType"),
        "relayProtocol": local.get("relayProtocol"),
        "frames": video.get("framesDecoded", 0), "freezes": video.get("freezeCount", 0), "sound": audio.get("packetsReceived", 0),
    }

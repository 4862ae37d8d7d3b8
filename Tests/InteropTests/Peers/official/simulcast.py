"""Official clients publish layers in each codec, and official clients see the one that they ask for: sizes of pictures prove it."""

import json
import time
import urllib.request

from ends.official import Official
from harness import main, wait_for

# Of smaller pictures libwebrtc makes two layers.
WIDTH, HEIGHT = 960, 544
SCALES = {"r0": 4, "r1": 2, "r2": 1}
CODECS = ("VP8", "VP9", "AV1")
# Both ends and three encoders share the machine.
PATIENCE = 30


class Viewer:
    """One official client that sees one publisher."""

    def __init__(self, world, channel, codec, rid):
        self.official = Official(world, "recvonly", channel, codec=codec, simulcast=True, simulcast_rid=rid).connect()
        self.stream = wait_for("stream", lambda: next(iter(self.official.streams.values()), None))

    def rid(self):
        """The layer that is seen. Encoders leave out lines that don't fill a block of 16."""
        size = self.stream.meter.size
        if not size:
            return None
        for rid, scale in SCALES.items():
            if abs(size[0] - WIDTH / scale) <= 16 and abs(size[1] - HEIGHT / scale) <= 16:
                return rid
        return f"{size[0]}x{size[1]}"

    def sees(self, rid):
        """How long it took until pictures of a layer come, and how many more came of it."""
        started = time.monotonic()
        wait_for(f"{rid} in place of {self.rid()}", lambda: self.rid() == rid, PATIENCE)
        took = time.monotonic() - started
        count = self.stream.meter.frames
        wait_for(f"ten more pictures of {rid}", lambda: self.stream.meter.frames >= count + 10, PATIENCE)
        if self.rid() != rid:
            raise RuntimeError(f"{self.rid()} came in place of {rid}")
        return round(took * 1000)

    def events(self):
        return [event for event in list(self.official.notifications) if event["event_type"].startswith("simulcast.")]


def ask(api, channel, viewer, rid):
    body = {"channel_id": channel, "receiver_connection_id": viewer.official.connection_id, "rid": rid}
    request = urllib.request.Request(
        api, json.dumps(body).encode(),
        {"x-sora-target": "Sora_20251217.RequestSimulcastRid", "content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        reply.read()


def scenario(world):
    server = world.serve("--api-port", "0")
    api = server.last("ready")["apiUrl"]
    outcome = {}
    for codec in CODECS:
        publisher = Official(world, "sendonly", codec, codec=codec, size=(WIDTH, HEIGHT), simulcast=True, video_bit_rate=2500).connect()
        viewers = {rid: Viewer(world, codec, codec, rid) for rid in ("r0", "r2")}
        first = {rid: viewer.sees(rid) for rid, viewer in viewers.items()}
        moving, staying = viewers["r0"], viewers["r2"]
        switches = []
        for rid in ("r1", "r2", "r0", "r2"):
            ask(api, codec, moving, rid)
            switches.append({"rid": rid, "ms": moving.sees(rid)})
        streams = [s for s in publisher.stats() if s["type"] == "outbound-rtp" and s["kind"] == "video"]
        outcome[codec] = {
            "first": first, "switches": switches, "staying": staying.rid(),
            "sent": sorted(s["rid"] for s in streams if s.get("framesSent")),
            "events": [event["current_rid"] for event in moving.events()],
            "backwards": staying.stream.meter.backwards,
            "ended": [end.disconnect() for end in (moving.official, staying.official, publisher)],
        }
    server.finish()
    return {"codecs": outcome}


main(scenario)

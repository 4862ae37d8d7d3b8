"""GStreamer's webrtcbin as a process of its own, because its bindings belong to Debian's Python.

Takes lines of JSON: an `offer` with its `sdp`, with `mids`, the sections on which to send, and with `repair`, the share of
repair packets in percent; `report`; `channel` with an `action` and the `label` of a data channel (see data.py). Its end is the
end of standard input. Tells `answer`, `candidate`, `report`, `channel`, `message` and `error`.
"""

import base64
import json
import sys
import threading
import time
import zlib

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstSdp", "1.0")
gi.require_version("GstWebRTC", "1.0")
from gi.repository import GLib, Gst, GstApp, GstSdp, GstWebRTC  # noqa: E402, F401

import numpy as np  # noqa: E402

from harness import stamps  # noqa: E402
from harness.camera import HEIGHT, RATE, WIDTH, Camera  # noqa: E402

ENCODERS = {
    "VP8": "vp8enc name=encoder deadline=1 cpu-used=8 threads=1 target-bitrate=1000000 keyframe-max-dist=300 ! rtpvp8pay",
    # A key frame brings its parameter sets along: config-interval.
    "H264": "openh264enc name=encoder complexity=low bitrate=1000000 rate-control=bitrate gop-size=300 "
    "! video/x-h264,profile=constrained-baseline ! rtph264pay config-interval=-1 aggregate-mode=zero-latency",
}
CAMERA = (
    f"appsrc name=camera is-live=true format=time caps=video/x-raw,format=RGB,width={WIDTH},height={HEIGHT},"
    f"framerate={RATE}/1 ! videoconvert ! video/x-raw,format=I420 ! queue ! ")
TONE = "audiotestsrc is-live=true freq=440 volume=0.25 ! audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay"
DECODERS = {
    "VP8": "rtpvp8depay ! vp8dec", "H264": "rtph264depay ! h264parse ! openh264dec", "OPUS": "rtpopusdepay ! opusdec",
}
PICTURES = "queue ! {} ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink sync=false"
SOUND = "queue ! {} ! audioconvert ! audio/x-raw,format=S16LE ! appsink name=sink sync=false"


# GStreamer's threads tell of candidates while others answer: lines must not run into each other.
output = threading.Lock()


def tell(kind, **values):
    with output:
        print(json.dumps({"type": kind, **values}), flush=True)


def sections(sdp):
    """The media sections of a description, in order: kind, mid, and payload types by the codec's name."""
    found = []
    for line in sdp.splitlines():
        if line.startswith("m="):
            found.append({"kind": line[2:].split(" ")[0], "mid": None, "types": {}})
        elif line.startswith("a=mid:") and found:
            found[-1]["mid"] = line[6:]
        elif line.startswith("a=rtpmap:") and found:
            number, codec = line[9:].split(" ")
            found[-1]["types"][codec.split("/")[0].upper()] = int(number)
    return found


class Peer:
    """One webrtcbin. Everything happens on the main loop's thread, but what takes and gives pictures."""

    def __init__(self):
        self.meter = stamps.Meter()
        self.samples = 0
        self.sent = 0
        self.codec = None
        self.repair = 0
        self.keyframes = 0
        self.channels = {}
        # Replies and descriptions live as long as webrtcbin may look at them.
        self.kept = []
        self.pipeline = Gst.Pipeline.new("peer")
        self.webrtc = Gst.ElementFactory.make("webrtcbin", "webrtc")
        self.webrtc.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.webrtc.connect("on-ice-candidate", lambda _, line, text: tell("candidate", candidate=text))
        self.webrtc.connect("on-new-transceiver", self.on_transceiver)
        self.webrtc.connect("pad-added", self.on_pad)
        self.webrtc.connect("on-data-channel", lambda _, channel: self.adopt(channel))
        self.pipeline.add(self.webrtc)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", lambda _, message: tell("error", error=message.parse_error()[0].message))
        bus.connect("message::warning", lambda _, message: tell("warning", error=message.parse_warning()[0].message))
        self.pipeline.set_state(Gst.State.PLAYING)

    def on_transceiver(self, _, transceiver):
        transceiver.set_property("do-nack", True)
        if self.repair:
            transceiver.set_property("fec-type", GstWebRTC.WebRTCFECType.ULP_RED)
            transceiver.set_property("fec-percentage", self.repair)

    def offered(self, sdp, mids, repair):
        self.sections, self.mids, self.repair = sections(sdp), mids, repair
        for section in self.sections:
            if section["kind"] == "video":
                self.codec = next(name for name in section["types"] if name != "RTX")
        _, message = GstSdp.SDPMessage.new_from_text(sdp)
        offer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.OFFER, message)
        self.kept.append(offer)
        self.webrtc.emit("set-remote-description", offer, self.promise(self.remote_applied))

    def promise(self, then):
        """One whose reply is handled on the main loop."""

        def changed(promise):
            reply = promise.get_reply()
            self.kept.append(reply)
            GLib.idle_add(lambda: then(reply))

        return Gst.Promise.new_with_change_func(changed)

    def remote_applied(self, reply):
        if reply is not None and reply.has_field("error"):
            tell("error", error=str(reply.get_value("error")))
            return
        for line, section in enumerate(self.sections):
            if section["mid"] is not None and self.mids.get(section["kind"]) == section["mid"]:
                self.send(line, section)
        self.webrtc.emit("create-answer", None, self.promise(self.answered))

    def send(self, line, section):
        name = "OPUS" if section["kind"] == "audio" else self.codec
        number = section["types"][name]
        description = TONE if name == "OPUS" else CAMERA + ENCODERS[name]
        # Payloaders default to a payload type of their own choice.
        branch = Gst.parse_bin_from_description(
            f"{description} name=payloader pt={number} ! "
            f"capsfilter caps=application/x-rtp,media={section['kind']},encoding-name={name},payload={number}", True)
        self.pipeline.add(branch)
        pad = self.webrtc.request_pad_simple(f"sink_{line}")
        branch.get_static_pad("src").link(pad)
        branch.sync_state_with_parent()
        camera = branch.get_by_name("camera")
        if camera:
            branch.get_by_name("encoder").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER, self.on_encoded)
            threading.Thread(target=self.film, args=(camera,), daemon=True).start()

    def on_encoded(self, pad, info):
        self.sent += 1
        if not info.get_buffer().get_flags() & Gst.BufferFlags.DELTA_UNIT:
            self.keyframes += 1
        return Gst.PadProbeReturn.OK

    def film(self, source):
        """The stamped picture, in real time."""
        camera, index, started = Camera(), 0, time.monotonic()
        while True:
            time.sleep(max(0, started + index / RATE - time.monotonic()))
            clock = self.pipeline.get_clock()
            buffer = Gst.Buffer.new_wrapped(camera.picture(index).tobytes())
            buffer.pts = clock.get_time() - self.pipeline.get_base_time() if clock else index * Gst.SECOND // RATE
            buffer.duration = Gst.SECOND // RATE
            if source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return
            index += 1

    def answered(self, reply):
        answer = reply.get_value("answer")
        self.kept.append(answer)
        self.webrtc.emit("set-local-description", answer, None)
        tell("answer", sdp=answer.sdp.as_text())

    def on_pad(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        is_video = pad.get_current_caps().get_structure(0).get_string("media") == "video"
        decoder = DECODERS[self.codec if is_video else "OPUS"]
        branch = Gst.parse_bin_from_description((PICTURES if is_video else SOUND).format(decoder), True)
        sink = branch.get_by_name("sink")
        sink.set_property("emit-signals", True)
        sink.connect("new-sample", self.on_picture if is_video else self.on_sound)
        self.pipeline.add(branch)
        branch.sync_state_with_parent()
        pad.link(branch.get_static_pad("sink"))

    def on_picture(self, sink):
        sample = sink.emit("pull-sample")
        structure = sample.get_caps().get_structure(0)
        width, height = structure.get_value("width"), structure.get_value("height")
        buffer = sample.get_buffer()
        data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
        self.meter.add(data.reshape(height, len(data) // height)[:, :width, None])
        return Gst.FlowReturn.OK

    def on_sound(self, sink):
        sample = sink.emit("pull-sample")
        channels = sample.get_caps().get_structure(0).get_value("channels")
        self.samples += sample.get_buffer().get_size() // 2 // channels
        return Gst.FlowReturn.OK

    # Data channels

    def adopt(self, channel):
        label = channel.get_property("label")
        record = {"channel": channel, "messages": 0, "bytes": 0, "sum": 0, "quiet": False}
        self.channels[label] = record

        def receive(data, binary):
            record["messages"] += 1
            record["bytes"] += len(data)
            record["sum"] = zlib.crc32(data, record["sum"])
            if not record["quiet"]:
                tell("message", label=label, binary=binary, base64=base64.b64encode(data).decode())

        channel.connect("on-message-string", lambda _, text: receive((text or "").encode(), False))
        channel.connect("on-message-data", lambda _, data: receive(data.get_data() if data else b"", True))
        channel.connect("on-error", lambda _, error: tell("error", error=error.message))

    def channel(self, action, label, **values):
        record = self.channels.get(label)
        if action == "open":
            options = Gst.Structure.new_empty("options")
            for key, name in (("ordered", "ordered"), ("maxRetransmits", "max-retransmits"),
                              ("maxPacketLifeTime", "max-packet-lifetime"), ("protocol", "protocol"), ("id", "id")):
                if key in values:
                    options.set_value(name, values[key])
            if "id" in values:
                options.set_value("negotiated", True)
            self.adopt(self.webrtc.emit("create-data-channel", label, options))
        elif action == "send" and "text" in values:
            record["channel"].emit("send-string", values["text"])
        elif action == "send":
            data = base64.b64decode(values["base64"])
            record["channel"].emit("send-data", GLib.Bytes.new(data) if data else None)
        elif action == "bulk":
            threading.Thread(target=self.bulk, args=(record["channel"], label, values["count"], values["size"]), daemon=True).start()
        elif action == "quiet":
            record["quiet"] = True
        elif action == "close":
            record["channel"].emit("close")
        elif action == "report":
            self.tell_channel(label, record)

    def bulk(self, channel, label, count, size):
        from ends.pattern import pattern

        total = 0
        for number in range(count):
            while channel.get_property("buffered-amount") > 4 << 20:
                time.sleep(0.005)
            if self.state_of(channel) != "open":
                break
            data = pattern(number, size)
            total = zlib.crc32(data, total)
            channel.emit("send-data", GLib.Bytes.new(data))
        tell("bulkSent", label=label, sum=total)

    @staticmethod
    def state_of(channel):
        # GstWebRTC.WebRTCDataChannelState. A channel that was just made is in none of them, and then asking for the name ends the process.
        return {1: "connecting", 2: "open", 3: "closing", 4: "closed"}.get(int(channel.get_property("ready-state")), "new")

    def tell_channel(self, label, record):
        if record is None:
            tell("channel", label=label, known=False)
            return
        channel = record["channel"]
        limit = {name: channel.get_property(name) for name in ("max-retransmits", "max-packet-lifetime")}
        tell("channel", label=label, known=True, state=self.state_of(channel), id=channel.get_property("id"),
             ordered=channel.get_property("ordered"), protocol=channel.get_property("protocol") or "",
             maxRetransmits=65535 if limit["max-retransmits"] < 0 else limit["max-retransmits"],
             maxPacketLifeTime=65535 if limit["max-packet-lifetime"] < 0 else limit["max-packet-lifetime"],
             messages=record["messages"], bytes=record["bytes"], sum=record["sum"])

    def report(self):
        tell("report", state=self.webrtc.get_property("connection-state").value_nick, codec=self.codec, sent={"frames": self.sent, "keyFrames": self.keyframes},
             received={**self.meter.report(), "audioSeconds": round(self.samples / 48000, 2)})


def main():
    Gst.init(None)
    loop = GLib.MainLoop()
    peer = Peer()

    def handle(message):
        if message["type"] == "offer":
            peer.offered(message["sdp"], message["mids"], message["repair"])
        elif message["type"] == "report":
            peer.report()
        elif message.pop("type") == "channel":
            peer.channel(**message)

    def listen():
        for line in sys.stdin:
            GLib.idle_add(handle, json.loads(line))
        GLib.idle_add(loop.quit)

    threading.Thread(target=listen, daemon=True).start()
    loop.run()
    peer.pipeline.set_state(Gst.State.NULL)


main()

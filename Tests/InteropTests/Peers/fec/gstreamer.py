"""GStreamer's ULPFEC, packet by packet, without clocks and threads: what comes out follows from what goes in.

    gstreamer encode bare|red PERCENTAGE IN OUT    packets of payload type 96, protected by those of 99; all inside RED of 98
    gstreamer decode bare|red IN OUT               the same, of which some are lost, made anew

Files hold packets, each behind its length of 4 bytes. For `decode`, what has 2 bytes is the number of a lost packet; each of these is
answered by the packet, or by nothing if it can't be made.
"""

import struct
import sys

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

MEDIA, RED, FEC = 96, 98, 99


class Chain:
    """Elements one behind the other. What is pushed into the first has left the last when the call returns."""

    def __init__(self, ssrc, *elements):
        self.elements, self.out = elements, []
        self.source = Gst.Pad.new("source", Gst.PadDirection.SRC)
        self.sink = Gst.Pad.new("sink", Gst.PadDirection.SINK)
        self.sink.set_chain_function_full(self.take)
        self.sink.set_event_function_full(lambda *_: True)
        pads = [self.source]
        for element in elements:
            pads += [element.get_static_pad("sink"), element.get_static_pad("src")]
        pads.append(self.sink)
        for pad in (self.source, self.sink):
            pad.set_active(True)
        for source, target in zip(pads[::2], pads[1::2]):
            assert source.link(target) == Gst.PadLinkReturn.OK
        for element in elements:
            element.set_state(Gst.State.PLAYING)
        self.last = pads[-4]
        self.time = 0
        caps = f"application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8,payload={MEDIA},ssrc=(uint){ssrc}"
        segment = Gst.Segment()
        segment.init(Gst.Format.TIME)
        for event in (
                Gst.Event.new_stream_start("packets"), Gst.Event.new_caps(Gst.Caps.from_string(caps)),
                Gst.Event.new_segment(segment)):
            assert self.source.push_event(event)

    def end(self):
        for element in self.elements:
            element.set_state(Gst.State.NULL)

    def take(self, pad, parent, buffer):
        self.out.append(buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def push(self, packet):
        buffer = Gst.Buffer.new_wrapped(packet)
        self.time += Gst.MSECOND
        buffer.pts = buffer.dts = self.time
        assert self.source.push(buffer) == Gst.FlowReturn.OK

    def lose(self, number):
        """Tells the last element what a jitter buffer in front of it would; what it makes of that."""
        before = len(self.out)
        structure = Gst.Structure.new_from_string(
            f"GstRTPPacketLost, seqnum=(uint){number}, timestamp=(guint64){self.time}, duration=(guint64)0")
        self.last.push_event(Gst.Event.new_custom(Gst.EventType.CUSTOM_DOWNSTREAM, structure))
        return self.out[before] if len(self.out) > before else b""


def element(name, **properties):
    made = Gst.ElementFactory.make(name)
    for key, value in properties.items():
        made.set_property(key.replace("_", "-"), value)
    return made


def encode(is_red, percentage, packets):
    elements = [element("rtpulpfecenc", pt=FEC, percentage=int(percentage))]
    if is_red:
        elements.append(element("rtpredenc", pt=RED, allow_no_red_blocks=True))
    chain = Chain(ssrc(packets), *elements)
    for packet in packets:
        chain.push(packet)
    chain.end()
    return chain.out


def decode(is_red, packets):
    # Nothing gets too old while it is looked at.
    storage = element("rtpstorage", size_time=3600 * Gst.SECOND)
    decoder = element("rtpulpfecdec", pt=FEC, storage=storage.get_property("internal-storage"))
    chain = Chain(ssrc(packets), *([element("rtpreddec", pt=RED)] if is_red else []), storage, decoder)
    made = []
    for packet in packets:
        if len(packet) > 2:
            chain.push(packet)
            continue
        found = chain.lose(struct.unpack(">H", packet)[0])
        # The decoder numbers its output anew.
        made.append(found and found[:2] + packet + found[4:])
    chain.end()
    return made


def ssrc(packets):
    return struct.unpack(">I", packets[0][8:12])[0]


def read(path):
    packets = []
    with open(path, "rb") as file:
        while length := file.read(4):
            packets.append(file.read(struct.unpack(">I", length)[0]))
    return packets


def write(packets, path):
    with open(path, "wb") as file:
        for packet in packets:
            file.write(struct.pack(">I", len(packet)) + packet)


def main(direction, layout, *arguments):
    Gst.init(None)
    *options, source, target = arguments
    work = {"encode": encode, "decode": decode}[direction]
    write(work(layout == "red", *options, read(source)), target)


main(*sys.argv[1:])

"""Ends of calls without a server that have data channels, with or without media: see direct.py.

Beside what each end has there, these have

- `open(label, **options)`: makes a channel: `ordered`, `maxRetransmits`, `maxPacketLifeTime`, `protocol`, and `id`, where
  both ends make it;
- `send(label, message)`: text as `str`, binary as `bytes`; `messages(label)`: those that came;
- `quiet(label)`: messages are counted from now on, and not kept;
- `bulk(label, count, size, seconds)`: sends messages as fast as there is room, byte `n` of message `m` being `n * 31 + m`, and gives
  their CRC-32 when all are on their way or waiting, which has to be within so many seconds;
- `openings(count)`: opens so many channels, one after the other, sends a message on each when it is open, and gives the
  milliseconds until it has come back, of each; the other end sends back what comes on labels that begin with "echo ";
- `shut(label)`: closes the channel;
- `channel(label)`: `state`, `id`, `ordered`, `protocol`, `maxRetransmits`, `maxPacketLifeTime`, and of what came `messages`,
  `bytes` and their `sum`; None where there is no such channel.
"""

import asyncio
import base64
import time
import zlib

from aiortc import RTCSessionDescription

from ends.aiortc_end import AiortcEnd
from ends.direct import OurEnd, PageEnd
from ends.gstreamer_end import GStreamerEnd
from ends.pattern import pattern
from harness import wait_for

# What a limit is where there is none.
UNLIMITED = 65535
BULK_SECONDS = 900


class ChannelLines:
    """The channels of an end that is a process with lines of JSON, `self.process`; `tell_channel` writes one."""

    def open(self, label, **options):
        self.tell_channel(action="open", label=label, **options)

    def send(self, label, message):
        if isinstance(message, str):
            self.tell_channel(action="send", label=label, text=message)
        else:
            self.tell_channel(action="send", label=label, base64=base64.b64encode(message).decode())

    def messages(self, label):
        found = [line for line in self.process.messages("message") if line["label"] == label]
        texts = [(line["binary"], base64.b64decode(line["base64"])) for line in found]
        return [data if binary else data.decode() for binary, data in texts]

    def quiet(self, label):
        self.tell_channel(action="quiet", label=label)

    def bulk(self, label, count, size, seconds=BULK_SECONDS):
        self.tell_channel(action="bulk", label=label, count=count, size=size)

        def sent():
            return next((line for line in self.process.messages("bulkSent") if line["label"] == label), None)

        return self.process.wait_for("bulk", sent, seconds)["sum"]

    def openings(self, count):
        return self.process.ask({"type": "channel", "action": "openings", "label": "", "count": count}, "openings", 60)["milliseconds"]

    def shut(self, label):
        self.tell_channel(action="close", label=label)


class OurDataEnd(ChannelLines, OurEnd):
    def __init__(self, world, name="ours", **options):
        super().__init__(world, name, sections=False, **options)

    def tell_channel(self, **values):
        self.tell("channel", **values)

    def channel(self, label):
        known = {
            line.get("label") for line in list(self.process.lines) if line.get("type") in ("channelOpened", "channelState")}
        return self.ask("channel", "channel", action="report", label=label) if label in known else None


class GStreamerDataEnd(ChannelLines, GStreamerEnd):
    """webrtcbin answers only."""

    def tell_channel(self, **values):
        self.process.tell({"type": "channel", **values})

    def answer(self, sdp):
        return super().answer(sdp, {})

    def add(self, candidate):
        """Nothing: ours are in its description."""

    def candidates(self):
        found = [line["candidate"] for line in self.process.messages("candidate")[self.taken :]]
        self.taken += len(found)
        return found

    def state(self):
        return self.report()["state"]

    def states(self):
        return [self.state()]

    def channel(self, label):
        found = self.process.ask({"type": "channel", "action": "report", "label": label}, "channel")
        return found if found["known"] else None


class DataPageEnd(PageEnd):
    SCRIPT = """
    (configuration) => {
      const table = Uint32Array.from({ length: 256 }, (_, index) => {
        for (let bit = 0; bit < 8; bit++) index = index & 1 ? index >>> 1 ^ 0xEDB88320 : index >>> 1;
        return index;
      });
      const crc = (sum, bytes) => {
        sum = ~sum;
        for (let at = 0; at < bytes.length; at++) sum = sum >>> 8 ^ table[(sum ^ bytes[at]) & 255];
        return ~sum >>> 0;
      };
      const encode = (bytes) => {
        let text = "";
        for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
        return btoa(text);
      };
      const peer = new RTCPeerConnection(configuration);
      const direct = { peer, candidates: [], states: [], dtls: [], channels: {} };
      const adopt = (channel) => {
        channel.binaryType = "arraybuffer";
        const record = { channel, kept: [], messages: 0, bytes: 0, sum: 0, quiet: false };
        direct.channels[channel.label] = record;
        channel.onmessage = ({ data }) => {
          const isText = typeof data === "string";
          const bytes = isText ? new TextEncoder().encode(data) : new Uint8Array(data);
          record.messages += 1;
          record.bytes += bytes.length;
          record.sum = crc(record.sum, bytes);
          if (!record.quiet) record.kept.push([!isText, isText ? data : encode(bytes)]);
        };
      };
      peer.onicecandidate = (event) => { if (event.candidate) direct.candidates.push(event.candidate.candidate); };
      peer.onconnectionstatechange = () => direct.states.push(peer.connectionState);
      peer.ondatachannel = ({ channel }) => {
        if (channel.label.startsWith("echo ")) channel.onmessage = (event) => channel.send(event.data);
        else adopt(channel);
      };
      direct.apply = async (description) => {
        await peer.setLocalDescription(description);
        return peer.localDescription.sdp;
      };
      direct.open = (label, options) => {
        if (options.id !== undefined) options.negotiated = true;
        adopt(peer.createDataChannel(label, options));
      };
      direct.send = (label, binary, content) => {
        direct.channels[label].channel.send(
          binary ? Uint8Array.from(atob(content), (character) => character.charCodeAt(0)) : content);
      };
      direct.bulk = async (label, count, size) => {
        const { channel } = direct.channels[label];
        channel.bufferedAmountLowThreshold = 1 << 20;
        let sum = 0;
        for (let number = 0; number < count; number++) {
          if (channel.bufferedAmount > 4 << 20) {
            await new Promise((resolve) => { channel.onbufferedamountlow = resolve; channel.onclose = resolve; });
          }
          if (channel.readyState !== "open") break;
          const bytes = new Uint8Array(size);
          for (let at = 0; at < size; at++) bytes[at] = at * 31 + number;
          sum = crc(sum, bytes);
          channel.send(bytes);
        }
        return sum;
      };
      direct.openings = async (count) => {
        const times = [];
        for (let number = 0; number < count; number++) {
          const start = performance.now();
          const channel = peer.createDataChannel(`echo ${number}`);
          await new Promise((resolve) => {
            channel.onopen = () => channel.send("x");
            channel.onmessage = resolve;
          });
          times.push(performance.now() - start);
          channel.close();
        }
        return times;
      };
      direct.report = (label) => {
        const record = direct.channels[label];
        if (!record) return null;
        const { channel, messages, bytes, sum } = record;
        return {
          state: channel.readyState, id: channel.id, ordered: channel.ordered, protocol: channel.protocol,
          maxRetransmits: channel.maxRetransmits ?? 65535, maxPacketLifeTime: channel.maxPacketLifeTime ?? 65535,
          messages, bytes, sum,
        };
      };
      window.direct?.peer.close();
      window.direct = direct;
    }
    """

    def open(self, label, **options):
        self.page.evaluate("([label, options]) => direct.open(label, options)", [label, options])

    def send(self, label, message):
        binary = isinstance(message, bytes)
        content = base64.b64encode(message).decode() if binary else message
        self.page.evaluate("(message) => direct.send(...message)", [label, binary, content])

    def messages(self, label):
        kept = self.page.evaluate("(label) => direct.channels[label]?.kept ?? []", label)
        return [base64.b64decode(content) if binary else content for binary, content in kept]

    def quiet(self, label):
        self.page.evaluate("(label) => { direct.channels[label].quiet = true; }", label)

    def bulk(self, label, count, size, seconds=BULK_SECONDS):
        # Not waited for in the page: Firefox ends scripts that take a minute.
        self.page.evaluate(
            """([label, count, size]) => {
              direct.bulk(label, count, size).then((sum) => { direct.channels[label].sent = sum; });
            }""", [label, count, size])
        sent = "(label) => [direct.channels[label].sent].filter((sum) => sum !== undefined)"
        return wait_for("bulk", lambda: self.page.evaluate(sent, label), seconds)[0]

    def openings(self, count):
        return self.page.evaluate("(count) => direct.openings(count)", count)

    def shut(self, label):
        self.page.evaluate("(label) => direct.channels[label].channel.close()", label)

    def channel(self, label):
        return self.page.evaluate("(label) => direct.report(label)", label)


class AiortcDataEnd(AiortcEnd):
    def __init__(self):
        self.channels = {}
        super().__init__()
        self.peer.on("datachannel", self.adopt)

    def adopt(self, channel):
        if channel.label.startswith("echo "):
            channel.on("message", channel.send)
            return
        record = {"channel": channel, "kept": [], "messages": 0, "bytes": 0, "sum": 0, "quiet": False}
        self.channels[channel.label] = record

        def receive(message):
            data = message.encode() if isinstance(message, str) else message
            record["messages"] += 1
            record["bytes"] += len(data)
            record["sum"] = zlib.crc32(data, record["sum"])
            if not record["quiet"]:
                record["kept"].append(message)

        channel.on("message", receive)

    def on_loop(self, function):
        async def call():
            return function()

        return self.run(call())

    def create(self, restart=False):
        async def make():
            await self.peer.setLocalDescription(await self.peer.createOffer())
            return self.peer.localDescription.sdp

        return self.run(make())

    def answer(self, sdp):
        return super().answer(sdp, {})

    def accept(self, sdp):
        self.run(self.peer.setRemoteDescription(RTCSessionDescription(sdp, "answer")))

    def add(self, candidate):
        self.run(self.add_candidate(candidate))

    def candidates(self):
        return []

    def state(self):
        return self.peer.connectionState

    def states(self):
        return [self.peer.connectionState]

    def open(self, label, **options):
        if "id" in options:
            options["negotiated"] = True
        self.on_loop(lambda: self.adopt(self.peer.createDataChannel(label, **options)))

    def send(self, label, message):
        self.on_loop(lambda: self.channels[label]["channel"].send(message))

    def messages(self, label):
        return list(self.channels[label]["kept"]) if label in self.channels else []

    def quiet(self, label):
        self.channels[label]["quiet"] = True

    def bulk(self, label, count, size, seconds=BULK_SECONDS):
        async def send():
            channel, total = self.channels[label]["channel"], 0
            for number in range(count):
                while channel.bufferedAmount > 4 << 20:
                    await asyncio.sleep(0.005)
                if channel.readyState != "open":
                    break
                data = pattern(number, size)
                total = zlib.crc32(data, total)
                channel.send(data)
            return total

        return asyncio.run_coroutine_threadsafe(send(), self.loop).result(seconds)

    def openings(self, count):
        async def measure():
            times = []
            for number in range(count):
                start, answered = time.monotonic(), asyncio.Event()
                channel = self.peer.createDataChannel(f"echo {number}")
                channel.on("open", lambda channel=channel: channel.send("x"))
                channel.on("message", lambda _, answered=answered: answered.set())
                await answered.wait()
                times.append((time.monotonic() - start) * 1000)
                channel.close()
            return times

        return asyncio.run_coroutine_threadsafe(measure(), self.loop).result(60)

    def shut(self, label):
        self.on_loop(self.channels[label]["channel"].close)

    def channel(self, label):
        record = self.channels.get(label)
        if not record:
            return None
        channel = record["channel"]
        return {
            "state": channel.readyState, "id": channel.id, "ordered": channel.ordered, "protocol": channel.protocol,
            "maxRetransmits": UNLIMITED if channel.maxRetransmits is None else channel.maxRetransmits,
            "maxPacketLifeTime": UNLIMITED if channel.maxPacketLifeTime is None else channel.maxPacketLifeTime,
            **{key: record[key] for key in ("messages", "bytes", "sum")},
        }

"""A scripted client for browsers against `sora serve --secret-key`: each point that official clients insist on, one after another."""

import time

from browsers.browser import Browser
from harness import main, wait_for
from harness.api import call
from harness.tokens import token
from scripted.script import KEY, Script, codecs, lines, section

HEADER = [{"type": "sender_connection_id"}]
TRAILER = [83, 79, 82, 65]


def defaults(browser, _):
    """Nothing but the bare key: VP9, Opus, all of signaling's labels, `switched` in time; then calls, and an orderly end."""
    one = Script(browser, "sendonly").ready()
    offer = one.offer
    one.wait_for("all labels", "one.offer.data_channels.every((item) => one.channels[item.label]?.readyState === 'open')")
    one.wait_for("pictures", "one.peer.connectionState === 'connected'")
    video, audio = section(offer["sdp"], "video"), section(offer["sdp"], "audio")
    result = {
        "delayMs": one.evaluate("one.switchedAt - one.createdAt"), "ignores": one.evaluate("one.switched.ignore_disconnect_websocket"),
        "labels": sorted(one.evaluate("Object.keys(one.channels)")), "listed": sorted(item["label"] for item in offer["data_channels"]),
        "video": codecs(video), "audio": codecs(audio), "ssrcs": len(lines(video, "a=ssrc") + lines(audio, "a=ssrc")),
        "opus": lines(audio, "a=fmtp:"), "idBytes": len(offer["connection_id"].encode("ascii")),
        "keys": sorted(offer), "methods": offer["rpc_methods"],
        "feedback": [any(name in line for line in lines(text, start)) for text in (video, audio)
                     for start, name in (("a=rtcp-fb", "transport-cc"), ("a=extmap", "transport-wide-cc-extensions-01"))],
    }
    name = "2025.2.0/PutSignalingNotifyMetadataItem"
    result["call"] = one.evaluate("(name) => one.call(name, { key: 'seat', value: 3 })", name).get("result")
    result["unknown"] = one.evaluate("one.call('2025.2.0/Nothing', {})")["error"]["code"]
    result["wrong"] = one.evaluate("one.call('2025.2.0/RequestSimulcastRid', { rid: 'r9' })")["error"]["code"]
    created = one.evaluate("one.notifications.find((event) => event.event_type === 'connection.created')")
    result["counters"] = [created["channel_connections"], created["channel_sendonly_connections"]]
    result["ended"] = one.disconnect()
    return result


def tokens(browser, _):
    """What isn't let in, and claims that win over `connect`."""
    now = int(time.time())
    refusals = {}
    for name, access in (
        ("none", None), ("wrong", "another key of thirty-two bytes or"), ("expired", token({"channel_id": "room", "exp": now - 5}, KEY)),
        ("elsewhere", token({"channel_id": "hall", "exp": now + 60}, KEY)),
    ):
        one = Script(browser, "recvonly", access=access)
        one.wait_for("a refusal", "one.ended")
        ended = one.close()
        refusals[name] = {"code": ended["code"], "reason": ended["reason"].split(":")[0]}
    claims = {
        "channel_id": "room", "exp": now + 60, "video_codec_type": "VP8", "video_bit_rate": 700, "simulcast": True,
        "rpc_methods": ["2025.2.0/RequestSimulcastRid"], "connection_lifetime": 3,
        "simulcast_encodings": [
            {"rid": "r0", "active": True, "scaleResolutionDownTo": {"maxWidth": 160, "maxHeight": 90}, "scalabilityMode": "L1T1"},
            {"rid": "r1", "active": False, "scaleResolutionDownBy": 1, "scalabilityMode": "L1T1"},
        ],
    }
    one = Script(browser, "sendonly", access=token(claims, KEY), video={"codec_type": "AV1", "bit_rate": 4000}).created()
    offer = one.offer
    video = section(offer["sdp"], "video")
    answer = section(one.evaluate("one.peer.localDescription.sdp"), "video")
    result = {
        "refusals": refusals, "codec": offer["video_codec_type"], "bitRate": offer["video_bit_rate"], "methods": offer["rpc_methods"],
        "encodings": offer["encodings"] == claims["simulcast_encodings"], "offered": lines(video, "a=simulcast"),
        "answered": lines(answer, "a=simulcast"), "codecs": codecs(video),
    }
    started = time.monotonic()
    one.wait_for("the end of its lifetime", "one.ended")
    result["lifetime"] = one.close()
    result["lifetimeSeconds"] = time.monotonic() - started
    return result


def explicit_false(browser, _):
    """No data channel where none is wanted."""
    one = Script(browser, "sendonly", data_channel_signaling=False).created()
    one.wait_for("pictures", "one.peer.connectionState === 'connected'")
    # Pings go on for longer than `switched` may take.
    one.wait_for("a ping", "one.log.some(([way, , type]) => way === 'in' && type === 'ping')")
    return {
        "isListed": "data_channels" in one.offer, "application": "m=application" in one.offer["sdp"],
        "isSwitched": one.evaluate("one.switched !== null"), "ended": one.disconnect(),
    }


def simulcast(browser, api):
    """The layers that the server asks for by itself, sent, and chosen by RPC: sizes prove it."""
    # Who comes later is offered over the data channel.
    receiver = Script(browser, "recvonly", "layers", simulcast=True, video={"codec_type": "VP8"}).ready()
    sender = Script(browser, "sendonly", "layers", size=(960, 540), simulcast=True, video={"codec_type": "VP8", "bit_rate": 2500}).ready()
    receiver.wait_for("the sender's tracks", "one.tracks.length === 2")
    receiver.evaluate("() => { const video = document.createElement('video'); video.muted = true; document.body.append(video); "
                      "const show = () => { const track = one.tracks.find(([track]) => track.kind === 'video')?.[0]; "
                      "if (!track) return setTimeout(show, 50); video.srcObject = new MediaStream([track]); video.play(); }; show(); }")

    def height():
        found = receiver.stats("inbound-rtp", "video")
        return found[0].get("frameHeight") if found else None

    sizes = {}
    for rid, lines_ in (("r2", 540), ("r0", 135), ("r1", 270), ("r2", 540)):
        reply = receiver.evaluate(
            "([rid, sender]) => one.call('2025.2.0/RequestSimulcastRid', { rid, sender_connection_id: sender })", [rid, sender.connection_id])
        if reply["result"]["rid"] != rid:
            raise RuntimeError(f"asked for {rid}: {reply}")
        started = time.monotonic()
        wait_for(f"{rid}, {height()}", lambda want=lines_: abs((height() or 0) - want) <= 16, 30)
        sizes[rid] = [height(), round((time.monotonic() - started) * 1000)]
    sent = [s for s in sender.stats("outbound-rtp", "video")]
    result = {
        "encodings": sender.offer["encodings"], "sizes": sizes, "sent": sorted(s["rid"] for s in sent if s.get("framesSent")),
        "switches": receiver.evaluate("one.notifications.filter((event) => event.event_type === 'simulcast.switched').map((event) => event.current_rid)"),
    }
    result["streams"] = receiver.evaluate("one.tracks.every(([, stream]) => stream === one.notifications.at(-1).sender_connection_id)")
    sender.disconnect()
    receiver.wait_for("the sender's leaving", "one.notifications.some((event) => event.event_type === 'connection.destroyed')")
    receiver.wait_for("ended tracks", "one.tracks.every(([track]) => track.muted || track.readyState === 'ended')")
    result["exchanges"] = sorted({" ".join(line) for line in receiver.evaluate("one.log") if line[2].startswith("re-")})
    receiver.close()
    return result


def messages(browser, _):
    """Neither audio nor video; both ways, with headers, compressed for one of the two and not for the other."""
    def label(**more):
        return [{"label": "#chat", "direction": "sendrecv", **more}]

    silent = {"has_media": False, "audio": False, "video": False}
    one = Script(browser, "sendrecv", "talk", data_channels=label(header=HEADER, compress=True), **silent).ready()
    two = Script(browser, "sendrecv", "talk", data_channels=label(), **silent).ready()
    for script in (one, two):
        script.wait_for("the label", "one.channels['#chat']?.readyState === 'open'")
    text = "hello " * 200
    two.evaluate("(text) => one.send('#chat', new TextEncoder().encode(text))", text)
    one.evaluate("(text) => one.send('#chat', new TextEncoder().encode(text))", text)
    for script in (one, two):
        script.wait_for("a message", "one.messages.length")
    first, second = one.evaluate("one.messages[0]"), two.evaluate("one.messages[0]")
    result = {
        "sections": [line.split(" ")[0] for line in lines(one.offer["sdp"].replace("\r", ""), "m=")], "whole": first["text"] == text and second["text"] == text,
        "header": first["header"] == two.connection_id, "noHeader": second["header"], "raw": [first["raw"], second["raw"]], "length": len(text),
    }
    created = one.evaluate("one.notifications.filter((event) => event.event_type === 'connection.created').map((event) => event.connection_id)")
    result["noticed"] = created == [one.connection_id, two.connection_id]
    data = two.evaluate("one.notifications[0].data")
    result["others"] = [item["connection_id"] for item in data] == [one.connection_id]
    two.close()
    one.close()
    return result


def trailers(browser, _):
    """Payloads pass untouched: bytes that are appended to frames come out at the other end."""
    sender = Script(browser, "sendonly", "trailer", trailer=TRAILER, video={"codec_type": "VP8"}).ready()
    receiver = Script(browser, "recvonly", "trailer", trailer=TRAILER, video={"codec_type": "VP8"}).ready()
    receiver.wait_for("frames", "one.trailers && one.trailers.video[0] >= 30 && one.trailers.audio[0] >= 50", 20)
    found = receiver.evaluate("one.trailers")
    receiver.close()
    sender.close()
    return {"with": [found["video"][0], found["audio"][0]], "without": [found["video"][1], found["audio"][1]]}


def key_frames(browser, api):
    """One PLI a request, with nobody who receives, and none by itself."""
    one = Script(browser, "sendonly", "keys", video={"codec_type": "VP8"}).ready()
    one.wait_for("pictures", "one.peer.connectionState === 'connected'")

    def plis():
        found = one.stats("outbound-rtp", "video")
        return found[0].get("pliCount", 0) if found else 0

    wait_for("frames", lambda: (one.stats("outbound-rtp", "video") or [{}])[0].get("framesSent", 0) > 30)
    before = plis()
    # That nothing comes can only be seen by waiting.
    time.sleep(3)
    quiet = plis()
    call(api, "Sora_20241218.RequestKeyFrame", channel_id="keys", connection_id=one.connection_id)
    wait_for("a PLI", lambda: plis() > quiet)
    time.sleep(1)
    result = {"quiet": quiet - before, "asked": plis() - quiet}
    call(api, "Sora_20151104.DisconnectConnection", channel_id="keys", connection_id=one.connection_id)
    one.wait_for("its end", "one.ended")
    result["ended"] = one.close()
    return result


def without_socket(browser, api):
    """Signaling by data channel alone: who leaves sees the channels close; whom the API ends is told before they do."""
    result = {}
    one = Script(browser, "sendonly", "alone", ignore_disconnect_websocket=True).ready()
    one.evaluate("one.disconnect()")
    one.wait_for("closed channels", "Object.keys(one.channels).length === 0")
    result["left"] = one.close()
    two = Script(browser, "sendonly", "alone", ignore_disconnect_websocket=True).ready()
    call(api, "Sora_20151104.DisconnectConnection", channel_id="alone", connection_id=two.connection_id)
    two.wait_for("close", "one.ended")
    two.wait_for("closed channels", "Object.keys(one.channels).length === 0")
    order = [f"{via} {kind}" for _, via, kind in two.evaluate("one.log") if via == "signaling" and kind in ("close", "closed")]
    result["ended"], result["order"] = two.close(), order
    return result


STEPS = {
    "defaults": defaults, "tokens": tokens, "explicitFalse": explicit_false, "simulcast": simulcast, "messages": messages,
    "trailers": trailers, "keyFrames": key_frames, "withoutSocket": without_socket,
}


def scenario(world):
    server = world.serve("--secret-key", KEY, "--api-port", "0")
    api = server.last("ready")["apiUrl"]
    browser = Browser(world)
    outcome = {}
    for name in world.arguments or STEPS:
        outcome[name] = STEPS[name](browser, api)
    browser.close()
    return outcome


main(scenario)

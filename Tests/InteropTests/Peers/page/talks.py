"""Pages in a channel tell each other who they are, send messages on two labels, and show what the server notifies them of."""

import urllib.parse

from browsers.browser import Browser
from harness import main, wait_for
from harness.api import call

LABELS = ["sendrecv+header:#chat", "sendrecv+header+compress+unordered:#börse", "recvonly:#news"]
TEXT = "hello, wörld " * 8


def say(page, label, text):
    page.evaluate(
        "([label, text]) => { document.getElementById('label').value = label; document.getElementById('message').value = text; "
        "document.getElementById('chat-form').requestSubmit(); }", [label, text])


CHOOSE = """
([id, text]) => {
  const field = document.getElementById(id);
  field.value = [...field.options].find((option) => option.text.includes(text)).value;
  field.onchange();
}
"""


def choose_devices(ann, bob):
    """Another microphone and another loudspeaker while the call runs."""
    def packets():
        return ann.stats("outbound-rtp", "audio")[0]["packetsSent"]

    before = ann.evaluate("sora.localStream.getAudioTracks()[0].label")
    ann.evaluate(CHOOSE, ["microphone", "Input 2" if "Input 2" not in before else "Input 1"])
    ann.wait_for("another microphone", f"(sora.localStream.getAudioTracks()[0]?.label ?? {before!r}) !== {before!r}")
    count = packets()
    wait_for("sound of it", lambda: packets() > count + 20)
    bob.evaluate(CHOOSE, ["speaker", "Output 2"])
    bob.wait_for("another loudspeaker", "[...sora.streams.values()][0].video.sinkId === document.getElementById('speaker').value")
    return [before, ann.evaluate("sora.localStream.getAudioTracks()[0].label")]


def choose_camera(ann, bob):
    """The other camera while the call runs: its name, before and after, and whether the other page goes on seeing the one stream."""
    def frames():
        return ann.stats("outbound-rtp", "video")[0]["framesSent"], next(iter(bob.inbound("video").values()))["framesDecoded"]

    label = "sora.localStream.getVideoTracks()[0]?.label"
    before = ann.evaluate(label)
    names = ann.evaluate("[...document.getElementById('camera').options].slice(1).map((option) => option.text)")
    ann.evaluate(CHOOSE, ["camera", names[-1]])
    ann.wait_for("another camera", f"({label} ?? {before!r}) !== {before!r}")
    sent, seen = frames()
    wait_for("its frames at both ends", lambda: frames()[0] > sent + 20 and frames()[1] > seen + 20)
    tile = ann.evaluate("[...sora.streams.values()].find((tile) => tile.isOwn).video.srcObject.getVideoTracks()[0].label")
    return {"labels": [before, ann.evaluate(label)], "tile": tile, "streams": bob.remote_streams() == [ann.evaluate("sora.connectionId")]}


def scenario(world):
    server = world.serve("--api-port", "0")
    api = server.last("ready")["apiUrl"]
    # The second one of Chromium's gives depths, of which no video is made.
    browser = Browser(world, cameras=3)
    labels = "&label=".join(urllib.parse.quote(label) for label in LABELS)
    pages = {}
    for name, role in (("Ann", "sendrecv"), ("Bob", "recvonly")):
        pages[name] = browser.open("room", role, name=urllib.parse.quote(name), metadata=urllib.parse.quote('{"seat": 3}'), label=labels)
    ann, bob = pages["Ann"], pages["Bob"]
    ids = {name: page.evaluate("sora.connectionId") for name, page in pages.items()}
    for page in pages.values():
        page.wait_for("two labels to write on", "document.getElementById('label').options.length === 2")
        page.wait_for("both people", "document.querySelectorAll('#people li').length === 2")
    for sender, receiver in ((ann, bob), (bob, ann)):
        for label in ("#chat", "#börse"):
            say(sender, label, TEXT)
            wait_for(f"{label}", lambda: any(m["label"] == label and not m.get("isOwn") for m in receiver.evaluate("sora.messages")))
    # From a terminal, with bytes that are no text.
    tool = world.start("message", [world.sora, "message", world.url, "--channel", "room", "--label", "#chat", "--send", "from a terminal", "--duration", "2"])
    for page in pages.values():
        page.wait_for("what a terminal says", "sora.messages.some((m) => m.text.trim() === 'from a terminal')")
    call(api, "Sora_20160711.PushChannel", channel_id="room", data={"weather": "fine"})
    for page in pages.values():
        page.wait_for("a push", "sora.events.some((e) => e.weather === 'fine')")
    tool.wait(20)
    bob.wait_for("the terminal's leaving", "sora.events.some((e) => e.event_type === 'connection.destroyed')")
    result = {"ids": ids, "microphones": choose_devices(ann, bob), "cameras": choose_camera(ann, bob)}
    for name, page in pages.items():
        heard = [m for m in page.evaluate("sora.messages") if not m.get("isOwn") and m["text"] == TEXT]
        result[name.lower()] = {
            "heard": [[m["label"], m["from"]] for m in heard],
            "shown": page.evaluate("document.getElementById('messages').innerText"), "people": page.evaluate("document.getElementById('people').innerText"),
            "headers": page.evaluate("[...document.querySelectorAll('#messages .header')].map((e) => e.textContent)"),
            "events": page.evaluate("[...document.querySelectorAll('#events summary')].map((e) => e.innerText)"),
            "kinds": page.evaluate("sora.events.map((e) => e.event_type ?? 'push')"),
            "whole": page.evaluate("[...document.querySelectorAll('#events pre')].every((e) => JSON.parse(e.textContent))"),
            "status": page.evaluate("document.getElementById('status').innerText"),
        }
    result["caption"] = bob.evaluate("document.querySelector('figcaption .name').textContent")
    result["link"] = bob.evaluate("document.location.href")
    result["overflow"] = bob.picture("talks")
    result["messages"] = ann.messages + bob.messages
    for page in (ann, bob):
        page.stop()
    browser.close()
    return result


main(scenario)

"""The server is killed and started again on its port: pages in a call come back by themselves, with what they sent before. Who has left or
was ended doesn't, and nobody tries again after a refusal."""

import time
import urllib.request

from browsers.browser import Browser
from harness import free_port, main, wait_for
from harness.api import call

KEY = "a-key-of-thirty-two-bytes-or-more"
# That nobody tries again can only be seen by waiting: the first tries come within half a second each.
LOOK = 3
TRACKS = "sora.localStream.getTracks().map((track) => [track.id, track.readyState, track.enabled])"


def again(page, before):
    """Waits until a page is in a call anew, or can't be any more."""
    page.wait_for("another connection", f"sora.state === 'error' || sora.connectionId && sora.connectionId !== {before!r} && sora.state === 'connected'", 40)
    page.connected()


def frames(page):
    return {stream: video.get("framesDecoded", 0) for stream, video in page.inbound("video").items()}


def sees(page, publisher):
    """Waits for frames of the publisher's newest connection, and of nobody else."""
    stream = publisher.evaluate("sora.connectionId")
    wait_for("frames", lambda: frames(page).get(stream, 0) > 20, 30)
    return page.remote_streams() == [stream]


def metric(api, name):
    with urllib.request.urlopen(api + "metrics", timeout=10) as reply:
        return next(int(line.split()[-1]) for line in reply.read().decode().splitlines() if line.startswith(name + " "))


def scenario(world):
    port = free_port()
    server = world.serve("--api-port", "0", port=port)
    browser = Browser(world)
    ann = browser.open("ch", "sendonly", codec="VP8", name="Ann")
    # One signals over data channels alone.
    bob, carol, dora = browser.open("ch", "recvonly"), browser.open("ch", "recvonly", websocket=0), browser.open("ch", "recvonly")
    pages = [ann, bob, carol, dora]
    outcome = {"seen": [sees(page, ann) for page in (bob, carol)]}
    call(server.last("ready")["apiUrl"], "Sora_20151104.DisconnectConnection", channel_id="ch", connection_id=dora.evaluate("sora.connectionId"))
    dora.wait_for("its end", "sora.state === 'idle'")
    ann.click("#mute-audio")
    tracks, ids = ann.evaluate(TRACKS), [page.evaluate("sora.connectionId") for page in (ann, bob)]
    carol.wait_for("no WebSocket", "sora.client.isSwitched")
    server.kill()
    for page in (ann, bob):
        page.wait_for("a second try", "sora.state === 'reconnecting' && /\\(([2-9])\\)/.test(document.getElementById('status').innerText)")
    outcome["told"] = ann.evaluate("document.getElementById('status').innerText")
    outcome["overflow"] = ann.picture("reconnecting") + bob.picture("reconnecting-viewer")
    outcome["own"] = ann.evaluate("({ tiles: sora.streams.size, stop: !document.getElementById('stop').disabled, fixed: document.getElementById('channel').disabled })")
    carol.wait_for("the loss of the path", "sora.state === 'reconnecting'", 40)
    carol.stop()

    started = time.monotonic()
    server = world.serve("--api-port", "0", name="serve-again", port=port)
    for page, before in zip((ann, bob), ids):
        again(page, before)
    outcome["returned"] = round(time.monotonic() - started, 1)
    outcome["seen"].append(sees(bob, ann))
    bob.wait_for("a muted microphone", "[...document.querySelectorAll('.badge')].some((badge) => badge.textContent === 'microphone off')")
    outcome["kept"] = ann.evaluate(TRACKS) == tracks
    outcome["named"] = bob.evaluate("document.querySelector('figcaption .name').textContent")
    time.sleep(LOOK)
    # Neither who had left nor whom the server had ended.
    outcome["joins"] = len(server.messages("join"))
    outcome["left"] = [page.state() for page in (carol, dora)]

    server.kill()
    server = world.serve("--api-port", "0", "--secret-key", KEY, name="serve-locked", port=port)
    for page in (ann, bob):
        page.wait_for("a refusal", "sora.state === 'error'", 40)
    time.sleep(LOOK)
    outcome["refused"] = [page.evaluate("document.getElementById('status').innerText") for page in (ann, bob)]
    outcome["refusals"] = metric(server.last("ready")["apiUrl"], "sora_access_refusals_total")
    # The browser itself reports each WebSocket that doesn't open.
    outcome["messages"] = [line for page in pages for line in page.messages if "WebSocket connection to" not in line]
    browser.close()
    return outcome


main(scenario)

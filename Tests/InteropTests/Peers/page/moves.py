"""A server goes and names another: pages that are in a call move there, and one that comes meanwhile is sent there at once."""

import json
import signal

from websockets.sync.client import connect

from browsers.browser import Browser
from harness import main, wait_for


def sends_elsewhere(url):
    with connect(url, open_timeout=5) as socket:
        socket.send(json.dumps({"type": "connect", "role": "recvonly", "channel_id": "another"}))
        return json.loads(socket.recv(5))["type"] == "redirect"


def scenario(world):
    second = world.serve(name="second")
    url = world.url
    first = world.serve("--redirect-url", url, "--drain-time", "4", name="first")
    first_url = world.url
    browser = Browser(world)
    ann, bob, carol = (browser.open("ch", role) for role in ("sendonly", "recvonly", None))
    wait_for("tile", lambda: next(iter(bob.remote_streams()), None))
    before = [page.evaluate("sora.connectionId") for page in (ann, bob)]
    ann.wait_for("data channels", "sora.client.isSwitched")
    first.child.send_signal(signal.SIGTERM)
    wait_for("draining", lambda: sends_elsewhere(first_url), 10)
    carol.click("[data-role=recvonly]")
    carol.connected()
    for page, old in zip((ann, bob), before):
        page.wait_for("another connection", f"sora.state === 'error' || sora.connectionId && sora.connectionId !== {old!r} && sora.state === 'connected'", 30)
        page.connected()
    for page in (bob, carol):
        page.wait_for("the publisher's picture", "[...sora.streams.values()].some((t) => t.video.videoWidth > 0)", 30)
    outcome = {
        "status": first.wait(20), "joins": [len(server.messages("join")) for server in (first, second)], "streams": [len(page.remote_streams()) for page in (bob, carol)],
        "named": bob.remote_streams() == [ann.evaluate("sora.connectionId")],
        "messages": ann.messages + bob.messages + carol.messages,
    }
    for page in (ann, bob, carol):
        page.stop()
    browser.close()
    second.finish()
    return outcome


main(scenario)

"""The page in Chromium, wide and narrow: at rest, in a call, and each way in which it can't go on."""

import http.client
import os
import subprocess
import urllib.parse

from browsers.browser import Browser
from harness import main, wait_for

WIDTHS = (1280, 390)
KEY = "a-key-of-thirty-two-bytes-or-more"
# No address of a real machine (RFC 5737): to the browser it is as remote as any.
REMOTE = "192.0.2.10"
# Stands for what a browser says without a camera, or when it may not be used.
REFUSAL = "(name) => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', name); }; }"


class Looks:
    def __init__(self, world, page):
        self.page = page
        self.folder = os.path.dirname(world.folder)
        self.overflow = []

    def picture(self, name):
        for width in WIDTHS:
            self.page.page.set_viewport_size({"width": width, "height": 800})
            self.page.screenshot(os.path.join(self.folder, f"{name}-{width}.png"))
            if self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                self.overflow.append(f"{name} at {width}")

    def error(self, name):
        self.page.wait_for("error", "sora.state === 'error'")
        self.picture(name)
        return self.page.evaluate("document.getElementById('status').innerText")


    def tabs(self):
        """What the Tab key comes to in a call, by ids and words."""
        self.page.page.keyboard.press("Control+Home")
        self.page.evaluate("document.activeElement.blur()")
        reached = []
        for _ in range(40):
            self.page.page.keyboard.press("Tab")
            reached.append(self.page.evaluate("document.activeElement.id || document.activeElement.localName"))
        return reached


def served(port):
    """Status, type and policy of some of the page's addresses."""
    found = {}
    for method, path in (("GET", "/"), ("HEAD", "/page.css"), ("GET", "/client.js"), ("POST", "/"), ("GET", "/nothing.js")):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request(method, path)
        reply = connection.getresponse()
        policy = reply.getheader("content-security-policy") or ""
        found[f"{method} {path}"] = f"{reply.status} {(reply.getheader('content-type') or '').split(';')[0]} {policy.split(';')[0]}".strip()
        connection.close()
    return found


def say(page, text):
    page.wait_for("the label", "document.getElementById('label').options.length > 0")
    page.evaluate(
        "(text) => { document.getElementById('message').value = text; document.getElementById('chat-form').requestSubmit(); }", text)


def copied(page):
    """The link that the button puts into the clipboard."""
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.page.bring_to_front()
    page.evaluate("document.getElementById('share').click()")
    page.wait_for("copying", "document.getElementById('share').innerText.includes('copied')")
    return page.evaluate("navigator.clipboard.readText()")


def scenario(world):
    subprocess.run(["ip", "address", "add", f"{REMOTE}/32", "dev", "lo"], check=True)
    server = world.serve("--host", "0.0.0.0")
    ready = server.last("ready")
    browser = Browser(world)
    page = browser.open("sora")
    requests = set()
    page.page.on("request", lambda request: requests.add(urllib.parse.urlsplit(request.url).hostname))
    looks = Looks(world, page)
    errors = {}

    files = served(world.port)
    looks.picture("idle")
    page.evaluate("() => { document.getElementById('more').open = true; document.getElementById('add-label').click(); }")
    looks.picture("settings")
    page.page.emulate_media(color_scheme="dark")
    looks.picture("settings-dark")
    page.page.emulate_media(color_scheme="light")
    page.evaluate("() => { document.getElementById('more').open = false; document.querySelector('.label-row:last-child button').click(); }")
    page.evaluate("() => { document.getElementById('video').checked = document.getElementById('audio').checked = false; }")
    page.evaluate("document.querySelector('[data-role=sendrecv]').click()")
    errors["nothing ticked"] = looks.error("nothing-ticked")
    page.evaluate("() => { document.getElementById('video').checked = document.getElementById('audio').checked = true; }")
    for name, title in (("NotAllowedError", "not-allowed"), ("NotFoundError", "no-camera"), ("NotReadableError", "camera-busy")):
        page.go("sora")
        page.evaluate(REFUSAL, name)
        page.evaluate("document.querySelector('[data-role=sendonly]').click()")
        errors[title] = looks.error(title)
    page.go("sora", role="listener")
    errors["unknown role"] = looks.error("unknown-role")

    # Plain http from elsewhere.
    page.navigate(f"http://{REMOTE}:{world.port}/?channel=sora")
    looks.picture("remote")
    page.evaluate("document.querySelector('[data-role=sendonly]').click()")
    errors["remote"] = looks.error("remote-publish")

    publish = world.tool("publish", "sora", "--resolution", "640x360", "--fps", "30")
    page.go("sora", role="sendrecv", codec="VP8", fps=15, bit_rate=900, name="Ann", access_token="a-secret")
    page.connected()
    page.wait_for("two tiles with pictures", "[...sora.streams.values()].filter((t) => t.video.videoWidth > 0).length === 2")
    page.wait_for("numbers", "[...document.querySelectorAll('figcaption')].every((c) => c.textContent.includes('kbit/s'))")
    page.wait_for("who is here", "sora.counters && sora.counters.channel_connections === 2")
    say(page, "A message with a-word-that-is-so-long-that-it-fits-no-line-of-a-telephone-and-has-to-be-broken-somewhere-in-the-middle")
    page.wait_for("a line of each plot", "document.querySelectorAll('.plot .line').length >= 5")
    page.evaluate("document.querySelector('#events summary').click()")
    looks.picture("call")
    page.page.emulate_media(color_scheme="dark")
    looks.picture("call-dark")
    page.page.emulate_media(color_scheme="light")
    reached = looks.tabs()
    shared = copied(page)
    words = page.evaluate("document.getElementById('status').innerText")
    captions = page.evaluate("[...document.querySelectorAll('figcaption .name')].map((n) => n.textContent)")
    page.stop()
    publish.finish()

    # The server goes orderly, and then dies.
    page.go("sora", role="recvonly")
    page.connected()
    looks.picture("alone")
    alone = page.evaluate("document.getElementById('empty').innerText")
    server.finish()
    errors["stopped"] = looks.error("server-stopped")
    page.evaluate("document.querySelector('[data-role=recvonly]').click()")
    errors["not there"] = looks.error("server-not-there")
    again = world.serve("--host", "0.0.0.0", name="serve-again")
    page.port = world.port
    page.go("sora", role="recvonly")
    page.connected()
    again.child.kill()
    errors["killed"] = looks.error("server-gone")
    world.serve("--secret-key", KEY, name="serve-locked")
    page.port = world.port
    for name, token in (("no token", {}), ("wrong token", {"access_token": "x" * 40})):
        page.go("sora", role="recvonly", **token)
        errors[name] = looks.error(name.replace(" ", "-"))
    page.go("sora", role="recvonly", access_token=KEY)
    page.connected()
    browser.close()
    return {
        "errors": errors, "words": words, "captions": captions, "alone": alone, "overflow": looks.overflow,
        "served": files, "reached": reached, "shared": shared, "requests": sorted(host for host in requests if host), "links": ready["httpUrls"], "published": wait_for("summary", lambda: publish.last("summary"))["connectionId"],
    }


main(scenario)

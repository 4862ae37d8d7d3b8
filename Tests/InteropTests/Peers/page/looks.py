"""The page in Chromium, wide and narrow: at rest, in a call, and each way in which it can't go on."""

import http.client
import subprocess
import time
import urllib.parse

from browsers.browser import Browser
from harness import main, wait_for
from harness.tokens import token

KEY = "a-key-of-thirty-two-bytes-or-more"
# No address of a real machine (RFC 5737): to the browser it is as remote as any.
REMOTE = "192.0.2.10"
# Stands for what a browser says without a camera, or when it may not be used.
REFUSAL = "(name) => { navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('no', name); }; }"

# Keeps what the page says from now on.
TOLD = """
() => {
  const status = document.getElementById("status");
  window.told = [];
  new MutationObserver(() => told.push(status.innerText)).observe(status, { childList: true });
}
"""


class Looks:
    def __init__(self, page):
        self.page = page
        self.overflow = []

    def picture(self, name):
        self.overflow += self.page.picture(name)

    def error(self, name):
        self.page.wait_for("error", "sora.state === 'error'")
        self.picture(name)
        return self.page.evaluate("document.getElementById('status').innerText")

    def loses(self, name, end):
        """What the page says first when it loses its server, which `end` brings about: the next try is soon."""
        self.page.evaluate(TOLD)
        end()
        words = self.page.wait_for("the loss of the server", "told.find((text) => text.startsWith('Reconnecting'))")
        self.picture(name)
        return words
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
    looks = Looks(page)
    errors = {}

    files = served(world.port)
    looks.picture("idle")
    page.evaluate("() => { document.getElementById('more').open = true; document.getElementById('add-label').click(); }")
    looks.picture("settings")
    page.page.emulate_media(color_scheme="dark")
    looks.picture("settings-dark")
    page.page.emulate_media(color_scheme="light")
    page.go("sora", video=0, audio=0, label="")
    page.evaluate("document.querySelector('[data-role=sendrecv]').click()")
    errors["nothing ticked"] = looks.error("nothing-ticked")
    for title, name, text in (
        ("bad filters", "forwarding_filters", '[{"rules": [[}]'), ("filters without rules", "forwarding_filters", '[{"action": "block"}]'),
        ("bad metadata", "metadata", "3"),
    ):
        page.go("sora", **{name: urllib.parse.quote(text)})
        page.evaluate("document.querySelector('[data-role=recvonly]').click()")
        errors[title] = looks.error(title.replace(" ", "-"))
        at_field = page.evaluate(f"document.getElementById('{name}-problem').innerText")
        if not at_field or at_field not in errors[title] or page.evaluate("document.activeElement.id") != name:
            raise RuntimeError(f"{name} isn't told: {at_field!r}, {errors[title]!r}")
        page.page.fill(f"#{name}", "")
        page.wait_for("a field that is well", f"document.getElementById('{name}-problem').hidden")
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
    errors["stopped"] = looks.loses("server-stopped", server.finish)
    page.stop()
    page.evaluate("document.querySelector('[data-role=recvonly]').click()")
    errors["not there"] = looks.error("server-not-there")
    again = world.serve("--host", "0.0.0.0", name="serve-again")
    page.port = world.port
    page.go("sora", role="recvonly")
    page.connected()
    errors["killed"] = looks.loses("server-gone", again.kill)
    world.serve("--secret-key", KEY, name="serve-locked")
    page.port = world.port
    now = int(time.time())
    refused = {
        "no token": None, "wrong token": "x" * 40, "forged token": token({"channel_id": "sora", "exp": now + 60}, KEY[::-1]),
        "expired token": token({"channel_id": "sora", "exp": now - 5}, KEY), "another channel's token": token({"channel_id": "hall", "exp": now + 60}, KEY),
    }
    for name, access in refused.items():
        page.go("sora", role="recvonly", **({"access_token": access} if access else {}))
        errors[name] = looks.error(name.replace(" ", "-").replace("'", ""))
    for access in (KEY, token({"channel_id": "sora", "exp": now + 60}, KEY)):
        page.go("sora", role="recvonly", access_token=access)
        page.connected()
    browser.close()
    return {
        "errors": errors, "words": words, "captions": captions, "alone": alone, "overflow": looks.overflow,
        "served": files, "reached": reached, "shared": shared, "requests": sorted(host for host in requests if host), "links": ready["httpUrls"], "published": wait_for("summary", lambda: publish.last("summary"))["connectionId"],
    }


main(scenario)

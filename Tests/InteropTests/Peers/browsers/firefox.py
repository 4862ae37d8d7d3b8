"""Debian's Firefox, headless, with a fake microphone, on the page of `sora serve`, driven by its own protocol Marionette."""

import json
import os
import socket
import tempfile

from browsers import page as pages
from harness import Timeout, free_port, wait_for

PREFERENCES = {
    "media.navigator.streams.fake": True,
    "media.navigator.permission.disabled": True,
    "media.peerconnection.ice.loopback": True,
    "media.peerconnection.ice.obfuscate_host_addresses": False,
    "media.autoplay.default": 0,
    "network.manage-offline-status": False,
    # Nothing that looks for a network.
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "services.settings.server": "http://127.0.0.1:9/",
}


class Marionette:
    """One session: LENGTH:JSON each way, [0, id, command, arguments] and [1, id, error, result]."""

    def __init__(self, port):
        self.socket = wait_for("Marionette", lambda: self.reach(port), 60)
        self.socket.settimeout(90)
        self.file = self.socket.makefile("rb")
        self.count = 0
        self.read()
        self.call("WebDriver:NewSession", capabilities={})

    @staticmethod
    def reach(port):
        try:
            return socket.create_connection(("127.0.0.1", port))
        except OSError:
            return None

    def read(self):
        length = b""
        while (digit := self.file.read(1)) != b":":
            if not digit:
                raise Timeout("Firefox closed Marionette")
            length += digit
        return json.loads(self.file.read(int(length)))

    def call(self, command, **arguments):
        self.count += 1
        text = json.dumps([0, self.count, command, arguments]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.read()
        if error:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return result


class Firefox:
    """A browser with one page, which is loaded anew for every connection."""

    def __init__(self, world):
        self.world = world
        profile = tempfile.mkdtemp(prefix="firefox-", dir=world.folder)
        port = free_port()
        with open(os.path.join(profile, "user.js"), "w") as file:
            for name, value in {**PREFERENCES, "marionette.port": port}.items():
                file.write(f"user_pref({json.dumps(name)}, {json.dumps(value)});\n")
        self.process = world.start(
            "firefox",
            ["env", f"HOME={profile}", "MOZ_HEADLESS=1", "MOZ_CRASHREPORTER_DISABLE=1", "firefox-esr", "--headless",
             "--no-remote", "--profile", profile, "--marionette"], privileged=True)
        self.session = Marionette(port)

    def open(self, channel, **query):
        return Page(self, channel, query)

    def close(self):
        self.session.call("Marionette:Quit", flags=["eForceQuit"])
        self.process.wait()


class Page(pages.Page):
    def __init__(self, browser, channel, query):
        self.session = browser.session
        self.process = browser.process
        self.port = browser.world.port
        self.go(channel, **query)

    @property
    def messages(self):
        """What went wrong in the page's own scripts."""
        return [line for line in self.process.log_text().splitlines() if "JavaScript error: http://" in line]

    def navigate(self, url):
        self.session.call("WebDriver:Navigate", url=url)

    def evaluate(self, script, argument=None):
        # Evaluated in the page itself, where its names are known; only text crosses.
        source = (
            f"(async () => {{ const value = ({script}\n); return JSON.stringify("
            f"await (typeof value === 'function' ? value({json.dumps(argument)}) : value)) ?? 'null'; }})()")
        result = self.session.call(
            "WebDriver:ExecuteAsyncScript", args=[source], scriptTimeout=60000, script="""
                const [source, done] = arguments;
                window.eval(source).then((text) => done({ text }), (error) => done({ error: `${error} ${error.stack}` }));
            """)["value"]
        if "error" in result:
            raise RuntimeError(result["error"])
        return json.loads(result["text"])

    def close(self):
        """Nothing: the next page takes its place."""

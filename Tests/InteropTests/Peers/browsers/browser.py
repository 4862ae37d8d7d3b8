"""Debian's Chromium, headless, with a fake camera and microphone, on the page of `sora serve`."""

import os

from playwright.sync_api import sync_playwright

from browsers import page as pages
from browsers.page import STAMPS  # noqa: F401 - scripts that read stamps by themselves

# A desk's and a telephone's.
WIDTHS = (1280, 390)


class Browser:
    """A browser with as many pages of the server as are opened, in a namespace of its own if it is given one. It is driven
    over pipes. `trials` are those of libwebrtc that are on."""

    def __init__(self, world, namespace=None, cameras=1, trials=()):
        self.world = world
        executable = "/usr/bin/chromium"
        if namespace:
            command, executable = namespace.command([executable]), os.path.join(world.folder, "chromium")
            with open(executable, "w") as file:
                file.write(f'#!/bin/sh\nexec {" ".join(command)} "$@"\n')
            os.chmod(executable, 0o755)
        self.playwright = sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(
            executable_path=executable, headless=True, args=[
                "--no-sandbox",
                f"--use-fake-device-for-media-stream=fps=30,device-count={cameras}",
                "--use-fake-ui-for-media-stream",
                # A page that the test itself hands over may speak with the server.
                "--disable-features=WebRtcHideLocalIpsWithMdns,LocalNetworkAccessChecks",
                "--autoplay-policy=no-user-gesture-required",
                "--disable-background-timer-throttling",
                "--disable-renderer-backgrounding",
                "--disable-backgrounding-occluded-windows",
                *(["--force-fieldtrials=" + "".join(f"{trial}/Enabled/" for trial in trials)] if trials else []),
            ])

    def open(self, channel, role=None, **query):
        """A page that connects at once in a role; or one that waits until its buttons are pressed."""
        return Page(self, channel, role, query)

    def blank(self):
        """An empty page that may use camera and microphone, without a server."""
        page = self.chromium.new_page()
        page.route("**/*", lambda route: route.fulfill(body="<!doctype html>", content_type="text/html"))
        page.goto("http://localhost/")
        return page

    def close(self):
        self.chromium.close()
        self.playwright.stop()


class Page(pages.Page):
    def __init__(self, browser, channel, role, query):
        self.page = browser.chromium.new_page(viewport={"width": 1280, "height": 800})
        self.port = browser.world.port
        # Pictures are beside the scenarios' folders.
        self.folder = os.path.dirname(browser.world.folder)
        self.messages = []
        self.page.on("console", lambda message: self.messages.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.messages.append(f"error: {error}"))
        if role is None:
            self.go(channel, **query)
            return
        self.go(channel, **{"role": role, "codec": "VP8", **query})
        self.connected()

    def navigate(self, url):
        self.page.goto(url)

    def evaluate(self, script, argument=None):
        return self.page.evaluate(script, argument)

    def screenshot(self, path):
        self.page.screenshot(path=path, full_page=True)

    def picture(self, name):
        """Pictures at both widths; at which of them the page is wider than its window."""
        overflow = []
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 800})
            self.screenshot(os.path.join(self.folder, f"{name}-{width}.png"))
            if self.evaluate("document.documentElement.scrollWidth > window.innerWidth"):
                overflow.append(f"{name} at {width}")
        self.page.set_viewport_size({"width": WIDTHS[0], "height": 800})
        return overflow

    def close(self):
        self.page.close()

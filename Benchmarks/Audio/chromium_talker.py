"""Chromium with the default microphone or the default loudspeaker of a PulseAudio server.

chromium_talker.py publish|play URL CHANNEL: until it is interrupted.
"""

import asyncio
import functools
import http.server
import os
import pathlib
import signal
import sys
import threading

from playwright.async_api import async_playwright

PAGE = pathlib.Path(__file__).resolve().parent / "chromium"
FLAGS = [
    "--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--use-fake-ui-for-media-stream",
    "--disable-features=WebRtcHideLocalIpsWithMdns",
]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


async def main():
    role, url, channel = sys.argv[1:]
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=PAGE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium", headless=True, args=FLAGS, ignore_default_args=["--mute-audio"], env=dict(os.environ),
            handle_sigint=False, handle_sigterm=False)
        page = await browser.new_page()
        page.on("console", lambda message: print(message.text, file=sys.stderr, flush=True))
        await page.goto(f"http://127.0.0.1:{server.server_port}/call.html")
        await page.evaluate(
            "([url, channel, role]) => call(url, channel, role)", [url, channel, "sendonly" if role == "publish" else "recvonly"])
        await stopped.wait()
        await browser.close()


asyncio.run(main())

"""Chromium as a client of several channels: writes what it heard, as AudioTracePeers does.

chromium_receiver.py URL FOLDER CHANNEL...: until standard input ends.
"""

import asyncio
import base64
import functools
import http.server
import pathlib
import sys
import threading
import time

from playwright.async_api import async_playwright

PAGE = pathlib.Path(__file__).resolve().parent / "chromium"
FLAGS = ["--no-sandbox", "--autoplay-policy=no-user-gesture-required", "--disable-features=WebRtcHideLocalIpsWithMdns"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


async def main():
    url, folder, *channels = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=PAGE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path="/usr/bin/chromium", headless=True, args=FLAGS, ignore_default_args=["--mute-audio"])
        page = await browser.new_page()
        page.on("console", lambda message: print(message.text, file=sys.stderr, flush=True))
        await page.goto(f"http://127.0.0.1:{server.server_port}/receive.html")
        await page.evaluate("([url, channels]) => connect(url, channels)", [url, channels])
        # The page's clock is the wall's.
        offset = time.monotonic_ns() - time.time_ns()
        print("ready", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
        for channel in channels:
            heard = await page.evaluate("channel => take(channel)", channel)
            (pathlib.Path(folder) / f"{channel}.raw").write_bytes(base64.b64decode(heard["samples"]))
            (pathlib.Path(folder) / f"{channel}.times").write_text(
                "".join(f"{count} {int(milliseconds * 1e6) + offset}\n" for count, milliseconds in heard["times"]))
        await browser.close()


asyncio.run(main())

"""An end with data channels as a process of its own, aiortc's or Chromium's (with a browser of its own). It takes calls of the end's
methods, a line of JSON each, and tells what they return. `RemoteEnd` is its other side."""

import json
import os
import sys

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Tests/InteropTests/Peers")


class RemoteEnd:
    def __init__(self, world, make, name, namespace=None):
        # A browser needs its privileges to give them up in its own way.
        self.process = world.start(
            name, [sys.executable, "-B", os.path.abspath(__file__), make], privileged=make == "Chromium", namespace=namespace)

    def __getattr__(self, method):
        def call(*arguments, **options):
            return self.process.ask([method, arguments, options], "returned", 300)["value"]

        return call


def main():
    sys.path.insert(0, PEERS)
    from browsers.browser import Browser
    from ends.data import AiortcDataEnd, DataPageEnd

    browser = Browser(None) if sys.argv[1] == "Chromium" else None
    try:
        end = DataPageEnd(browser.blank()) if browser else AiortcDataEnd()
        for line in sys.stdin:
            method, arguments, options = json.loads(line)
            value = getattr(end, method)(*arguments, **options)
            print(json.dumps({"type": "returned", "value": value}), flush=True)
    finally:
        if browser:
            browser.close()


if __name__ == "__main__":
    main()

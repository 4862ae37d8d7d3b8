"""The official client as a process of its own, for scenarios that put it into a namespace: takes requests on standard input and
tells what came of them, a line of JSON each. `Remote` is its other side.
"""

import json
import sys

from ends.official import Official
from harness import RUN, wait_for


class Remote:
    """An official client in a process and a namespace of its own."""

    def __init__(self, world, name, namespace, url):
        self.process = world.start(
            name, [sys.executable, "-B", RUN, "ends/official_end", url], namespace=namespace)

    def ask(self, kind, **values):
        return self.process.ask({"type": kind, **values}, kind, 30)


class Server:
    def __init__(self, url):
        self.url = url


def main():
    (url,) = sys.argv[1:]
    official = None
    for line in sys.stdin:
        request = json.loads(line)
        kind = request["type"]
        answer = {"type": kind}
        if kind == "connect":
            options = {key: value for key, value in request.items() if key not in ("type", "role", "channel")}
            official = Official(Server(url), request["role"], request["channel"], **options).connect()
        elif kind == "seen":
            # Nothing may have come yet.
            stream = next(iter(official.streams.values()), None)
            answer["frames"] = stream.meter.frames if stream else 0
            answer["audioSeconds"] = stream.report()["audioSeconds"] if stream else 0
        elif kind == "leave":
            answer["ended"] = official.disconnect()
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()

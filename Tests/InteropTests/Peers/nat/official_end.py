"""The official client for `nat/official.py`: takes requests and tells what came of them, a line of JSON each."""

import json
import sys

from ends.official import Official
from harness import wait_for


class Server:
    def __init__(self, url):
        self.url = url


def main():
    url, certificate = sys.argv[1:]
    with open(certificate, "rb") as file:
        trusted = file.read()
    official = None
    for line in sys.stdin:
        request = json.loads(line)
        kind = request["type"]
        answer = {"type": kind}
        if kind == "connect":
            official = Official(Server(url), "sendrecv", request["channel"], ca_cert=trusted).connect()
        elif kind == "play":
            stream = wait_for("stream", lambda: official.streams.get(request["streamId"]))
            wait_for("pictures", lambda: stream.meter.frames - stream.meter.unreadable > 30, 20)
            wait_for("sound", lambda: stream.energy > 0)
            answer["report"] = stream.report()
        elif kind == "pair":
            answer["pair"] = official.pair()
        elif kind == "leave":
            answer["ended"] = official.disconnect()
        print(json.dumps(answer), flush=True)


main()

"""The server's HTTP API."""

import json
import urllib.request


def call(api, target, **body):
    request = urllib.request.Request(api, json.dumps(body).encode(), {"x-sora-target": target, "content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)

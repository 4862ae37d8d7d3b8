"""Pages with forwarding filters get what passes and nothing else; one without gets everything."""

import json
import time
import urllib.parse

from browsers.browser import Browser
from harness import main, wait_for

# That nothing comes of a medium can only be seen by waiting.
LOOK = 2


def rule(field, *values, operator="is_in"):
    return {"field": field, "operator": operator, "values": list(values)}


def received(page):
    """Bytes of each stream's media so far."""
    return {(stream, kind): found["bytesReceived"] for kind in ("audio", "video") for stream, found in page.inbound(kind).items()}


def scenario(world):
    world.serve()
    browser = Browser(world)
    publishers = {name: browser.open("ch", "sendonly", name=name, size="320x180") for name in ("Ann", "Bob")}
    names = {page.evaluate("sora.connectionId"): name for name, page in publishers.items()}
    ann = next(connection for connection, name in names.items() if name == "Ann")
    filters = {
        "none": None,
        "no audio": [{"action": "block", "rules": [[rule("kind", "audio")]]}],
        "no video of Ann": [{"name": "seat", "action": "block", "rules": [[rule("kind", "video"), rule("connection_id", ann)]]}],
        "only Ann": [{"action": "allow", "rules": [[rule("connection_id", ann)]]}],
        "video first": [
            {"name": "later", "priority": 20, "action": "block", "rules": [[rule("kind", "audio", "video")]]},
            {"name": "first", "priority": 10, "action": "allow", "rules": [[rule("kind", "audio", operator="is_not_in")]]},
        ],
    }
    viewers = {}
    for title, value in filters.items():
        query = {"forwarding_filters": urllib.parse.quote(json.dumps(value))} if value else {}
        viewers[title] = browser.open("ch", "recvonly", **query)
    expected = {
        "none": 4, "no audio": 2, "no video of Ann": 3, "only Ann": 2, "video first": 2,
    }
    outcome = {}
    for title, page in viewers.items():
        wait_for(f"media with {title}: {received(page)}", lambda: sum(1 for size in received(page).values() if size > 2000) >= expected[title], 20)
    before = {title: received(page) for title, page in viewers.items()}
    time.sleep(LOOK)
    for title, page in viewers.items():
        after = received(page)
        outcome[title] = sorted(
            f"{kind} of {names[stream]}" for (stream, kind), size in after.items() if size > before[title].get((stream, kind), 0))
    shared = viewers["no audio"].evaluate("document.location.href")
    overflow = viewers["no audio"].picture("filters")
    messages = [line for page in [*publishers.values(), *viewers.values()] for line in page.messages]
    browser.close()
    return {
        "passed": outcome, "shared": json.loads(urllib.parse.parse_qs(urllib.parse.urlsplit(shared).query)["forwarding_filters"][0]) == filters["no audio"],
        "overflow": overflow, "messages": messages,
    }


main(scenario)

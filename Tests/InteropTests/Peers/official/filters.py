"""Official clients with forwarding filters get what passes and nothing else; one without gets everything."""

import time

from ends.official import Official
from harness import main, wait_for

# That nothing comes of a medium can only be seen by waiting.
LOOK = 2


def rule(field, *values, operator="is_in"):
    return {"field": field, "operator": operator, "values": list(values)}


def received(client):
    """What came so far of each publisher's audio and video: energy and frames."""
    return {
        (connection, kind): count for connection, stream in list(client.streams.items())
        # A sink may get silence where nothing comes: what counts is the tone.
        for kind, count in (("audio", stream.energy), ("video", stream.meter.frames)) if count}


def scenario(world):
    world.serve()
    publishers = {name: Official(world, "sendonly", "ch", client_id=name, size=(320, 192)).connect() for name in ("ann", "bob")}
    names = {client.connection_id: name for name, client in publishers.items()}
    ann = publishers["ann"].connection_id
    viewers = {
        "none": ({}, 4),
        "filters": ({"forwarding_filters": [{"action": "block", "rules": [[rule("kind", "video")]]}]}, 2),
        "filter": ({"forwarding_filter": {"action": "block", "rules": [[rule("kind", "audio")]]}}, 2),
        "connection": ({"forwarding_filters": [{"name": "one", "action": "allow", "rules": [[rule("connection_id", ann)]]}]}, 2),
        "client": ({"forwarding_filters": [{"rules": [[rule("client_id", "ann", operator="is_not_in"), rule("kind", "video")]]}]}, 3),
        "priority": ({"forwarding_filters": [
            {"name": "later", "priority": 20, "action": "block", "rules": [[rule("kind", "audio", "video")]]},
            {"name": "first", "priority": 10, "action": "allow", "rules": [[rule("client_id", "bob"), rule("kind", "video")]]}]}, 1),
    }
    clients = {title: Official(world, "recvonly", "ch", **options).connect() for title, (options, _) in viewers.items()}
    for title, client in clients.items():
        wait_for(f"media with {title}", lambda: len(received(client)) >= viewers[title][1], 20)
    before = {title: received(client) for title, client in clients.items()}
    time.sleep(LOOK)
    passed = {}
    for title, client in clients.items():
        passed[title] = sorted(
            f"{kind} of {names[connection]}" for (connection, kind), count in received(client).items()
            if count > before[title].get((connection, kind), 0))
    # Viewers first: nobody has to be offered anything for that.
    return {"passed": passed, "ended": [client.disconnect() for client in (*clients.values(), *publishers.values())]}


main(scenario)

"""Two official clients tell each other who they are by metadata, and send each other messages that begin with their sender's id."""

from ends.talker import HEADER, Talker
from harness import main, wait_for

LABELS = [{"label": "#chat", "direction": "sendrecv", "header": HEADER}, {"label": "#zipped", "direction": "sendrecv", "compress": True, "header": HEADER}]
METADATA = {"ann": {"name": "Ann", "seat": {"row": 3, "places": [1, 2]}}, "bob": {"name": "Börse", "seat": None}}
MESSAGES = (b"hello", "wörld".encode(), bytes(range(256)) * 64)


def events(client, kind, connection):
    return [event for event in list(client.notifications) if event["event_type"] == kind and event["connection_id"] == connection]


def told(client, other):
    """The metadata that one is told of another that comes."""
    found = wait_for(f"{other.name}'s coming at {client.name}", lambda: events(client, "connection.created", other.connection_id))
    return found[0].get("metadata")


def scenario(world):
    world.serve()
    ann, bob = (
        Talker(world, name, LABELS, False, signaling_notify_metadata=METADATA[name], client_id=name).connect() for name in ("ann", "bob"))
    outcome = {
        "newcomer": told(ann, bob) == METADATA["bob"], "own": [told(one, one) == METADATA[one.name] for one in (ann, bob)],
        "present": [[other["connection_id"] == ann.connection_id, other["metadata"] == METADATA["ann"]] for other in bob.created()["data"]],
    }
    headers = {}
    for sender, receiver in ((ann, bob), (bob, ann)):
        for label in ("#chat", "#zipped"):
            for data in MESSAGES:
                sender.say(label, data)
                receiver.hears(label, data, sender)
        heard = [data[:26].decode() == sender.connection_id and data[26:] in MESSAGES for _, data in receiver.messages]
        headers[receiver.name] = [heard.count(True), len(heard)]
    outcome["headers"] = headers
    outcome["lengths"] = [
        part["length"] for client in (ann, bob) for item in client.offer["data_channels"] for part in item.get("header", [])]
    before = ann.count("re-offer")
    outcome["ended"] = [bob.disconnect()]
    left = wait_for("bob's leaving", lambda: events(ann, "connection.destroyed", bob.connection_id))
    outcome["leaver"] = left[0].get("metadata") == METADATA["bob"]
    ann.answers(before)
    outcome["ended"].append(ann.disconnect())
    return outcome


main(scenario)

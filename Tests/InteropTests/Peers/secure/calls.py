"""The secure path between another peer and the bare Swift one: every case one call, without a server of signaling."""

import time

from ends.direct import Call, OurEnd, PageEnd
from harness import turn

# Who offers, and what our side speaks. Whoever answers is the client of DTLS.
HANDSHAKES = {
    "ours offers": (True, "native"), "theirs offers": (False, "native"),
    "ours offers 1.2": (True, "native12"), "theirs offers 1.2": (False, "native12"),
    "ours offers libssl": (True, "libssl"),
}

# Whose TURN server, over what, and whether our side uses nothing but relays, too; the browser never does.
RELAYS = {
    "ours udp": ("ours", "udp", False), "ours tcp": ("ours", "tcp", False), "ours udp both": ("ours", "udp", True),
    "coturn udp": ("coturn", "udp", False), "coturn tcp both": ("coturn", "tcp", True),
}


def report(call, restarts=()):
    """What came of a call, and of ICE restarts: for each, whether our side asks for it."""
    result = call.report()
    result["restarts"] = [call.restart(ours_offers) for ours_offers in restarts]
    result["states"] = {"ours": call.ours.states(), "theirs": call.theirs.states()}
    if restarts:
        result["handshakes"] = call.theirs.handshakes()
    call.close()
    return result


def handshake(world, name, theirs, restarts=False):
    ours_offers, dtls = HANDSHAKES[name]
    call = Call(OurEnd(world, name.replace(" ", "-"), dtls=dtls), theirs, ours_offers)
    # From the offerer's side, then from the other.
    return report(call, [ours_offers, not ours_offers] if restarts and dtls == "native" else [])


def relay(world, name, servers, page):
    whose, transport, both = RELAYS[name]
    relayed = {"iceServers": turn.over(servers[whose], transport), "iceTransportPolicy": "relay"}
    ours = OurEnd(world, name.replace(" ", "-"), **(relayed if both else {}))
    return report(Call(ours, PageEnd(page, **relayed), False), [True] if both else [])


def each(world, names, case):
    """What `case` makes of each name; of those alone that the command line names, if it names some."""
    results = {}
    for name in names:
        if not world.arguments or name in world.arguments:
            started = time.monotonic()
            results[name] = case(name)
            results[name]["seconds"] = round(time.monotonic() - started, 2)
    return results


def walk(world, browser):
    """Every case with a browser."""
    world.serve(*turn.SERVE)
    page = browser.open("unused")
    coturn = turn.Coturn(world)
    servers = {"ours": turn.of_serve(world), "coturn": coturn.servers()}
    result = {
        "handshakes": each(world, HANDSHAKES, lambda name: handshake(world, name, PageEnd(page), restarts=True)),
        "relays": each(world, RELAYS, lambda name: relay(world, name, servers, page)),
    }
    coturn.close()
    return result

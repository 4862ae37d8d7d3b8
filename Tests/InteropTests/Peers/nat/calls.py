"""Calls through routers that translate addresses: ours is behind one, the other end behind another, and the servers are on
the network between."""

import socket
import time
from dataclasses import dataclass

from ends.direct import Call, OurEnd
from harness import namespaces, turn, wait_for
from secure.calls import each

DIRECT = ("host", "srflx", "prflx")


@dataclass
class Case:
    """A call. The kinds are those of `namespaces.KINDS`."""

    ours: str
    theirs: str
    # Of `servers`; both ends are given the same.
    server: str = "stun"
    # The types of candidates that the pair may join in the end; without types on our side, one of both is a relay.
    local: tuple | None = DIRECT
    remote: tuple = DIRECT
    # Who asks for an ICE restart, one after another.
    restarts: tuple = ()
    # Whose router forgets what it translated, in the middle.
    forgets: tuple = ()


CASES = {
    "restricted": Case("restricted", "restricted", "coturn udp", restarts=("ours", "theirs")),
    "symmetric and cone": Case("symmetric", "cone", forgets=("ours",)),
    "cone and symmetric": Case("cone", "symmetric", forgets=("theirs",)),
    "symmetric and restricted": Case("symmetric", "restricted", "serve", local=None),
    "symmetric": Case("symmetric", "symmetric", "coturn udp", local=None, restarts=("ours",)),
    "blocked": Case("blocked", "restricted", "coturn tcp", local=("relay",)),
    "blocked, serve": Case("blocked", "symmetric", "serve", local=("relay",)),
    "blocked, TLS": Case("blocked", "restricted", "coturn tls", local=("relay",)),
    "theirs blocked": Case("restricted", "blocked", "coturn tcp", remote=("relay",)),
}


def servers(world, coturn):
    """What each name of a server stands for, as W3C's `iceServers`."""
    stun = {"urls": [f"stun:{turn.ADDRESS}:{coturn.port}"]}
    all_of = coturn.servers()
    return {
        "stun": [stun], "serve": [stun, *turn.of_serve(world)], "coturn udp": [stun, *turn.over(all_of, "udp")],
        "coturn tcp": [stun, *turn.over(all_of, "tcp")], "coturn tls": [stun, *coturn.secure_servers()],
    }


class Network:
    def __init__(self, world):
        self.world = world
        world.serve(*turn.SERVE)
        self.ours, self.theirs = namespaces.sites(world)
        self.coturn = turn.Coturn(world, secure=True)
        self.servers = servers(world, self.coturn)

    def call(self, name, make_theirs, restarts):
        """One case; `make_theirs` makes the other end from the configuration, `restarts` says whether it restarts ICE."""
        case = CASES[name]
        self.ours.become(case.ours)
        self.theirs.become(case.theirs)
        configuration = {"iceServers": self.servers[case.server]}
        ours = OurEnd(
            self.world, name.replace(" ", "-"), namespace=self.ours.host, turnAuthorities=self.coturn.certificate,
            **configuration)
        theirs = make_theirs(configuration)
        started = time.monotonic()
        call = Call(ours, theirs, ours_offers=True)
        result = {"connectSeconds": round(time.monotonic() - started, 2), "first": call.facts()}
        call.wait_for("best pair", lambda: is_best(case, call.facts()))
        result.update(call.report())
        result["restarts"] = [call.restart(side == "ours") for side in case.restarts if restarts]
        result["moves"] = [self.forget(call, side) for side in case.forgets]
        result["states"] = {"ours": ours.states(), "theirs": theirs.states()}
        result["refused"] = [
            site.dropped("refused") if kind == "blocked" else 0
            for site, kind in ((self.ours, case.ours), (self.theirs, case.theirs))]
        call.close()
        return result

    def forget(self, call, side):
        """Lets a side's router forget, and waits until the other end sends to where it is seen from now on."""
        other = "theirs" if side == "ours" else "ours"
        before = call.facts()
        {"ours": self.ours, "theirs": self.theirs}[side].forget()
        started = time.monotonic()

        def moved():
            pair = call.facts()[other]["pair"]
            return pair and pair[1] != before[other]["pair"][1]

        call.wait_for("address that the other end has now", moved)
        return {
            "before": before, "seconds": round(time.monotonic() - started, 2), "after": call.media(),
        }

    def close(self):
        self.coturn.close()


def is_best(case, now):
    """Whether both use the best pair that exists. Where one side has to be relayed, one is enough."""
    return all(
        is_best_pair(case, *types) for types in (
            (now["ours"]["local"], now["ours"]["remote"]), (now["theirs"]["remote"], now["theirs"]["local"])))


def is_best_pair(case, ours, theirs):
    if case.local is None:
        return sorted(kind == "relay" for kind in (ours, theirs)) == [False, True]
    return ours in case.local and theirs in case.remote


def kinds(network):
    """What each kind of router does, told by packets: what a server sees, and who else gets in."""
    return {kind: kind_of(network, kind) for kind in namespaces.KINDS}


def kind_of(network, kind):
    site = network.ours
    site.become(kind)

    def bound(address):
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.bind((address, 0))
        one.settimeout(15)
        return one

    inner, *outer = site.host.call(lambda: bound(site.inside)), *[bound(turn.ADDRESS) for _ in range(3)]
    seen = []
    if kind == "blocked":
        inner.sendto(b"out", outer[0].getsockname())
        wait_for("refusal", lambda: site.dropped("refused"))
    else:
        for server in outer[:2]:
            inner.sendto(b"out", server.getsockname())
            seen.append(server.recvfrom(100)[1])
            server.sendto(b"back", seen[-1])
            inner.recv(100)
        outer[2].sendto(b"stranger", seen[-1])
        wait_for("stranger", lambda: arrived(inner) or site.dropped("strangers"))
    port = inner.getsockname()[1]
    result = {
        "ports": len(set(seen)), "keepsPort": all(address == (site.outside, port) for address in seen),
        "strangers": bool(seen) and not site.dropped("strangers"), "reachesInside": reaches_inside(network),
    }
    for one in (inner, *outer):
        one.close()
    return result


def reaches_inside(network):
    """Whether the other host's own address can be sent to; it got lost on the way otherwise."""
    before = namespaces.lost()
    with network.theirs.host.call(lambda: socket.create_server(("0.0.0.0", 0))) as listener:
        with network.ours.host.call(socket.socket) as one:
            one.setblocking(False)
            one.connect_ex((network.theirs.inside, listener.getsockname()[1]))
            return wait_for("fate of a packet", lambda: reached(one) or (namespaces.lost() > before and "no")) != "no"


def reached(one):
    """Whether a connection that is being made is there."""
    try:
        return one.getpeername()
    except OSError:
        return None


def arrived(one):
    one.setblocking(False)
    try:
        return one.recv(100) == b"stranger"
    except BlockingIOError:
        return False


def walk(network, make_theirs, names=CASES, restarts=True):
    return each(network.world, names, lambda name: network.call(name, make_theirs, restarts))

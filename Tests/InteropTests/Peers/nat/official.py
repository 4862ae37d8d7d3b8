"""Clients of `sora serve` behind routers that translate addresses: the official SDK behind one, `sora publish` and `sora
play` behind another, and the server with its TURN server on the network between."""

import os
import sys

from harness import RUN, main, make_certificate, namespaces, received, turn
from secure.calls import each

# libwebrtc compares the certificate of a TURN server with names alone.
NAME = "sora.test"
# What both routers do, and whether they refuse TURN over TCP without TLS as well.
CASES = {
    "restricted": ("restricted", False), "symmetric": ("symmetric", False),
    "blocked": ("blocked", False), "blocked but TLS": ("blocked", True),
}


class End:
    """The official client, in a process of its own: a namespace is for a whole one."""

    def __init__(self, world, site, name, url, certificate):
        self.process = world.start(name, [sys.executable, "-B", RUN, "nat/official_end", url, certificate], namespace=site.host)

    def ask(self, kind, **values):
        return self.process.ask({"type": kind, **values}, kind, 30)


def scenario(world):
    key, certificate = make_certificate(world.folder, turn.ADDRESS, NAME)
    server = world.serve(*turn.SERVE, "--turn-tls-port", "0", "--tls-cert", certificate, "--tls-key", key)
    url = f"wss://{NAME}:{world.port}/signaling"
    plain = next(u for u in server.last("ready")["turnUrls"] if u.endswith("transport=tcp") and not u.startswith("turns:"))
    plain_port = plain.split("?")[0].split(":")[-1]
    hosts = os.path.join(world.folder, "hosts")
    with open(hosts, "w") as file:
        file.write(f"127.0.0.1 localhost\n{turn.ADDRESS} {NAME}\n")
    ours, theirs = namespaces.sites(world, hosts)

    def call(name):
        kind, only_secure = CASES[name]
        for site in (ours, theirs):
            site.become(kind, f"tcp dport {plain_port} drop" if only_secure else "")
        label = name.replace(" ", "-")

        def tool(command, *arguments):
            return world.start(
                f"{label}-{command}",
                [world.sora, command, url, "--ca", certificate, "--channel", label, "--json", *arguments],
                namespace=ours.host)

        play = tool("play")
        play.wait_for("connection", lambda: (play.last("stats") or {}).get("connectionId"))
        end = End(world, theirs, f"{label}-official", url, certificate)
        end.ask("connect", channel=label)
        play.wait_for("picture and sound", received(play), 30)
        publish = tool("publish", "--resolution", "640x360", "--video-bit-rate", "800")
        publish.wait_for("connection", lambda: (publish.last("stats") or {}).get("connectionId"))
        result = {"played": end.ask("play", streamId=publish.last("stats")["connectionId"])["report"]}
        result["pair"] = end.ask("pair")["pair"]
        result["ended"] = end.ask("leave")["ended"]
        result["statuses"] = [publish.finish(), play.finish()]
        result["summaries"] = [publish.last("summary"), play.last("summary")]
        result["refused"] = [site.dropped("refused") for site in (ours, theirs)]
        return result

    return {"calls": each(world, CASES, call)}


main(scenario)

"""TURN servers for calls without a server of signaling, as W3C's `iceServers`."""

import json
import os
import socket

from websockets.sync.client import connect

from harness import free_port, make_certificate

# The namespace's address that isn't the loopback's: see namespace.sh.
ADDRESS = "10.99.0.1"
# What `sora serve` needs for a TURN server there; signaling and the page stay on the loopback as well.
SERVE = ["--host", "0.0.0.0", "--media-address", ADDRESS, "--turn-port", "0"]


def of_serve(world):
    """The TURN server of `sora serve`: what a client is offered."""
    with connect(world.url, compression=None) as signaling:
        signaling.send(json.dumps({
            "type": "connect", "role": "recvonly", "channel_id": "turn", "sora_client": "TURN of the tests",
            "audio": True, "video": True,
        }))
        while (message := json.loads(signaling.recv(15)))["type"] != "offer":
            pass
    return message["config"]["iceServers"]


class Coturn:
    """A `turnserver`. It doesn't end by a signal that it inherited as blocked, so `close` it."""

    def __init__(self, world, secure=False):
        self.port = free_port()
        self.secure_port, self.certificate, tls = None, None, ["--no-tls"]
        if secure:
            self.secure_port = free_port()
            key, self.certificate = make_certificate(world.folder, ADDRESS)
            tls = ["--tls-listening-port", str(self.secure_port), "--cert", self.certificate, "--pkey", key]
        self.process = world.start("coturn", [
            "turnserver", "-n", "--no-cli", "-L", ADDRESS, "-E", ADDRESS, "-p", str(self.port), *tls, "--no-dtls",
            "--lt-cred-mech", "-u", "user:pass", "-r", "sora.test", "--no-multicast-peers", "--fingerprint",
            "--pidfile", os.path.join(world.folder, "coturn.pid"), "--log-file", "stdout", "--simple-log",
        ])
        # Once it takes TCP connections; datagrams are sent again by themselves.
        self.process.wait_for("listening coturn", self.listens)

    def listens(self):
        for port in filter(None, [self.port, self.secure_port]):
            with socket.socket() as probe:
                if probe.connect_ex((ADDRESS, port)) != 0:
                    return False
        return True

    def servers(self):
        return [{
            "urls": [f"turn:{ADDRESS}:{self.port}?transport={transport}" for transport in ("udp", "tcp")],
            "username": "user", "credential": "pass",
        }]

    def secure_servers(self):
        """Over TLS alone."""
        return [{**self.servers()[0], "urls": [f"turns:{ADDRESS}:{self.secure_port}?transport=tcp"]}]

    def close(self):
        self.process.child.kill()
        self.process.wait()


def over(servers, transport):
    """The servers with those URLs alone that name one transport."""
    return [
        {**server, "urls": [url for url in server["urls"] if url.endswith(f"transport={transport}")]} for server in servers]

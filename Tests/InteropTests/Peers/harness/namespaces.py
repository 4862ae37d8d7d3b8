"""Networks of a script's own: namespaces, hosts behind routers that translate addresses with the kernel's means, and two
hosts with a bad link between them. All of it goes with the script: a namespace lives as long as the process that holds
it, and that ends with its parent.
"""

import ctypes
import fcntl
import os
import re
import struct
import subprocess
import threading


libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


class Namespace:
    def __init__(self, world, name, hosts=None):
        """`hosts` is a file of names and addresses, for /etc/hosts in here."""
        self.name = name
        # The line says that it is in its namespace; then it stays until it is ended.
        self.holder = world.start(name, [
            "unshare", "-n", "-m", "sh", "-euc",
            """if [ $# -gt 0 ]; then mount --bind "$1" /etc/hosts; fi; echo '{"type": "made"}'; exec cat""",
            "sh", *([hosts] if hosts else []),
        ], True)
        self.holder.wait_for("namespace", lambda: self.holder.last("made"))
        self.process = self.holder.child.pid
        self.path = f"/proc/{self.process}/ns/net"
        self.run("ip link set dev lo up")

    def command(self, command):
        """The command line that runs one in here."""
        return ["nsenter", f"--target={self.process}", "--net", "--mount", f"--wdns={os.getcwd()}", "--", *command]

    def run(self, script, input=None):
        """What the shell says that runs a script in here."""
        done = subprocess.run(
            self.command(["sh", "-euc", script]), input=input, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{self.name}: {script}: {done.stderr.strip()}")
        return done.stdout

    def enter(self):
        """Moves the calling thread in here, for good: its sockets are this namespace's."""
        with open(self.path) as file:
            if libc.setns(file.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    def call(self, function):
        """What a function returns that a thread calls in here."""
        results = []

        def work():
            self.enter()
            results.append(function())

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return results[0]


# What a router does to the packets of the host behind it; `host` is that one's address. netfilter lets in what belongs to a
# connection that went out (address and port dependent filtering, RFC 4787 §5). It keeps source ports where it can.
TRANSLATE = "oifname out masquerade"
KINDS = {
    # Keeps ports, and lets in only who was sent to: "port restricted cone".
    "restricted": (TRANSLATE, "", False),
    # Another port for every destination: "symmetric".
    "symmetric": (TRANSLATE + " fully-random", "", False),
    # Keeps ports, and lets in everybody: "full cone".
    "cone": (TRANSLATE, "", True),
    # Like restricted, without any UDP.
    "blocked": (TRANSLATE, "meta l4proto udp drop", False),
}


class Site:
    """A host behind a router of its own, which is linked to the script's namespace."""

    def __init__(self, world, name, number, hosts=None):
        self.host, self.router = Namespace(world, f"{name}-host", hosts), Namespace(world, f"{name}-router")
        self.inside, self.outside = f"10.{number}.0.2", f"192.0.2.{number * 4 + 2}"
        gateway = f"192.0.2.{number * 4 + 1}"
        shell(f"""
            ip link add name {name} type veth peer name out netns {self.router.process}
            ip address add {gateway}/30 dev {name}
            ip link set dev {name} up""")
        self.router.run(f"""
            ip address add {self.outside}/30 dev out
            ip link set dev out up
            ip route add default via {gateway}
            ip link add name in type veth peer name eth0 netns {self.host.process}
            ip address add 10.{number}.0.1/24 dev in
            ip link set dev in up
            echo 1 > /proc/sys/net/ipv4/ip_forward""")
        self.host.run(f"""
            ip address add {self.inside}/24 dev eth0
            ip link set dev eth0 up
            ip route add default via 10.{number}.0.1""")

    def become(self, kind, refused_too=""):
        """Changes what the router does: `refused_too` is another rule. Whatever it translated is forgotten."""
        translate, refuse, lets_in = KINDS[kind]
        refused = f"{refuse}; {refused_too}".replace("drop", "counter name refused drop")
        # What is dropped leaves no trace in the table of connections: it must not take the port of one that goes out later.
        stranger = "" if lets_in else "iifname out ct state new counter name strangers drop"
        to_host = f"iifname out meta l4proto udp dnat to {self.inside}" if lets_in else ""
        self.router.run("nft -f -", f"""
            flush ruleset
            table ip nat {{
              counter strangers {{ }}
              counter refused {{ }}
              chain before {{ type nat hook prerouting priority -100; {to_host}; }}
              chain after {{ type nat hook postrouting priority 100; {translate}; }}
              chain input {{ type filter hook input priority 0; {stranger}; }}
              chain forward {{
                type filter hook forward priority 0
                {stranger}
                {refused}
              }}
            }}""")
        self.forget()

    def forget(self):
        """Forgets what it translated, as a router that was switched off does."""
        self.router.run("conntrack -F")

    def dropped(self, counter):
        """Packets of strangers that it didn't let in, or those that it refused to let out."""
        return packets(self.router.run(f"nft list counter ip nat {counter}"))


def shell(script):
    """Runs a script in the script's own namespace."""
    subprocess.run(["sh", "-euc", script], check=True)


def sites(world, hosts=None):
    """Two hosts behind routers of their own, and the script's namespace for the network between. What is sent there to an
    address behind a router gets lost without a word, as in the internet: coturn ends a relay whose packets are refused."""
    shell("""
        echo 1 > /proc/sys/net/ipv4/ip_forward
        ip neighbour replace 10.99.0.2 lladdr 02:00:00:00:00:01 dev w0 nud permanent
        nft -f - <<'.'
        table ip between {
          counter lost { }
          chain forward { type filter hook forward priority 0; ip daddr 10.0.0.0/8 counter name lost drop; }
        }
.""")
    return Site(world, "ours", 1, hosts), Site(world, "theirs", 2, hosts)


def lost():
    """Packets that one host sent to the other's own address."""
    return packets(subprocess.check_output(["nft", "list", "counter", "ip", "between", "lost"], text=True))


def packets(counter):
    return int(re.search(r"packets (\d+)", counter)[1])


class Link:
    """Two hosts with one link between them, which is as bad as `set` says: see Tests/LinkEmulator."""

    # Its devices' addresses.
    ADDRESSES = ["192.0.2.1", "192.0.2.2"]

    def __init__(self, world, seed=1):
        self.hosts = [Namespace(world, name) for name in ("link-a", "link-b")]
        self.join(world, "link0", self.ADDRESSES, seed)

    def join(self, world, name, addresses, seed):
        """Puts the link between the two hosts, as a device of this name."""
        devices = [host.call(lambda: tunnel(name)) for host in self.hosts]
        for host, own, other in zip(self.hosts, addresses, reversed(addresses)):
            # Nothing but what is tested crosses the link. A host between two links keeps the first one's route.
            host.run(f"""
                echo 1 > /proc/sys/net/ipv6/conf/{name}/disable_ipv6
                ip address add {own} peer {other} dev {name}
                ip link set dev {name} up
                ip route append default dev {name}""")
        self.process = world.start(
            name, [world.emulator, *map(str, devices), str(seed)], inherited=devices)
        for device in devices:
            os.close(device)
        self.process.wait_for("emulator", lambda: self.process.last("ready"))

    def ask(self, kind, reply, **values):
        return self.process.ask({"type": kind, **values}, reply)

    def set(self, **conditions):
        """Both directions' conditions; what isn't given is ideal."""
        self.ask("set", "set", forward=conditions)

    def statistics(self):
        """Both directions' counters, from the first host and to it."""
        found = self.ask("statistics", "statistics")
        return {name: found[name] for name in ("forward", "backward")}


class Further(Link):
    """A link from a host that has one already to another host."""

    ADDRESSES = ["192.0.2.5", "192.0.2.6"]

    def __init__(self, world, host, seed=2):
        self.hosts = [host, Namespace(world, "link-c")]
        self.join(world, "link1", self.ADDRESSES, seed)


def tunnel(name):
    """A device for IP packets in the calling thread's namespace."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    # TUNSETIFF: IFF_TUN | IFF_NO_PI.
    fcntl.ioctl(descriptor, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1001))
    return descriptor

"""What every scenario needs: the processes under test, waiting for conditions, and one JSON result.

A scenario is a script that a test runs inside a network namespace of its own. It starts the server, the `sora`
tool and the foreign peer, waits for conditions only, and writes what it saw; the test asserts on that.
"""

import argparse
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

PR_SET_PDEATHSIG = 1
libc = ctypes.CDLL(None)

# Runs a script of this folder that is a process of its own: see run.py.
RUN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "run.py")

# Root's tests must not pass for root's privileges: what is tested runs without any capability.
UNPRIVILEGED = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"]


class Timeout(Exception):
    pass


# Between two looks at what tells nobody when it changes.
LOOK_SECONDS = 0.02


def wait_for(what, condition, seconds=15, pause=time.sleep):
    """The first true value of `condition()`; raises when there is none in time. `pause` waits so many seconds, or less."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise Timeout(f"no {what} within {seconds} s")
        pause(LOOK_SECONDS)


def free_port():
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_certificate(folder, address, name="localhost"):
    """PEM files of a key and of a certificate that signs itself, for an address and a name."""
    key, certificate = (os.path.join(folder, name) for name in ("key.pem", "certificate.pem"))
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-keyout", key, "-out", certificate, "-days", "2", "-subj", f"/CN={name}",
         "-addext", f"subjectAltName=IP:{address},DNS:{name}"],
        check=True, capture_output=True)
    return key, certificate


class Process:
    """A process under test: its JSON lines on standard output, its log in a file. Ends with this script."""

    def __init__(self, name, command, folder, inherited=()):
        self.name = name
        self.lines = []
        self.log_path = os.path.join(folder, f"{name}.log")
        self.log = open(self.log_path, "w")
        parent = os.getpid()

        def die_with_parent():
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)

        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
            preexec_fn=die_with_parent, pass_fds=inherited)
        self.output = open(os.path.join(folder, f"{name}.out"), "w")
        self.heard = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.child.stdout:
            self.output.write(line)
            self.output.flush()
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                continue
            self.heard.set()

    def messages(self, kind):
        return [line for line in list(self.lines) if isinstance(line, dict) and line.get("type") == kind]

    def last(self, kind):
        found = self.messages(kind)
        return found[-1] if found else None

    def write(self, text):
        """To its standard input."""
        self.child.stdin.write(text)
        self.child.stdin.flush()

    def tell(self, message):
        """Writes a line of JSON."""
        self.write(json.dumps(message) + "\n")

    def ask(self, message, reply, seconds=15):
        """The next line of type `reply`, after a line of JSON was written that it answers."""
        count = len(self.messages(reply))
        self.tell(message)
        return self.wait_for(reply, lambda: self.messages(reply)[count:], seconds)[0]

    def alive(self):
        return self.child.poll() is None

    def wait_for(self, what, condition, seconds=15):
        """Like `wait_for`, and looks at once when the process says something, and gives up at once where it is gone."""

        def check():
            self.heard.clear()
            value = condition()
            if not value and not self.alive():
                self.reader.join(5)
                value = condition()
                if not value:
                    raise Timeout(f"{self.name} ended with {self.child.returncode} before {what}: {self.log_tail()}")
            return value

        return wait_for(f"{what} ({self.name})", check, seconds, self.heard.wait)

    def log_text(self):
        self.log.flush()
        with open(self.log_path) as file:
            return file.read()

    def log_tail(self):
        return " | ".join(self.log_text().strip().splitlines()[-3:])

    def kill(self):
        """Ends it as a crash does: without a word to anybody."""
        self.child.kill()
        self.child.wait()

    def wait(self, seconds=15):
        """The exit status."""
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Timeout(f"{self.name} did not end within {seconds} s") from None
        self.reader.join(5)
        return self.child.returncode

    def finish(self, seconds=15):
        """Asks for an orderly end as Ctrl-C does; the exit status."""
        if self.alive():
            self.child.send_signal(signal.SIGINT)
        return self.wait(seconds)

    def end(self):
        if self.alive():
            self.child.terminate()
            try:
                self.child.wait(3)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class World:
    """The server and the tools of one scenario. Programs that it doesn't start needn't be there."""

    def __init__(self, sora, folder, client=None, peer=None, emulator=None, arguments=()):
        self.sora = sora
        self.client = client
        self.peer = peer
        self.emulator = emulator
        self.folder = os.path.abspath(folder)
        self.arguments = list(arguments)
        self.processes = []
        self.port = None

    def start(self, name, command, privileged=False, namespace=None, inherited=()):
        """What is tested runs unprivileged; a browser needs its privileges to give them up in its own way.

        `namespace` is the one it runs in, `inherited` are descriptors that it keeps.
        """
        command = command if privileged else UNPRIVILEGED + command
        process = Process(name, namespace.command(command) if namespace else command, self.folder, inherited)
        self.processes.append(process)
        return process

    def serve(self, *arguments, name="serve", port=0):
        """Starts `sora serve`, on a free port unless one is given, and waits until it is ready."""
        server = self.start(name, [self.sora, "serve", "--port", str(port), "--json", *arguments])
        self.port = server.wait_for("readiness", lambda: server.last("ready"))["port"]
        return server

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.port}/signaling"

    def tool(self, command, channel, *arguments, name=None, url=None):
        """`sora publish` or `sora play` with `--json`."""
        return self.start(
            name or command, [self.sora, command, url or self.url, "--channel", channel, "--json", *arguments])

    def end(self):
        for process in reversed(self.processes):
            process.end()


def received(process):
    """A condition: `sora play` has decoded pictures and heard sound."""

    def check():
        stats = process.last("stats")
        video = stats and stats.get("video")
        audio = stats and stats.get("audio")
        return bool(video and video["frames"] > 0 and audio and audio["seconds"] > 0)

    return check


def main(scenario):
    """Runs `scenario(world)`, and writes what it returns, or why it didn't, as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sora", required=True, help="the tool")
    parser.add_argument("--client", help="the client of tests")
    parser.add_argument("--peer", help="the peer of tests that has no server")
    parser.add_argument("--emulator", help="the link emulator of tests")
    parser.add_argument("--folder", required=True, help="where logs and the result go")
    parser.add_argument("arguments", nargs="*")
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    world = World(options.sora, options.folder, options.client, options.peer, options.emulator, options.arguments)
    started = time.monotonic()
    try:
        result = scenario(world)
    except BaseException as error:  # noqa: BLE001 - the test shows it
        traceback.print_exc()
        result = {"failure": f"{type(error).__name__}: {error}"}
    finally:
        world.end()
    result["seconds"] = round(time.monotonic() - started, 2)
    text = json.dumps(result, indent=1)
    with open(os.path.join(options.folder, "result.json"), "w") as file:
        file.write(text)
    sys.stdout.flush()
    sys.stderr.flush()
    # sora_sdk's bindings complain about leaks at an orderly exit.
    os._exit(1 if "failure" in result else 0)

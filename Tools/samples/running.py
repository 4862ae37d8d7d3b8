"""Runs the programs and commands among the blocks, with a server and without one."""

import json
import os
import re
import shlex
import signal
import subprocess
import time
from contextlib import ExitStack

from blocks import ROOT, Wrong
from compiling import BUILD, PROXY, SERVER
from proxy import ConnectProxy

# What the handbook's commands say where the server's HTTP API is.
API = "127.0.0.1:3000"
# Seconds that a program may run.
LIMIT = 60


class Process:
    """A program whose output goes to files, and that ends with the block of `with`."""

    def __init__(self, arguments, folder, name, environment=None):
        self.output = folder / f"{name}.out"
        self.errors = folder / f"{name}.err"
        with open(self.output, "w") as output, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                # Line by line, so that what is printed can be waited for.
                ["stdbuf", "-oL", *map(str, arguments)], cwd=folder, stdout=output, stderr=errors, stdin=subprocess.DEVNULL,
                env={**os.environ, "SWIFT_BACKTRACE": "enable=no", **(environment or {})},
                # Of commands in a shell the whole group is ended.
                start_new_session=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.kill()
        # Of commands, what runs on in the background.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def kill(self):
        """As a machine that fails: nobody is told."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def said(self):
        return self.output.read_text(errors="replace"), self.errors.read_text(errors="replace")

    def wait_for(self, text, seconds=LIMIT):
        """What it printed, once that has `text` or it has ended."""
        end = time.monotonic() + seconds
        while True:
            ended = self.process.poll() is not None
            output = self.output.read_text(errors="replace")
            if text in output:
                return output
            if ended or time.monotonic() > end:
                what = f"ended with status {self.process.returncode}" if ended else f"ran {seconds} s"
                raise Wrong(f'{what} and didn\'t print "{text}"; it said:\n' + last_lines(*self.said()))
            time.sleep(0.05)


def last_lines(*texts):
    return "\n".join(f"  {line}" for line in "\n".join(texts).strip().splitlines()[-15:]) or "  nothing"


def serve(folder, options=(), port=0, name="serve"):
    """A server, which isn't ready yet."""
    return Process([BUILD / "sora", "serve", "--port", port, "--json", *options], folder, name)


def ready_line(server):
    """What a server says of its addresses, as soon as it listens."""
    said = server.wait_for('"type":"ready"')
    return json.loads(next(line for line in said.splitlines() if '"ready"' in line))


def run_block(block, toolbox, folder):
    """Compiles and runs a block."""
    if block.is_shell:
        return run_commands(block, folder)
    if SERVER not in block.whole:
        return finish(block, toolbox.compile(block, folder), folder)
    with ExitStack() as stack:
        # The server comes first, so that the program can be compiled with its port.
        options = shlex.split(block.rule("server") or "")
        server = stack.enter_context(serve(folder, options))
        url = ready_line(server)["url"]
        address = url.split("/")[2]
        proxy = stack.enter_context(ConnectProxy()) if block.rule("proxy") else None
        program = toolbox.compile(
            block, folder, server=address, proxy=f'host: "127.0.0.1", port: {proxy.port}' if proxy else PROXY)
        if block.rule("publisher"):
            stack.enter_context(publisher(url, folder))
        finish(block, program, folder, restart=lambda: stack.enter_context(revive(server, folder, options, address)))
        if proxy and not proxy.tunnels:
            raise Wrong("nothing went through the proxy")
    alone(block, program, folder)


def publisher(url, folder):
    """Somebody who sends to the samples' channel."""
    arguments = [BUILD / "sora", "publish", url, "--channel", "sora", "--json", "--resolution", "320x180"]
    process = Process(arguments, folder, "publish")
    try:
        process.wait_for('"type":')
    except Wrong:
        with process:
            raise
    return process


def revive(server, folder, options, address):
    """Kills a server, and starts another one at its address."""
    server.kill()
    return serve(folder, options, port=address.rpartition(":")[2], name="serve-again")


def finish(block, program, folder, restart=None):
    """Runs a program to its end, or until it has said what it should."""
    until = block.rule("until")
    with Process([program], folder, "sample") as process:
        if moment := block.rule("restart"):
            process.wait_for(moment)
            restart()
        end(process, until)


def end(process, until):
    """Waits for the end of a program, or for what it should say, and looks at its status."""
    if until:
        process.wait_for(until)
        if process.process.poll() is not None and process.process.returncode:
            raise Wrong(f"status {process.process.returncode}; it said:\n" + last_lines(*process.said()))
        return
    try:
        status = process.process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        raise Wrong(f"ran longer than {LIMIT} s; it said:\n" + last_lines(*process.said())) from None
    if status:
        raise Wrong(f"status {status}; it said:\n" + last_lines(*process.said()))


# Servers of commands take free ports, whatever a reader's own would have.
PRELUDE = """set -euo pipefail
sora() {
  if [ "${1:-}" = serve ]; then shift; set -- serve --port 0 "$@"; fi
  command sora "$@"
}
"""


def run_commands(block, folder):
    """Runs the commands of a block in a shell, as a reader would."""
    with ExitStack() as stack:
        text = block.whole
        if SERVER in text or API in text:
            server = stack.enter_context(serve(folder, ["--api-port", "0", *shlex.split(block.rule("server") or "")]))
            ready = ready_line(server)
            url = ready["url"]
            text = text.replace(SERVER, url.split("/")[2]).replace(API, ready["apiUrl"].split("/")[2])
            if block.rule("publisher"):
                stack.enter_context(publisher(url, folder))
        path = {"PATH": f"{BUILD}:{os.environ.get('PATH', '')}"}
        with Process(["bash", "-c", PRELUDE + text], folder, "commands", path) as process:
            end(process, block.rule("until"))


def commands(text):
    """The lines of a block of commands, without comments and without what only continues a line."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = [re.sub(r"\s+# .*$", "", line).strip() for line in joined.splitlines()]
    return [line for line in lines if line and not line.startswith("#")]


def check_ci(block):
    """Whether continuous integration runs the commands of a block: targets of make, by themselves or through others."""
    script = (ROOT / ".ci" / "run").read_text()
    makefile = (ROOT / "Makefile").read_text()
    waiting = re.findall(r"^\s*(?:\w+=\S+ )*make ([a-z-]+)", script, re.M)
    reached = set()
    while waiting:
        target = waiting.pop()
        if target in reached:
            continue
        reached.add(target)
        if match := re.search(rf"^{re.escape(target)}:([^#\n]*)", makefile, re.M):
            waiting += match.group(1).split()
    for line in commands(block.code):
        match = re.match(r"(?:\w+=\S+ )*make ([a-z-]+)", line)
        if not match or match.group(1) not in reached:
            raise Wrong(f"`{line}` is none of the commands that .ci/run runs")


def alone(block, program, folder):
    """Runs a program whose server is gone. The SDK says why on standard error, whatever the program does."""
    with Process([program], folder, "alone") as process:
        try:
            status = process.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Wrong(f"without a server it ran longer than {LIMIT} s") from None
        output, errors = process.said()
        if status <= 0:
            raise Wrong(f"without a server it ended with status {status}; it said:\n" + last_lines(output, errors))
        said = errors if "Sora" in block.imports else output + errors
        if not said.strip():
            raise Wrong(f"without a server it ended with status {status} and didn't say why")
        if "Fatal error" in errors:
            raise Wrong("without a server it crashed:\n" + last_lines(errors))

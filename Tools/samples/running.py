"""Runs the programs among the blocks, with a server and without one."""

import json
import os
import signal
import subprocess
import time

from blocks import Wrong
from compiling import BUILD, SERVER

# Seconds that a program may run.
LIMIT = 60


class Process:
    """A program whose output goes to files, and that ends with the block of `with`."""

    def __init__(self, arguments, folder, name):
        self.output = folder / f"{name}.out"
        self.errors = folder / f"{name}.err"
        with open(self.output, "w") as output, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                # Line by line, so that what is printed can be waited for.
                ["stdbuf", "-oL", *map(str, arguments)], cwd=folder, stdout=output, stderr=errors, stdin=subprocess.DEVNULL,
                env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
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


def run_block(block, toolbox, folder):
    """Compiles and runs a block."""
    if SERVER not in block.whole:
        return finish(block, toolbox.compile(block, folder), folder)
    # The server comes first, so that the program can be compiled with its port.
    with Process([BUILD / "sora", "serve", "--port", "0", "--json"], folder, "serve") as server:
        ready = json.loads(next(line for line in server.wait_for('"type":"ready"').splitlines() if '"ready"' in line))
        url = ready["url"]
        program = toolbox.compile(block, folder, server=url.split("/")[2])
        if block.rule("publisher"):
            publish = [BUILD / "sora", "publish", url, "--channel", "sora", "--json", "--resolution", "320x180"]
            with Process(publish, folder, "publish") as publisher:
                publisher.wait_for('"type":')
                finish(block, program, folder)
        else:
            finish(block, program, folder)
    alone(block, program, folder)


def finish(block, program, folder):
    """Runs a program to its end, or until it has said what it should."""
    until = block.rule("until")
    with Process([program], folder, "sample") as process:
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

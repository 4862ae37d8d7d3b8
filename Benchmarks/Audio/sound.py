"""From mouth to ear: somebody speaks into a microphone, and hears it from the loudspeaker of a call's other end, through a PulseAudio server
with null sinks. Prints how long that took with each peer, and how often a buffer of ours ran empty or over.

sound.py --programs FOLDER --folder FOLDER [--seconds N] [--peers ours,official,chromium]
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
NAMES = {"ours": "ours", "official": "sora_sdk", "chromium": "Chromium"}


class Sound:
    """A sound server of this run's own. Each peer has a sink that its microphone `mic` hears, and one that it plays into."""

    def __init__(self, folder, peers):
        runtime = folder / "pulse"
        runtime.mkdir(mode=0o700, exist_ok=True)
        socket = runtime / "native"
        socket.unlink(missing_ok=True)
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "HOME": str(runtime), "PULSE_SERVER": f"unix:{socket}", "LC_ALL": "C"}
        modules = ["-L", f"module-native-protocol-unix socket={socket} auth-anonymous=1"]
        for peer in peers:
            for end in ["mouth", "ear"]:
                modules += ["-L", f"module-null-sink sink_name={end}-{peer} rate=48000 channels=2"]
            # Browsers see no monitors among microphones.
            modules += ["-L", f"module-remap-source source_name=mic-{peer} master=mouth-{peer}.monitor"]
        self.process = subprocess.Popen(
            ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--high-priority", "--realtime", *modules], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            if subprocess.run(["pactl", "info"], env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                if "chromium" in peers:
                    self.tell("set-default-source", "mic-chromium")
                    self.tell("set-default-sink", "ear-chromium")
                return
            time.sleep(0.05)
        sys.exit("no sound server came up")

    def tell(self, *words):
        subprocess.run(["pactl", *words], env=self.environment, stdout=subprocess.DEVNULL, check=True)


class Run:
    def __init__(self, options, sound):
        self.options, self.sound, self.started = options, sound, []

    def start(self, name, command, **more):
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.PIPE, stdout=open(self.options.folder / f"{name}.out", "w"),
            stderr=open(self.options.folder / f"{name}.log", "w"), text=True, env=self.sound.environment, **more)
        self.started.append(process)
        return process

    def stop(self, process):
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def end(self):
        for process in reversed(self.started):
            self.stop(process)


def serve(run):
    run.start("serve", [run.options.programs / "sora", "serve", "--port", "0"])
    output = run.options.folder / "serve.out"
    for _ in range(200):
        for word in output.read_text().split():
            if word.startswith("ws://"):
                return word
        time.sleep(0.05)
    sys.exit("the server hasn't started")


def ends(run, peer, url):
    """Who publishes the microphone `mic`, which hears `mouth`, and who plays on `ear`."""
    channel = f"sound-{peer}"
    if peer == "ours":
        sora = run.options.programs / "sora"
        more = ["--duration", str(run.options.seconds + 60), "--json"]
        run.start("ours-publish", [
            sora, "publish", url, "--channel", channel, "--video", "none", "--audio", f"mic:mic-{peer}",
            "--no-noise-suppression", "--no-gain-control", *more])
        run.start("ours-play", [sora, "play", url, "--channel", channel, "--video", "none", "--audio", f"speaker:ear-{peer}", "--timeout", "60", *more])
    elif peer == "chromium":
        program = [run.options.python, here / "chromium_talker.py"]
        run.start("chromium-publish", [*program, "publish", url, channel])
        run.start("chromium-play", [*program, "play", url, channel])
    else:
        program = [run.options.python, here / f"{peer}_talker.py"]
        run.start(f"{peer}-publish", [*program, "publish", url, channel, f"mic-{peer}"])
        run.start(f"{peer}-play", [*program, "play", url, channel, f"ear-{peer}"])


def devices(folder):
    """The last that ours said of its devices."""
    found = {}
    for name, key in [("ours-publish", "audioDevice"), ("ours-play", "audioDevice")]:
        for line in (folder / f"{name}.out").read_text().splitlines():
            try:
                values = json.loads(line)
            except ValueError:
                continue
            if values.get(key):
                found[name] = values[key]
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--peers", default="ours,official,chromium")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    peers = options.peers.split(",")
    sound = Sound(options.folder, peers)
    run = Run(options, sound)
    try:
        url = serve(run)
        for peer in peers:
            ends(run, peer, url)
        time.sleep(12 if "chromium" in peers else 5)
        people = {
            peer: run.start(f"{peer}-person", [options.programs / "SoundPerson", f"mouth-{peer}", f"ear-{peer}.monitor"]) for peer in peers
        }
        time.sleep(options.seconds)
        for person in people.values():
            person.stdin.close()
            person.wait(20)
    finally:
        run.end()
        sound.process.kill()
        sound.process.wait()
    tell(options, peers)


def tell(options, peers):
    print("| mouth to ear | beeps heard | p50 (ms) | p95 (ms) | ours / it, p50 | p95 |")
    print("|---|--:|--:|--:|--:|--:|")
    ours, missing = None, False
    for peer in peers:
        # The first beep may have begun before anybody listened.
        delays = sorted(float(line) for line in (options.folder / f"{peer}-person.out").read_text().split()[1:])
        if len(delays) < 2:
            print(f"| {NAMES[peer]} | {len(delays)} | – | – | – | – |")
            missing = True
            continue
        p50, p95 = statistics.median(delays), delays[min(len(delays) - 1, int(len(delays) * 0.95))]
        ours = ours or (p50, p95)
        print(f"| {NAMES[peer]} | {len(delays)} | {p50:.0f} | {p95:.0f} | {ours[0] / p50:.2f} | {ours[1] / p95:.2f} |")
    if "ours" in peers:
        print()
        for key, values in devices(options.folder).items():
            print(f"{key}: {json.dumps(values)}")
    if missing:
        sys.exit("a call brought no sound")


if __name__ == "__main__":
    main()

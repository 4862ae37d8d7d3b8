"""What a benchmark reads of the processes under it: CPU, memory, and the lines of `--json`."""

import os
import platform
import statistics
import time

TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """User and system time of a process and its threads."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def machine_seconds():
    """What all processes of the machine used, and what a hypervisor took away."""
    with open("/proc/stat") as file:
        user, nice, system, _, _, irq, softirq, steal = map(int, file.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def frames(process):
    """A condition: it has sent or decoded pictures."""
    stats = process.last("stats")
    return bool(stats and stats.get("video") and stats["video"]["frames"])


def memory(pid, mapped):
    """Resident memory now and at most, in MB, without the file of pictures that is mapped."""
    with open(f"/proc/{pid}/status") as file:
        status = dict(line.split(":", 1) for line in file)
    pictures = 0
    if mapped:
        counts = False
        with open(f"/proc/{pid}/smaps") as file:
            for line in file:
                if "-" in line.split(" ", 1)[0]:
                    counts = os.path.basename(mapped) in line
                elif counts and line.startswith("Rss:"):
                    pictures += int(line.split()[1])
    return [(int(status[name].split()[0]) - pictures) / 1024 for name in ("VmRSS", "VmHWM")]


def private_memory(pid):
    """Memory that no other process shares and that would be free without this one, in MB. Code of libraries isn't in it."""
    with open(f"/proc/{pid}/smaps_rollup") as file:
        sizes = dict(line.split(":", 1) for line in file if line.startswith("Private_"))
    return sum(int(sizes[name].split()[0]) for name in ("Private_Clean", "Private_Dirty")) / 1024


class Watched:
    """One process over the window."""

    def __init__(self, process, mapped=None):
        self.process, self.mapped = process, mapped
        self.pid = process.child.pid
        self.skipped = len(process.messages("stats"))
        self.cpu, self.at = cpu_seconds(self.pid), time.monotonic()

    def finish(self):
        seconds = time.monotonic() - self.at
        cpu = cpu_seconds(self.pid) - self.cpu
        resident, peak = memory(self.pid, self.mapped)
        result = {"cpu": cpu * 60 / seconds, "resident": resident, "peak": peak, "private": private_memory(self.pid)}
        lines = [line for line in self.process.messages("stats")[max(0, self.skipped - 1) :] if line.get("video")]
        if len(lines) > 1:
            first, last = lines[0], lines[-1]
            result["frames"] = last["video"]["frames"] - first["video"]["frames"]
            result["fps"] = result["frames"] * 1000 / (last["elapsedMs"] - first["elapsedMs"])
            result["kbps"] = statistics.mean(line["video"]["bitrateKbps"] or 0 for line in lines[1:])
            result["connect"], result["first frame"] = last["connectMs"], last["firstFrameMs"]
            result["size"] = f"{last['video']['width']}x{last['video']['height']}"
            if result["fps"]:
                # Of CPU, a frame.
                result["per frame"] = result["cpu"] / 60 * 1000 / result["fps"]
        return result

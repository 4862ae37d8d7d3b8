#!/usr/bin/env python3
"""The quick loop: guards, lint of the changed files, and the unit tests of the packages that changed since main.

    check.py                   what changed since the merge base with origin/main, or main; uncommitted work included
    check.py --base REV        since another revision
    check.py --changed FILE... as if these had changed, and nothing else
    check.py --plan            print what would be done
    check.py --self-test       check what it plans, on examples

Debug builds in a scratch folder of its own (CHECK_SCRATCH, .build/check), which all packages share, so that only what a change
touches is compiled again. Of a changed package those test targets run that use a changed module; packages that depend on it are
built, without their tests. What needs release builds, real peers or the network is `make test`'s."""

import argparse
import ast
import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SWIFT = os.environ.get("SWIFT", "swift")
SCRATCH = os.environ.get("CHECK_SCRATCH", ".build/check")
# Of what CI promises for a change of one file, on two cores.
LIMIT = 180
# The root's own programs, by the folder of their sources.
PROGRAMS = {"Tools/sora": "sora", "Tests/InteropPeer": "InteropPeer", "Tests/InteropClient": "InteropClient",
            "Tests/LinkEmulator": "LinkEmulator", "Benchmarks/Packets/PacketBench": "PacketBench",
            "Benchmarks/Packets/CPacketLoop": "PacketBench", "Benchmarks/Packets/HandshakeBench": "HandshakeBench",
            "Benchmarks/Packets/ConnectionBench": "ConnectionBench", "Benchmarks/Packets/ForwardingBench": "ForwardingBench"}
# Built in ways of their own, and by `make test` or a target of the Makefile.
ELSEWHERE = {"Tests/SimulationTests": "make test", "Tests/RelayTests": "make test", "Tests/CommandTests": "make test",
             "Tests/InteropTests": "make test", "Tests/Fuzz": "make fuzz", "Benchmarks/Codecs": "make bench-codecs",
             "Docs/Examples": "make samples"}


# --- What changed ----------------------------------------------------------------------------------------------


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def merge_base():
    for branch in ("origin/main", "main"):
        try:
            return git("merge-base", "HEAD", branch).strip()
        except subprocess.CalledProcessError:
            continue
    return "HEAD"


def changed_since(base):
    """Files that differ from `base` in the working tree, new ones included."""
    names = git("diff", "--name-only", "-z", base).split("\0")
    names += git("ls-files", "--others", "--exclude-standard", "-z").split("\0")
    return sorted(set(names) - {""})


# --- What depends on what --------------------------------------------------------------------------------------


class Packages:
    """The manifests of Packages/*, as far as regular expressions read them: which packages a package needs, and which targets a
    test target uses, however far away within its package."""

    def __init__(self, manifests):
        self.manifests = manifests
        self.needs = {
            name: set(re.findall(r'package\(\s*path: "\.\./(\w+)"', text)) for name, text in manifests.items()}

    @staticmethod
    def read():
        return Packages({path.parent.name: path.read_text() for path in sorted(ROOT.glob("Packages/*/Package.swift"))})

    def all_needs(self, name):
        found, waiting = set(), [name]
        while waiting:
            for other in self.needs.get(waiting.pop(), ()):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return found

    def dependents(self, names):
        """Packages that need one of `names`, without those that another of them builds anyway."""
        affected = {other for other in self.manifests if self.all_needs(other) & set(names)} - set(names)
        return sorted(one for one in affected if not any(one in self.all_needs(other) for other in affected))

    def targets(self, name):
        """Each target's words in quotation marks, and whether it is one of tests."""
        text = self.manifests[name]
        starts = list(re.finditer(r"\.(target|testTarget|executableTarget|systemLibrary)\(\s*name: \"(\w+)\"", text))
        found = {}
        for index, match in enumerate(starts):
            end = starts[index + 1].start() if index + 1 < len(starts) else len(text)
            found[match.group(2)] = (match.group(1) == "testTarget", set(re.findall(r'"(\w+)"', text[match.end():end])))
        return found

    def tests_using(self, name, changed):
        """Test targets of a package that use one of the changed targets, or are one."""
        targets = self.targets(name)

        def uses(target, seen):
            if target in changed:
                return True
            seen.add(target)
            words = targets[target][1] if target in targets else ()
            return any(uses(word, seen) for word in words if word in targets and word not in seen)

        return sorted(target for target, (is_test, _) in targets.items() if is_test and uses(target, set()))


# --- The plan --------------------------------------------------------------------------------------------------


class Plan:
    def __init__(self, files, packages):
        self.swift, self.python, self.shell, self.notes = [], [], [], []
        self.tests, self.builds, self.programs = {}, [], set()
        changed = defaultdict(set)
        sources = set()
        for name in files:
            suffix = Path(name).suffix
            {".swift": self.swift, ".py": self.python, ".sh": self.shell}.get(suffix, []).append(name)
            parts = name.split("/")
            if parts[0] == "Packages" and len(parts) > 2 and parts[1] in packages.manifests:
                if parts[2] in ("Sources", "Tests") and len(parts) > 4:
                    changed[parts[1]].add(parts[3])
                    if parts[2] == "Sources":
                        sources.add(parts[1])
                elif parts[2] == "Package.swift":
                    changed[parts[1]] |= set(packages.targets(parts[1]))
                    sources.add(parts[1])
            for folder, program in PROGRAMS.items():
                if name.startswith(folder + "/") and suffix in (".swift", ".c", ".h"):
                    self.programs.add(program)
            for folder, command in ELSEWHERE.items():
                if name.startswith(folder + "/") and suffix == ".swift":
                    self.notes.append(f"{name}: built by `{command}` only")
        for package, targets in sorted(changed.items()):
            self.tests[package] = packages.tests_using(package, targets)
        self.builds = packages.dependents(sources)

    def lines(self):
        if self.swift or self.python or self.shell:
            yield f"lint {len(self.swift)} Swift, {len(self.python)} Python and {len(self.shell)} shell files"
        for package, targets in self.tests.items():
            yield f"test {package}: {', '.join(targets) or 'nothing uses what changed'}"
        for package in self.builds:
            yield f"build {package}"
        for program in sorted(self.programs):
            yield f"build program {program}"
        yield from self.notes


# --- Doing it --------------------------------------------------------------------------------------------------


class Failed(Exception):
    pass


class Steps:
    def __init__(self):
        self.taken = []

    def run(self, title, *command):
        print(f"== {title}", flush=True)
        started = time.monotonic()
        status = subprocess.run([str(word) for word in command], cwd=ROOT).returncode
        self.taken.append((title, time.monotonic() - started))
        if status != 0:
            raise Failed(f"{title} failed: {' '.join(str(word) for word in command)}")


def check_syntax(names):
    for name in names:
        try:
            ast.parse((ROOT / name).read_text(), name)
        except SyntaxError as error:
            raise Failed(f"{name}:{error.lineno}: {error.msg}") from None


def do(plan, steps):
    there = [name for name in plan.swift if (ROOT / name).exists()]
    check_syntax([name for name in plan.python if (ROOT / name).exists()])
    for name in plan.shell:
        if (ROOT / name).exists():
            steps.run(f"syntax of {name}", "bash", "-n", name)
    if there:
        steps.run("lint", SWIFT, "format", "lint", "--strict", "--parallel", *there)
    steps.run("guards", "make", "--no-print-directory", "guard", f"SWIFT={SWIFT}")
    for package, targets in plan.tests.items():
        where = ["--package-path", f"Packages/{package}", "--scratch-path", SCRATCH]
        if targets:
            steps.run(f"tests of {package}", SWIFT, "test", *where, "--quiet", "--filter", f"^({'|'.join(targets)})\\.")
        else:
            steps.run(f"build of {package}", SWIFT, "build", *where, "--quiet")
    for package in plan.builds:
        steps.run(
            f"build of {package}", SWIFT, "build", "--package-path", f"Packages/{package}", "--scratch-path", SCRATCH, "--quiet")
    for program in sorted(plan.programs):
        steps.run(f"build of {program}", SWIFT, "build", "--scratch-path", f"{SCRATCH}-root", "--product", program, "--quiet")


def self_test():
    manifest = """
    let package = Package(name: "B", dependencies: [.package(path: "../A")], targets: [
      .target(name: "Low", dependencies: [.product(name: "A", package: "A")]),
      .target(name: "High", dependencies: ["Low"]),
      .target(name: "Other"),
      .testTarget(name: "LowTests", dependencies: ["Low"]),
      .testTarget(name: "HighTests", dependencies: ["High", "Other"]),
      .testTarget(name: "OtherTests", dependencies: ["Other"]),
    ])"""
    packages = Packages({
        "A": 'let p = Package(name: "A", targets: [.target(name: "A"), .testTarget(name: "ATests", dependencies: ["A"])])',
        "B": manifest,
        "C": 'let p = Package(name: "C", dependencies: [.package(path: "../B")], targets: [.target(name: "C")])',
        "D": 'let p = Package(name: "D", targets: [.target(name: "D")])',
    })
    cases = [
        (["Packages/B/Sources/Low/X.swift"], {"B": ["HighTests", "LowTests"]}, ["C"]),
        (["Packages/B/Tests/LowTests/X.swift"], {"B": ["LowTests"]}, []),
        (["Packages/B/Sources/Other/X.swift"], {"B": ["HighTests", "OtherTests"]}, ["C"]),
        (["Packages/A/Sources/A/X.swift"], {"A": ["ATests"]}, ["C"]),
        (["Packages/B/Package.swift"], {"B": ["HighTests", "LowTests", "OtherTests"]}, ["C"]),
        (["Packages/D/Sources/D/X.swift"], {"D": []}, []),
        (["Packages/B/README.md", "Docs/x.md"], {}, []),
    ]
    for files, tests, builds in cases:
        plan = Plan(files, packages)
        if (plan.tests, plan.builds) != (tests, builds):
            sys.exit(f"check.py: the self-test failed: {files}: {plan.tests}, {plan.builds}")
    here = Packages.read()
    if here.dependents(["SoraMedia"]) == [] or "SoraICETests" not in here.tests_using("SoraTransport", {"SoraICE"}):
        sys.exit("check.py: the self-test failed: the packages' manifests aren't read any more")
    for folder in [*PROGRAMS, *ELSEWHERE]:
        if not (ROOT / folder).exists():
            sys.exit(f"check.py: the self-test failed: there is no {folder}")
    print("check.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description="Checks what changed since main.")
    parser.add_argument("--base", help="the revision to compare with")
    parser.add_argument("--changed", nargs="+", metavar="FILE", help="take these files as changed, and no others")
    parser.add_argument("--plan", action="store_true", help="print what would be done")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    for file in options.changed or []:
        if not (ROOT / file).exists():
            parser.error(f"there is no {file}: name files from the project's root on")
    started = time.monotonic()
    base = options.base or merge_base()
    files = options.changed or changed_since(base)
    plan = Plan(files, Packages.read())
    print(f"{len(files)} changed files" + ("" if options.changed else f" since {base[:10]}"))
    for line in plan.lines():
        print(f"  {line}")
    if options.plan:
        return None
    steps = Steps()
    try:
        do(plan, steps)
    except Failed as failure:
        sys.exit(f"check.py: {failure}")
    total = time.monotonic() - started
    print("== " + ", ".join(f"{title} {seconds:.0f} s" for title, seconds in steps.taken if seconds >= 1))
    print(f"== checked in {total:.0f} s" + (f": more than {LIMIT} s, the first time builds everything" if total > LIMIT else ""))
    return None


if __name__ == "__main__":
    main()

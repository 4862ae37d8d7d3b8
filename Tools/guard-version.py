#!/usr/bin/env python3
"""Finds version numbers in sources beside the one place where this project's stands (SoraVersion.swift): a second one would be
forgotten with the next release, and lie on the wire.

    guard-version.py              check the repository
    guard-version.py --self-test  check that the rule finds what it should
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "Packages/SoraMedia/Sources/SoraVersion/SoraVersion.swift"
NUMBER = re.compile(r'"v?\d+\.\d+\.\d+(?:[-+][\w.]*)?"')


def sources():
    for folder in sorted(ROOT.glob("Packages/*/Sources")) + [ROOT / "Tools"]:
        yield from sorted(folder.rglob("*.swift"))


def findings(text):
    """Lines with a text that is a version number, comments left out."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := NUMBER.search(line.split("//")[0]):
            yield number, found.group()


def self_test():
    planted = {
        'let version = "2025.1.0"': 1, 'x("v1.2.3")': 1, 'x("1.2.3-beta.4")': 1,
        'x("127.0.0.1")': 0, '/// such as "1.2.3"': 0, "let x = 1.2": 0,
    }
    wrong = [line for line, count in planted.items() if len(list(findings(line))) != count]
    if wrong:
        sys.exit(f"guard-version.py: the rule is wrong about {wrong}")
    print(f"guard-version.py: the rule is right about {len(planted)} lines")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    declared = [found for _, found in findings(PLACE.read_text())]
    if len(declared) != 1:
        sys.exit(f"guard-version.py: {PLACE.relative_to(ROOT)} declares {declared}, not one version")
    others = [
        f"{path.relative_to(ROOT)}:{number}: {found}"
        for path in sources() if path != PLACE for number, found in findings(path.read_text())
    ]
    if others:
        sys.exit("guard-version.py: say SoraVersion.current in place of\n  " + "\n  ".join(others))
    print(f"guard-version.py: {declared[0]}, in one place")


main()

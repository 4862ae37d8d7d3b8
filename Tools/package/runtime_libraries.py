#!/usr/bin/env python3
"""Names the packages with the libraries that are loaded when they are used, for Recommends of a Debian package.

    runtime_libraries.py debian-packages.txt DEPENDS   those of the list's first part that DEPENDS hasn't"""

import re
import subprocess
import sys
from pathlib import Path


def development_packages(text):
    """The -dev packages before the tools."""
    part = text.split("# Tools that the build")[0]
    names = " ".join(line.split("#")[0] for line in part.splitlines()).split()
    return [name for name in names if name.endswith("-dev")], [name for name in names if not name.endswith("-dev")]


def names_of(depends):
    return [re.split(r"[ (:|]", item.strip())[0] for item in depends.split(",") if item.strip()]


def runtime(package):
    """What a -dev package's own library is in: a dependency on the very same version, as Debian's policy asks for (§8.4)."""
    answer = subprocess.run(["dpkg-query", "-W", "-f", "${Depends}", package], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"runtime_libraries.py: {package} isn't installed: run `make deps`")
    same = [item for item in answer.stdout.split(",") if "(=" in item]
    return [name for name in names_of(",".join(same)) if name.startswith("lib") and not name.endswith("-dev")]


def main():
    text = Path(sys.argv[1]).read_text()
    linked = set(names_of(sys.argv[2]))
    development, plain = development_packages(text)
    found = [name for package in development for name in runtime(package)] + plain
    print(", ".join(sorted(set(found) - linked)))


if __name__ == "__main__":
    main()

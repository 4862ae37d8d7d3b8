#!/usr/bin/env python3
"""Checks that continuous integration runs every target that `make help` shows, itself or through another, so that none rots.

    guard-targets.py              check the Makefile and .ci/run
    guard-targets.py --self-test  check that a target that nothing runs is found"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Not run by CI, and why.
EXEMPT = {
    "help": "prints this list",
    "sanitize": "takes longer than all the rest, and is run before releases",
    "manifest": "rewrites what `manifest-check` compares",
    "format": "rewrites what `lint` reports",
    "clean": "removes what the other steps made",
}


def shown(makefile):
    """Targets with a line of help."""
    return re.findall(r"^([a-z-]+):.*## ", makefile, re.M)


def runs(makefile):
    """For each target those that it needs or calls."""
    found = {}
    for match in re.finditer(r"^([a-z-]+):(.*)\n((?:\t.*\n?|#.*\n)*)", makefile, re.M):
        needs = re.findall(r"[a-z-]+", match.group(2).split("##")[0])
        calls = " ".join(re.findall(r"\$\(MAKE\)(?: --\S+)*((?: [a-z-]+)+)", match.group(3))).split()
        found[match.group(1)] = set(needs) | set(calls)
    return found


def problems(makefile, script):
    graph = runs(makefile)
    waiting = re.findall(r"^\s*(?:\w+=\S+ )*(?:chrt --idle 0 )?make ([a-z-]+)", script, re.M)
    reached = set()
    while waiting:
        target = waiting.pop()
        if target not in reached:
            reached.add(target)
            waiting += graph.get(target, ())
    for target in shown(makefile):
        if target not in reached and target not in EXEMPT:
            yield f"nothing in .ci/run runs `make {target}`: add a step, or a reason to Tools/guard-targets.py"
        if target in reached and target in EXEMPT:
            yield f"`make {target}` is run and needs no exemption in Tools/guard-targets.py any more"
    for target in EXEMPT:
        if target not in shown(makefile):
            yield f"Tools/guard-targets.py exempts {target}, which is no target"


def self_test():
    exempt = "".join(f"{target}: ## x\n\techo\n" for target in EXEMPT)
    makefile = "a: b ## A\n\techo\n\nb: ## B\n\tX=1 $(MAKE) --quiet c e\nc: ## C\n\techo\nd: ## D\n\techo\ne: ## E\n\techo\n" + exempt
    found = list(problems(makefile, "# make d\nY=1 make a\n"))
    if len(found) != 1 or "make d" not in found[0]:
        sys.exit(f"guard-targets.py: the self-test failed: {found}")
    if list(problems(makefile, "make a\nmake d\n")):
        sys.exit("guard-targets.py: the self-test failed: a script that runs all is refused")


def main():
    self_test()
    if sys.argv[1:] == ["--self-test"]:
        return
    makefile = (ROOT / "Makefile").read_text()
    if found := list(problems(makefile, (ROOT / ".ci/run").read_text())):
        sys.exit("\n".join(found))
    print(f"guard-targets.py: {len(shown(makefile))} targets, each is run or exempted")


if __name__ == "__main__":
    main()

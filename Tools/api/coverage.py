#!/usr/bin/env python3
"""Compares what SoraSDK declares public, as the compiler tells it (its symbol graph), with the official iOS SDK's names.

    coverage.py                 of the release build
    coverage.py debug           of the debug build
    coverage.py --self-test     the comparison itself, on made-up names

ios-2025.1.1.txt has the official names, ios-2025.2-2026.1.txt those that came since; missing.txt those that aren't here, each with its
reason. A name that is missing and not there fails, and so does one that is there and not missing: the list can only shrink."""

import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

import docs  # noqa: E402


# The first one whole, the second one what it added.
VERSIONS = ["2025.1.1", "2025.2-2026.1"]
# Encodable, Decodable and RawRepresentable of the standard library, by their mangled names.
WRITTEN = {"s:SE": ["encode(to:)"], "s:Se": ["init(from:)"], "s:SY": ["rawValue", "init(rawValue:)"]}


def lines(path):
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def declared(graphs):
    """The dotted names in the symbol graphs of a folder; of an alias, those that it stands for in other modules' graphs."""
    names = set()
    aliases = {}
    for path in sorted(graphs.glob("*.symbols.json")):
        graph = json.loads(path.read_text())
        types = {}
        for symbol in graph["symbols"]:
            name = ".".join(symbol["pathComponents"])
            names.add(name)
            types[symbol["identifier"]["precise"]] = name
            if symbol["kind"]["identifier"] == "swift.typealias":
                used = [part for part in symbol.get("declarationFragments", []) if part.get("preciseIdentifier")]
                if used:
                    aliases[name] = used[-1]["spelling"]
        # What the compiler writes itself for these protocols isn't always listed.
        for relation in graph["relationships"]:
            if relation["kind"] == "conformsTo" and relation["source"] in types:
                for member in WRITTEN.get(relation["target"], []):
                    names.add(f"{types[relation['source']]}.{member}")
    for alias, type_name in aliases.items():
        prefix = type_name.split(".")[-1] + "."
        names |= {alias + "." + name[len(prefix):] for name in set(names) if name.startswith(prefix)}
    return names


def compare(official, ours, excused):
    """The official names that are here, and what is wrong with the list of those that aren't."""
    wanted = [line.split("\t")[0] for line in official]
    here = [name for name in wanted if name in ours]
    missing = set(wanted) - set(here)
    problems = [f"missing: {name}" for name in wanted if name in missing and name not in excused]
    problems += [f"in missing.txt, and not missing: {name}" for name in sorted(excused) if name not in missing]
    return here, problems


def extract(configuration):
    with tempfile.TemporaryDirectory() as scratch:
        graphs = pathlib.Path(scratch)
        flags = docs.compiler_flags(configuration)
        for module in ["SoraSDK", "WebRTC", "SoraMedia"]:
            result = subprocess.run(
                ["swift", "symbolgraph-extract", "-module-name", module, "-target", docs.target(), *flags,
                 "-minimum-access-level", "public", "-output-dir", scratch],
                capture_output=True, text=True)
            if result.returncode != 0:
                sys.exit(f"coverage.py: {module}: {(result.stdout + result.stderr).strip()[:2000]}")
        return declared(graphs)


def self_test():
    here, problems = compare(["A", "A.b(_:)\tapple", "C"], {"A", "D"}, {"C": "why"})
    assert here == ["A"] and problems == ["missing: A.b(_:)"], (here, problems)
    assert compare(["A"], {"A"}, {"A": ""})[1] == ["in missing.txt, and not missing: A"]
    assert compare(["A"], set(), {"A": ""}) == ([], [])


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    excused = dict(line.split("\t", 1) for line in lines(FOLDER / "missing.txt"))
    ours = extract(*(sys.argv[1:] or ["release"]))
    official = []
    for version in VERSIONS:
        names = lines(FOLDER / f"ios-{version}.txt")
        here, _ = compare(names, ours, excused)
        print(f"{len(here)} of {len(names)} names of the iOS SDK {version} ({100 * len(here) / len(names):.1f} %)")
        official += names
    _, problems = compare(official, ours, excused)
    for name, reason in excused.items():
        print(f"  not here: {name}: {reason}")
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()

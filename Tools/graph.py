#!/usr/bin/env python3
"""Draws what depends on what, and checks that targets name what they import, that no arrow points up and that no more files form
circles.

    graph.py                     check: imports, packages, modules, folders within modules, circles of files
    graph.py packages            draw the packages, from their manifests
    graph.py modules             draw the modules, from `import` lines
    graph.py files MODULE        draw the files of a module, from the types that they declare and use
    graph.py circles [MODULE]    print the circles of files
    graph.py --format dot        as Graphviz; `mermaid`, or `text`, the default
    graph.py --update            write the allowed counts anew; refuses to let one go up without --allow-more
    graph.py --self-test

A file points at another of its module that declares a type it names. Files that only extend one type of the module are one with
the file that declares it. Files are in a circle where each reaches the other. Tools/ratchets/graph.json holds what is allowed."""

import argparse
import re
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import ratchet
from swiftsource import ALIAS, ROOT, load, modules, sources

# Rows from the ground up. An arrow points at a lower row only.
PACKAGES = [
    ["SoraMedia"],
    ["SoraTransport", "SoraCodecs", "SoraCapture", "SoraView"],
    ["SoraAudio", "SoraSignaling", "SoraRecording"],
    ["SoraTURNStream"],
    ["SoraWebRTC", "SoraServer"],
    ["SoraSDK"],
]
MODULES = [
    ["SoraWire", "SoraVersion"],
    ["SoraMedia"],
    ["SoraSignalingMessages", "SoraDigest"],
    ["SoraClock", "SoraSDP", "SoraRTP", "SoraICE", "SoraDTLS", "SoraSRTP", "SoraSCTP", "SoraCongestion", "SoraCodecs", "SoraAudio",
     "SoraCapture", "SoraSignaling", "SoraSignalingChannels"],
    ["SoraDataChannel", "SoraCamera", "SoraScreen", "SoraView", "SoraAudioDevices", "SoraAudioProcessing"],
    ["SoraVPX"],
    ["SoraNAL", "SoraScaling", "SoraVP8", "SoraVP9", "SoraAV1Decoding", "SoraAV1Encoding"],
    ["SoraAV1", "SoraAVCodec", "SoraDE265", "SoraOpenH264", "SoraX264", "SoraX265", "SoraSimulcast", "SoraRecording"],
    ["SoraH264", "SoraH265"],
    ["SoraTransport", "SoraCluster"],
    ["SoraNetworkSimulator", "SoraTURNStream"],
    ["WebRTC", "SoraServer"],
    ["SoraSDK"],
    ["Sora"],
]
# Of a module: a folder, and those of which it knows nothing; REST is all that lies outside of it.
REST = "*"
FOLDERS = {
    "WebRTC": {
        "Core": ["Engine", "Media", "API"],
        "Negotiation": ["Engine", "Media", "API"],
        "Media": ["API"],
        "Engine": ["API"],
    },
    "SoraServer": {"Core": [REST]},
    "SoraCluster": {"Policy": [REST]},
}

IMPORT = re.compile(
    r"^[ \t]*(?:@\w+(?:\([^)\n]*\))?[ \t]+)*(?:(?:public|package|internal|fileprivate|private)[ \t]+)?import[ \t]+"
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)[ \t]+)?(\w+)", re.M)
NAMED = re.compile(r"(?<![\w.])([A-Z]\w*)")


# --- Packages and modules --------------------------------------------------------------------------------------


def package_graph(root):
    return {
        path.parent.name: set(re.findall(r'package\(\s*path: "\.\./(\w+)"', path.read_text()))
        for path in sorted(root.glob("Packages/*/Package.swift"))
    }


def module_graph(root):
    found = modules(root)
    return {
        name: {other for path in sources(folder) for other in IMPORT.findall(load(path, root).code)} & set(found) - {name}
        for name, folder in found.items()
    }


def arrows_up(graph, rows, what):
    """What is wrong with a graph, in words."""
    level = {name: number for number, row in enumerate(rows) for name in row}
    for name in sorted(graph):
        if name not in level:
            yield f"{what} {name} stands in no row of Tools/graph.py: put it where it belongs"
        for other in sorted(graph[name]):
            if name in level and other in level and level[other] >= level[name]:
                yield f"{what} {name} points up, or sideways, at {other}"


# --- What targets declare --------------------------------------------------------------------------------------

TARGET = re.compile(r"\.(?:target|executableTarget|testTarget|systemLibrary)\(\s*name: \"(\w+)\",(?! condition:)")


class Declared:
    """The targets of the root's manifest, as Tools/manifest/generate.py writes it: where each is, and what it says it needs."""

    def __init__(self, manifest):
        starts = list(TARGET.finditer(manifest))
        ends = [match.start() for match in starts[1:]] + [len(manifest)]
        self.folders, self.excluded, self.needs, self.products = {}, {}, {}, set()
        for match, end in zip(starts, ends):
            text = manifest[match.end():end]
            name = match.group(1)
            self.folders[name] = re.search(r'path: "([^"]+)"', text).group(1)
            self.excluded[name] = self.listed(text, "exclude")
            needs = self.listed(text, "dependencies")
            self.needs[name] = set(needs)
            self.products |= set(re.findall(r'\.product\(name: "(\w+)"', text))

    @staticmethod
    def listed(text, label):
        """The names in a list of a target, those of packages and traits left out."""
        found = re.search(label + r": \[((?:[^\[\]]|\[[^\[\]]*\])*)\]", text)
        plain = re.sub(r'(?:package|condition): (?:"[^"]*"|\.when\([^)]*\))', "", found.group(1)) if found else ""
        return re.findall(r'"([^"]+)"', plain)

    def undeclared(self, root):
        """Imports of modules that a target doesn't name: they work where something else had them built before."""
        known = set(self.folders) | self.products
        for name, place in sorted(self.folders.items()):
            folder = root / place
            outside = [folder / other for other in self.excluded[name]]
            for path in sources(folder):
                if any(path.is_relative_to(other) for other in outside):
                    continue
                imported = set(IMPORT.findall(load(path, root).code)) & known - self.needs[name] - {name}
                for module in sorted(imported):
                    yield f"{path.relative_to(root)} imports {module}, which {name} doesn't name as a dependency"


# --- Files of a module -----------------------------------------------------------------------------------------


class Files:
    """The files of a module, with arrows between them."""

    def __init__(self, root, folder):
        self.folder = folder
        self.sources = {path.relative_to(folder).as_posix(): load(path, root) for path in sources(folder)}
        self.declared = {}
        for name, source in self.sources.items():
            for one in source.declarations:
                if one.depth == 0 and one.kind != "extension" and not one.is_private:
                    self.declared.setdefault(one.name, name)
            for match in ALIAS.finditer(source.code):
                if self.is_outermost(source, match.start()):
                    self.declared.setdefault(match.group(1), name)
        self.node = {name: self.node_of(name, source) for name, source in self.sources.items()}
        self.uses = {name: self.used(name, source) for name, source in self.sources.items()}
        self.arrows = defaultdict(set)
        for name, used in self.uses.items():
            self.arrows[self.node[name]] |= {self.node[other] for other in used.values()} - {self.node[name]}

    @staticmethod
    def is_outermost(source, index):
        return not any(one.body[0] < index < one.body[1] for one in source.declarations)

    def node_of(self, name, source):
        """The file that declares the type, for one that only extends it."""
        outer = [one for one in source.declarations if one.depth == 0]
        extended = {one.name.split(".")[0] for one in outer}
        if outer and all(one.kind == "extension" for one in outer) and len(extended) == 1:
            return self.declared.get(extended.pop(), name)
        return name

    def used(self, name, source):
        """Types of other files that a file names, with those files. What it declares itself hides others' of that name."""
        own = {one.name for one in source.declarations if one.kind != "extension"}
        return {
            word: self.declared[word] for word in set(NAMED.findall(source.code)) - own
            if self.declared.get(word, name) != name
        }

    def circles(self):
        """Groups of two and more files that reach each other, the largest first."""
        return sorted(
            (sorted(group) for group in components({node: self.arrows[node] for node in set(self.node.values())})
             if len(group) > 1), key=lambda group: (-len(group), group))

    def crossings(self, name, forbidden):
        """Uses of types of the forbidden folders by a folder's files."""
        def inside(path, folder):
            if folder == REST:
                return not path.startswith(name + "/")
            return path.startswith(folder + "/")

        for path, used in sorted(self.uses.items()):
            if path.startswith(name + "/"):
                for word, other in sorted(used.items()):
                    if any(inside(other, folder) for folder in forbidden):
                        yield path, word, other


def components(graph):
    """Strongly connected components (Tarjan's algorithm, without recursion)."""
    index, low, on, stack, found = {}, {}, set(), [], []
    for start in sorted(graph):
        if start in index:
            continue
        work = [(start, iter(sorted(graph[start])))]
        index[start] = low[start] = len(index)
        stack.append(start)
        on.add(start)
        while work:
            node, others = work[-1]
            for other in others:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on.add(other)
                    work.append((other, iter(sorted(graph.get(other, ())))))
                    break
                if other in on:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = set()
                    while node not in group:
                        group.add(stack.pop())
                    on -= group
                    found.append(group)
    return found


# --- Drawing ---------------------------------------------------------------------------------------------------


def draw(graph, form):
    """A graph as text, for Graphviz or for Mermaid."""
    if form == "dot":
        yield "digraph {"
        yield "  rankdir=BT; node [shape=box];"
        for name in sorted(graph):
            yield f'  "{name}";'
            yield from (f'  "{name}" -> "{other}";' for other in sorted(graph[name]))
        yield "}"
    elif form == "mermaid":
        numbers = {name: f"n{number}" for number, name in enumerate(sorted(set(graph).union(*graph.values())))}
        yield "flowchart BT"
        yield from (f'  {number}["{name}"]' for name, number in numbers.items())
        yield from (f"  {numbers[name]} --> {numbers[other]}" for name in sorted(graph) for other in sorted(graph[name]))
    else:
        for name in sorted(graph):
            yield f"{name} -> {', '.join(sorted(graph[name])) or 'nothing'}"


# --- Checking --------------------------------------------------------------------------------------------------


def count(root, folders):
    """Files in circles, by module, and types that a folder uses though it should know nothing of them."""
    found, where = {}, []
    for module, folder in modules(root).items():
        files = Files(root, folder)
        if number := sum(len(group) for group in files.circles()):
            found[f"{module}: files in circles"] = number
        for name, forbidden in folders.get(module, {}).items():
            if not (folder / name).is_dir():
                where.append((f"{module}: no folder {name}; put its new name into Tools/graph.py", ""))
                found[where[-1][0]] = 1
                continue
            key = f"{module}: {name}/ names types of {', '.join('the rest' if one == REST else one + '/' for one in forbidden)}"
            crossings = list(files.crossings(name, forbidden))
            found[key] = len(crossings)
            where += [(key, f"{path}: {word}, of {other}") for path, word, other in crossings]
    return found, where


def self_test():
    def expect(value, what):
        if not value:
            sys.exit(f"graph.py: the self-test failed: {what}")

    up = list(arrows_up({"A": {"B"}, "B": set(), "C": {"A"}, "D": set()}, [["A"], ["B"], ["C"]], "module"))
    expect(len(up) == 2 and "A points up" in up[0] and "D stands in no row" in up[1], f"arrows: {up}")
    expect(list(arrows_up({"A": {"B"}, "B": set()}, [["B"], ["A"]], "module")) == [], "a good arrow is refused")
    groups = components({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()})
    expect({"a", "b", "c"} in groups and {"d"} in groups, f"circles: {groups}")
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        for name, text in {"A/A.swift": "import B\nimport C\nimport E\nimport Foundation\n", "A/Other/F.swift": "import D\n"}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        declared = Declared(
            'products: [.library(name: "A", targets: ["A"])], targets: [\n.target(\n  name: "A",\n  dependencies: [\n'
            '    .target(name: "B", condition: .when(traits: ["C"])), .product(name: "D", package: "E"),\n  ],\n'
            '  path: "A", exclude: ["Other"]),\n.testTarget(name: "B", path: "B"), .systemLibrary(\n  name: "C",\n  path: "C"),\n'
            '.executableTarget(name: "E", dependencies: ["D"], path: "E")]')
        expect(declared.needs == {"A": {"B", "D"}, "B": set(), "C": set(), "E": {"D"}}, f"dependencies: {declared.needs}")
        expect([line.split(",")[0] for line in declared.undeclared(root)] == ["A/A.swift imports C", "A/A.swift imports E"],
               f"undeclared imports: {list(declared.undeclared(root))}")
        planted = {
            "Low/A.swift": "public struct A { var b: B? }\n",
            "Low/A+More.swift": "extension A { var c: C? { nil } }\n",
            "Low/B.swift": "class B { /* C */ let text = \"C\"; func f() -> D? { nil } }\n",
            "Low/C.swift": "enum C { case one; static let a = A(b: nil) }\n",
            "Low/D.swift": "typealias D = Int\nprivate struct E {}\n",
            "High/E.swift": "struct E { var a: A }\nstruct F { struct A {} }\n",
            "High/Up.swift": "extension B { func g() -> F.A? { nil } }\n",
        }
        for name, text in planted.items():
            path = root / "Packages/P/Sources/M" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(("import Foundation\n@preconcurrency public import struct Other.T\n") + text)
        files = Files(root, root / "Packages/P/Sources/M")
        # A uses B and, by its extension, C, which uses A; B, with its extension in High, uses D and F.
        expect(files.circles() == [["Low/A.swift", "Low/C.swift"]], f"circles of files: {files.circles()}")
        expect(files.arrows["Low/B.swift"] == {"Low/D.swift", "High/E.swift"}, f"arrows: {dict(files.arrows)}")
        expect("Low/A.swift" not in files.arrows["High/E.swift"], "a type of its own isn't another file's")
        found, _ = count(root, {"M": {"High": ["Low"], "Low": ["High"], "Gone": ["Low"]}})
        expect(found == {
            "M: files in circles": 2, "M: High/ names types of Low/": 1, "M: Low/ names types of High/": 0,
            "M: no folder Gone; put its new name into Tools/graph.py": 1}, f"counts: {found}")
        expect(IMPORT.findall(load(root / "Packages/P/Sources/M/Low/A.swift", root).code) == ["Foundation", "Other"], "imports")
    drawn = "\n".join(draw({"A": {"B"}, "B": set()}, "dot")), "\n".join(draw({"A": {"B"}}, "mermaid"))
    expect('"A" -> "B";' in drawn[0] and "n0 --> n1" in drawn[1], f"drawings: {drawn}")
    print("graph.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description="Draws and checks what depends on what.")
    parser.add_argument("what", nargs="?", choices=["packages", "modules", "files", "circles"])
    parser.add_argument("module", nargs="?")
    parser.add_argument("--format", choices=["text", "dot", "mermaid"], default="text")
    ratchet.add_options(parser)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.what in ("packages", "modules"):
        print("\n".join(draw((package_graph if options.what == "packages" else module_graph)(ROOT), options.format)))
        return None
    if options.what:
        found = modules(ROOT)
        if options.module not in found and (options.module or options.what == "files"):
            sys.exit(f"graph.py: no module {options.module}; there are {', '.join(found)}")
        for name in [options.module] if options.module else found:
            files = Files(ROOT, found[name])
            if options.what == "files":
                print("\n".join(draw({node: files.arrows[node] for node in set(files.node.values())}, options.format)))
            for group in files.circles() if options.what == "circles" else ():
                print(f"{name}: {len(group)} files: {', '.join(group)}")
        return None
    problems = list(Declared((ROOT / "Package.swift").read_text()).undeclared(ROOT))
    if problems:
        print("\n".join(problems))
        sys.exit("graph.py: a target names what it imports")
    problems = [*arrows_up(package_graph(ROOT), PACKAGES, "package"), *arrows_up(module_graph(ROOT), MODULES, "module")]
    if problems:
        print("\n".join(problems))
        sys.exit("graph.py: arrows point down only")
    found, where = count(ROOT, FOLDERS)
    allowed = ratchet.read("graph")
    for key, place in where:
        if found[key] > allowed.get(key, 0) and place:
            print(f"  {place}")
    return ratchet.settle(
        "graph.py", "graph", found, "files in circles and uses of folders above", options,
        "let the lower file take what it needs as a value or a protocol of its own (`Tools/graph.py circles`)")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measures the sources of the packages, as a table.

    metrics.py               what is here
    metrics.py --at REV      a revision beside what is here
    metrics.py --at A --at B two revisions
    metrics.py --details     and the types, circles, duplicates and places behind the figures
    metrics.py --self-test

Measured are the Swift files of Packages/*/Sources:

- properties that a type stores: those of its own body; extensions can't store any;
- circles of files: as Tools/graph.py has them;
- unsafe lines: those that name an Unsafe...Pointer, comments included; Tools/guard-unsafe.py counts more forms, in code alone;
- places of a connect field: lines of code that name FIELD in any of its spellings, from the JSON to the SDK;
- places of a codec: files outside of CODEC's own that name it in code;
- duplicates: runs of ten lines and more, without indentation, comments, blank lines and imports, that stand elsewhere already."""

import argparse
import contextlib
import io
import re
import subprocess
import sys
import tarfile
import tempfile
from collections import defaultdict
from pathlib import Path

import graph
from swiftsource import ROOT, code_only, load, modules, product_sources, stored_properties

MANY = 15
WINDOW = 10
POINTER = re.compile(r"Unsafe\w*Pointer")
# A text of `connect` that the server only needs to pass on: every field takes at least this way.
FIELD = ("audio_streaming_language_code", "audioStreamingLanguageCode")
CODEC = "AV1"
# What is about this codec alone.
CODEC_OWN = re.compile(r"/\w*AV1\w*/|/\w*AV1[\w+]*\.swift$|/DependencyDescriptor\w*\.swift$")


def big_types(files):
    """Types that store more than MANY properties, the largest first."""
    found = []
    for source in files:
        for one in source.declarations:
            names = stored_properties(source.code, one)
            if len(names) > MANY:
                found.append((len(names), one.path, source.name))
    return sorted(found, key=lambda item: (-item[0], item[1]))


def field_places(files):
    word = re.compile(r"\b(?:" + "|".join(FIELD) + r")\b")
    found = []
    for source in files:
        lines = code_only(source.text, keep_literals=True).split("\n")
        found += [f"{source.name}:{number}" for number, line in enumerate(lines, 1) if word.search(line)]
    return found


def codec_places(files):
    word = re.compile(CODEC, re.IGNORECASE)
    return [
        source.name for source in files
        if not CODEC_OWN.search(source.name) and word.search(code_only(source.text, keep_literals=True))
    ]


def duplicates(files):
    """Runs of lines that stand in an earlier place, too: where, the other place, how many lines."""
    seen, found = {}, []
    for source in files:
        lines = []
        for number, line in enumerate(code_only(source.text, keep_literals=True).split("\n"), 1):
            line = line.strip()
            if line and not re.match(r"(?:@\w+ )?(?:\w+ )?import \w+", line):
                lines.append((number, line))
        run = None
        for start in range(len(lines) - WINDOW + 1):
            key = tuple(line for _, line in lines[start:start + WINDOW])
            # A list of braces or of one repeated word is no code that somebody wrote twice.
            if len(set(key)) < WINDOW // 2:
                run = None
                continue
            other = seen.get(key)
            if other is None or other[0] == source.name and start - other[2] < WINDOW:
                seen.setdefault(key, (source.name, lines[start][0], start))
                run = None
            elif run and (other[0], other[2]) == (run[2], run[3] + 1):
                run[3] += 1
                run[4] += 1
            else:
                run = [f"{source.name}:{lines[start][0]}", f"{other[0]}:{other[1]}", other[0], other[2], WINDOW]
                found.append(run)
    return [(here, there, count) for here, there, _, _, count in found]


def measure(root):
    files = [load(path, root) for path in product_sources(root)]
    circles = {name: graph.Files(root, folder).circles() for name, folder in modules(root).items()}
    groups = [group for found in circles.values() for group in found]
    types, field, codec, copies = big_types(files), field_places(files), codec_places(files), duplicates(files)
    pointers = [sum(1 for line in source.text.split("\n") if POINTER.search(line)) for source in files]
    folders = defaultdict(int)
    for source in files:
        folders[str(Path(source.name).parent)] += 1
    rows = {
        "files": len(files),
        "lines": sum(source.text.count("\n") for source in files),
        "files of more than 500 lines": sum(1 for source in files if source.text.count("\n") > 500),
        "folders of more than 20 files": sum(1 for number in folders.values() if number > 20),
        f"types that store more than {MANY} properties": len(types),
        "properties of the largest": max((number for number, _, _ in types), default=0),
        "circles of files": len(groups),
        "files in circles": sum(len(group) for group in groups),
        "files in the largest circle": max((len(group) for group in groups), default=0),
        "lines with unsafe pointers": sum(pointers),
        "files with unsafe pointers": sum(1 for number in pointers if number),
        "lines that a new connect field touches": len(field),
        "files that a new connect field touches": len({place.split(":")[0] for place in field}),
        "files that a new codec touches": len(codec),
        f"duplicates of {WINDOW} lines and more": len(copies),
        "lines in them": sum(count for _, _, count in copies),
    }
    details = {
        "types": [f"{number} {path} ({name})" for number, path, name in types],
        "circles": [f"{name}: {', '.join(group)}" for name, found in circles.items() for group in found],
        "connect field": field, "codec": codec,
        "duplicates": [f"{here} as {there}: {count} lines" for here, there, count in copies],
    }
    return rows, details


@contextlib.contextmanager
def revision(name):
    """The packages of a revision, in a folder that goes again."""
    archive = subprocess.run(["git", "archive", name, "Packages"], cwd=ROOT, capture_output=True)
    if archive.returncode != 0:
        sys.exit(f"metrics.py: {archive.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
            # Links lead out of the folder, and nothing that is measured is behind one.
            tar.extractall(folder, filter=lambda one, path: None if one.issym() else tarfile.data_filter(one, path))
        yield Path(folder)


def self_test():
    def expect(found, wanted, what):
        if found != wanted:
            sys.exit(f"metrics.py: the self-test failed: {what}: {found}, not {wanted}")

    planted = """
public final class A<T>: B where T: C {
  enum Inner { case one(let: Int); static var no = 1 }
  struct Nested { var x, y: Int; let z = 3 }
  static let shared = 1
  class var kind: Int { 2 }
  public private(set) var a = 1, b = 2
  @Wrapped var c: [String: (Int, Int) -> Void] = [:]
  weak var d: D?
  lazy var e: Int = { let inside = 1; return inside }()
  var f: Int { get { 1 } set { let g = newValue } }
  var h: Int {
    didSet { let i = 1 }
  }
  var j: Int { 3 }
  let k =
    call(var: 1) { let l = 2 }
  let (m, n) = (1, 2)
  init() { let o = 1; var p = 2 }
  func q() { if let r = f { var s = r } }
  subscript(t: Int) -> Int { t }
  var u: Dictionary<Int, String>, v: Int
}
extension A { static var w = 1; var x: Int { 1 } }
"""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path = root / "Packages/P/Sources/M/A.swift"
        path.parent.mkdir(parents=True)
        path.write_text(planted)
        source = load(path, root)
        stored = [(one.kind, one.path, stored_properties(source.code, one)) for one in source.declarations]
        expect(stored, [
            ("class", "A", list("abcdehkmnuv")), ("enum", "A.Inner", []), ("struct", "A.Nested", list("xyz")),
            ("extension", "A", [])], "stored properties")
        block = "".join(f"  let line{number} = {number}\n" for number in range(12))
        for name in ("One", "Two"):
            path = path.with_name(f"{name}.swift")
            path.write_text(f"import {name}\n// {name}\nfunc f{name}() {{\n{block}\n}}\n")
        files = [load(path.with_name(f"{name}.swift"), root) for name in ("One", "Two")]
        expect([count for _, _, count in duplicates(files)], [13], "a run of twelve lines and a bracket")
        expect(duplicates(files[:1]), [], "a file is no copy of itself")
        rows, _ = measure(root)
        expect((rows["files"], rows["lines with unsafe pointers"]), (3, 0), "files")
    expect(measure(ROOT)[0]["lines that a new connect field touches"] > 0, True, f"{FIELD} is nowhere: name another field")
    print("metrics.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description="Measures the sources of the packages.")
    parser.add_argument("--at", action="append", default=[], metavar="REV", help="a revision to measure, too")
    parser.add_argument("--details", action="store_true", help="print what the figures count")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    columns = []
    for name in options.at:
        with revision(name) as folder:
            columns.append((name, *measure(folder)))
    if len(options.at) < 2:
        columns.append(("here", *measure(ROOT)))
    print("| | " + " | ".join(name for name, _, _ in columns) + " |")
    print("|---|" + "--:|" * len(columns))
    for what in columns[0][1]:
        print(f"| {what} | " + " | ".join(str(rows[what]) for _, rows, _ in columns) + " |")
    if options.details:
        for name, _, details in columns:
            for what, lines in details.items():
                print(f"\n## {what}, {name}\n")
                print("\n".join(f"- {line}" for line in lines) or "none")
    return None


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Counts the lines of Packages/*/Sources that handle memory unsafely, file by file. Tools/ratchets/unsafe.json lists the files that
may, with their counts, which may only go down. So does Tools/ratchets/unchecked.json with properties whose accesses aren't checked for
overlaps, which Docs/architecture.md says the rule for.

    guard-unsafe.py               check
    guard-unsafe.py --list        print the files and their counts
    guard-unsafe.py --update      write the list anew; refuses where the sum would go up
    guard-unsafe.py --update --allow-more
    guard-unsafe.py --self-test   check that each form is found, in a planted file"""

import argparse
import re
import sys
import tempfile
from pathlib import Path

import ratchet
from swiftsource import ROOT, load, product_sources

# The pointers' types, what lends or converts them, and casts. The word `unsafe` that strict memory safety asks for stands in lines
# that one of these makes unsafe, or that call C.
UNSAFE = re.compile(
    r"\bUnsafe(?:Mutable)?(?:Raw)?(?:Buffer)?Pointer\b|\bAutoreleasingUnsafe\w+|\bOpaquePointer\b|\bUnmanaged\b|"
    r"\bwithUnsafe\w+|\bunsafe[A-Z]\w*|\bunowned\s*\(\s*unsafe\s*\)|\bwithMemoryRebound\b|"
    r"\bassumingMemoryBound\b|\bbindMemory\b|\bUnsafe(?:Current|Continuation)\w*")

UNCHECKED = re.compile(r"@exclusivity\s*\(\s*unchecked\s*\)")


def counts(root, paths, form=UNSAFE):
    found = {}
    for path in paths:
        source = load(path, root)
        if lines := sum(1 for line in source.code.split("\n") if form.search(line)):
            found[source.name] = lines
    return found


PLANTED = ["let p: UnsafeRawPointer", "f(UnsafeMutableRawBufferPointer(start: nil, count: 0))", "var q: UnsafePointer<Int32>?",
           "bytes.withUnsafeBytes { g($0) }", "let c: OpaquePointer", "let x = unsafeBitCast(a, to: Int.self)",
           "unowned(unsafe) let owner: A", "let n = unsafeDowncast(a, to: B.self)", "p.assumingMemoryBound(to: Int.self)"]
HARMLESS = ["// an UnsafeRawPointer is lent", 'let text = "withUnsafeBytes"', "let span: RawSpan", "nonisolated(unsafe) var a = 1",
            "let r = unsafe sora_thing(1)", "struct Unsafety {}",
            "@safe @exclusivity(unchecked) private var a = 1"]


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for index, line in enumerate(PLANTED + HARMLESS):
            path = root / f"F{index}.swift"
            path.write_text(f"{line}\n")
            if bool(counts(root, [path])) != (line in PLANTED):
                sys.exit(f"guard-unsafe.py: the self-test failed: {line}")
            if bool(counts(root, [path], UNCHECKED)) != ("exclusivity" in line):
                sys.exit(f"guard-unsafe.py: the self-test failed: {line}")
    if ratchet.grown({"a": 2, "b": 1, "c": 3}, {"a": 2, "c": 2}) != [("b", 1, 0), ("c", 3, 2)]:
        sys.exit("guard-unsafe.py: the self-test failed: growth isn't seen")
    print("guard-unsafe.py: self-test passed")


def main():
    parser = argparse.ArgumentParser(description="Counts the lines that handle memory unsafely.")
    parser.add_argument("--list", action="store_true", help="print the files and their counts")
    ratchet.add_options(parser)
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    found = counts(ROOT, product_sources())
    if options.list:
        for name, lines in sorted(found.items(), key=lambda item: -item[1]):
            print(f"{lines:4d} {name}")
        print(f"{sum(found.values()):4d} lines in {len(found)} files")
        return None
    ratchet.settle(
        "guard-unsafe.py", "unchecked", counts(ROOT, product_sources(), UNCHECKED), "unchecked properties", options,
        "measure first what the checks cost, and see that nothing outside of the type is called while one is changed", by_total=True)
    return ratchet.settle(
        "guard-unsafe.py", "unsafe", found, "unsafe lines", options,
        "read RawSpan, write through OutputRawSpan or MutableRawSpan, and leave pointers to the files that meet C; where code only "
        "moved between files, run Tools/guard-unsafe.py --update", by_total=True)


if __name__ == "__main__":
    main()

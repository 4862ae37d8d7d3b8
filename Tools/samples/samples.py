#!/usr/bin/env python3
"""Compiles every Swift block of every README, article and doc comment, and every program of Docs/Examples, and runs those that say so,
against what `make build` has built. Runs the handbook's commands.

    samples.py               all
    samples.py FILE...       those of some files (FILE:LINE for one block)
    samples.py --list        what would be done, and by which rule
    samples.py --compile     compile and check manifests; run nothing
    samples.py --self-test   check how blocks and their comments are read

A block is a whole program: it must compile as it stands, without a warning, with what products of this repository give. In Markdown and
in doc comments an HTML comment above a block says what else it is (several rules are joined by commas, `given` comes last):

    <!-- sample: run -->                   is run. A program that names 127.0.0.1:5000 gets a server there (a free port in truth) and must
                                           end with status 0; it is run once more without a server, and must then end with another status
                                           and one line, not with a crash
    <!-- sample: run, publisher -->        while somebody publishes to its channel
    <!-- sample: run, until "TEXT" -->     is ended once it has printed TEXT
    <!-- sample: after -->                 goes on where the Swift block before it in the same file ends
    <!-- sample: given
    let frame = ...
    -->                                    a fragment; the comment has the lines that it stands behind
    <!-- sample: manifest -->              dependencies of a Package.swift (a whole one is known by `import PackageDescription`)
    <!-- sample: skip, REASON -->          isn't compiled, for this reason; counted and printed
    <!-- sample: run, server "OPTIONS" --> with a server that was given these options
    <!-- sample: run, proxy -->            with a proxy at 127.0.0.1:3128 (in truth a free port) that wants the password of user `user`;
                                           something must have gone through it
    <!-- sample: run, restart "TEXT" -->   whose server is killed once the program has printed TEXT, and another one started
    <!-- sample: ci -->                    commands that .ci/run runs, by themselves or through other targets of make

A block of `sh` with such a comment is run by bash, with the command that was built, and must end with status 0; `run`, `until`,
`publisher` and `server` mean the same there. In Docs/handbook every block of commands needs one; the pages in Japanese must have the blocks of
those in English, but for comments, and aren't run a second time. A program of Docs/Examples has its
rules in its first line, `// sample: run`; it is compiled in Swift 6 mode and in Swift 5 mode, or with `swift5` in that alone.

Manifests are read by `swift package dump-package`. Products that they name must be there, and the programs of a file that shows a whole
manifest may import only what it names. Tests (a block with @Test) are run by swift-testing. SAMPLES_SCRATCH names the folder of
another build (its `.build`) to use in place of this checkout's."""

import argparse
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from blocks import Wrong, blocks, blocks_of, doc_comments, documents, translated
from compiling import TOOLCHAIN, WORK, Toolbox, check_manifest
from running import check_ci, commands, run_block


def check(block, toolbox, manifests, options):
    """What is wrong with a block, or None; and how long it took."""
    started = time.monotonic()
    folder = WORK / re.sub(r"[^\w.]", "_", block.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        if block.rule("ci"):
            check_ci(block)
        elif block.is_manifest:
            check_manifest(block, toolbox, folder)
        elif block.is_shell and (options.compile or not block.rule("run")):
            if not block.rule("run"):
                raise Wrong("commands are run, or are CI's: `sample: run` or `sample: ci`")
        elif block.rule("run") and not options.compile:
            run_block(block, toolbox, folder)
        else:
            toolbox.compile(block, folder)
        missing = set() if block.is_shell else block.imports - TOOLCHAIN - manifests.get(block.path, block.imports)
        if missing and not block.is_manifest:
            raise Wrong(f"imports {', '.join(sorted(missing))}, which the file's own Package.swift doesn't name")
    except Wrong as problem:
        return str(problem), time.monotonic() - started
    return None, time.monotonic() - started


def shown_manifests(found):
    """The products that whole manifests name, by file."""
    named = {}
    for block in found:
        if "import PackageDescription" in block.code:
            names = re.findall(r'\.product\(\s*name: "(\w+)"', block.code)
            named[block.path] = named.get(block.path, set()) | set(names)
    return named


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    started = time.monotonic()
    found = [block for path, text in documents() for block in blocks_of(path, text)]
    # Tested where they come from.
    same = translated(found)
    found = [block for block in found if not any(block is other for other in same)]
    manifests = shown_manifests(found)
    if options.files:
        known = {block.path for block in found} | {block.name for block in found}
        if unknown := [name for name in options.files if name not in known]:
            raise Wrong(f"samples.py: no block in {', '.join(unknown)}; `--list` shows them")
        found = [block for block in found if block.path in options.files or block.name in options.files]
    if options.list:
        for block in found:
            print(f"{block.name}: {', '.join([block.doing] + [r for r in block.rules if r.split(' ')[0] not in ('run', 'skip')])}")
        return
    toolbox = Toolbox()
    failed = 0
    counts = {}
    wanted = [block for block in found if not block.rule("skip")]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        for block, (problem, seconds) in zip(wanted, pool.map(lambda block: check(block, toolbox, manifests, options), wanted)):
            counts[block.doing] = counts.get(block.doing, 0) + 1
            print(f"{'FAILED' if problem else 'ok':6} {seconds:5.1f} s  {block.doing:8}  {block.name}", flush=True)
            if problem:
                failed += 1
                print("\n".join(f"         {line}" for line in problem.splitlines()), flush=True)
    skipped = [block for block in found if block.rule("skip")]
    for block in skipped:
        print(f"skipped           {block.name}: {block.rule('skip')}")
    told = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    print(f"samples: {told}, {len(skipped)} skipped, {failed} failed, in {time.monotonic() - started:.0f} s")
    if failed:
        sys.exit(1)


def self_test():
    text = """
```sh
not Swift
```
<!-- sample: run, until "a, b", publisher -->
```swift
import Sora
```
<!-- sample: after -->
```swift
second
```

<!-- sample: given
let frame = 1
-->
  ```swift
  third
    more
  ```
<!-- sample: skip, shown in pieces -->
```swift
fourth
```
```swift
// swift-tools-version: 6.2
import PackageDescription
let package = Package(name: "x", targets: [.target(name: "y", dependencies: [.product(name: "Sora", package: "s")])])
```
"""
    first, second, third, fourth, manifest = found = blocks("x.md", text)
    wrong = []

    def expect(value, wanted):
        if value != wanted:
            wrong.append(f"{value!r} and not {wanted!r}")

    expect([block.doing for block in found], ["run", "compiled", "compiled", "skipped: shown in pieces", "manifest"])
    expect([block.line for block in found], [7, 11, 18, 23, 26])
    expect((first.rule("until"), first.rule("publisher"), first.imports), ("a, b", True, {"Sora"}))
    expect(second.imports, {"Sora"})
    expect((third.code, third.given), ("third\n  more", "\nlet frame = 1".strip()))
    expect('line: 18)\nthird' in third.whole, True)
    program = blocks_of("Docs/Examples/A/A.swift", '// sample: run, server "--turn --x"\nimport Sora\n@main enum A {}\n')[0]
    expect((program.doing, program.is_example, program.is_library, program.rule("server")), ("run", True, True, "--turn --x"))
    shell = blocks("Docs/handbook/x.md", "<!-- sample: ci -->\n```sh\nmake test  # all\n# no\nA=1 make \\\n  x\n```\n")[0]
    expect((shell.doing, shell.is_shell, commands(shell.code)), ("commands of CI", True, ["make test", "A=1 make x"]))
    expect(shown_manifests(found), {"x.md": {"Sora"}})
    expect(blocks("x.swift", doc_comments("code\n  /// ```swift\n  /// a\n  ///   b\n  /// ```\n"))[0].code, "a\n  b")
    for bad in ("<!-- sample: rnu -->\n```swift\n```", "<!-- sample: skip -->\n```swift\n```", "<!-- sample: run -->\ntext",
                "<!-- sample: run -->\n```json\n```", "<!-- sample: ci -->\n```swift\n```", "<!-- sample: after -->\n```swift\n```", "```swift\n",
                "<!-- sample: given -->\n```swift\n```", "<!-- sample: run\nlet x = 1\n-->\n```swift\n```"):
        try:
            blocks("x.md", bad)
            wrong.append(f"{bad!r} was read")
        except Wrong:
            pass
    page = "<!-- sample: run -->\n```sh\nsora codecs  # all\n```\n"
    pair = [blocks("Docs/handbook/en/x.md", page)[0], blocks("Docs/handbook/ja/x.md", page.replace("all", "other words"))[0]]
    expect(translated(pair), [pair[1]])
    for other in (page.replace("codecs", "devices"), page.replace("run", "ci"), page + page, ""):
        try:
            translated(pair[:1] + blocks("Docs/handbook/ja/x.md", other))
            wrong.append(f"{other!r} was taken for a translation")
        except Wrong:
            pass
    for bad in (("Docs/handbook/x.md", "```sh\nmake x\n```"), ("Docs/Examples/A/A.swift", "import Sora\n")):
        try:
            blocks_of(*bad)
            wrong.append(f"{bad!r} was read")
        except Wrong:
            pass
    if wrong:
        sys.exit("samples.py: blocks are read wrong:\n  " + "\n  ".join(wrong))
    print("samples.py: blocks and their comments are read right")


try:
    main()
except Wrong as problem:
    sys.exit(str(problem))

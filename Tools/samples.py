#!/usr/bin/env python3
"""Compiles every Swift block of every README, article and doc comment, and runs those that say so, against what `make build` has built.

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

Manifests are read by `swift package dump-package`. Products that they name must be there, and the programs of a file that shows a whole
manifest may import only what it names. Tests (a block with @Test) are run by swift-testing."""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SWIFT = os.environ.get("SWIFT", "swift")
CONFIGURATION = os.environ.get("CONFIGURATION", "release")
BUILD = ROOT / ".build" / CONFIGURATION
WORK = ROOT / ".build" / "samples"
# What the samples say where a reader's own server is.
SERVER = "127.0.0.1:5000"
# Seconds that a program may run.
LIMIT = 60
# Of programs that have nothing but `Sora` in common with one another: objects that a sample may need, by module.
MORE_MODULES = ["Sora", "SoraNetworkSimulator"]
LEFT_OUT = ("SoraCommand", "ArgumentParser")
# Modules of the toolchain.
TOOLCHAIN = {"Foundation", "FoundationEssentials", "Dispatch", "Synchronization", "Testing", "Glibc"}


class Wrong(Exception):
    """A sample that isn't as it should be, in a form to print."""


@dataclass
class Block:
    path: str
    line: int  # of its first line of code
    code: str
    rules: list = field(default_factory=list)
    given: str = ""
    before: "Block" = None

    @property
    def name(self):
        return f"{self.path}:{self.line}"

    def rule(self, name):
        for rule in self.rules:
            word, _, value = rule.partition(" ")
            if word == name:
                return value.strip().strip('"') or True
        return None

    @property
    def is_manifest(self):
        return "import PackageDescription" in self.code or self.rule("manifest")

    @property
    def is_test(self):
        return re.search(r"@(Test|Suite)\b", self.whole) is not None

    @property
    def is_library(self):
        return self.is_test or "@main" in self.whole

    @property
    def imports(self):
        return set(re.findall(r"^\s*(?:@\w+ )*(?:public )?import (\w+)", self.whole, re.M))

    @property
    def whole(self):
        """The file to compile; errors are told at their lines in the document."""
        lines = []
        if self.before:
            lines.append(self.before.whole)
        if self.given:
            lines.append(self.given)
        # The directive must stand at the beginning of a line; imports may come anywhere.
        lines.append(f'#sourceLocation(file: "{self.path}", line: {self.line})\n{self.code}\n#sourceLocation()')
        return "\n".join(lines)

    @property
    def doing(self):
        if self.rule("skip"):
            return f"skipped: {self.rule('skip')}"
        if self.is_manifest:
            return "manifest"
        return "run" if self.rule("run") else "compiled"


# --- Reading ---------------------------------------------------------------------------------------------------

KNOWN = {"run", "publisher", "until", "after", "given", "manifest", "skip"}


def parse_rules(text, place):
    """The rules of a comment, and the code that it gives."""
    head, _, given = text.strip().partition("\n")
    if head.startswith("skip"):
        reason = head[4:].lstrip(", ").strip()
        if not reason:
            raise Wrong(f"{place}: a sample that is skipped must say why")
        return [f"skip {reason}"], ""
    rules = [rule.strip() for rule in re.findall(r'[^,"]*(?:"[^"]*")?[^,"]*', head) if rule.strip()]
    for rule in rules:
        if rule.split(" ")[0] not in KNOWN:
            raise Wrong(f"{place}: `sample: {rule}` is no rule; they are {', '.join(sorted(KNOWN))}")
    if bool(given.strip()) != ("given" in rules):
        raise Wrong(f"{place}: code in the comment and the rule `given` belong together")
    return rules, given.rstrip()


def blocks(path, text):
    """The Swift blocks of a Markdown text."""
    found, comment, code, fence, indent = [], None, None, "", 0
    comment_line = 0
    lines = text.split("\n")
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        stripped = line.strip()
        if code is not None:
            if stripped == fence:
                if code:
                    block, body = code
                    block.code = "\n".join(body)
                    found.append(block)
                code = None
            elif code:
                code[1].append(line[indent:] if line[:indent].isspace() else line)
            continue
        if match := re.match(r"^(\s*)(`{3,})\s*(\w*)\s*$", line):
            fence, indent = match.group(2), len(match.group(1))
            if match.group(3) != "swift":
                code = ()
                if comment:
                    raise Wrong(f"{path}:{comment_line}: `sample:` stands above a block that isn't Swift")
                continue
            rules, given = parse_rules(comment, f"{path}:{comment_line}") if comment else ([], "")
            block = Block(path, number + 1, "", rules, given)
            if block.rule("after"):
                if not found:
                    raise Wrong(f"{block.name}: `sample: after` without a block before it")
                block.before = found[-1]
            comment = None
            code = (block, [])
            continue
        if stripped.startswith("<!-- sample:"):
            comment_line = number
            body = stripped[len("<!-- sample:"):]
            while "-->" not in body:
                if number == len(lines):
                    raise Wrong(f"{path}:{comment_line}: a comment without an end")
                body += "\n" + lines[number]
                number += 1
            comment = body.partition("-->")[0]
        elif stripped and comment is not None:
            raise Wrong(f"{path}:{comment_line}: `sample:` stands above no block")
    if code is not None:
        raise Wrong(f"{path}: a block without an end")
    if comment is not None:
        raise Wrong(f"{path}:{comment_line}: `sample:` stands above no block")
    return found


def doc_comments(text):
    """A Swift source with everything but its doc comments blank, so that lines keep their numbers."""
    lines = []
    for line in text.split("\n"):
        match = re.match(r"^\s*/// ?(.*)$", line)
        lines.append(match.group(1) if match else "")
    return "\n".join(lines)


def documents():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md", "Packages/*.swift", "Tools/*.swift"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in sorted(filter(None, listed.split("\0"))):
        path = ROOT / name
        if not path.is_file() or "/Tests/" in name or "/corpus/" in name:
            continue
        text = path.read_text()
        if name.endswith(".md"):
            yield name, text
        elif "/// ```swift" in text:
            yield name, doc_comments(text)


# --- Compiling -------------------------------------------------------------------------------------------------

class Toolbox:
    """How the build of this repository calls the compiler and the linker, read from what the build left."""

    def __init__(self):
        plan = ROOT / ".build" / f"{CONFIGURATION}.yaml"
        if not plan.is_file() or not (BUILD / "Modules" / "Sora.swiftmodule").exists():
            raise Wrong("samples.py: there is nothing to compile against; run `make build` first")
        text = plan.read_text()
        self.flags = self._flags(text)
        self.linker = self._linker(text)
        manifest = (ROOT / "Package.swift").read_text()
        self.products = {}
        for name, targets in re.findall(r'\.library\(name: "(\w+)", targets: \[([^\]]*)\]', manifest):
            self.products[name] = set(re.findall(r'"(\w+)"', targets))
        self.modules = {path.stem for path in (BUILD / "Modules").glob("*.swiftmodule")}

    @staticmethod
    def _arguments(line):
        return json.loads(line[line.index("["):])

    def _flags(self, text):
        """Module maps and search paths of all targets together."""
        flags, seen = ["-I", str(BUILD / "Modules")], set()
        for line in re.findall(r"^    args: .*-module-name.*-emit-module-path.*$", text, re.M):
            arguments = iter(self._arguments(line))
            for argument in arguments:
                if argument.startswith("-I/"):
                    pair = [argument]
                elif argument == "-Xcc":
                    value = next(arguments)
                    if value.startswith("-fmodule-map-file=") or value.startswith("-I/"):
                        pair = ["-Xcc", value]
                    elif value == "-I":
                        pair = ["-Xcc", "-I", next(arguments), next(arguments)]
                    else:
                        continue
                else:
                    continue
                if tuple(pair) not in seen:
                    seen.add(tuple(pair))
                    flags += pair
        return flags

    def _linker(self, text):
        """Objects and libraries of the command, and of the modules that it hasn't."""
        line = next(line for line in re.findall(r"^    args: .*-emit-executable.*$", text, re.M) if "/sora.product/" in line)
        flags = [a for a in self._arguments(line) if a.startswith("-l") or a.startswith("-L/")]
        listed = (BUILD / "sora.product" / "Objects.LinkFileList").read_text().split("\n")
        objects = [name.strip("'\"") for name in listed if name]
        kept = [o for o in objects if not any(f"/{name}" in o.replace(str(BUILD.resolve()), "") for name in LEFT_OUT)]
        for module in MORE_MODULES:
            kept += [str(path) for path in sorted((BUILD / f"{module}.build").glob("*.o"))]
        WORK.mkdir(parents=True, exist_ok=True)
        (WORK / "objects").write_text("".join(f'"{name}"\n' for name in dict.fromkeys(kept)))
        return flags + ["-Xlinker", "--gc-sections", f"@{WORK / 'objects'}"]

    def compile(self, block, folder, server=SERVER):
        """Compiles a block, with the address of a server in it; gives the program where it is one to run."""
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / ("Sample.swift" if block.is_library else "main.swift")
        source.write_text(block.whole.replace(SERVER, server) + "\n")
        sources = [str(source)]
        command = [SWIFT + "c", "-swift-version", "6", "-warnings-as-errors", "-module-name", "Sample", "-Onone",
                   "-module-cache-path", str(WORK / "cache")] + self.flags
        runs = block.rule("run")
        if block.is_library:
            command.append("-parse-as-library")
        if runs and block.is_test:
            entry = folder / "Entry.swift"
            entry.write_text("import Testing\n@main struct Entry { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }\n")
            sources.append(str(entry))
        program = folder / "sample"
        command += ["-emit-executable", "-o", str(program)] + self.linker if runs else ["-c", "-o", str(folder / "sample.o")]
        result = subprocess.run(command + sources, cwd=ROOT, capture_output=True, text=True)
        if result.returncode:
            said = [line for line in (result.stdout + result.stderr).splitlines() if re.search(r"(error|warning|undefined)", line)]
            said = [line for line in said if "error: fatalError" not in line] or [(result.stdout + result.stderr).strip()]
            raise Wrong("\n".join(dict.fromkeys(said[:12])))
        self.check_imports(block)
        return program

    def check_imports(self, block):
        ours = {module for modules in self.products.values() for module in modules}
        for module in sorted(block.imports - TOOLCHAIN):
            if module in self.modules and module not in ours and module.startswith(("Sora", "WebRTC")):
                raise Wrong(f"imports {module}, which no product of the repository gives")


# --- Manifests -------------------------------------------------------------------------------------------------

# The placeholder of the repository's address; a reader's own path does as well.
PACKAGE_LINE = re.compile(r'\.package\(\s*(?:url|path): "([^"]*)"')


def check_manifest(block, toolbox, folder):
    """Has SwiftPM read it, and gives the products of this repository that it names."""
    code = block.code
    if "import PackageDescription" not in code:
        code = (
            "// swift-tools-version: 6.2\nimport PackageDescription\n"
            f'let package = Package(name: "sample", dependencies: [\n{code.strip().rstrip(",")}\n])\n')
    elif not code.startswith("// swift-tools-version:"):
        raise Wrong("a Package.swift begins with its line `// swift-tools-version:`")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "Package.swift").write_text(code)
    result = subprocess.run(
        [SWIFT, "package", "--package-path", str(folder), "--scratch-path", str(folder / "build"), "dump-package"],
        capture_output=True, text=True)
    if result.returncode:
        raise Wrong(result.stderr.strip())
    identities = {re.sub(r"\.git$", "", address.rstrip("/")).rpartition("/")[2] for address in PACKAGE_LINE.findall(code)}
    named = set()
    for product, package in re.findall(r'\.product\(\s*name: "(\w+)",\s*package: "([^"]*)"', code):
        if package not in identities:
            raise Wrong(f'product {product}: the package "{package}" isn\'t among the dependencies {sorted(identities)}')
        if product not in toolbox.products:
            raise Wrong(f"product {product} is none of this repository's")
        named.add(product)
    return named


# --- Running ---------------------------------------------------------------------------------------------------

class Process:
    """A program whose output goes to files, and that ends with the block of `with`."""

    def __init__(self, arguments, folder, name):
        self.output = folder / f"{name}.out"
        self.errors = folder / f"{name}.err"
        with open(self.output, "w") as output, open(self.errors, "w") as errors:
            self.process = subprocess.Popen(
                [str(a) for a in arguments], cwd=folder, stdout=output, stderr=errors, stdin=subprocess.DEVNULL,
                env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def said(self):
        return self.output.read_text(errors="replace"), self.errors.read_text(errors="replace")

    def wait_for(self, text, seconds=LIMIT):
        """What it printed, once that has `text` or it has ended."""
        end = time.monotonic() + seconds
        while True:
            ended = self.process.poll() is not None
            output = self.output.read_text(errors="replace")
            if text in output:
                return output
            if ended or time.monotonic() > end:
                what = f"ended with status {self.process.returncode}" if ended else f"ran {seconds} s"
                raise Wrong(f'{what} and didn\'t print "{text}"; it said:\n' + last_lines(*self.said()))
            time.sleep(0.05)


def last_lines(*texts):
    return "\n".join(f"  {line}" for line in "\n".join(texts).strip().splitlines()[-15:]) or "  nothing"


def run_block(block, toolbox, folder):
    """Compiles and runs a block."""
    if SERVER not in block.whole:
        return finish(block, toolbox.compile(block, folder), folder)
    # The server comes first, so that the program can be compiled with its port.
    with Process([BUILD / "sora", "serve", "--port", "0", "--json"], folder, "serve") as server:
        ready = json.loads(next(line for line in server.wait_for('"type":"ready"').splitlines() if '"ready"' in line))
        url = ready["url"]
        program = toolbox.compile(block, folder, server=url.split("/")[2])
        if block.rule("publisher"):
            publish = [BUILD / "sora", "publish", url, "--channel", "sora", "--json", "--resolution", "320x180"]
            with Process(publish, folder, "publish") as publisher:
                publisher.wait_for('"type":')
                finish(block, program, folder)
        else:
            finish(block, program, folder)
    alone(program, folder)


def finish(block, program, folder):
    """Runs a program to its end, or until it has said what it should."""
    until = block.rule("until")
    with Process([program], folder, "sample") as process:
        if until:
            process.wait_for(until)
            if process.process.poll() is not None and process.process.returncode:
                raise Wrong(f"status {process.process.returncode}; it said:\n" + last_lines(*process.said()))
            return
        try:
            status = process.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Wrong(f"ran longer than {LIMIT} s; it said:\n" + last_lines(*process.said())) from None
        if status:
            raise Wrong(f"status {status}; it said:\n" + last_lines(*process.said()))


def alone(program, folder):
    """Runs a program whose server is gone."""
    with Process([program], folder, "alone") as process:
        try:
            status = process.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            raise Wrong(f"without a server it ran longer than {LIMIT} s") from None
        output, errors = process.said()
        if status <= 0:
            raise Wrong(f"without a server it ended with status {status}; it said:\n" + last_lines(output, errors))
        if not (output + errors).strip():
            raise Wrong(f"without a server it ended with status {status} and said nothing")
        if "Fatal error" in errors:
            raise Wrong("without a server it crashed:\n" + last_lines(errors))


# --- All of it -------------------------------------------------------------------------------------------------

def check(block, toolbox, manifests, options):
    """What is wrong with a block, or None; and how long it took."""
    started = time.monotonic()
    folder = WORK / re.sub(r"[^\w.]", "_", block.name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        if block.is_manifest:
            check_manifest(block, toolbox, folder)
        elif block.rule("run") and not options.compile:
            run_block(block, toolbox, folder)
        else:
            toolbox.compile(block, folder)
        missing = block.imports - TOOLCHAIN - manifests.get(block.path, block.imports)
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
    found = [block for path, text in documents() for block in blocks(path, text)]
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
    expect(shown_manifests(found), {"x.md": {"Sora"}})
    expect(blocks("x.swift", doc_comments("code\n  /// ```swift\n  /// a\n  ///   b\n  /// ```\n"))[0].code, "a\n  b")
    for bad in ("<!-- sample: rnu -->\n```swift\n```", "<!-- sample: skip -->\n```swift\n```", "<!-- sample: run -->\ntext",
                "<!-- sample: run -->\n```sh\n```", "<!-- sample: after -->\n```swift\n```", "```swift\n",
                "<!-- sample: given -->\n```swift\n```", "<!-- sample: run\nlet x = 1\n-->\n```swift\n```"):
        try:
            blocks("x.md", bad)
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

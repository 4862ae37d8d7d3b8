#!/usr/bin/env python3
"""Counts what sans-I/O code must not do: read a clock, draw randomness of its own, read the environment, start or
synchronize threads, or import a module that tempts it to. The allowed count is zero.

    guard-sans-io.py              check the repository
    guard-sans-io.py --self-test  check that each rule finds what it should, in a planted file
"""

import contextlib
import io
import re
import sys
import tempfile
from pathlib import Path

from swiftsource import ROOT, code_only

# Folders, each with the names of files that are left out and why.
MODULES = {
    "Packages/SoraMedia/Sources/SoraMedia": {},
    "Packages/SoraSignaling/Sources/SoraSignalingMessages": {},
    "Packages/SoraMedia/Sources/SoraWire": {},
    "Packages/SoraTransport/Sources/SoraDigest": {},
    "Packages/SoraTransport/Sources/SoraSDP": {},
    "Packages/SoraTransport/Sources/SoraRTP": {},
    "Packages/SoraTransport/Sources/SoraICE": {},
    # libssl reads the clock and libcrypto makes keys with randomness of its own, behind a seam that simulations
    # fill with a stand-in.
    "Packages/SoraTransport/Sources/SoraDTLS": {"OpenSSL*.swift", "DTLSCertificate.swift"},
    "Packages/SoraTransport/Sources/SoraSRTP": {},
    "Packages/SoraTransport/Sources/SoraSCTP": {},
    "Packages/SoraTransport/Sources/SoraCongestion": {},
    "Packages/SoraTransport/Sources/SoraTransport/Peer": {},
    "Packages/SoraTransport/Sources/SoraTransport/Session": {},
    "Packages/SoraTransport/Sources/SoraNetworkSimulator": {},
    "Packages/SoraWebRTC/Sources/WebRTC/Negotiation": {},
    "Packages/SoraWebRTC/Sources/WebRTC/Core": {},
    "Packages/SoraServer/Sources/SoraServer/Core": {},
    "Packages/SoraServer/Sources/SoraCluster/Policy": {},
}

RULES = {
    "import": [
        r"\bimport\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?"
        r"(?:Foundation\w*|Dispatch|Glibc|Musl|Darwin|Bionic|Synchronization|SoraClock|CSoraNetwork|NIO\w*|Logging)\b",
    ],
    "clock": [
        r"\bSystemClock\b", r"\b(?:Continuous|Suspending|UTC)Clock\b", r"\bclock_gettime\b", r"\bgettimeofday\b",
        r"\bDispatchTime\b", r"\bDate\s*\(\s*\)", r"\bDate\.now\b", r"\.uptimeNanoseconds\b", r"\bmach_absolute_time\b",
        r"(?<![.\w])time\s*\(\s*nil\s*\)", r"\bTask\.sleep\b", r"\busleep\s*\(",
    ],
    "randomness": [
        r"\bSystemRandomNumberGenerator\b", r"\bRandomSource\.system\b", r"\barc4random\w*\b", r"\bgetrandom\b",
        r"\bgetentropy\b", r"\bRAND_(?:priv_)?bytes\b", r"\bdrand48\b", r"(?<![.\w])s?rand(?:om)?\s*\(",
        r"\.random\s*\(\s*\)", r"\.random\s*\(\s*in\s*:(?![^()]*(?:\([^()]*\)[^()]*)*\busing\s*:)",
        r"\.shuffled\s*\(\s*\)", r"\.shuffle\s*\(\s*\)", r"\.randomElement\s*\(\s*\)", r"\bUUID\s*\(\s*\)",
    ],
    "environment": [
        r"\b(?:secure_)?getenv\b", r"\bsetenv\b", r"\bProcessInfo\b", r"\bCommandLine\b", r"(?<![.\w])environ\b",
    ],
    "concurrency": [
        r"\basync\b", r"\bawait\b", r"(?<![.\w])actor\s+\w", r"\bTask\s*(?:<[^>]*>)?\s*[({]", r"\bTask\.detached\b",
        r"\bThread\b", r"\bpthread_\w+", r"\bDispatchQueue\b", r"\bNSLock\b", r"\bMutex\s*[<(]", r"\bAtomic\s*[<(]",
        r"@unchecked\s+Sendable",
    ],
}

# Shared, never-changing memory is what these two are: the proof stands in each of them.
ALLOWED = {
    ("Packages/SoraMedia/Sources/SoraMedia/EncodedFrame.swift", "@unchecked Sendable"),
    ("Packages/SoraMedia/Sources/SoraMedia/PixelBuffer.swift", "@unchecked Sendable"),
}


def findings(path, name):
    code = code_only(path.read_text(encoding="utf-8"))
    for rule, patterns in RULES.items():
        for pattern in patterns:
            for match in re.finditer(pattern, code):
                found = " ".join(match.group(0).split())
                if (name, found) in ALLOWED:
                    continue
                line = code.count("\n", 0, match.start()) + 1
                yield rule, line, found


def check(root, modules):
    """Prints every finding and returns their number, and the number of files."""
    count = files = 0
    for module, left_out in modules.items():
        sources = sorted((root / module).rglob("*.swift"))
        if not sources:
            # A folder that was renamed would otherwise go unguarded.
            print(f"{module}: no Swift files; put its new place into Tools/guard-sans-io.py")
            count += 1
        for path in sources:
            if any(path.match(pattern) for pattern in left_out):
                continue
            files += 1
            name = path.relative_to(root).as_posix()
            for rule, line, found in findings(path, name):
                print(f"{name}:{line}: {rule}: {found}")
                count += 1
    return count, files


PLANTED = {
    "import": ["import Foundation", "public import Glibc", "import struct Foundation.Date", "internal import Dispatch",
               "import NIOCore"],
    "clock": ["let a = SystemClock.now", "let a = ContinuousClock().now", "clock_gettime(CLOCK_MONOTONIC, &t)",
              "let d = Date()", 'let text = "at \\(ContinuousClock.now)"'],
    "randomness": ["let a = UInt32.random(in: 0...9)", "var g = SystemRandomNumberGenerator()", "x.shuffled()",
                   "let b = Bool.random()", "let a = Int.random(in: f(1)...g(2))"],
    "environment": ['getenv("X")', "let e = ProcessInfo.processInfo.environment", "CommandLine.arguments"],
    "concurrency": ["func f() async {}", "Task { g() }", "let m = Mutex(0)", "actor Hidden {}", "pthread_self()"],
}
HARMLESS = [
    "// reads SystemClock.now, see RFC 8445",
    '/// "import Foundation" is not /* allowed */ here',
    "/* Task { await x } /* nested getenv */ Date() */",
    'let text = "async Task { getenv } \\" Date()"',
    'let text = #"a "quoted" Date() "# + """\n  ProcessInfo "x"\n  """',
    "let a = UInt32.random(in: 0...9, using: &random)",
    "let a = Int.random(in: f(1)...g(2), using: &random)",
    "x.shuffled(using: &random)",
    "struct Timer { var isAsynchronous = false; let actors = 1 }",
    "connection.rand(3)",
]


def self_test():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        path = root / "Module" / "Planted.swift"
        path.parent.mkdir()
        for rule, lines in PLANTED.items():
            for line in lines:
                path.write_text(f"struct A {{\n{line}\n}}\n")
                found = list(findings(path, "Module/Planted.swift"))
                if not any(item[0] == rule and item[1] == 2 for item in found):
                    print(f"self-test: '{line}' wasn't found as {rule}: {found}")
                    failures += 1
        for line in HARMLESS:
            path.write_text(f"{line}\n")
            if found := list(findings(path, "Module/Planted.swift")):
                print(f"self-test: harmless '{line}' was found: {found}")
                failures += 1
        # The whole way, from a planted file and a missing folder to a count that isn't zero.
        path.write_text("import Foundation\n")
        with contextlib.redirect_stdout(io.StringIO()):
            count, _ = check(root, {"Module": {}, "Gone": {}})
        if count != 2:
            print(f"self-test: 2 findings were planted, {count} found")
            failures += 1
    return failures


def main():
    if sys.argv[1:] == ["--self-test"]:
        failures = self_test()
        if failures:
            sys.exit(f"guard-sans-io.py: the self-test failed {failures} times")
        print("guard-sans-io.py: self-test passed")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        count, files = check(ROOT, MODULES)
        if count:
            sys.exit(f"guard-sans-io.py: {count} findings in sans-I/O code, 0 are allowed: hand time, randomness and "
                     "I/O in from the edges")
        print(f"guard-sans-io.py: 0 findings in {files} sans-I/O files")


if __name__ == "__main__":
    main()

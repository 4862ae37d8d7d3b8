#!/usr/bin/env python3
"""Runs `swift test` with the options given, and the tests that failed a second time, by themselves.

For tests of real time alone: sockets, windows and foreign programs on a machine that does something else for a moment. Who fails twice has
failed, and so has a run that ends without a list of its tests, or in which many fail. What passed only at the second time is named.
"""

import argparse
import contextlib
import io
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as XML
from pathlib import Path

# More than these at once aren't a machine's moment.
MOST = 4


def failed(report):
    """The tests that a report names as failed, as (class, name); nothing where there is no report."""
    if not report.exists():
        return None
    return [
        (case.get("classname"), case.get("name")) for case in XML.parse(report).iter("testcase")
        if case.find("failure") is not None or case.find("error") is not None
    ]


def expression(tests):
    """What `--filter` takes for just these tests: MODULE.SUITE/NESTED/NAME."""
    def path(classname, name):
        module, *suites = classname.split(".")
        return re.escape(module) + r"\." + "/".join([*map(re.escape, suites), re.escape(name)]) + r"(/|$)"
    return "^(" + "|".join(path(*test) for test in tests) + ")"


def without_selection(arguments):
    """The options that don't say which tests run."""
    kept, values = [], iter(arguments)
    for value in values:
        if value in ("--filter", "--skip"):
            next(values, None)
        else:
            kept.append(value)
    return kept


def run(arguments, report):
    """The status of one run. Its report has the name of its testing library."""
    return subprocess.run([*arguments, "--xunit-output", str(report.with_name("tests.xml"))], check=False).returncode


def main(arguments):
    with tempfile.TemporaryDirectory() as folder:
        first, second = (Path(folder) / name / "tests-swift-testing.xml" for name in ("first", "second"))
        for report in (first, second):
            report.parent.mkdir()
        status = run(arguments, first)
        if status == 0:
            return 0
        tests = failed(first)
        if not tests or len(tests) > MOST:
            return status
        names = ", ".join(f"{classname}.{name}" for classname, name in tests)
        print(f"== failed, and run once more: {names}", flush=True)
        status = run([*without_selection(arguments), "--filter", expression(tests)], second)
        ran = len(list(XML.parse(second).iter("testcase"))) if second.exists() else 0
        if status == 0 and ran == len(tests):
            print(f"== passed only at the second time: {names}", flush=True)
            return 0
        return status or 1


class SelfTest(unittest.TestCase):
    """With a command that stands for `swift test`: it writes what its state says."""

    COMMAND = """
import pathlib, sys
report = pathlib.Path(sys.argv[sys.argv.index("--xunit-output") + 1]).with_name("tests-swift-testing.xml")
runs = pathlib.Path({runs!r})
with runs.open("a") as file:
    print(*sys.argv[1:], file=file)
names = {first!r} if runs.read_text().count("\\n") == 1 else {second!r}
if names is None:
    sys.exit(139)
cases = "".join(f'<testcase classname="M.S.T" name="{{n.strip("!")}}">{{"<failure/>" if "!" in n else ""}}</testcase>' for n in names)
report.write_text(f"<testsuites><testsuite>{{cases}}</testsuite></testsuites>")
sys.exit(any("!" in n for n in names))
"""

    def outcome(self, first, second=()):
        """The status, and the options of each run."""
        with tempfile.TemporaryDirectory() as folder:
            runs = Path(folder) / "runs"
            command = self.COMMAND.format(runs=str(runs), first=first, second=second)
            with contextlib.redirect_stdout(io.StringIO()):
                status = main([sys.executable, "-c", command, "--skip", "x", "--filter", "M"])
            return status, runs.read_text().splitlines()

    def test_what_passes_runs_once(self):
        status, runs = self.outcome(["a()"])
        self.assertEqual((status, len(runs)), (0, 1))

    def test_what_failed_runs_alone(self):
        status, runs = self.outcome(["a()", "b(x:)!"], ["b(x:)"])
        self.assertEqual((status, len(runs)), (0, 2))
        self.assertNotIn("--skip", runs[1])
        chosen = runs[1].split("--filter ")[1].split(" --xunit")[0]
        self.assertTrue(re.search(chosen, "M.S/T/b(x:)"))
        self.assertFalse(re.search(chosen, "M.S/T/a()"))

    def test_who_fails_twice_has_failed(self):
        self.assertEqual(self.outcome(["a()!"], ["a()!"])[0], 1)

    def test_a_second_run_of_nothing_is_no_success(self):
        self.assertEqual(self.outcome(["a()!"], [])[0], 1)

    def test_many_that_fail_have_failed(self):
        status, runs = self.outcome([f"{letter}()!" for letter in "abcde"], [])
        self.assertEqual((status, len(runs)), (1, 1))

    def test_a_crash_is_a_failure(self):
        status, runs = self.outcome(None)
        self.assertEqual((status, len(runs)), (139, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--self-test", action="store_true", help="test this program")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="swift test and its options")
    options = parser.parse_args()
    if options.self_test:
        unittest.main(argv=[sys.argv[0]], verbosity=0)
    sys.exit(main(options.command))

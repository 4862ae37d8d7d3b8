"""Counts that may only go down: what is found is compared with what a file in Tools/ratchets allows."""

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "ratchets"


def read(name):
    """Allowed counts by their keys; none where there is no file yet."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else {}


def write(name, found):
    FOLDER.mkdir(exist_ok=True)
    counts = {key: count for key, count in sorted(found.items()) if count}
    (FOLDER / f"{name}.json").write_text(json.dumps(counts, indent=1) + "\n")


def grown(found, allowed):
    """Keys whose count is above what is allowed, with both."""
    return [(key, count, allowed.get(key, 0)) for key, count in sorted(found.items()) if count > allowed.get(key, 0)]


def settle(tool, name, found, what, options, advice, by_total=False):
    """Ends the run of a guard: writes the counts anew, or fails where one went up.

    With `by_total` the sum must not go up when the counts are written anew, single ones may: lines move between files."""
    allowed = read(name)
    more = grown(found, allowed)
    total, before = sum(found.values()), sum(allowed.values())
    if options.update:
        refused = total > before if by_total else bool(more)
        if allowed and refused and not options.allow_more:
            for key, count, limit in more:
                print(f"{key}: {count} {what}, {limit} are allowed")
            sys.exit(f"{tool}: not written, it would allow more ({before} to {total}): --allow-more, with a reason in the commit")
        write(name, found)
        print(f"{tool}: wrote Tools/ratchets/{name}.json: {total} {what}, {before} before")
        return
    if more:
        for key, count, limit in more:
            print(f"{key}: {count} {what}, {limit} are allowed")
        sys.exit(f"{tool}: more {what} than Tools/ratchets/{name}.json allows: {advice}")
    fewer = f"; {before - total} fewer than allowed: run {tool} --update" if total < before else ""
    print(f"{tool}: {total} {what}, none too many{fewer}")


def add_options(parser):
    parser.add_argument("--update", action="store_true", help="write the allowed counts anew; they may only go down")
    parser.add_argument("--allow-more", action="store_true", help="with --update: let them go up")
    parser.add_argument("--self-test", action="store_true")

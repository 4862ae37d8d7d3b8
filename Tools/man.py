#!/usr/bin/env python3
"""Write manual pages from what a command tells of itself.

    sora --experimental-dump-help | Tools/man.py FOLDER VERSION

FOLDER gets `sora.1`, and a `sora-COMMAND.1` for each command, in the macros of man(7). The help texts are the one source:
what `sora play --help` says, `man sora-play` says.
"""

import json
import pathlib
import sys

PROJECT = "Sora for Swift on Linux"


def text(words):
    """Text for a line of its own: what troff would take for a request or an escape is quoted."""
    escaped = words.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti")
    return "\n".join("\\&" + line if line[:1] in (".", "\\") else line for line in escaped.split("\n"))


def argument(words):
    """Text as one argument of a macro."""
    return '"' + text(words).removeprefix("\\&").replace('"', "\\(dq") + '"'


def flag(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def shown(arguments):
    return [each for each in arguments if each.get("shouldDisplay", True)]


def synopsis(arguments):
    """What stands behind the command: positional arguments and required options by name, the rest as [options]."""
    words = []
    for each in shown(arguments):
        value = f"<{each['valueName']}>"
        if each["kind"] == "positional":
            words.append(f"[{value}]" if each["isOptional"] else value)
        elif each["kind"] == "option" and not each["isOptional"] and "defaultValue" not in each:
            words.append(f"{flag(each['preferredName'])} {value}")
    return " ".join(words + ["[options]"])


def entry(each):
    """An argument's paragraph."""
    value = f"<{each['valueName']}>"
    if each["kind"] == "positional":
        head = value
    else:
        names = ", ".join(flag(name) for name in each["names"])
        head = f"{names} {value}" if each["kind"] == "option" else names
    said = each.get("abstract", "")
    if each.get("defaultValue") and each["kind"] == "option":
        said += f" (default: {each['defaultValue']})"
    return [".TP", f".B {argument(head)}", text(said.strip() or "\\&").strip()]


def page(command, version, name, others):
    lines = [
        f".TH {argument(name.upper())} 1 {argument('')} {argument('sora ' + version)} {argument(PROJECT)}",
        ".SH NAME",
        text(name) + " \\- " + text(command.get("abstract", "").rstrip(".")),
        ".SH SYNOPSIS",
    ]
    subcommands = [each for each in command.get("subcommands", []) if each["commandName"] != "help"]
    called = name.replace("-", " ", 1)
    rest = "<command> [options]" if subcommands else synopsis(command.get("arguments", []))
    lines += [f".B {argument(called)}", text(rest)]
    if command.get("discussion"):
        lines.append(".SH DESCRIPTION")
        for paragraph in command["discussion"].split("\n\n"):
            lines += [text(paragraph), ".PP"]
        lines.pop()
    if subcommands:
        lines.append(".SH COMMANDS")
        for each in subcommands:
            lines += [".TP", f".BR {argument(name + '-' + each['commandName'])} (1)", text(each["abstract"])]
    options = shown(command.get("arguments", []))
    if options:
        lines.append(".SH OPTIONS")
        for each in options:
            lines += entry(each)
    lines += [
        ".SH EXIT STATUS",
        "0 where the job was done, 1 where it could not be, 2 for wrong usage; one line on standard error says what to change.",
    ]
    if others:
        lines.append(".SH SEE ALSO")
        lines += [f".BR {argument(each)} (1)" + ("," if each != others[-1] else "") for each in others]
    return "\n".join(lines) + "\n"


def pages(dump, version):
    """The pages by file name."""
    root = dump["command"]
    commands = [each for each in root["subcommands"] if each["commandName"] != "help"]
    names = ["sora"] + ["sora-" + each["commandName"] for each in commands]
    found = {}
    for name, command in zip(names, [root] + commands):
        found[f"{name}.1"] = page(command, version, name, [each for each in names if each != name] if name != "sora" else [])
    return found


def self_test():
    dump = {
        "command": {
            "commandName": "sora", "abstract": "A tool.", "arguments": [],
            "subcommands": [
                {
                    "commandName": "play", "abstract": "Plays it's part.", "discussion": ".first\n\nsecond \\n",
                    "arguments": [
                        {"kind": "positional", "valueName": "url", "isOptional": False, "abstract": "Where."},
                        {"kind": "option", "valueName": "id", "isOptional": False, "abstract": "Which.",
                         "names": [{"kind": "long", "name": "channel"}],
                         "preferredName": {"kind": "long", "name": "channel"}},
                        {"kind": "option", "valueName": "n", "isOptional": False, "abstract": "Rate.", "defaultValue": "30",
                         "names": [{"kind": "long", "name": "fps"}], "preferredName": {"kind": "long", "name": "fps"}},
                        {"kind": "flag", "valueName": "help", "isOptional": True, "abstract": "Help.",
                         "names": [{"kind": "short", "name": "h"}, {"kind": "long", "name": "help"}],
                         "preferredName": {"kind": "long", "name": "help"}},
                        {"kind": "flag", "valueName": "hidden", "isOptional": True, "shouldDisplay": False,
                         "names": [{"kind": "long", "name": "hidden"}]},
                    ],
                },
                {"commandName": "help", "abstract": "Help."},
            ],
        }
    }
    found = pages(dump, "1.2")
    assert sorted(found) == ["sora-play.1", "sora.1"], sorted(found)
    play = found["sora-play.1"]
    assert "\n<url> \\-\\-channel <id> [options]\n" in play, play
    assert "\n\\&.first\n.PP\nsecond \\en\n" in play, play
    assert '.B "\\-\\-fps <n>"\nRate. (default: 30)\n' in play, play
    assert '.B "\\-h, \\-\\-help"\n' in play and "hidden" not in play, play
    assert "it\\(aqs" in play and '"sora 1.2"' in play, play
    assert '.BR "sora\\-play" (1)' in found["sora.1"] and "help" not in found["sora.1"], found["sora.1"]


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 3:
        sys.exit("usage: sora --experimental-dump-help | man.py FOLDER VERSION")
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in pages(json.load(sys.stdin), sys.argv[2]).items():
        (folder / name).write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Finds the Swift blocks of the documentation, with the rules that the comments above them give."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


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

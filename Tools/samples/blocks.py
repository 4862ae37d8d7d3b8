"""Finds the Swift blocks of the documentation, its commands and its example programs, with the rules that the comments above them give."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Whole programs, each a folder of sources: targets of the package there.
EXAMPLES = "Docs/Examples/"
# Where every command must say how it is tested.
HANDBOOK = "Docs/handbook/"
# Its pages in another language, which must have the blocks of those in English.
ORIGINAL, TRANSLATION = HANDBOOK + "en/", HANDBOOK + "ja/"


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
    # A block of commands, to be run by a shell.
    is_shell: bool = False
    # A file of its own, which apps in Swift 5 mode must be able to take over as well.
    is_example: bool = False

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
        return not self.is_shell and ("import PackageDescription" in self.code or self.rule("manifest"))

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
    def essence(self):
        """What a translation must leave as it is: all but comments."""
        comment = r"(^|\s+)#.*$" if self.is_shell else r"(^|\s+)//.*$"
        lines = [re.sub(comment, "", line) for line in self.code.split("\n")]
        return self.is_shell, self.rules, [line for line in lines if line.strip()]

    @property
    def doing(self):
        if self.rule("skip"):
            return f"skipped: {self.rule('skip')}"
        if self.rule("ci"):
            return "commands of CI"
        if self.is_shell:
            return "commands"
        if self.is_manifest:
            return "manifest"
        return "run" if self.rule("run") else "compiled"


KNOWN = {"run", "publisher", "until", "after", "given", "manifest", "skip", "server", "proxy", "restart", "ci", "swift5"}


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
            fence, indent, language = match.group(2), len(match.group(1)), match.group(3)
            if language == "sh" and comment is None and path.startswith(HANDBOOK):
                raise Wrong(f"{path}:{number}: commands of the handbook need a `sample:` that says how they are tested")
            if language != "swift" and not (language == "sh" and comment):
                code = ()
                if comment:
                    raise Wrong(f"{path}:{comment_line}: `sample:` stands above a block that is neither Swift nor sh")
                continue
            rules, given = parse_rules(comment, f"{path}:{comment_line}") if comment else ([], "")
            block = Block(path, number + 1, "", rules, given, is_shell=language == "sh")
            if block.rule("ci") and not block.is_shell:
                raise Wrong(f"{block.name}: `sample: ci` is for commands")
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


def example(path, text):
    """A file that is a program, with the rules that its first line gives."""
    first = text.partition("\n")[0]
    if not first.startswith("// sample: "):
        raise Wrong(f"{path}: an example begins with its rules, such as `// sample: run`")
    rules, _ = parse_rules(first[len("// sample: "):], path)
    return Block(path, 1, text, rules, is_example=True)


def blocks_of(path, text):
    """What there is to test in a document."""
    if path.startswith(EXAMPLES) and path.endswith(".swift") and not path.endswith("/Package.swift"):
        return [example(path, text)]
    return blocks(path, text)


def translated(found):
    """The blocks of translated pages, once it is sure that those of the originals are the same."""
    pages = {}
    for block in found:
        if block.path.startswith((ORIGINAL, TRANSLATION)):
            pages.setdefault(block.path, []).append(block)
    for path in pages:
        if path.startswith(ORIGINAL) and path.replace(ORIGINAL, TRANSLATION) not in pages:
            raise Wrong(f"{path} isn't translated")
    same = []
    for path, blocks in pages.items():
        if not path.startswith(TRANSLATION):
            continue
        originals = pages.get(path.replace(TRANSLATION, ORIGINAL), [])
        for block, original in zip(blocks, originals):
            if block.essence != original.essence:
                raise Wrong(f"{block.name} differs from {original.name} in more than its comments")
        if len(blocks) != len(originals):
            raise Wrong(f"{path} has {len(blocks)} blocks, and its original {len(originals)}")
        same += blocks
    return same


def doc_comments(text):
    """A Swift source with everything but its doc comments blank, so that lines keep their numbers."""
    lines = []
    for line in text.split("\n"):
        match = re.match(r"^\s*/// ?(.*)$", line)
        lines.append(match.group(1) if match else "")
    return "\n".join(lines)


def documents():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md", "Packages/*.swift", "Tools/*.swift", EXAMPLES + "*.swift"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in sorted(filter(None, listed.split("\0"))):
        path = ROOT / name
        if not path.is_file() or "/Tests/" in name or "/corpus/" in name:
            continue
        text = path.read_text()
        if name.startswith(EXAMPLES) and name.endswith("/Package.swift"):
            yield name, f"```swift\n{text}```\n"
        elif name.endswith(".md") or name.startswith(EXAMPLES):
            yield name, text
        elif "/// ```swift" in text:
            yield name, doc_comments(text)

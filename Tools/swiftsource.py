"""Reads Swift sources well enough to count what stands in them: code without comments and literals, the types that a file
declares, their stored properties. No parser: it goes by words and brackets, which formatted code keeps in order."""

import re
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENING = re.compile(r'(#*)("""|")')
BLANKED = re.compile(r"[^\n]")
# What may end a run of code or of a literal's text.
IN_CODE = re.compile(r'[/#"()]')
IN_LITERAL = re.compile(r'["\\\n]')


def code_only(source, keep_literals=False):
    """The source with comments blanked out, and the text of literals too; what literals interpolate stays."""
    out = []
    index, end = 0, len(source)
    # One entry an open literal: its delimiter and hashes; an int counts the brackets of an interpolation.
    stack = []

    def take(stop, blank=True):
        nonlocal index
        text = source[index:stop]
        out.append(BLANKED.sub(" ", text) if blank else text)
        index = stop

    def literal(stop):
        take(stop, blank=not keep_literals)

    while index < end:
        if stack and isinstance(stack[-1], tuple):
            quote, hashes = stack[-1]
            if source.startswith(quote + hashes, index):
                stack.pop()
                literal(index + len(quote + hashes))
            elif source.startswith("\\" + hashes + "(", index):
                stack.append(1)
                literal(index + len(hashes) + 2)
            elif source[index] == "\\" and not hashes:
                literal(index + 2)
            elif source[index] == "\n" and quote == '"':
                stack.pop()  # not a literal after all
            else:
                match = IN_LITERAL.search(source, index + 1)
                literal(match.start() if match else end)
            continue
        if source.startswith("//", index):
            stop = source.find("\n", index)
            take(end if stop < 0 else stop)
        elif source.startswith("/*", index):
            depth, stop = 1, index + 2
            while stop < end and depth:
                if source.startswith("/*", stop):
                    depth, stop = depth + 1, stop + 2
                elif source.startswith("*/", stop):
                    depth, stop = depth - 1, stop + 2
                else:
                    stop += 1
            take(stop)
        elif source[index] in '#"' and (match := OPENING.match(source, index)):
            stack.append((match.group(2), match.group(1)))
            literal(match.end())
        else:
            if stack:
                if source[index] == "(":
                    stack[-1] += 1
                elif source[index] == ")":
                    stack[-1] -= 1
                    if stack[-1] == 0:
                        stack.pop()
                        literal(index + 1)
                        continue
            match = IN_CODE.search(source, index + 1)
            take(match.start() if match else end, blank=False)
    return "".join(out)


@dataclass
class Declaration:
    """A type or an extension, with the place of its body in the code."""

    kind: str
    name: str
    start: int
    body: tuple
    is_private: bool
    path: str = ""
    depth: int = 0
    inner: list = field(default_factory=list)


DECLARED = re.compile(r"(?<![\w.`@#])(struct|class|enum|actor|protocol|extension)\s+(`?[A-Za-z_][\w.]*`?)")
ALIAS = re.compile(r"(?<![\w.`])typealias\s+([A-Za-z_]\w*)")
MODIFIERS = re.compile(
    r"(?:(?:@\w+|public|package|internal|open|final|private|fileprivate|indirect|static|class|lazy|weak|unowned|nonisolated|"
    r"override|dynamic|distributed|case|import)\b(?:\([^()\n]*\))?\s+)*$")
# After `class`, what makes it a modifier of a member.
MEMBER = {"func", "var", "let", "subscript", "init"}


def closing(code, opening):
    """The index of the bracket that closes the brace at `opening`."""
    depth = 0
    for index in range(opening, len(code)):
        if code[index] == "{":
            depth += 1
        elif code[index] == "}":
            depth -= 1
            if depth == 0:
                return index
    return len(code)


def declarations(code):
    """Types and extensions of the code of a file, the outer ones before those inside of them."""
    found = []
    for match in DECLARED.finditer(code):
        kind, name = match.group(1), match.group(2).strip("`")
        before = MODIFIERS.search(code, max(0, match.start() - 200), match.start()).group(0).split()
        if name in MEMBER or "import" in before:
            continue
        opening = code.find("{", match.end())
        if opening < 0 or re.search(r"[;}]", code[match.end():opening]):
            continue
        is_private = "private" in before or "fileprivate" in before
        found.append(Declaration(kind, name, match.start(), (opening, closing(code, opening)), is_private))
    stack = []
    for one in found:
        while stack and stack[-1].body[1] < one.start:
            stack.pop()
        one.depth = len(stack)
        one.path = ".".join([outer.name for outer in stack] + [one.name])
        if stack:
            stack[-1].inner.append(one)
            one.is_private = one.is_private or stack[-1].is_private
        stack.append(one)
    return found


PROPERTY = re.compile(r"(?<![\w.`])(var|let)\s+(`?\w+`?|\()")


def stored_properties(code, declaration):
    """Names of the properties that each value of a struct, class or actor stores."""
    if declaration.kind not in ("struct", "class", "actor"):
        return []
    opening, end = declaration.body
    # The body's own level: what stands in deeper brackets is blanked out, the outermost of those brackets stay.
    level, depth = [], 0
    for character in code[opening + 1:end]:
        if character in ")]}":
            depth -= 1
        level.append(character if depth == 0 or character == "\n" else " ")
        if character in "([{":
            depth += 1
    level = "".join(level)
    names = []
    matches = list(PROPERTY.finditer(level))
    for match in matches:
        before = MODIFIERS.search(level, max(0, match.start() - 200), match.start()).group(0).split()
        if "static" in before or "class" in before or "case" in before:
            continue
        # To the end of the statement: a line break that no operator, comma or bracket continues.
        stop = match.end()
        while stop < len(level):
            if level[stop] == "\n":
                line, rest = level[match.start():stop].rstrip(), level[stop:].lstrip()
                if not line.endswith((",", "=", ":", "->", "&", "(", "[", "<", "|")) and not rest.startswith(
                        (".", "=", "{", ",", "?", ")", "]", "->", "&", "|", "where ", ">", ":")):
                    break
            stop += 1
        statement = level[match.start():stop]
        brace, equals = statement.find("{"), re.search(r"(?<![=!<>])=(?!=)", statement)
        if brace >= 0 and (equals is None or equals.start() > brace):
            place = opening + 1 + match.start() + brace
            inside = code[place + 1:closing(code, place)]
            if not re.match(r"\s*(?:@\w+\s*)*(?:willSet|didSet)\b", inside):
                continue  # computed
        if match.group(2) == "(":
            names += re.findall(r"\w+", code[opening + 1 + match.end():].split(")", 1)[0])
            continue
        names.append(match.group(2).strip("`"))
        # `var a = 1, b = 2`: brackets of generic arguments are none of the level's.
        plain = re.sub(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>", "", statement)
        names += re.findall(r",\s*(\w+)\s*(?=[:=])", plain)
    return names


@dataclass
class Source:
    """One file: its code and the types in it."""

    name: str
    text: str
    code: str
    declarations: list


_cache = {}


def load(path, root=ROOT):
    """A file, read once."""
    key = (str(root), str(path))
    if key not in _cache:
        text = Path(path).read_text(encoding="utf-8")
        code = code_only(text)
        _cache[key] = Source(Path(path).relative_to(root).as_posix(), text, code, declarations(code))
    return _cache[key]


def sources(folder):
    """Swift files under a folder, sorted, without what is generated or built."""
    return sorted(path for path in Path(folder).rglob("*.swift") if ".build" not in path.parts)


def product_sources(root=ROOT):
    """The Swift files of Packages/*/Sources."""
    return [path for package in sorted(Path(root).glob("Packages/*/Sources")) for path in sources(package)]


def modules(root=ROOT):
    """Swift modules of the packages: name to folder."""
    found = {}
    for folder in sorted(Path(root).glob("Packages/*/Sources/*")):
        if folder.is_dir() and sources(folder):
            found[folder.name] = folder
    return found

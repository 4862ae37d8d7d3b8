#!/usr/bin/env python3
"""Writes the API's documentation from what `swift build -c release` has built, without building anything a second time.

    docs.py OUTPUT              every module that a package offers
    docs.py OUTPUT SoraMedia    that module alone

Symbol graphs are extracted from the built modules, DocC converts each with its catalogue (Sources/X/X.docc), and the
archives are merged under one landing page. Every warning is an error, and so is a module without a catalogue; samples in
articles are Tools/samples' matter. DOCS_SCRATCH names the folder of another build (its `.build`). Serve the result with
`python3 -m http.server --directory OUTPUT`."""

import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"
# What is read: this checkout's build, or another folder's of the same commit.
SCRATCH = Path(os.environ.get("DOCS_SCRATCH") or BUILD).resolve()
# What a package offers for its own tests and others', which nobody reads about.
UNDOCUMENTED = {"SignalingTestSupport"}
# Packages in the order in which a newcomer needs them; others follow by name.
FIRST = ["SoraSDK", "SoraServer", "SoraWebRTC", "SoraCapture", "SoraView", "SoraAudio", "SoraCodecs", "SoraSignaling"]
# Articles likewise.
FIRST_ARTICLES = ["FirstCall", "ThreadsAndHandlers", "OwnFrames", "Simulcast", "DataChannels", "StatisticsOfACall", "Robot", "ServerInTests",
                  "Embedding", "TheCore", "WithoutSora", "DataWithoutMedia"]


def fail(message):
    sys.exit(f"docs.py: {message}")


class Page:
    """The title and the first paragraph of a page in a catalogue."""

    def __init__(self, path):
        self.path = path
        text = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.S)
        match = re.match(r"\s*# (.+)\n+((?:.+\n?)+)", text)
        if not match:
            fail(f"{path.relative_to(ROOT)} begins with no title and paragraph")
        self.title = match.group(1).strip()
        self.abstract = " ".join(match.group(2).split())


class Module:
    def __init__(self, name, folder):
        self.name = name
        self.package = folder.relative_to(ROOT).parts[1]
        self.catalogue = folder / f"{name}.docc"
        if not (self.catalogue / f"{name}.md").exists():
            fail(f"{folder.relative_to(ROOT)} has no {name}.docc/{name}.md, which says in a line what the module is")
        self.page = Page(self.catalogue / f"{name}.md")
        self.articles = [Page(path) for path in sorted(self.catalogue.glob("*.md")) if path.stem != name]
        self.link = f"documentation/{name.lower()}/"


def modules():
    """What the packages offer as libraries, but for modules of C."""
    found = []
    for manifest in sorted(ROOT.glob("Packages/*/Package.swift")):
        for name in re.findall(r'\.library\(\s*name: "(\w+)"', manifest.read_text()):
            folder = manifest.parent / "Sources" / name
            if name not in UNDOCUMENTED and any(folder.glob("**/*.swift")):
                found.append(Module(name, folder))

    def order(module):
        return FIRST.index(module.package) if module.package in FIRST else len(FIRST), module.package

    return sorted(found, key=order)


def compiler_flags(configuration="release"):
    """Where the built modules and those of C under them are, as the build itself was told."""
    plan = SCRATCH / f"{configuration}.yaml"
    if not plan.exists():
        fail(f"nothing is built: `swift build -c {configuration}` first")
    text = plan.read_text()
    flags = ["-I", str(SCRATCH / configuration / "Modules"), "-module-cache-path", str(BUILD / "docs-cache")]
    folders = set(re.findall(r'"-I","(/[^"]+)"', text)) | set(re.findall(r'"-I(/[^"]+)"', text))
    # What is built for tools of the build has other options.
    for folder in sorted(folder for folder in folders if not folder.endswith(("/Modules", "/Modules-tool"))):
        flags += ["-I", folder]
    for path in sorted(set(re.findall(r'"-fmodule-map-file=([^"]+)"', text))):
        flags += ["-Xcc", f"-fmodule-map-file={path}"]
    return flags


def target():
    info = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True)
    return re.search(r'"unversionedTriple": "([^"]+)"', info.stdout).group(1)


def run(arguments):
    """What it said where it failed, else nothing."""
    result = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT)
    return "" if result.returncode == 0 else (result.stdout + result.stderr).strip() or f"{arguments[0]} failed"


def document(module, flags, triple, scratch):
    """Makes one module's archive; what went wrong."""
    graphs = scratch / "graphs" / module.name
    graphs.mkdir(parents=True)
    problem = run(
        ["swift", "symbolgraph-extract", "-module-name", module.name, "-target", triple, *flags, "-minimum-access-level",
         "public", "-skip-synthesized-members", "-output-dir", str(graphs)])
    return problem or run(
        ["docc", "convert", str(module.catalogue), "--additional-symbol-graph-dir", str(graphs), "--fallback-display-name",
         module.name, "--fallback-bundle-identifier", module.name, "--fallback-default-module-kind", "Module",
         "--warnings-as-errors", "--output-path", str(scratch / f"{module.name}.doccarchive")])


STYLE = """
:root { color-scheme: light dark; --text: #1d1d1f; --quiet: #5f6368; --line: #d8dadf; --link: #0b62c4; --ground: #fff; --raised: #f6f7f9 }
@media (prefers-color-scheme: dark) {
  :root { --text: #f2f2f4; --quiet: #a2a7b0; --line: #3a3d44; --link: #6cb2ff; --ground: #17181c; --raised: #202228 }
}
* { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif }
main, header div { max-width: 68rem; margin: 0 auto; padding: 0 1.5rem }
header { background: var(--raised); border-bottom: 1px solid var(--line); padding: 3rem 0 2.2rem }
h1 { margin: 0 0 .4rem; font-size: 2.2rem; line-height: 1.2 }
header p { margin: 0; max-width: 46rem; color: var(--quiet); font-size: 1.1rem }
h2 { margin: 2.6rem 0 .9rem; font-size: 1.3rem }
h3 { margin: 0 0 .5rem; font-size: 1rem; color: var(--quiet); font-weight: 600 }
a { color: var(--link); text-decoration: none }
a:hover { text-decoration: underline }
.articles { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)) }
.articles a { display: block; height: 100%; padding: 1.1rem 1.25rem; border: 1px solid var(--line); border-radius: .7rem;
  background: var(--raised); color: var(--quiet) }
.articles a:hover { border-color: var(--link); text-decoration: none }
.articles strong { display: block; margin-bottom: .3rem; color: var(--link); font-size: 1.08rem }
section { display: grid; grid-template-columns: 11rem 1fr; gap: 0 1.5rem; padding: 1rem 0; border-top: 1px solid var(--line) }
dl { display: grid; grid-template-columns: 13rem 1fr; gap: .35rem 1.2rem; margin: 0 }
dt { font: 600 .95rem/1.63 ui-monospace, SFMono-Regular, Menlo, monospace; overflow-wrap: anywhere }
dd { margin: 0 }
code { font-size: .92em }
footer { margin: 2.5rem 0 3rem; color: var(--quiet); font-size: .9rem }
@media (max-width: 760px) { section, dl { grid-template-columns: 1fr } dd { margin-bottom: .5rem } h1 { font-size: 1.7rem } }
"""


# DocC's pages show what is in such a template above all else.
BODY = '<body data-color-scheme="auto">'
HEADER = """<template id="custom-header"><style>
nav { padding: .7rem 1.4rem; font: 14px/1 system-ui, sans-serif; background: var(--color-fill-secondary);
  border-bottom: 1px solid var(--color-grid) }
a { color: var(--color-link); text-decoration: none }
</style><nav><a href="/">Sora for Swift on Linux</a></nav></template>"""


def link_back(output):
    """Has each of DocC's pages lead to the landing page."""
    for page in output.glob("documentation/**/index.html"):
        text = page.read_text()
        if BODY not in text:
            fail(f"{page}: no {BODY} to put the way back to the landing page behind")
        page.write_text(text.replace(BODY, BODY + HEADER, 1))


def inline(text):
    """Markdown of one paragraph, as far as abstracts use it."""
    text = html.escape(text, quote=False)
    text = re.sub(r"``?([^`]+)``?", r"<code>\1</code>", text)
    return re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)


def landing_page(found):
    articles = [(module, page) for module in found for page in module.articles]
    articles.sort(key=lambda one: FIRST_ARTICLES.index(one[1].path.stem) if one[1].path.stem in FIRST_ARTICLES else 99)
    lines = [
        '<!doctype html>', '<html lang="en">', "<head>", '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>Sora for Swift on Linux</title>", f"<style>{STYLE}</style>", "</head>", "<body>", "<header><div>",
        "<h1>Sora for Swift on Linux</h1>",
        "<p>Live video and sound over WebRTC SFU Sora, in Swift, on Linux. Begin with the first call; each module can also "
        "be used alone.</p>", "</div></header>", "<main>"]
    if articles:
        lines += ["<h2>Articles</h2>", '<div class="articles">']
        for module, page in articles:
            lines.append(
                f'<a href="{module.link}{page.path.stem.lower()}/"><strong>{inline(page.title)}</strong>'
                f"{inline(page.abstract)}</a>")
        lines.append("</div>")
    lines.append("<h2>Modules</h2>")
    for package in dict.fromkeys(module.package for module in found):
        lines += ["<section>", f"<h3>{package}</h3>", "<dl>"]
        for module in found:
            if module.package == package:
                lines.append(
                    f'<dt><a href="{module.link}">{module.name}</a></dt><dd>{inline(module.page.abstract)}</dd>')
        lines += ["</dl>", "</section>"]
    lines += ["<footer>Made by <code>make docs</code>. To be served, not opened as files.</footer>", "</main>", "</body>", "</html>"]
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    output = Path(sys.argv[1]).resolve()
    found = modules()
    wanted = set(sys.argv[2:])
    unknown = wanted - {module.name for module in found}
    if unknown:
        fail(f"no module {', '.join(sorted(unknown))}; there are {', '.join(module.name for module in found)}")
    if wanted:
        found = [module for module in found if module.name in wanted]
    flags, triple = compiler_flags(), target()
    BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD, prefix="docs-") as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        scratch = Path(folder)
        jobs = [pool.submit(document, module, flags, triple, scratch) for module in found]
        problems = [problem for problem in (job.result() for job in jobs) if problem]
        if problems:
            fail(f"{len(problems)} of {len(jobs)} modules have problems\n\n" + "\n\n".join(problems))
        shutil.rmtree(output, ignore_errors=True)
        problem = run(
            ["docc", "merge", *(str(scratch / f"{module.name}.doccarchive") for module in found),
             "--synthesized-landing-page-name", "Sora for Swift on Linux", "--output-path", str(output)])
        if problem:
            fail(problem)
    link_back(output)
    # DocC's own page at the root knows no page by that name.
    (output / "index.html").write_text(landing_page(found))
    articles = sum(len(module.articles) for module in found)
    print(f"{len(found)} modules, {articles} articles; to look at them:")
    print(f"  python3 -m http.server --bind 127.0.0.1 --directory {sys.argv[1]}")


if __name__ == "__main__":
    main()

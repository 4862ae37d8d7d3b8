"""Compiles blocks against what the build has left, and checks manifests."""

import json
import os
import re
import subprocess
from pathlib import Path

from blocks import ROOT, Wrong

SWIFT = os.environ.get("SWIFT", "swift")
CONFIGURATION = os.environ.get("CONFIGURATION", "release")
# Another folder's build does as well, such as one of a checkout of the same commit.
SCRATCH = Path(os.environ.get("SAMPLES_SCRATCH") or ROOT / ".build").resolve()
BUILD = SCRATCH / CONFIGURATION
WORK = ROOT / ".build" / "samples"
# What the samples say where a reader's own server is.
SERVER = "127.0.0.1:5000"
# And a proxy, as the arguments of a call.
PROXY = 'host: "127.0.0.1", port: 3128'
# What is linked into samples: the modules of the command, with and without these.
MORE_MODULES = ["Sora", "SoraNetworkSimulator"]
LEFT_OUT = ["SoraCommand", "SoraCommandSupport", "ArgumentParser", "ArgumentParserToolInfo"]
# Modules of the toolchain.
TOOLCHAIN = {"Foundation", "FoundationEssentials", "Dispatch", "Synchronization", "Testing", "Glibc"}


class Toolbox:
    """How the build of this repository calls the compiler and the linker, read from what the build left."""

    def __init__(self):
        plan = SCRATCH / f"{CONFIGURATION}.yaml"
        needed = [plan, BUILD / "Modules" / "Sora.swiftmodule", BUILD / "sora.product" / "Objects.LinkFileList"]
        if not all(path.exists() for path in needed):
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
        # Of the plan's lists, not of folders: those keep the objects of sources that are gone.
        modules = {self._module(name) for name in self._objects("sora")} - set(LEFT_OUT) | set(MORE_MODULES)
        every = [name for path in BUILD.glob("*.product/Objects.LinkFileList") for name in self._objects(path.parent.stem)]
        kept = [name for name in every if self._module(name) in modules]
        WORK.mkdir(parents=True, exist_ok=True)
        (WORK / "objects").write_text("".join(f'"{name}"\n' for name in dict.fromkeys(kept)))
        return flags + ["-Xlinker", "--gc-sections", f"@{WORK / 'objects'}"]

    @staticmethod
    def _objects(product):
        lines = (BUILD / f"{product}.product" / "Objects.LinkFileList").read_text().split("\n")
        return [line.strip("'\"") for line in lines if line]

    @staticmethod
    def _module(name):
        match = re.search(r"/(\w+)\.build/", name)
        return match.group(1) if match else ""

    def compile(self, block, folder, server=SERVER, proxy=PROXY):
        """Compiles a block, with the addresses of a server and a proxy in it; gives the program where it is one to run."""
        folder.mkdir(parents=True, exist_ok=True)
        source = folder / ("Sample.swift" if block.is_library else "main.swift")
        source.write_text(block.whole.replace(SERVER, server).replace(PROXY, proxy) + "\n")
        sources = [str(source)]
        common = [SWIFT + "c", "-warnings-as-errors", "-module-name", "Sample", "-Onone", "-module-cache-path", str(WORK / "cache")]
        mode = "5" if block.rule("swift5") else "6"
        command = common + ["-swift-version", mode] + self.flags
        runs = block.rule("run")
        if block.is_library:
            command.append("-parse-as-library")
        if runs and block.is_test:
            entry = folder / "Entry.swift"
            entry.write_text("import Testing\n@main struct Entry { static func main() async { await Testing.__swiftPMEntryPoint() as Never } }\n")
            sources.append(str(entry))
        program = folder / "sample"
        command += ["-emit-executable", "-o", str(program)] + self.linker if runs else ["-c", "-o", str(folder / "sample.o")]
        self._run(command + sources)
        if block.is_example and mode != "5":
            library = ["-parse-as-library"] if block.is_library else []
            self._run(common + ["-swift-version", "5", "-typecheck"] + library + self.flags + sources, "in Swift 5 mode: ")
        self.check_imports(block)
        return program

    @staticmethod
    def _run(command, prefix=""):
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        if result.returncode:
            said = [line for line in (result.stdout + result.stderr).splitlines() if re.search(r"(error|warning|undefined)", line)]
            said = [line for line in said if "error: fatalError" not in line] or [(result.stdout + result.stderr).strip()]
            raise Wrong("\n".join(prefix + line for line in dict.fromkeys(said[:12])))

    def check_imports(self, block):
        ours = {module for modules in self.products.values() for module in modules}
        for module in sorted(block.imports - TOOLCHAIN):
            if module in self.modules and module not in ours and module.startswith(("Sora", "WebRTC")):
                raise Wrong(f"imports {module}, which no product of the repository gives")


# The placeholder of the repository's address; a reader's own path does as well.
PACKAGE_LINE = re.compile(r'\.package\(\s*(?:name: "([^"]*)",\s*)?(?:url|path): "([^"]*)"')


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
    identities = {re.sub(r"\.git$", "", address.rstrip("/")).rpartition("/")[2] for name, path in PACKAGE_LINE.findall(code) for address in [name or path]}
    named = set()
    for product, package in re.findall(r'\.product\(\s*name: "(\w+)",\s*package: "([^"]*)"', code):
        if package not in identities:
            raise Wrong(f'product {product}: the package "{package}" isn\'t among the dependencies {sorted(identities)}')
        if product not in toolbox.products:
            raise Wrong(f"product {product} is none of this repository's")
        named.add(product)
    return named

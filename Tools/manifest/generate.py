#!/usr/bin/env python3
"""Writes the flat Package.swift of the repository's root from the manifests of Packages/*.

SwiftPM refuses a versioned package that depends on packages by path, so whoever depends on this repository by URL
needs one manifest without such dependencies. The packages' own manifests are the source of truth; what exists only
at the root (the command, the integration tests) stands in root.json beside this file.

    generate.py                write Package.swift
    generate.py --check        exit 1 when Package.swift isn't what would be written
    generate.py --integration  print the names of the test targets that need peers from outside
    generate.py --packages     print the packages, those without outside dependencies first
"""

import argparse
import difflib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
OUTPUT = ROOT / "Package.swift"
EXTRA = Path(__file__).resolve().parent / "root.json"
TOOLS_VERSION = "6.2"
WIDTH = 100

# What stands before the package, and what follows it.
APART = """\
// In one package, `package` reaches from each of Packages to the others, which it doesn't where they are built by themselves. With this
// set they are as many packages for the compiler as there are folders, and one build of all finds what a build of each would.
// SwiftPM refuses such flags in what others depend on: it is for those who build this repository.
let apart = Context.environment["SORA_PACKAGES_APART"] != nil
"""
NAMED_APART = """\
if apart {
  for target in package.targets where target.type != .system && !target.packageAccess {
    let folders = target.path?.split(separator: "/") ?? []
    target.swiftSettings =
      (target.swiftSettings ?? []) + [.unsafeFlags(["-package-name", String(folders[1])])]
  }
}
"""


def fail(message):
    sys.exit(f"generate.py: {message}")


# --- Reading ---------------------------------------------------------------------------------------------------


def package_folders():
    return sorted(path.parent for path in ROOT.glob("Packages/*/Package.swift"))


def dump(folder):
    """The package's manifest as SwiftPM reads it."""
    scratch = ROOT / ".build" / "manifest" / folder.name
    result = subprocess.run(
        ["swift", "package", "--package-path", str(folder), "--scratch-path", str(scratch), "dump-package"],
        capture_output=True, text=True)
    if result.returncode != 0:
        fail(f"{folder.name}: swift package dump-package failed\n{result.stderr}")
    # Other things that SwiftPM prints may come before.
    return json.loads(result.stdout[result.stdout.index("{"):])


def dump_all(folders):
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        return list(pool.map(dump, folders))


def expect_only(what, mapping, known):
    """Refuses what this script would silently leave out."""
    for key, value in mapping.items():
        if key not in known and value not in (None, [], {}, False, "", 0):
            fail(f"{what}: don't know how to carry over '{key}': {value!r}")


# --- Swift text ------------------------------------------------------------------------------------------------


def text(value):
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def listed(items, indent, prefix="", suffix=""):
    """A list in one line where it fits, otherwise one line an item."""
    line = f"{prefix}[{', '.join(items)}]{suffix}"
    # Room for a comma behind it, and for the one that swift format counts behind the last item.
    if len(line) + indent < WIDTH - 1 and "\n" not in line:
        return line
    inner = " " * (indent + 2)
    return f"{prefix}[\n" + "".join(f"{inner}{item},\n" for item in items) + " " * indent + f"]{suffix}"


def call(name, arguments, indent):
    """A call in one line where it fits with a comma behind it, otherwise one line an argument."""
    line = f"{name}({', '.join(arguments)})"
    if len(line) + indent < WIDTH and "\n" not in line:
        return line
    inner = " " * (indent + 2)
    return f"{name}(\n" + ",\n".join(f"{inner}{argument}" for argument in arguments) + ")"


# --- Parts of a manifest ---------------------------------------------------------------------------------------


def requirement(name, description):
    if "range" in description:
        low, high = description["range"][0]["lowerBound"], description["range"][0]["upperBound"]
        if high == f"{int(low.split('.')[0]) + 1}.0.0":
            return ("from", low)
        return ("range", low, high)
    for kind in ("exact", "branch", "revision"):
        if kind in description:
            return (kind, description[kind][0])
    fail(f"dependency {name}: unknown requirement {description!r}")


def external_dependencies(package):
    for dependency in package["dependencies"]:
        if "sourceControl" in dependency:
            source = dependency["sourceControl"][0]
            expect_only(
                f"{package['name']}: dependency {source['identity']}", source,
                {"identity", "location", "requirement", "traits"})
            traits = [trait["name"] for trait in source.get("traits", [])]
            if traits != ["default"]:
                fail(f"{package['name']}: dependency {source['identity']}: traits {traits} aren't carried over")
            remote = source["location"]["remote"][0]
            url = remote["urlString"] if isinstance(remote, dict) else remote
            yield source["identity"], url, requirement(source["identity"], source["requirement"])
        elif "fileSystem" not in dependency:
            fail(f"{package['name']}: unknown kind of dependency {dependency!r}")


def version(value):
    return tuple(int(part) for part in value.split("-")[0].split("."))


def merge_external(found):
    """One requirement a dependency: of two minimum versions the higher."""
    merged = {}
    for identity, url, need in found:
        if identity not in merged:
            merged[identity] = (url, need)
            continue
        known = merged[identity][1]
        if known == need:
            continue
        if known[0] == need[0] == "from" and version(known[1])[0] == version(need[1])[0]:
            merged[identity] = (url, max(known, need, key=lambda item: version(item[1])))
        else:
            fail(f"dependency {identity}: {known} and {need} don't agree")
    lines = []
    for url, need in sorted(merged.values()):
        if need[0] == "range":
            lines.append(f".package(url: {text(url)}, {text(need[1])}..<{text(need[2])})")
        else:
            lines.append(f".package(url: {text(url)}, {need[0]}: {text(need[1])})")
    return lines


def condition(what, value):
    if not value:
        return None
    expect_only(what, value, {"platformNames", "config", "traits"})
    arguments = []
    if value.get("platformNames"):
        arguments.append(f"platforms: [{', '.join('.' + name for name in value['platformNames'])}]")
    if value.get("config"):
        arguments.append(f"configuration: .{value['config']}")
    if value.get("traits"):
        arguments.append(f"traits: [{', '.join(text(name) for name in sorted(value['traits']))}]")
    return f".when({', '.join(arguments)})"


def setting(what, item):
    expect_only(what, item, {"tool", "kind", "condition"})
    (kind, value), = item["kind"].items()
    argument = value.get("_0") if isinstance(value, dict) else value
    when = condition(what, item.get("condition"))
    tail = f", {when}" if when else ""
    if kind == "swiftLanguageMode":
        return f".swiftLanguageMode(.v{argument}{tail})"
    if kind == "treatAllWarnings":
        return f".treatAllWarnings(as: .{argument}{tail})"
    if kind == "treatWarning":
        return f".treatWarning({text(argument)}, as: .{value['_1']}{tail})"
    if kind == "strictMemorySafety":
        return f".strictMemorySafety({when or ''})"
    if kind == "interoperabilityMode":
        return f".interoperabilityMode(.{argument}{tail})"
    if kind == "define" and "=" in argument and item["tool"] != "swift":
        name, content = argument.split("=", 1)
        return f".define({text(name)}, to: {text(content)}{tail})"
    if kind in ("enableUpcomingFeature", "enableExperimentalFeature", "define", "headerSearchPath",
                "linkedLibrary", "linkedFramework"):
        return f".{kind}({text(argument)}{tail})"
    # unsafeFlags among them: SwiftPM refuses packages with unsafe flags as dependencies.
    fail(f"{what}: setting '{kind}' can't be carried over")


# --- The whole -------------------------------------------------------------------------------------------------


class Manifest:
    def __init__(self, folders, packages, extra):
        self.extra = extra
        self.folders = folders
        self.packages = packages
        self.products = {}
        self.owners = {}
        for package in packages:
            for target in package["targets"]:
                other = self.owners.setdefault(target["name"], package["name"])
                if other != package["name"]:
                    fail(f"both {other} and {package['name']} have a target {target['name']}")
            for product in package["products"]:
                self.products[(package["name"].lower(), product["name"])] = product
        self.names = {folder.name.lower() for folder in folders} | {p["name"].lower() for p in packages}
        self.settings, self.raw_settings = self.common_settings()
        self.unoptimized = self.unoptimized_tests()

    def common_settings(self):
        """The Swift settings that all but a few targets begin with: as Swift text, and as SwiftPM dumps them."""
        every = []
        for package in self.packages:
            for target in package["targets"]:
                items = [item for item in target.get("settings", []) if item["tool"] == "swift"]
                if items:
                    every.append(([setting(target["name"], item) for item in items], items))
        values, raw = [], []
        while True:
            place = len(values)
            following = [(found, items) for found, items in every if found[:place] == values and len(found) > place]
            if not following:
                return values, raw
            counts = Counter(found[place] for found, _ in following)
            (value, count), = counts.most_common(1)
            # A target in another mode of the language, as apps are, doesn't make every other one spell its own.
            if count < 0.9 * len(every):
                return values, raw
            values = values + [value]
            raw = next(items for found, items in following if found[place] == value)[:place + 1]

    def unoptimized_tests(self):
        """The test targets that release builds compile without the optimizer."""
        named = set(self.extra.get("unoptimizedTests", []))
        targets = [target for package in self.packages for target in package["targets"]] + self.extra.get("targets", [])
        unknown = named - {target["name"] for target in targets if target["type"] == "test"}
        if unknown:
            fail(f"root.json: no test targets {', '.join(sorted(unknown))}")
        return named

    def dependency(self, what, item):
        """A target's dependency, as the names it has in the flat package."""
        (kind, value), = item.items()
        if kind in ("byName", "target"):
            name, when = value[0], condition(what, value[1])
            if name not in self.owners and kind == "byName":
                fail(f"{what}: no target {name}; name the package of a product")
            return [f".target(name: {text(name)}, condition: {when})" if when else text(name)]
        if kind != "product":
            fail(f"{what}: unknown kind of dependency {kind}")
        name, owner, aliases, when = value
        if aliases:
            fail(f"{what}: module aliases aren't carried over")
        when = condition(what, when)
        if owner.lower() not in self.names:
            tail = f", condition: {when}" if when else ""
            return [f".product(name: {text(name)}, package: {text(owner)}{tail})"]
        product = self.products.get((owner.lower(), name))
        if product is None:
            fail(f"{what}: package {owner} has no product {name}")
        return [
            f".target(name: {text(target)}, condition: {when})" if when else text(target)
            for target in product["targets"]
        ]

    def target(self, package, folder, item, indent):
        name, kind = item["name"], item["type"]
        what = f"{package['name']}: target {name}"
        expect_only(what, item, {
            "name", "type", "path", "dependencies", "exclude", "sources", "settings", "pkgConfig", "providers",
            "publicHeadersPath", "packageAccess", "resources"})
        if item.get("resources"):
            resources = [self.resource(what, resource) for resource in item["resources"]]
        else:
            resources = []
        place = item.get("path") or f"{'Tests' if kind == 'test' else 'Sources'}/{name}"
        path = (folder / place).relative_to(ROOT).as_posix()
        arguments = [f"name: {text(name)}"]
        if kind == "system":
            arguments.append(f"path: {text(path)}")
            if item.get("pkgConfig"):
                arguments.append(f"pkgConfig: {text(item['pkgConfig'])}")
            if item.get("providers"):
                providers = []
                for provider in item["providers"]:
                    (tool, names), = provider.items()
                    providers.append(f".{tool}([{', '.join(text(entry) for entry in names[0])}])")
                arguments.append(f"providers: [{', '.join(providers)}]")
            return call(".systemLibrary", arguments, indent)
        spelling = {"regular": ".target", "test": ".testTarget", "executable": ".executableTarget"}.get(kind)
        if spelling is None:
            fail(f"{what}: targets of type {kind} can't be carried over")
        dependencies = []
        for dependency in item.get("dependencies", []):
            for spelled in self.dependency(what, dependency):
                if spelled not in dependencies:
                    dependencies.append(spelled)
        if dependencies:
            arguments.append(listed(dependencies, indent + 2, "dependencies: "))
        arguments.append(f"path: {text(path)}")
        for key in ("exclude", "sources"):
            if item.get(key):
                arguments.append(listed([text(entry) for entry in item[key]], indent + 2, f"{key}: "))
        if resources:
            arguments.append(listed(resources, indent + 2, "resources: "))
        if item.get("publicHeadersPath"):
            arguments.append(f"publicHeadersPath: {text(item['publicHeadersPath'])}")
        if path.startswith("Packages/") and any((folder / place).rglob("*.swift")):
            arguments.append("packageAccess: !apart")
        for tool, label in (("c", "cSettings"), ("cxx", "cxxSettings"), ("swift", "swiftSettings"),
                            ("linker", "linkerSettings")):
            values = [setting(what, entry) for entry in item.get("settings", []) if entry["tool"] == tool]
            if not values:
                continue
            common = self.settings
            if tool == "swift" and values[:len(common)] == common:
                base = "unoptimized" if name in self.unoptimized else "settings"
                rest = values[len(common):]
                more = listed(rest, indent + 2, f"{label}: {base} + ") if rest else f"{label}: {base}"
                arguments.append(more)
            else:
                arguments.append(listed(values, indent + 2, f"{label}: "))
        return call(spelling, arguments, indent)

    def resource(self, what, item):
        expect_only(what, item, {"path", "rule"})
        (rule, _), = item["rule"].items()
        return f".{rule}({text(item['path'])})"

    def extra_targets(self):
        """The root's own targets, in the form of a dump. One whose folder isn't there is left out, and said so."""
        for item in self.extra.get("targets", []):
            is_swift = any((ROOT / item["path"]).rglob("*.swift"))
            if not is_swift and not any((ROOT / item["path"]).rglob("*.c")):
                print(f"generate.py: {item['path']} has no source: leaving out {item['name']}", file=sys.stderr)
                continue
            own = ("dependencies", "needsPeers", "settings", "strictMemorySafety")
            target = {key: value for key, value in item.items() if key not in own}
            target["settings"] = list(self.raw_settings) if is_swift else []
            if item.get("strictMemorySafety"):
                target["settings"].append({"tool": "swift", "kind": {"strictMemorySafety": {}}})
            target["dependencies"] = [
                {"byName": [entry, None]} if isinstance(entry, str)
                else {"product": [entry["product"], entry["package"], None, None]}
                for entry in item.get("dependencies", [])
            ]
            yield target

    def write(self):
        extra = list(self.extra_targets())
        names = {target["name"] for target in extra}
        for name in names:
            self.owners.setdefault(name, "the root")
        out = [
            f"// swift-tools-version: {TOOLS_VERSION}",
            "// Written by Tools/manifest/generate.py from Packages/*/Package.swift and Tools/manifest/root.json.",
            "// Change those, then run `make manifest`.",
            "import PackageDescription",
            "",
            "let settings: [SwiftSetting] = [",
            *[f"  {value}," for value in self.settings],
            "]",
            "",
            "// Tests with much text and little to compute: compiling them takes half as long, and they run nearly as fast. What they test is optimized.",
            "// SwiftPM refuses such flags in what others depend on, which tests aren't.",
            "let unoptimized: [SwiftSetting] =",
            '  settings + [.unsafeFlags(["-Onone"], .when(configuration: .release))]',
            "",
            APART,
            "let package = Package(",
            f"  name: {text(self.extra['name'])},",
            "  products: [",
        ]
        for product in self.extra.get("products", []):
            if set(product["targets"]) <= names:
                out.append("    " + self.product("executable", product, None) + ",")
        for package in self.packages:
            expect_only(package["name"], package, {
                "name", "dependencies", "products", "targets", "toolsVersion", "packageKind", "traits"})
            for product in package["products"]:
                (kind, linkage), = product["type"].items()
                expect_only(package["name"], product, {"name", "targets", "type"})
                out.append("    " + self.product(kind, product, linkage) + ",")
        out += ["  ],", *self.traits(), "  dependencies: ["]
        found = [entry for package in self.packages for entry in external_dependencies(package)]
        for item in self.extra.get("dependencies", []):
            identity = item["url"].rstrip("/").split("/")[-1].removesuffix(".git").lower()
            found.append((identity, item["url"], ("from", item["from"])))
        out += [f"    {line}," for line in merge_external(found)]
        out += ["  ],", "  targets: ["]
        for folder, package in zip(self.folders, self.packages):
            out.append(f"    // {folder.relative_to(ROOT).as_posix()}")
            for target in package["targets"]:
                out.append("    " + self.target(package, folder, target, 4) + ",")
        if extra:
            out.append("    // The root's own")
        for target in extra:
            out.append("    " + self.target({"name": "root.json"}, ROOT, target, 4) + ",")
        out += ["  ]", ")", "", NAMED_APART]
        return "\n".join(out)

    def traits(self):
        """The packages' traits: each name means the same in all of them, and the root passes it on by having it."""
        merged = {}
        for package in self.packages:
            for trait in package.get("traits", []):
                value = (trait.get("description"), tuple(sorted(trait["enabledTraits"])))
                if merged.setdefault(trait["name"], value) != value:
                    fail(f"{package['name']}: trait {trait['name']} isn't what another package says it is")
        if not merged:
            return []
        lines = []
        _, enabled = merged.pop("default", (None, ()))
        if enabled:
            lines.append(f".default(enabledTraits: [{', '.join(text(name) for name in enabled)}])")
        for name, (description, enabled) in sorted(merged.items()):
            arguments = [f"name: {text(name)}"]
            if description:
                arguments.append(f"description: {text(description)}")
            if enabled:
                arguments.append(f"enabledTraits: [{', '.join(text(other) for other in enabled)}]")
            lines.append(call(".trait", arguments, 4))
        return ["  traits: [", *(f"    {line}," for line in lines), "  ],"]

    def product(self, kind, product, linkage):
        arguments = [f"name: {text(product['name'])}"]
        if kind == "library" and linkage and linkage[0] != "automatic":
            arguments.append(f"type: .{linkage[0]}")
        arguments.append(f"targets: [{', '.join(text(name) for name in product['targets'])}]")
        return call(f".{kind}", arguments, 4)


def packages_to_build_alone(folders):
    """Those without outside dependencies, however deep, first: a shared scratch folder then keeps checkouts."""
    manifests = {folder.name: (folder / "Package.swift").read_text() for folder in folders}

    def needs_outside(name):
        manifest = manifests.get(name, "")
        return "url:" in manifest or any(needs_outside(other) for other in re.findall(r'path: "\.\./(\w+)"', manifest))

    return sorted(folders, key=lambda folder: (needs_outside(folder.name), folder.name))


def main():
    parser = argparse.ArgumentParser(description="Writes the root's Package.swift from Packages/*.")
    parser.add_argument("--check", action="store_true", help="report drift instead of writing")
    parser.add_argument("--integration", action="store_true", help="print the test targets that need peers from outside")
    parser.add_argument("--packages", action="store_true", help="print the packages in the order to build them in")
    options = parser.parse_args()

    extra = json.loads(EXTRA.read_text())
    if options.integration:
        for target in extra.get("targets", []):
            if target.get("needsPeers"):
                print(target["name"])
        return
    folders = package_folders()
    if options.packages:
        for folder in packages_to_build_alone(folders):
            print(folder.relative_to(ROOT).as_posix())
        return
    manifest = Manifest(folders, dump_all(folders), extra).write()
    current = OUTPUT.read_text() if OUTPUT.exists() else ""
    if manifest == current:
        return
    if options.check:
        sys.stdout.writelines(difflib.unified_diff(
            current.splitlines(True), manifest.splitlines(True), "Package.swift", "what the packages say"))
        fail("Package.swift has drifted from the packages: run `make manifest` and commit it")
    OUTPUT.write_text(manifest)
    print(f"wrote {OUTPUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Lists the Rust packages inside what Parvum ships: an SBOM in CycloneDX's format, and the licence texts.

usage: tools/notices.py SBOM NOTICES [CRATE...]

The packages are those that the named crates of the workspace link on this kind of machine. Both files depend on Cargo.lock and on
the downloaded sources only, so two runs are equal.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

# What users run or link.
SHIPPED = ("parvum", "parvum-python")
# A crate's library that ends up in a file of its own, which users load.
LIBRARY = "cdylib"
LICENCE_FILE = re.compile(r"^(licen[cs]e|copying|copyright|notice|unlicense)", re.IGNORECASE)


def metadata() -> dict[str, Any]:
    """What Cargo knows of the workspace and its dependencies on this machine."""
    host = re.search(r"^host: (.*)$", output("rustc", "-vV"), re.MULTILINE)
    if not host:
        sys.exit("notices: rustc -vV does not name its host")
    return json.loads(output("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", host[1]))


def output(*command: str) -> str:
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"notices: {' '.join(command)} failed with exit code {done.returncode}")
    return done.stdout


def linked(known: dict[str, Any], roots: set[str]) -> list[dict[str, Any]]:
    """The packages of others that the roots link, without what only builds or tests them."""
    nodes = {node["id"]: node for node in known["resolve"]["nodes"]}
    packages = {package["id"]: package for package in known["packages"]}
    seen: set[str] = set()
    waiting = sorted(roots)
    while waiting:
        package = waiting.pop()
        if package in seen:
            continue
        seen.add(package)
        for dependency in nodes[package]["deps"]:
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            # A procedural macro runs in the compiler. Nothing of the macro's own code is in the result.
            is_macro = any("proc-macro" in target["kind"] for target in packages[dependency["pkg"]]["targets"])
            if None in kinds and not is_macro:
                waiting.append(dependency["pkg"])
    others = [packages[package] for package in seen if packages[package]["source"]]
    return sorted(others, key=lambda package: (package["name"], package["version"]))


def checksums(lock: Path) -> dict[tuple[str, str], str]:
    """The SHA-256 of each package, as Cargo.lock has it."""
    entry = re.compile(r'name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"')
    return {(name, version): digest for name, version, digest in entry.findall(lock.read_text())}


def sbom(release: str, packages: list[dict[str, Any]], digests: dict[tuple[str, str], str]) -> dict[str, Any]:
    components = []
    for package in packages:
        name, version = package["name"], package["version"]
        purl = f"pkg:cargo/{name}@{version}"
        component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
        if digest := digests.get((name, version)):
            component["hashes"] = [{"alg": "SHA-256", "content": digest}]
        if package["license"]:
            # Older packages write a slash for OR.
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        if package["repository"]:
            component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
        components.append(component)
    # The serial number names the content: equal lists have equal numbers.
    content = json.dumps(components, sort_keys=True) + release
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"pkg:generic/parvum@{release}",
                "name": "parvum",
                "version": release,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
            }
        },
        "components": components,
    }


def texts(package: dict[str, Any]) -> list[tuple[str, str]]:
    """The licence files of a package: their names and contents."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(file for file in folder.iterdir() if file.is_file() and LICENCE_FILE.match(file.name))
    return [(file.name, file.read_text(errors="replace").strip()) for file in files]


def notices(release: str, packages: list[dict[str, Any]]) -> str:
    """All packages with their licences, then each licence text once."""
    users: dict[str, list[str]] = {}
    wording: dict[str, str] = {}
    lines = [f"Parvum {release} contains these Rust packages. Behind each stands its licence.", ""]
    for package in packages:
        named = f"{package['name']} {package['version']}"
        found = texts(package)
        where = package["repository"] or "https://crates.io/crates/" + package["name"]
        lines.append(f"{named}: {package['license'] or 'see its licence file'}; {where}")
        if not found:
            lines.append(f"    {', '.join(package['authors']) or 'The authors'}; the package has no licence file of its own")
        for name, text in found:
            key = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
            wording.setdefault(key, text)
            users.setdefault(key, []).append(f"{named} ({name})")
    for key, text in wording.items():
        lines += ["", "=" * 100, "For: " + ", ".join(users[key]), "=" * 100, "", text]
    return "\n".join(lines) + "\n"


def main() -> None:
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    known = metadata()
    members = set(known["workspace_members"])
    asked = set(sys.argv[3:]) or set(SHIPPED)
    roots = {
        package["id"]
        for package in known["packages"]
        if package["id"] in members
        and (package["name"] in asked or any(LIBRARY in target["kind"] for target in package["targets"]))
    }
    release = next(package["version"] for package in known["packages"] if package["name"] == SHIPPED[0])
    packages = linked(known, roots)
    if not packages:
        sys.exit("notices: Cargo names no package; is this the workspace of Parvum?")
    lock = Path(known["workspace_root"]) / "Cargo.lock"
    Path(sys.argv[1]).write_text(json.dumps(sbom(release, packages, checksums(lock)), indent=2) + "\n")
    Path(sys.argv[2]).write_text(notices(release, packages))
    print(f"notices: {len(packages)} packages")


main()

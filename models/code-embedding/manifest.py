"""Lists every package that pairs were harvested from, with version and licence, and says which may be used for training.

Usage: manifest.py OUT.tsv LANGUAGE=PATH…    (a path may hold shell wildcards; the same paths as given to harvest.py)
"""
import glob, io, os, re, subprocess, sys, tarfile, zipfile

PERMISSIVE = re.compile(r"\b(MIT|BSD|0BSD|Apache|ISC|Unlicense|Zlib|PSF|Python[- ]2|Python Software|Boost|BSL-1|CC0|Public[- ]Domain|public-domain|MPL|Mozilla|PHP-3|PHP-?LICENSE|Expat|Ruby|EPL|EDL|HPND|NCSA|WTFPL|BlueOak|Unicode)", re.I)
COPYLEFT = re.compile(r"\b(A?GPL|LGPL|GNU|SSPL|BUSL|Business Source|proprietary|UNLICENSED|Commons Clause|CC-BY-NC|AGPLv?3)", re.I)


def of_text(text):
    """The licence that a LICENSE file holds."""
    head = text[:3000]
    for pattern, name in (
        (r"GNU AFFERO", "AGPL"), (r"GNU LESSER", "LGPL"), (r"GNU GENERAL PUBLIC", "GPL"), (r"Business Source License", "BUSL"),
        (r"Apache License", "Apache-2.0"), (r"Mozilla Public License", "MPL-2.0"), (r"Permission is hereby granted, free of charge", "MIT"),
        (r"Redistribution and use in source and binary", "BSD"), (r"Permission to use, copy, modify", "ISC"), (r"Eclipse Public", "EPL"),
        (r"unencumbered software", "Unlicense"), (r"Server Side Public", "SSPL"),
    ):
        if re.search(pattern, head, re.I):
            return name
    return ""


def from_metadata(text):
    found = re.findall(r"^License-Expression: *(.+)$", text, re.M) or re.findall(r"^Classifier: License :: (?:OSI Approved :: )?(.+)$", text, re.M)
    if not found:
        found = [line for line in re.findall(r"^License: *(.{2,80})$", text, re.M) if line != "UNKNOWN"]
    return "; ".join(found[:3])


def licence_of(language, path):
    try:
        if os.path.isdir(path):
            manifest = os.path.join(path, "Cargo.toml")
            if os.path.exists(manifest):
                found = re.search(r'^license *= *"([^"]+)"', open(manifest, errors="replace").read(), re.M)
                return found.group(1) if found else ""
            for name in sorted(os.listdir(path)):
                if re.match(r"(LICEN[SC]E|COPYING)", name, re.I) and os.path.isfile(os.path.join(path, name)):
                    return of_text(open(os.path.join(path, name), errors="replace").read())
            return ""
        if path.endswith(".whl"):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if name.endswith(".dist-info/METADATA"):
                        return from_metadata(archive.read(name).decode("utf8", "replace"))
        if path.endswith("-sources.jar"):
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if re.match(r"(META-INF/)?(LICENSE|NOTICE)", name, re.I):
                        found = of_text(archive.read(name).decode("utf8", "replace"))
                        if found:
                            return found
            stem = os.path.basename(path).removesuffix("-sources.jar")
            for pom in glob.glob(os.path.expanduser(f"~/.m2/repository/**/{stem}.pom"), recursive=True):
                return of_pom(pom, 4)
            return ""
        if path.endswith((".tar.gz", ".tgz")):
            with tarfile.open(path) as archive:
                for member in archive:
                    base = member.name.split("/")[1:]
                    if base == ["PKG-INFO"]:
                        return from_metadata(archive.extractfile(member).read().decode("utf8", "replace"))
                    if base == ["package.json"]:
                        text = archive.extractfile(member).read().decode("utf8", "replace")
                        found = re.search(r'"licen[sc]es?" *: *(?:\{[^}]*?"type" *: *|\[\s*\{?[^\]]*?"(?:type|name)" *: *)?"([^"]+)"', text)
                        return found.group(1) if found else ""
        if path.endswith(".deb"):
            data = subprocess.run(["dpkg-deb", "--fsys-tarfile", path], capture_output=True).stdout
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                for member in archive:
                    if member.isfile() and re.search(r"usr/share/doc/[^/]+/copyright$", member.name):
                        text = archive.extractfile(member).read().decode("utf8", "replace")
                        first = re.search(r"^Files: *\*.*?^License: *(\S[^\n]*)", text, re.M | re.S)
                        return first.group(1) if first else of_text(text)
    except Exception as error:
        print(f"{path}: {error}", file=sys.stderr)
    return ""


def of_pom(pom, depth):
    text = open(pom, errors="replace").read()
    found = re.search(r"<license>.*?<name>([^<]+)</name>", text, re.S)
    if found:
        return found.group(1).strip()
    parent = re.search(r"<parent>.*?</parent>", text, re.S)
    if parent and depth:
        get = lambda tag: re.search(f"<{tag}>([^<]+)</{tag}>", parent.group(0)).group(1).strip()
        up = os.path.expanduser(f"~/.m2/repository/{get('groupId').replace('.', '/')}/{get('artifactId')}/{get('version')}/{get('artifactId')}-{get('version')}.pom")
        if os.path.exists(up):
            return of_pom(up, depth - 1)
    return ""


def main():
    out, *specs = sys.argv[1:]
    rows = []
    for spec in specs:
        language, pattern = spec.split("=", 1)
        for path in sorted(glob.glob(pattern)):
            base = os.path.basename(path.rstrip("/"))
            package = re.split(r"[-_@]v?\d", base)[0]
            licence = re.sub(r"\s+", " ", licence_of(language, path)).strip()[:80]
            allowed = bool(PERMISSIVE.search(licence)) and (not COPYLEFT.search(licence) or " OR " in licence)
            rows.append((language, package, base, licence or "unknown", "yes" if allowed else "no"))
    with open(out, "w") as sink:
        sink.write("language\tpackage\tarchive\tlicence\tused\n")
        for row in rows:
            sink.write("\t".join(row) + "\n")
    used = sum(r[4] == "yes" for r in rows)
    print(f"{used} of {len(rows)} packages may be used")


main()

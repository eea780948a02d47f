#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fetches the packages of package-lock.json without npm.

usage: install.py FOLDER

Each package of the lock file is unpacked as FOLDER/NAME when its archive has the SHA-512 that the
lock file says; one that is there already is left alone.  The registry is that of npm, or what
npm_config_registry says.  Ends with 77, "skipped", when it cannot be reached.
"""
import base64
import hashlib
import io
import json
import os
import pathlib
import shutil
import sys
import tarfile
import urllib.error
import urllib.request

REGISTRY = "https://registry.npmjs.org"
SKIPPED = 77
SECONDS = 30


def fetch(name, version):
    registry = os.environ.get("npm_config_registry", REGISTRY).rstrip("/")
    base = name.rsplit("/", 1)[-1]
    url = f"{registry}/{name}/-/{base}-{version}.tgz"
    with urllib.request.urlopen(url, timeout=SECONDS) as answer:
        return answer.read()


def check(name, archive, integrity):
    kind, wanted = integrity.split("-", 1)
    found = base64.b64encode(hashlib.new(kind, archive).digest()).decode()
    if kind != "sha512" or found != wanted:
        sys.exit(f"install.py: {name} is not what the lock file says: {kind}-{found}")


def unpack(archive, folder):
    """Regular files below the first folder of the archive, whatever else it holds."""
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            parts = pathlib.PurePosixPath(member.name).parts[1:]
            if not member.isfile() or not parts or ".." in parts:
                continue
            path = folder.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(tar.extractfile(member).read())


def install(folder, name, package):
    target, stamp = folder / name, folder / f"{name}.integrity"
    if stamp.exists() and stamp.read_text() == package["integrity"]:
        return
    archive = fetch(name, package["version"])
    check(name, archive, package["integrity"])
    shutil.rmtree(target, ignore_errors=True)
    unpack(archive, target)
    stamp.write_text(package["integrity"])
    print(f"{name} {package['version']}")


def main(arguments):
    if len(arguments) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    lock = json.loads((pathlib.Path(__file__).parent / "package-lock.json").read_text())
    for place, package in lock["packages"].items():
        if not place.startswith("node_modules/"):
            continue
        try:
            install(folder, place.removeprefix("node_modules/"), package)
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            print(f"skipped: the registry cannot be reached: {error}")
            return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))

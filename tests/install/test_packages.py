# SPDX-License-Identifier: GPL-3.0-or-later
"""What cpack makes: Debian packages whose program runs where they are unpacked, and an archive of
the sources without anything that was built."""
import os
import pathlib
import shutil
import sys
import tarfile

from installed import BUILD, LIBRARIES, ROOT, begin, origin, put_plugin
from installs import run

CPACK = os.environ["TA_CPACK"]

# Tools that making a Debian package takes, by their packages.
TOOLS = {"dpkg-deb": "dpkg", "dpkg-shlibdeps": "dpkg-dev", "file": "file"}


def make_debian(work):
    run(CPACK, "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", work / "deb",
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", cwd=BUILD)
    return {run("dpkg-deb", "-f", path, "Package").stdout.strip(): path
            for path in (work / "deb").glob("*.deb")}


def check_debian(work):
    packages = make_debian(work)
    assert {"traceanalyze", "libtraceanalyze-dev"} <= set(packages), packages
    unpacked = work / "unpacked"
    run("dpkg-deb", "-x", packages["traceanalyze"], unpacked)
    program = unpacked / "usr/bin/traceanalyze"
    plugin = put_plugin(unpacked / "usr" / LIBRARIES)
    assert origin(program) == str(plugin), origin(program)
    run(program, "report", ROOT / "tests/golden/inputs/tiny.json", "-o", work / "out")
    assert (work / "out/report.html").stat().st_size > 10000
    for name in ("share/man/man1/traceanalyze.1", "share/man/man5/traceanalyze-config.5",
                 "share/bash-completion/completions/traceanalyze"):
        assert (unpacked / "usr" / name).exists(), name
    depends = run("dpkg-deb", "-f", packages["libtraceanalyze-dev"], "Depends").stdout
    for package in ("libjansson-dev", "libcairo2-dev", "libpango1.0-dev", "libgsl-dev"):
        assert package in depends, depends


def make_tree(folder):
    """Sources, and what lies beside them after a while."""
    for name, text in {
            "CMakeLists.txt": "", "src/a.c": "", "src/build.c": "", "docs/CMakeCache.md": "",
            "cmake/out.cmake": "", ".clang-format": "",
            "build/x.o": "", "build-asan/x.o": "", "out/report.html": "",
            "traceanalyze-report/report.html": "", "tests/__pycache__/a.pyc": "",
            "my (odd) build+1/CMakeCache.txt": "", "my (odd) build+1/deep/er/x.o": "",
            "samples/plugin/b/CMakeCache.txt": "", "samples/plugin/b/x.so": "",
            "samples/plugin/a.c": "", "src/a.c~": "", ".git/HEAD": "ref: none\n"}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return {"CMakeLists.txt", "src/a.c", "src/build.c", "docs/CMakeCache.md", "cmake/out.cmake",
            ".clang-format", "samples/plugin/a.c"}


def pack_sources(source, output, *options):
    run(CPACK, "--config", BUILD / "CPackSourceConfig.cmake", "-B", output, *options,
        "-D", f"CPACK_INSTALLED_DIRECTORIES={source};/", cwd=BUILD)
    archive, = output.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        return {str(pathlib.PurePath(*pathlib.PurePath(entry.name).parts[1:]))
                for entry in packed if not entry.isdir()}


def check_sources(work):
    # Below a folder with a name that counts within the tree, but not above it.
    tree = work / "build" / "the source"
    wanted = make_tree(tree)
    packed = pack_sources(tree, work / "packed")
    assert packed == wanted, packed ^ wanted


def check_own_sources(work):
    """Of the sources themselves what git knows; what is new and not ignored is packed, too."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        return
    listed = run("git", "-c", f"safe.directory={ROOT}", "-C", ROOT, "ls-files", "-z", "--cached",
                 "--others", "--exclude-standard").stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).exists()}
    packed = pack_sources(ROOT, work / "own")
    assert packed == wanted, packed ^ wanted


def main():
    work = begin()
    check_sources(work)
    check_own_sources(work)
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        print("no Debian packages are made here; that takes", ", ".join(missing))
    else:
        check_debian(work)
    shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-3.0-or-later
"""An installation works wherever it lies: moved, below DESTDIR, called through a link; and its
plugins are those beside its program."""
import os
import pathlib
import shutil
import sys

from installed import BUILD, LIBRARIES, ROOT, begin, install, origin, put_plugin
from installs import run

TRACE = ROOT / "tests/golden/inputs/tiny.json"

# What an installation has, besides headers, schemas and documents.
WANTED = {
    "bin/traceanalyze", "lib/libtraceanalyze.a", "lib/libtraceanalyze.so",
    "lib/pkgconfig/traceanalyze.pc", "lib/cmake/traceanalyze/traceanalyzeConfig.cmake",
    "share/man/man1/traceanalyze.1", "share/man/man1/traceanalyze-report.1",
    "share/man/man5/traceanalyze-config.5", "share/man/man7/traceanalyze-plugins.7",
    "share/bash-completion/completions/traceanalyze", "share/zsh/site-functions/_traceanalyze",
    "share/fish/vendor_completions.d/traceanalyze.fish", "share/traceanalyze/devices.yaml",
    "share/traceanalyze/schemas/report-1.schema.json",
}


def check_contents(prefix):
    files = {str(p.relative_to(prefix)) for p in prefix.rglob("*") if not p.is_dir()}
    plain = {name.replace(f"{LIBRARIES}/", "lib/") for name in files}
    assert WANTED <= plain, WANTED - plain
    pages = {name.split("/")[-1] for name in files if name.startswith("share/man/")}
    mentioned = run(prefix / "bin/traceanalyze", "help", "--list").stdout.split()
    assert pages | {"traceanalyze-mpi.1"} == set(mentioned), pages


def check_paths(prefix):
    """Nothing names a folder of the machine that built it, but for the fallback in programs."""
    for path in prefix.rglob("*"):
        if path.is_file() and path.suffix in (".cmake", ".pc"):
            text = path.read_text(encoding="utf-8")
            for folder in (BUILD, ROOT, "/usr/lib", "/usr/local"):
                assert str(folder) not in text, (path, folder)
    program = (prefix / "bin/traceanalyze").read_bytes()
    assert str(BUILD).encode() not in program


def check_moved(work, prefix):
    moved = work / "moved" / "with a blank"
    moved.parent.mkdir()
    shutil.move(prefix, moved)
    program = moved / "bin/traceanalyze"
    assert origin(program) is None
    plugin = put_plugin(moved / LIBRARIES)
    assert origin(program) == str(plugin), origin(program)
    link = work / "traceanalyze"
    link.symlink_to(program)
    assert origin(link) == str(plugin)
    assert origin("./traceanalyze", cwd=work) == str(plugin)
    run(program, "report", TRACE, "-o", work / "out", "--format", "fixture")
    assert origin(BUILD / "traceanalyze") is None
    return program, plugin


def check_order(work, program, plugin):
    """Plugins of the installation come first, and a second one of an id is an error."""
    other = put_plugin(work / "other")
    done = run(program, "plugins", expect=2,
               env={**os.environ, "TRACEANALYZE_PLUGIN_PATH": str(other.parent)})
    assert str(plugin) in done.stderr and str(other) in done.stderr, done.stderr


def check_trust(program, plugin):
    plugin.parent.chmod(0o777)
    done = run(program, "plugins", "--no-config")
    assert "Installed plugins are not used" in done.stderr, done.stderr
    assert "fixture" not in done.stdout
    plugin.parent.chmod(0o755)


def check_destdir(work):
    """Packages are made like this: the prefix is not where the files are put."""
    install(pathlib.Path("/opt/traceanalyze"), DESTDIR=str(work / "image"))
    image = work / "image/opt/traceanalyze"
    check_contents(image)
    check_paths(image)
    plugin = put_plugin(image / LIBRARIES)
    assert origin(image / "bin/traceanalyze") == str(plugin)


def main():
    work = begin()
    prefix = install(work / "prefix")
    check_contents(prefix)
    check_paths(prefix)
    program, plugin = check_moved(work, prefix)
    check_order(work, program, plugin)
    check_trust(program, plugin)
    check_destdir(work)
    shutil.rmtree(work)


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs are built against an installation that was moved, with the shared and the static
library, by pkg-config and by find_package()."""
import json
import os
import shutil
import sys

from installed import CMAKE, LIBRARIES, ROOT, begin, install, put_plugin
from installs import SKIPPED, run

CC = os.environ["TA_CC"]
HERE = ROOT / "tests/install"
FLAGS = ["-std=gnu17", "-Wall", "-Wextra", "-Werror"]
PRINTS = "2.00 ms comm\n"


def check_prints(program, **environment):
    done = run(program, "3e6", "1e6", "2e6", env={**os.environ, **environment})
    assert done.stdout == PRINTS, done.stdout


class Package:
    """traceanalyze.pc of an installation."""

    def __init__(self, libraries):
        self.libraries = libraries
        self.environment = {**os.environ, "PKG_CONFIG_PATH": str(libraries / "pkgconfig")}

    def ask(self, *options):
        return run("pkg-config", *options, "traceanalyze", env=self.environment).stdout.split()


def build_shared(work, package):
    program = work / "shared"
    run(CC, *FLAGS, *package.ask("--cflags"), "-o", program, HERE / "consumer/consumer.c",
        *package.ask("--libs"))
    check_prints(program, LD_LIBRARY_PATH=str(package.libraries))


def static_flags(package):
    """The flags of --static with the archive in the place of -ltraceanalyze, all of it."""
    archive = str(package.libraries / "libtraceanalyze.a")
    flags = package.ask("--static", "--libs")
    at = flags.index("-ltraceanalyze")
    flags[at:at + 1] = ["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"]
    return flags


def build_static(work, package):
    program = work / "static"
    run(CC, *FLAGS, *package.ask("--cflags"), "-o", program, HERE / "consumer/consumer.c",
        *static_flags(package))
    assert b"libtraceanalyze.so" not in program.read_bytes()
    check_prints(program)


def check_library_plugins(work, package):
    """Code in a shared library finds the plugins beside that."""
    plugin = put_plugin(package.libraries)
    library = package.libraries / "libprobe.so"
    source = HERE / "probe.c"
    run(CC, *FLAGS, *package.ask("--cflags"), "-shared", "-fPIC", "-o", library, source,
        *static_flags(package))
    run(CC, *FLAGS, "-DMAIN", "-o", work / "probe", source, "-ldl")
    done = run(work / "probe", library)
    assert f"fixture {plugin}\n" in done.stdout, done.stdout


def build_by_find_package(work, prefix, package):
    folder = work / "consumer"
    run(CMAKE, "-S", HERE / "consumer", "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={CC}")
    run(CMAKE, "--build", folder)
    check_prints(folder / "with_traceanalyze", LD_LIBRARY_PATH=str(package.libraries))
    check_prints(folder / "with_static")


def check_embedding(work, prefix, package):
    """The sample prints a table and the findings, by CMake, and by pkg-config as C++."""
    folder, sample = work / "embed", ROOT / "samples/embed"
    environment = {**os.environ, "LD_LIBRARY_PATH": str(package.libraries)}
    traces = ROOT / "samples/video-4ranks"
    run(CMAKE, "-S", sample, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_C_COMPILER={CC}")
    run(CMAKE, "--build", folder)
    printed = run(folder / "embed", traces, env=environment).stdout
    for rank in range(4):
        assert f"rank {rank}, device {rank}: busy " in printed, printed
    report = json.loads(run(prefix / "bin/traceanalyze", "report", "--no-config", "--json", traces,
                            env=environment).stdout)
    findings = [item for section in report["sections"] for item in section["items"]
                if item["kind"] == "finding"]
    assert findings
    for finding in findings:
        assert f"{finding['id']}: {finding['title']}\n" in printed, finding["id"]
    run(folder / "embed", work / "nothing", env=environment, expect=1)
    cxx = shutil.which("c++") or shutil.which("g++")
    if cxx:
        run(cxx, "-x", "c++", "-std=c++17", *FLAGS[1:], *package.ask("--cflags"), "-o",
            work / "embed-cxx", sample / "embed.c", "-x", "none", *package.ask("--libs"))
        assert run(work / "embed-cxx", traces, env=environment).stdout == printed


def check_missing(work, prefix):
    """Without its dependencies the static library is refused with the name of one; plugins, which
    need none, are built all the same."""
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": "/nonexistent", "PKG_CONFIG_PATH": ""}
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}"]
    done = run(CMAKE, "-S", HERE / "consumer", "-B", work / "lacking", *options, expect=1,
               env=environment)
    assert "jansson" in done.stdout + done.stderr, done.stdout + done.stderr
    run(CMAKE, "-S", ROOT / "samples/plugin", "-B", work / "plugin", *options, env=environment)


def main():
    if os.environ["TA_INSTRUMENTED"] == "1":
        print("skipped: programs without the instrumentation of this build cannot link it")
        return SKIPPED
    work = begin()
    shutil.move(install(work / "first"), work / "prefix")
    prefix = work / "prefix"
    package = Package(prefix / LIBRARIES)
    assert package.ask("--variable=plugindir") == [
        str(package.libraries / "pkgconfig/../traceanalyze/plugins")]
    build_shared(work, package)
    build_static(work, package)
    build_by_find_package(work, prefix, package)
    check_embedding(work, prefix, package)
    check_missing(work, prefix)
    check_library_plugins(work, package)
    shutil.rmtree(work)
    return 0


if __name__ == "__main__":
    sys.exit(main())

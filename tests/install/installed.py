# SPDX-License-Identifier: GPL-3.0-or-later
"""An installation made from the build, in a folder of the test that plugins may come from."""
import json
import os
import pathlib
import re
import shutil
import stat

from installs import need_trust, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["TA_BUILD"])
CMAKE = os.environ["TA_CMAKE"]
WORK = pathlib.Path(os.environ["TA_WORK"])
FIXTURE = pathlib.Path(os.environ["TA_FIXTURE"])
PLUGINS = "traceanalyze/plugins"
LIBRARIES = re.search(r"^CMAKE_INSTALL_LIBDIR:\w+=(.*)$",
                      (BUILD / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]


def begin():
    """The folder of the test, empty."""
    os.umask(0o022)
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    need_trust(WORK)
    return WORK


def install(prefix, **environment):
    run(CMAKE, "--install", BUILD, "--prefix", prefix, env={**os.environ, **environment})
    return prefix


def put_plugin(libraries):
    """Puts a plugin where an installation with this library folder has them."""
    folder = libraries / PLUGINS
    folder.mkdir(parents=True)
    shutil.copy(FIXTURE, folder / "fixture.so")
    (folder / "fixture.so").chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
    return folder / "fixture.so"


def origin(program, **options):
    """Where a program has the plugin of the test from, None when it has not."""
    done = run(program, "plugins", "--json", "--no-config", **options)
    return {p["id"]: p["origin"] for p in json.loads(done.stdout)["plugins"]}.get("fixture")

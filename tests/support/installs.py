# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of installations share."""
import os
import stat
import subprocess
import sys

SKIPPED = 77


def run(*command, expect=0, **options):
    """Runs a command to its end, which must be the expected one."""
    done = subprocess.run([os.fspath(c) for c in command], capture_output=True, text=True,
                          check=False, **options)
    if done.returncode != expect:
        sys.exit(f"{command}\nended with {done.returncode}, expected {expect}\n"
                 f"{done.stdout}{done.stderr}")
    return done


def is_trusted(path):
    """The rule of src/plugin/trust.c."""
    for part in [path, *path.parents]:
        st = part.stat()
        if st.st_uid not in (0, os.geteuid()) or st.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
    return True


def need_trust(path):
    """Ends the test, "skipped", when plugins may not come from below a folder."""
    if not is_trusted(path.resolve()):
        print("skipped: plugins are not loaded from below", path)
        sys.exit(SKIPPED)

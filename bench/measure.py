# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a program: how long, how much work, how much memory."""
import os
import shlex
import sys
import time
from typing import NamedTuple


class Sample(NamedTuple):
    wall_s: float
    cpu_s: float  # user and system
    peak_bytes: int


def run(command):
    """Runs a command to its end, output thrown away.

    The peak is never below that of this interpreter (about 12 MB), which the child is until it
    becomes the program."""
    command = [str(word) for word in command]
    start = time.perf_counter()
    child = os.posix_spawn(
        command[0], command, os.environ,
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
    _, status, usage = os.wait4(child, 0)
    wall_s = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"bench: exit status {os.waitstatus_to_exitcode(status)}: {shlex.join(command)}")
    return Sample(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)

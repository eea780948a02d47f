# SPDX-License-Identifier: GPL-3.0-or-later
"""One run of a program: how long, how much work, how much memory."""
import os
import resource
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

    The peak is never below that of this interpreter (about 16 MB), which the child is until it
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


class Bystanders:
    """How many cores other programs kept busy since this was made."""

    def __init__(self):
        self.start_s, self.busy_s, self.ours_s = time.perf_counter(), busy_s(), ours_s()

    def cores(self):
        others_s = busy_s() - self.busy_s - (ours_s() - self.ours_s)
        return max(0.0, others_s / (time.perf_counter() - self.start_s))


def busy_s():
    """Seconds that all cores together were at work: all but the columns idle and iowait."""
    with open("/proc/stat", encoding="ascii") as lines:
        ticks = [int(word) for word in lines.readline().split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def ours_s():
    taken = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in taken)

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that the library keeps nothing between calls but what it is given, and changes nothing of
the process: no writable variables in its objects, no calls that all of the process would notice.

usage: globals.py NM LIBRARY

LIBRARY is the static library.  Prints a line per symbol that is not allowed below and ends with 1
when there is one.
"""
import re
import subprocess
import sys

# Object and variable → why it may be written to.
VARIABLES = {
    ("kernel.c", "begins"): "hashes of the constant patterns of kernel names, made once",
    ("width.c", "fonts_once"): "Fontconfig has one configuration for the process, loaded once",
    ("width.c", "has_fonts"): "whether that went well",
}

# Object and function → why all of the process may notice.
CALLS = {
    ("numbers.c", "gsl_set_error_handler_off"):
        "GSL ends the process on an error unless told otherwise, and has no other way to tell it",
    ("width.c", "FcConfigSetCurrent"):
        "what Fontconfig would do by itself, but it waits for ever when memory is short",
}

WRITABLE = re.compile(r"^(\.t?data(?!\.rel\.ro)|\.t?bss|\*COM\*)")
OF_ALL = re.compile(r"^(mallopt|malloc_trim|s?brk|alarm|setitimer|signal|sigaction|sigaltstack|"
                    r"sigprocmask|pthread_sigmask|raise|kill|setlocale|setenv|unsetenv|putenv|"
                    r"clearenv|atexit|on_exit|_?exit|quick_exit|umask|f?chdir|chroot|setrlimit|"
                    r"prctl|s?rand(om)?|fork|vfork|exec\w+|system|daemon|gsl_set_error_handler\w*|"
                    r"FcConfigSetCurrent|FcInit|__(asan|tsan|ubsan|gcov)\w*|llvm_gcov\w*)$")


def main():
    nm, library = sys.argv[1:]
    listing = subprocess.run([nm, "-f", "sysv", library], check=True, capture_output=True,
                             text=True).stdout
    member, faults, used = "", [], set()
    for line in listing.splitlines():
        found = re.search(r"\[(.*)\]:$", line)
        if found:
            member = re.sub(r"\.o(bj)?$", "", found[1])
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) != 7 or cells[0] == "Name":
            continue
        name, section = re.sub(r"\.\d+$", "", cells[0]), cells[6]
        if cells[2] == "U" and OF_ALL.match(name):
            if name.startswith(("__", "llvm")):
                print("skipped: compiled with counters or a sanitizer, which have variables")
                return 77
            allowed, what = CALLS, "calls"
        elif WRITABLE.match(section) and cells[3] in ("OBJECT", "TLS"):
            allowed, what = VARIABLES, "can be written to:"
        else:
            continue
        if (member, name) in allowed:
            used.add((member, name))
        elif what == "calls":
            faults.append(f"{member}: calls {name}(), which changes the process; the program "
                          "may do that (src/cli), or a hook of struct ta_shared")
        else:
            faults.append(f"{member}: {name} can be written to; make it const or a member of what "
                          "its functions are given")
    if not member:
        faults.append(f"{library}: no objects")
    for member, name in sorted(set(VARIABLES) | set(CALLS)):
        if (member, name) not in used:
            faults.append(f"{member}: {name} is allowed, but not there; take it off the list")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


sys.exit(main())

# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the instructions of reading a small file and compares them with the committed figure.

Unlike time they hardly vary, so 5 % more of them is a change of the program and not of the machine.
Figures are kept per compiler and instruction set; without one for these the test is skipped."""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder of the sources stays clean
import inputs

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = HERE / "instructions.json"
SIZE = "10M"
TOLERANCE = 0.05
SKIPPED = 77


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def compiler_of(program):
    """Compilers leave their names in the programs that they make."""
    found = re.findall(rb"(GCC|clang)(?::| version) (?:\([^)]*\) )?([0-9]+(?:\.[0-9]+)+)",
                       program.read_bytes())
    return " and ".join(sorted({b" ".join(words).decode() for words in found})) or "unknown"


def instruction_set():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return "AVX2" if any(line.startswith("flags") and " avx2 " in line for line in lines) \
            else "no AVX2"


def is_optimized(build):
    cache = build / "CMakeCache.txt"
    text = cache.read_text(encoding="utf-8") if cache.is_file() else ""
    return "CMAKE_BUILD_TYPE:STRING=Release\n" in text


def count(program, files):
    """Instructions of all threads, as valgrind counts them."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "check", "-q",
         "--strict", "-j", "1", *files],
        check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    found = re.search(r"Collected : ([0-9]+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"Cannot count: exit status {done.returncode}\n{done.stderr}")
    return int(found.group(1))


def options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build",
                        metavar="FOLDER", help="folder with the built programs (default: build)")
    parser.add_argument("--update", action="store_true", help="commit to what is measured now")
    return parser.parse_args()


def main():
    args = options()
    build = args.build.resolve()
    if not shutil.which("valgrind"):
        skip("no valgrind")
    if not is_optimized(build):
        skip("the figures are for CMAKE_BUILD_TYPE=Release")
    figures = json.loads(FIGURES.read_text(encoding="utf-8")) if FIGURES.is_file() else {}
    program = build / "traceanalyze"
    key = f"{compiler_of(program)}, {instruction_set()}"
    if key not in figures and not args.update:
        skip(f"no figure for {key} in bench/{FIGURES.name}; there are {sorted(figures) or 'none'}")
    files = inputs.make(build / "traceanalyze-generate", build / "bench-inputs",
                        inputs.Trace(SIZE))
    counted = count(program, files)
    per_byte = counted / sum(file.stat().st_size for file in files)
    known = figures.get(key, counted)
    print(f"{counted} instructions, {per_byte:.2f} per byte, "
          f"{100 * (counted / known - 1):+.1f} % against the figure for {key}")
    if args.update:
        figures[key] = counted
        FIGURES.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    elif counted > known * (1 + TOLERANCE):
        sys.exit(f"More than {TOLERANCE:.0%} above {known}.  If it is worth it: "
                 "bench/instructions.py --update")


if __name__ == "__main__":
    main()

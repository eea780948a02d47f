# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the program on a damaged input and says what is wrong with what it did."""
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import tempfile

DEFECTS = re.compile(rb"Sanitizer|: runtime error: |stack smashing|free\(\): invalid|malloc\(\)|"
                     rb"double free|Assertion|TA-E071")
BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C}
MOST_MESSAGES = 64 << 10
UNUSED = ("not-an-event", "other-session")  # what is left out without a loss: {}, another's samples
CODES = {2: rb"TA-E00[28]", 3: rb"TA-E003", 5: rb"TA-E005", 70: rb"TA-E070"}


@dataclasses.dataclass
class Case:
    """What is read, and what has to come of it.  IN and OUT in `args` are the places."""
    name: str
    build: callable                 # (folder) -> path of the input
    args: tuple = ("report", "-q", "--format", "json", "-o", "OUT", "IN")
    exits: tuple = (0,)
    kept: tuple = None              # at least, at most
    dropped: tuple = None
    codes: tuple = ()               # of findings that must be there
    without: tuple = ()             # and that must not
    clean: bool = False             # nothing was lost: no loss, no error
    says: tuple = ()                # in messages or findings
    offsets: tuple = None           # where one of the offsets must lie
    product: str = "report.json"    # below OUT; None: no product is looked at
    environment: dict = dataclasses.field(default_factory=dict)
    before: callable = None         # preexec_fn
    seconds: float = 20
    memory_mb: int = 1024
    check: callable = None          # (judged run) -> text of what is wrong, or None
    stays: tuple = ()               # names in the working folder that are no leftovers


def strict(data):
    """A JSON document as it should be: no NaN, no key twice, no lone surrogate."""
    def constant(name):
        raise ValueError(f"holds {name}")

    def pairs(found):
        keys = [key for key, _ in found]
        if len(set(keys)) != len(keys):
            raise ValueError("holds a key twice")
        return dict(found)
    document = json.loads(data.decode(), parse_constant=constant, object_pairs_hook=pairs)
    json.dumps(document, ensure_ascii=False).encode()
    return document


def tree(folder):
    """What is below a folder, without following links."""
    found = {}
    for base, folders, names in os.walk(os.fsencode(folder)):
        for name in folders + names:
            path = os.path.join(base, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) and os.access(path, os.R_OK):
                with open(path, "rb") as file:
                    found[path] = hashlib.sha1(file.read()).hexdigest()
            else:
                found[path] = stat.S_IFMT(mode)
    return found


def control_characters(data):
    try:
        text = data.decode()
    except UnicodeDecodeError as bad:
        return f"no UTF-8 at byte {bad.start}"
    bad = {ord(c) for c in set(text)
           if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or ord(c) in BIDI}
    return f"raw U+{min(bad):04X}" if bad else None


class Run:
    """One run of a case, and all that is known of it."""

    def __init__(self, program, case, folder, scale=1):
        self.case, self.folder, self.scale = case, pathlib.Path(folder), scale
        self.faults, self.report = [], None
        for name in ("in", "tmp", "home", "cwd"):
            (self.folder / name).mkdir()
        self.out = self.folder / "out"
        self.input = case.build(self.folder / "in")
        self.program = program

    def fault(self, text):
        self.faults.append(text)

    def start(self):
        case = self.case
        args = []
        for arg in case.args:
            arg = os.fsencode(arg).replace(b"OUT", os.fsencode(self.out))
            args.append(arg.replace(b"IN", os.fsencode(self.input)))
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TERM": "xterm", "CI": "1",
                       "HOME": f"{self.folder}/home", "TMPDIR": f"{self.folder}/tmp",
                       "SOURCE_DATE_EPOCH": "1700000000",
                       **{k: v for k, v in os.environ.items() if k.endswith("SAN_OPTIONS")},
                       **case.environment}

        def before():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            if case.before:
                case.before()
        shown = tree(self.folder / "in")
        try:
            with subprocess.Popen([os.fsencode(self.program), *args], cwd=self.folder / "cwd",
                                  env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  preexec_fn=before) as running:
                timer = case.seconds * self.scale
                try:
                    self.stdout, self.stderr = running.communicate(timeout=timer)
                except subprocess.TimeoutExpired:
                    running.kill()
                    self.stdout, self.stderr = running.communicate()
                    self.fault(f"no end after {timer} s")
                self.code = running.returncode
        finally:
            if tree(self.folder / "in") != shown:
                self.fault("touches its input")

    # ---- what holds for every run ---------------------------------------------------------

    def check_process(self):
        if self.code < 0 and self.code not in self.case.exits:
            self.fault(f"killed by {signal.Signals(-self.code).name}")
        for name, data in (("messages", self.stderr), ("standard output", self.stdout)):
            if DEFECTS.search(data):
                self.fault(f"defect: {data.decode('utf-8', 'replace')[:1500]}")
            bad = control_characters(data)
            if bad:
                self.fault(f"{name}: {bad}")
        if len(self.stderr) > MOST_MESSAGES:
            self.fault(f"{len(self.stderr)} bytes of messages")
        if self.code not in self.case.exits:
            self.fault(f"exit code {self.code}, not {self.case.exits}: "
                       f"{self.stderr.decode('utf-8', 'replace')[-300:]}")
        if self.code in CODES and not re.search(CODES[self.code], self.stderr):
            self.fault(f"exit code {self.code} without {CODES[self.code]}: {self.stderr[:200]}")
        for name in ("tmp", "home", "cwd"):
            left = [path for path in (self.folder / name).iterdir()
                    if path.name not in self.case.stays]
            if left:
                self.fault(f"leaves {left[0]}")
        strange = {path.name for path in self.folder.iterdir()} - {
            "in", "out", "tmp", "home", "cwd"}
        if strange:
            self.fault(f"writes {strange}")
        if self.code not in (0, 1, 4, 6) and self.out.exists():
            self.fault("leaves products after a failure")
        if self.out.is_dir():
            hidden = [path for path in self.out.rglob(".*")]
            if hidden:
                self.fault(f"leaves {hidden}")

    # ---- accounts --------------------------------------------------------------------------

    def check_accounts(self):
        quality = self.report["data_quality"]
        totals = quality["totals"]
        for what, account in [("in all", totals)] + [(f["file"], f) for f in quality["files"]]:
            if account["events_seen"] != account["events_kept"] + account["events_dropped"]:
                self.fault(f"accounts of {what}: {account}")
            if account["events_repaired"] > account["events_kept"]:
                self.fault(f"more repaired than kept of {what}")
        for name in ("events_seen", "events_kept", "events_dropped", "bytes_skipped"):
            if totals[name] != sum(file[name] for file in quality["files"]):
                self.fault(f"{name} is no sum over files")
        if totals["files_seen"] != totals["files_used"] + totals["files_refused"]:
            self.fault(f"files: {totals}")
        grades = {finding["severity"] for finding in self.findings}
        lost = bool(grades & {"loss", "error"})
        status = "lossy" if lost else "repaired" if "notice" in grades else "clean"
        if quality["status"] != status:
            self.fault(f"status {quality['status']}, not {status}")
        drops = totals["events_dropped"] > sum(
            finding["count"] for finding in self.findings if finding["code"] in UNUSED)
        if drops and not lost or totals["bytes_skipped"] and status == "clean":
            self.fault(f"loses in silence: {totals}")

    def check_report(self):
        case, path = self.case, self.out / self.case.product
        if path.suffix != ".json":
            if not path.exists():
                self.fault(f"no {path.name}")
            return
        try:
            self.report = strict(path.read_bytes())
        except (OSError, ValueError) as bad:
            self.fault(f"{path.name}: {bad}")
            return
        if "data_quality" not in self.report:
            return
        quality = self.report["data_quality"]
        self.findings = quality["findings"] + [
            finding for file in quality["files"] for finding in file["findings"]]
        self.check_accounts()
        for name, wanted in (("events_kept", case.kept), ("events_dropped", case.dropped)):
            got = quality["totals"][name]
            if wanted is not None and not wanted[0] <= got <= wanted[1]:
                self.fault(f"{name} is {got}, not {wanted}: {self.brief()}")
        found = {finding["code"] for finding in self.findings}
        if set(case.codes) - found:
            self.fault(f"no finding {set(case.codes) - found}, but {self.brief()}")
        if set(case.without) & found:
            self.fault(f"finding {set(case.without) & found}")
        if case.clean and quality["status"] == "lossy":
            self.fault(f"loss without a reason: {self.brief()}")

    def brief(self):
        return [(f["code"], f["count"], f["byte_offset"]) for f in self.findings]

    # ---- what is said ------------------------------------------------------------------------

    def check_words(self):
        text = self.stderr.decode("utf-8", "replace")
        if self.report and "data_quality" in self.report:
            text += json.dumps(self.report["data_quality"], ensure_ascii=False)
        for word in self.case.says:
            if word not in text:
                self.fault(f"does not say {word!r}: {text[:500]}")
        if self.case.offsets:
            first, last = self.case.offsets
            places = [int(found) for found in re.findall(r"offset[\": ]{1,4}(\d+)", text)]
            if not any(first <= place <= last for place in places):
                self.fault(f"offsets {places[:8]} are not within {first}..{last}: {text[:300]}")


def judge(program, case, scale=1):
    """The faults of a case, as texts."""
    with tempfile.TemporaryDirectory(prefix="faults-", dir=os.environ.get("TA_SCRATCH")) as folder:
        run = Run(program, case, folder, scale)
        try:
            run.start()
            run.check_process()
            if run.code in (0, 4) and case.product:
                run.check_report()
            run.check_words()
            if case.check:
                wrong = case.check(run)
                if wrong:
                    run.fault(wrong)
        finally:
            for base, folders, _ in os.walk(folder):
                for name in folders:
                    if not os.path.islink(os.path.join(base, name)):
                        os.chmod(os.path.join(base, name), 0o700)
            shutil.rmtree(pathlib.Path(folder) / "in", ignore_errors=True)
        return run.faults

# SPDX-License-Identifier: GPL-3.0-or-later
"""traceanalyze-mpi: any number of processes make the products of one, or end with one message."""
import os
import shutil
import signal
import subprocess
import sys
import time

from support import ROOT, SAMPLE, ProcessTest, contents, environment, main

MPI, LAUNCHER = os.environ.get("TA_MPI"), os.environ.get("TA_LAUNCHER")
DUMPS = [str(ROOT / "samples/inferix-4ranks"), str(ROOT / "samples/diffulex")]


def launcher(count):
    """Open MPI has to be told that more processes than cores, and root, are meant."""
    version = subprocess.run([LAUNCHER, "--version"], stdout=subprocess.PIPE, check=False).stdout
    extra = ["--oversubscribe"] if b"Open MPI" in version or b"OpenRTE" in version else []
    return [LAUNCHER, *extra, "-n", str(count)]


def of_root():
    return environment(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                       OMPI_MCA_btl_base_warn_component_unused="0",
                       OMPI_MCA_btl_vader_single_copy_mechanism="none")


class Mpi(ProcessTest):
    def run_mpi(self, count, *args):
        return subprocess.run([*launcher(count), MPI, *map(str, args)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=self.folder,
                              env=of_root(), check=False, timeout=200)

    def same(self, *inputs):
        alone = self.expect(0, "aggregate", "--json", "-j", "1", *map(str, inputs))
        for count in (1, 2, 4):
            with self.subTest(count=count):
                done = self.run_mpi(count, "aggregate", "--json", *inputs)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout == alone.stdout)
                self.assertEqual(done.stderr, alone.stderr)

    def refuses(self, code, says, *args):
        """One message, whoever it is that fails."""
        done = self.run_mpi(4, *args)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stderr.count(b"traceanalyze: error"), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def test_traces(self):
        self.same(SAMPLE)

    def test_dumps(self):
        self.same(*DUMPS)

    def test_reports(self):
        """Those of ranks alone, and beside traces."""
        traces = sorted(SAMPLE.iterdir())
        for rank in (0, 1):
            self.expect(0, "report", "-q", str(traces[rank]), "-o", f"r{rank}.json")
        self.same("r0.json", "r1.json")
        self.same("r0.json", *traces[1:])

    def test_products(self):
        self.expect(0, "aggregate", str(SAMPLE), "-q", "-o", "one", "--timeline=none",
                    "--format", "html,json,csv,md")
        one = contents(self.folder / "one")
        done = self.run_mpi(3, "aggregate", SAMPLE, "-q", "-o", "three", "--format",
                            "html,json,csv,md")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertEqual(contents(self.folder / "three"), one)

    def test_damaged_files_are_accounted_for(self):
        folder = self.folder / "in"
        shutil.copytree(SAMPLE, folder)
        paths = sorted(folder.iterdir())
        paths[2].write_bytes(paths[2].read_bytes()[:100000])
        (folder / "rank9.json").write_text("no trace")
        alone = self.expect(0, "aggregate", "--json", "in")
        done = self.run_mpi(4, "aggregate", "--json", "in")
        self.assertTrue(done.stdout == alone.stdout)
        self.assertEqual(done.stderr, alone.stderr)
        self.assertIn(b"refused", alone.stderr)
        self.assertEqual(self.run_mpi(2, "aggregate", "--strict", "-q", "in").returncode, 4)

    def test_one_message(self):
        self.refuses(2, b"--frob", "aggregate", SAMPLE, "--frob")
        self.refuses(3, b"/nowhere", "aggregate", "/nowhere")
        self.refuses(5, b"TA-E005", "aggregate", SAMPLE, "-o", "/dev/null/x")
        self.refuses(2, b"frob", "aggregate", SAMPLE, "--format", "frob")
        self.refuses(2, b"does the rest alone", "chart", "--list", SAMPLE)

    def test_a_process_that_fails_ends_the_job(self):
        done = self.run_mpi(4, "aggregate", SAMPLE, "--memory-limit=1MiB", "-o", "out")
        self.assertEqual(done.returncode, 70)
        self.assertRegex(done.stderr, rb"Process [0-3] of 4: The run needs more memory")
        self.assertFalse((self.folder / "out").exists())

    def test_commands_without_traces(self):
        done = self.run_mpi(3, "help")
        self.assertEqual(done.stdout, self.expect(0, "help").stdout)

    def end_by_kill(self):
        """The exit status of a job one of whose processes is killed; None where the launcher does
        not notice it."""
        with subprocess.Popen([*launcher(2), MPI, "aggregate", "-q", "-o", "out", str(SAMPLE)],
                              cwd=self.folder, env=of_root(), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True) as job:
            for _ in range(400):
                mine = [p for p in processes_below(job.pid) if b"traceanalyze-mpi" in p[1]]
                if len(mine) == 2:
                    os.kill(mine[1][0], signal.SIGKILL)
                    break
                time.sleep(0.005)
            try:
                return job.wait(60)
            except subprocess.TimeoutExpired:
                os.killpg(job.pid, signal.SIGKILL)
                return None

    def test_a_process_that_is_killed_ends_the_job(self):
        """Open MPI may miss the death of a process that it is about to start: then again."""
        status = next(filter(lambda s: s is not None, (self.end_by_kill() for _ in range(3))), None)
        self.assertNotIn(status, (None, 0))
        left = [p for p in self.folder.rglob("*") if not p.name.startswith(".")]
        self.assertEqual(left, [])


def processes_below(parent):
    """(id, command) of a process and all that it has started."""
    children, names = {}, {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", "rb") as file:
                    above = int(file.read().rpartition(b")")[2].split()[1])
                with open(f"/proc/{entry}/comm", "rb") as file:
                    names[int(entry)] = file.read().strip()
            except OSError:
                continue
            children.setdefault(above, []).append(int(entry))
    found, todo = [], [parent]
    while todo:
        pid = todo.pop()
        found.append((pid, names.get(pid, b"")))
        todo += children.get(pid, [])
    return sorted((pid, b"traceanalyze-mpi" if name.startswith(b"traceanalyze-mp") else name)
                  for pid, name in found)


if __name__ == "__main__":
    if not MPI or not LAUNCHER:
        print("skipped: built without MPI (-DTRACEANALYZE_MPI=ON, Debian package mpi-default-dev)")
        sys.exit(77)
    main()

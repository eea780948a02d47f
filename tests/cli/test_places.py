# SPDX-License-Identifier: GPL-3.0-or-later
"""Output that cannot be written: exit code 5, a reason, and nothing changed."""
import os
import resource
import signal
import subprocess
import unittest

from support import PROGRAM, SAMPLE, TINY, ProcessTest, contents, environment, main


class Places(ProcessTest):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def refuse(self, *args, says=b"", **options):
        before = contents(self.folder)
        done = self.expect(5, "report", str(TINY), *args, **options)
        self.assertIn(b"TA-E005", done.stderr)
        self.assertIn(says, done.stderr)
        self.assertEqual(contents(self.folder), before)
        return done

    # ---- standard output ------------------------------------------------------------------

    def test_closed_standard_output(self):
        for args in (("--json",), ("-o", "-", "--format", "html"), ("-o", "-", "--format=pdf")):
            with self.subTest(args=args):
                self.refuse(*args, preexec_fn=lambda: os.close(1), stdout=None)

    def test_closed_standard_output_gets_no_input(self):
        # Descriptor 1 is free when traces are opened: nothing may be printed into one of them.
        before = TINY.read_bytes()
        self.run_program("report", str(TINY), preexec_fn=lambda: os.close(1), stdout=None)
        self.assertEqual(TINY.read_bytes(), before)

    def test_full_device(self):
        with open("/dev/full", "wb") as full:
            for args in (("--json",), ("-o", "-", "--format", "csv")):
                with self.subTest(args=args):
                    self.refuse(*args, says=b"No space left", stdout=full)
            self.expect(5, "schema", "report-1", stdout=full)
            self.expect(5, "chart", "--list", str(TINY), stdout=full)
            self.expect(5, "check", str(TINY), stdout=full)

    def test_a_reader_that_leaves(self):
        with subprocess.Popen([PROGRAM, "report", str(SAMPLE), "-o", "-", "--format", "html"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as running:
            running.stdout.read(100)
            running.stdout.close()
            self.assertEqual(running.wait(60), -signal.SIGPIPE)
            self.assertEqual(running.stderr.read(), b"")

    # ---- the file system ------------------------------------------------------------------

    def test_file_size_limit(self):
        self.expect(0, "report", str(TINY), "-q", "-o", str(self.out))

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))
        self.refuse("-q", "--title", "other", "-o", str(self.out), says=b"File too large",
                    preexec_fn=limit)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_read_only_folder(self):
        self.out.mkdir(mode=0o555)
        self.refuse("-q", "-o", str(self.out), says=b"Permission denied")
        self.refuse("-q", "-o", str(self.out / "below"), says=b"Permission denied")

    def test_folder_that_is_a_file(self):
        self.out.write_text("mine", encoding="utf-8")
        self.refuse("-q", "-o", str(self.out / "below"))

    def test_file_that_is_a_folder(self):
        (self.folder / "run.html").mkdir()
        (self.folder / "run.html/keep").write_text("mine", encoding="utf-8")
        self.refuse("-q", "-o", str(self.folder / "run.html"), says=b"folder")

    def test_long_names(self):
        longest = self.folder / ("n" * 250 + ".json")
        self.expect(0, "report", str(TINY), "-q", "-o", str(longest))
        self.assertEqual(list(self.folder.iterdir()), [longest])
        longest.unlink()
        self.refuse("-q", "-o", str(self.folder / ("n" * 251 + ".json")), says=b"name too long")
        self.refuse("-q", "-o", str(self.folder / ("n/" * 3000)))

    def test_links_are_replaced_not_followed(self):
        victim = self.folder / "victim.json"
        victim.write_text("mine", encoding="utf-8")
        for target in (victim, self.folder / "nowhere.json"):
            with self.subTest(target=target.name):
                link = self.folder / "run.json"
                link.unlink(missing_ok=True)
                link.symlink_to(target)
                self.expect(0, "report", str(TINY), "-q", "-o", str(link))
                self.assertFalse(link.is_symlink())
                self.assertIn(b"traceanalyze.report/1", link.read_bytes())
        self.assertEqual(victim.read_text(encoding="utf-8"), "mine")
        self.assertFalse((self.folder / "nowhere.json").exists())

    def test_link_in_the_output_folder_is_no_folder(self):
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        self.out.mkdir()
        (self.out / "tables").symlink_to(elsewhere)
        self.refuse("-q", "--format", "csv", "-o", str(self.out))
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_foreign_files_stop_all_formats(self):
        self.out.mkdir()
        (self.out / "report.md").write_text("mine", encoding="utf-8")
        self.refuse("-q", "--format", "html,json,md", "-o", str(self.out), says=b"not ours")

    def test_style_and_script_beside_the_page(self):
        split = ("report", str(TINY), "-q", "--format", "html", "--assets=split", "-o")
        self.expect(0, *split, str(self.out))
        self.assertEqual(sorted(p.name for p in self.out.iterdir()),
                         ["report.css", "report.html", "report.js"])
        page = (self.out / "report.html").read_text(encoding="utf-8")
        for text in ("<style", "sha256-", "(() => {"):
            self.assertNotIn(text, page)
        self.expect(0, *split, str(self.out))  # its own files may be replaced
        (self.out / "report.css").write_text("body {}", encoding="utf-8")
        self.refuse(*split[2:], str(self.out), says=b"not ours")
        # One file has everything within.
        self.expect(0, *split, str(self.folder / "one.html"))
        self.assertIn("<style>", (self.folder / "one.html").read_text(encoding="utf-8"))

    def test_missing_folders_are_made_and_unmade(self):
        deep = self.folder / "a/b/c"
        self.expect(0, "report", str(TINY), "-q", "-o", str(deep))
        self.assertTrue((deep / "report.json").is_file())

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        self.refuse("-q", "-o", str(self.folder / "x/y/z"), preexec_fn=limit)
        self.assertFalse((self.folder / "x").exists())


if __name__ == "__main__":
    main()

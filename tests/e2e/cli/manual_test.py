#!/usr/bin/env python3
"""Manual pages that groff takes without a word, and a reference that is up to date."""
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from plimsoll import ROOT, run


class Manual(unittest.TestCase):
    def test_pages_are_clean(self):
        if not shutil.which("groff"):
            self.skipTest("groff is not installed")
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("man", folder).returncode, 0)
            pages = sorted(pathlib.Path(folder).iterdir())
            self.assertLessEqual({"plimsoll.1", "plimsoll-config.5", "plimsoll-flow-job.5"}, {page.name for page in pages})
            for page in pages:
                done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", page], capture_output=True, text=True)
                self.assertEqual(done.stderr, "", page.name)
                self.assertIn("plimsoll", done.stdout)

    def test_the_page_of_job_files_has_every_operation(self):
        with tempfile.TemporaryDirectory() as folder:
            run("man", folder)
            page = pathlib.Path(folder, "plimsoll-flow-job.5").read_text()
            for operation in json.loads(run("flow", "ops", "-o", "json").stdout):
                self.assertIn(f"\n.SS {operation['name']}\n", page)

    def test_pages_do_not_depend_on_when_they_are_made(self):
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            run("man", first)
            run("man", second)
            for page in pathlib.Path(first).iterdir():
                self.assertEqual(page.read_bytes(), pathlib.Path(second, page.name).read_bytes())

    def test_the_reference_is_what_the_table_says(self):
        with tempfile.TemporaryDirectory() as folder:
            run("man", "--markdown", folder)
            for page in pathlib.Path(folder).iterdir():
                stored = ROOT / "docs" / "reference" / page.name
                self.assertEqual(stored.read_text(), page.read_text(),
                                 "run: build/dev/bin/plimsoll man --markdown docs/reference")

    def test_an_unwritable_folder_is_an_error(self):
        done = run("man", "/proc/nowhere")
        self.assertIn("PLM-1302", done.stderr)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()

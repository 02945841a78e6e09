#!/usr/bin/env python3
"""The recorder and the disk of these tests, with programs whose faults are known."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from disk import MODES, NotModelled
from recording import Recording

START = "import os\n"
REPLACE = """
f = os.open('new', os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
os.write(f, b'second')
{sync_file}
os.close(f)
os.rename('new', 'kept')
{sync_directory}
"""
SYNC_FILE, SYNC_DIRECTORY = "os.fsync(f)", "d = os.open('.', os.O_RDONLY); os.fsync(d); os.close(d)"


class PowerCuts(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="plim.")).resolve()
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        (self.root / "kept").write_text("first")

    def left(self, program):
        """Each power cut with what the file has after it; None: it is gone."""
        recording, found = Recording(self, self.root, most=800, seed=2), []
        subprocess.run([sys.executable, "-c", START + program], cwd=self.root, env={**os.environ, **recording.env}, check=True)

        def look(cut):
            found.append((cut, (self.root / "kept").read_text() if (self.root / "kept").exists() else None))
        recording.check_each(look)
        return found

    def contents(self, program):
        return {text for _, text in self.left(program)}

    def test_a_file_that_is_replaced_with_both_syncs_is_the_old_or_the_new_one(self):
        found = self.left(REPLACE.format(sync_file=SYNC_FILE, sync_directory=SYNC_DIRECTORY))
        self.assertEqual({text for _, text in found}, {"first", "second"})
        self.assertEqual({text for cut, text in found if cut.moment == float("inf")}, {"second"})
        self.assertEqual({cut.mode for cut, _ in found}, set(MODES))

    def test_a_name_without_its_data(self):
        self.assertIn("", self.contents(REPLACE.format(sync_file="", sync_directory=SYNC_DIRECTORY)))

    def test_a_rename_that_is_undone(self):
        found = self.left(REPLACE.format(sync_file=SYNC_FILE, sync_directory=""))
        self.assertEqual({text for cut, text in found if cut.moment == float("inf") and cut.mode == "synced"}, {"first"})

    def test_a_write_in_place_that_is_torn(self):
        found = self.contents("f = os.open('kept', os.O_WRONLY); os.pwrite(f, b'SECOND', 0); os.fsync(f)")
        self.assertLessEqual({"first", "SECOND"}, found)
        self.assertTrue(found & {"SECOND"[:n] + "first"[n:] for n in range(1, 6)}, found)

    def test_a_later_write_without_an_earlier_one(self):
        found = self.contents("f = os.open('kept', os.O_WRONLY); os.pwrite(f, b'1', 0); os.pwrite(f, b'2', 1)")
        self.assertLessEqual({"first", "1irst", "f2rst", "12rst"}, found)

    def test_a_file_that_is_deleted_may_be_back(self):
        self.assertEqual(self.contents("os.unlink('kept')"), {"first", None})

    def test_a_file_that_is_cut_off_may_have_its_end_again(self):
        self.assertEqual(self.contents("os.truncate('kept', 2)"), {"first", "fi"})

    def test_a_sync_covers_only_what_was_written_before_it(self):
        found = self.left("f = os.open('kept', os.O_WRONLY); os.write(f, b'1'); os.fdatasync(f); os.write(f, b'2')")
        self.assertEqual({text for cut, text in found if cut.moment == float("inf")}, {"1irst", "12rst"})

    def test_a_new_directory_is_lost_with_synced_files(self):
        found = self.left("os.mkdir('a'); f = os.open('a/b', os.O_WRONLY | os.O_CREAT); os.write(f, b'x'); os.fsync(f)\n"
                          "d = os.open('a', os.O_RDONLY); os.fsync(d)")
        self.assertEqual({text for _, text in found}, {"first"})
        self.assertEqual(found[-1][0].mode, "synced")
        self.assertFalse((self.root / "a").exists())

    def test_refuses_what_it_does_not_model(self):
        for program in ("os.link('kept', 'other')", "os.mkdir('a'); os.rename('kept', 'a/kept')",
                        "import mmap; mmap.mmap(os.open('kept', os.O_RDWR), 5)"):
            with self.subTest(program), self.assertRaises(NotModelled):
                self.setUp()
                self.left(program)


if __name__ == "__main__":
    unittest.main()

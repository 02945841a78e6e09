#!/usr/bin/env python3
"""tools/run-tests counts what a script of tests says, so that nothing skipped or crashed looks like a pass."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
LOADER = importlib.machinery.SourceFileLoader("run_tests", str(ROOT / "tools" / "run-tests"))
run_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("run_tests", LOADER))
sys.modules["run_tests"] = run_tests  # dataclasses look for their module
LOADER.exec_module(run_tests)


def outcome(body):
    """Of a script whose class T has these methods."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write("import os, unittest\nclass T(unittest.TestCase):\n" + textwrap.indent(textwrap.dedent(body), "    ") + "\nunittest.main()\n")
        script.flush()
        done = subprocess.run([sys.executable, script.name, "-v"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    return run_tests.unittest_outcome("a_test.py", done.returncode, done.stdout)


class Unittest(unittest.TestCase):
    def test_passes_are_counted(self):
        found = outcome("""
            def test_a(self): print("OK (skipped=7)")
            def test_b(self): print("\\nnote: 12 requests")
            """)
        self.assertEqual((found.passed, found.failed, found.skipped, found.notes), (2, [], [], ["a_test.py: 12 requests"]))

    def test_every_skip_is_one(self):
        for what in ("def test_a(self): self.skipTest('no GPU')",
                     "def test_a(self):\n  'What it shows.'\n  self.skipTest('no GPU')",
                     "def test_a(self): self.skipTest(\"it's not there\")",
                     "def test_a(self):\n  with self.subTest(1): self.skipTest('no GPU')",
                     "@unittest.skip('later')\ndef test_a(self): pass",
                     "@unittest.expectedFailure\ndef test_a(self): self.fail()"):
            with self.subTest(what):
                found = outcome(what + "\ndef test_b(self): pass")
                self.assertEqual((found.passed, found.failed, len(found.skipped)), (1, [], 1), found)
        found = outcome("@classmethod\ndef setUpClass(self): raise unittest.SkipTest('no GPU')\ndef test_a(self): pass")
        self.assertEqual((found.passed, found.failed, len(found.skipped)), (0, [], 1))

    def test_a_skip_has_its_name_and_reason(self):
        found = outcome("def test_a(self):\n  'What it shows.'\n  self.skipTest(\"it's not there\")")
        self.assertEqual(found.skipped, [("a_test.py: test_a", "it's not there")])

    def test_what_does_not_end_well_failed(self):
        for what in ("def test_a(self): self.fail()", "def test_a(self): raise OSError", "def test_a(self): os._exit(0)",
                     "@unittest.expectedFailure\ndef test_a(self): pass", "def test_a(self): os._exit(3)"):
            with self.subTest(what):
                found = outcome(what)
                self.assertEqual((found.passed, len(found.failed)), (0, 1), found)
                self.assertNotRegex(found.failed[0][1], run_tests.NEVER_LUCK)

    def test_a_crash_is_never_bad_luck(self):
        found = outcome("def test_a(self): os.kill(os.getpid(), 6)")
        self.assertEqual(len(found.failed), 1)
        self.assertRegex(found.failed[0][1], run_tests.NEVER_LUCK)
        for said in ("plimsoll: internal error: a != b does not hold", "x\nterminate called without an active exception", "LOST: a write"):
            self.assertRegex(said, run_tests.NEVER_LUCK)


if __name__ == "__main__":
    unittest.main()

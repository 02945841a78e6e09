#!/usr/bin/env python3
"""The table of tools/mutate fits the sources, so that it can be run at any time. Nothing is built here."""
import importlib.machinery
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
LOADER = importlib.machinery.SourceFileLoader("mutate", str(ROOT / "tools" / "mutate"))
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", LOADER))
LOADER.exec_module(mutate)


class Table(unittest.TestCase):
    def test_every_text_is_in_its_file_once(self):
        self.assertEqual([problem for problem in map(mutate.unfitting, mutate.MUTANTS) if problem], [])

    def test_names_are_unique_and_every_mutant_changes_something(self):
        self.assertEqual(len({mutant.name for mutant in mutate.MUTANTS}), len(mutate.MUTANTS))
        self.assertEqual([mutant.name for mutant in mutate.MUTANTS if mutant.text == mutant.instead], [])

    def test_every_test_exists(self):
        cases = {}
        for path in (ROOT / "src").rglob("*_test.cpp"):
            for suite, case in re.findall(r"^\w*TEST\w*\((\w+),\s*(\w+)", path.read_text(), re.MULTILINE):
                cases[f"{suite}.{case}"] = path
        for mutant in mutate.MUTANTS:
            with self.subTest(mutant.name):
                program, which = mutant.test.split()
                if mutate.is_script(mutant.test):
                    self.assertIn(f"def {which.split('.')[1]}(self", (ROOT / program).read_text())
                    continue
                for case in which.split(":"):
                    module = pathlib.Path(program.removesuffix("_test").replace("local_", "local/", 1))
                    self.assertTrue(cases[case].is_relative_to(ROOT / "src" / module), f"{case} is in {cases[case]}")


class Applied(unittest.TestCase):
    def setUp(self):
        place = tempfile.NamedTemporaryFile("w+", suffix=".cpp")
        self.addCleanup(place.close)
        self.file = pathlib.Path(place.name)
        self.file.write_text("if (a) b();\n")

    def mutant(self, text):
        return mutate.MUTANTS[0].__class__("m", str(self.file), text, "if (false)", "base_test A.b")

    def test_the_file_is_restored_whatever_happens(self):
        with self.assertRaises(KeyboardInterrupt), mutate.applied(self.mutant("if (a)")):
            self.assertEqual(self.file.read_text(), "if (false) b();\n")
            raise KeyboardInterrupt
        self.assertEqual(self.file.read_text(), "if (a) b();\n")

    def test_a_text_that_is_not_there_once_is_refused(self):
        for text in ("if (c)", " "):
            with self.assertRaises(mutate.Trouble), mutate.applied(self.mutant(text)):
                self.fail("it was applied")
        self.assertEqual(self.file.read_text(), "if (a) b();\n")

    def test_an_unknown_name_is_refused(self):
        done = subprocess.run([ROOT / "tools" / "mutate", "no-such-mutant"], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("no mutant no-such-mutant", done.stderr)


if __name__ == "__main__":
    unittest.main()

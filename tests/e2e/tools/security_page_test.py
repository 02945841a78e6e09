#!/usr/bin/env python3
"""docs/security.md names a test for everything that an attacker cannot do. Each of them exists."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = "docs/security.md"


def rows(text):
    """The rows of its tables: (what the attacker cannot do, the cell with the tests)."""
    for line in text.splitlines():
        cells = line.strip().strip("|").split(" | ")
        if line.startswith("| ") and cells[-1].strip() != "test":
            yield cells[0].strip(), cells[-1]


def named_in(cell):
    return re.findall(r"`([^`:]+): ([^`]+)`", cell)


def exists(file, name):
    if not (ROOT / file).is_file():
        return False
    text = (ROOT / file).read_text()
    if file.endswith(".py"):
        return re.search(rf"^    def {re.escape(name)}\(self\):", text, re.MULTILINE) is not None
    suite, _, case = name.partition(".")
    return re.search(rf"^TEST(_F|_P)?\({re.escape(suite)},\s*{re.escape(case)}\) \{{", text, re.MULTILINE) is not None


class SecurityPage(unittest.TestCase):
    def setUp(self):
        self.text = (ROOT / PAGE).read_text()

    def test_every_claim_names_tests_that_exist(self):
        found = list(rows(self.text))
        self.assertGreater(len(found), 40)
        for claim, cell in found:
            with self.subTest(claim=claim):
                tests = named_in(cell)
                self.assertTrue(tests, "no test is named")
                self.assertEqual([test for test in tests if not exists(*test)], [])

    def test_every_attacker_has_claims(self):
        parts = re.split(r"^## ", self.text, flags=re.MULTILINE)[1:]
        self.assertEqual(len(parts), 7)
        for part in parts:
            self.assertIn(" can:", part)
            self.assertTrue(list(rows(part)), part.splitlines()[0])

    def test_a_test_that_does_not_exist_is_found(self):
        self.assertTrue(exists("tests/e2e/tools/security_page_test.py", "test_a_test_that_does_not_exist_is_found"))
        self.assertFalse(exists("tests/e2e/tools/security_page_test.py", "test_a_test_that_does_not"))
        self.assertTrue(exists("src/net/server_test.cpp", "Server.answers_bad_requests_with_400"))
        self.assertFalse(exists("src/net/server_test.cpp", "Client.answers_bad_requests_with_400"))
        self.assertFalse(exists("src/net/no_such_test.cpp", "Server.answers_bad_requests_with_400"))


if __name__ == "__main__":
    unittest.main()

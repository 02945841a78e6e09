#!/usr/bin/env python3
"""The list of differences: what is not listed fails, and so does what is listed and gone; and what is claimed of conformance.
Needs no cluster."""
import re
import unittest

import yaml

from answers import KNOWN, listed_of, mistakes
from observations import HERE, claims

LIST = [{"why": "because", "differs": ["a.b", "c"], "cases": {"errors": ["one"]}}]


class List(unittest.TestCase):
    def judged(self, **found):
        return mistakes(listed_of("errors", LIST), {"one": {"a.b": (1, 2), "c": (1, 2)}, **found})

    def test_what_is_listed_passes(self):
        self.assertEqual(self.judged(), [])
        self.assertEqual(self.judged(one={"a.b.below": (1, 2), "a.b[0]": (1, 2), "c": (1, 2)}, two={}), [])

    def test_what_is_not_listed_fails(self):
        self.assertEqual(self.judged(two={"a.b": (1, None)}), ["two: a.b\n    ours 1\n    real null"])
        self.assertEqual(len(self.judged(one={"a.b": (1, 2), "a.bc": (1, 2), "c": (1, 2)})), 1)

    def test_what_has_gone_fails(self):
        self.assertEqual(self.judged(one={"c": (1, 2)}), ["one: no longer differs in a.b"])
        self.assertEqual(mistakes(listed_of("errors", LIST), {}), ["one: no such case, but its differences are listed"])

    def test_suites_that_nobody_runs_fail(self):
        with self.assertRaisesRegex(AssertionError, "no such suite: error"):
            listed_of("errors", [{"why": "", "differs": [], "cases": {"error": []}}])

    def test_every_difference_has_a_reason(self):
        groups = yaml.safe_load(KNOWN.read_text())
        self.assertTrue(listed_of("errors", groups))
        for group in groups:
            self.assertTrue(group["why"] and group["differs"] and all(group["cases"].values()), group)


class Conformance(unittest.TestCase):
    def test_claims_name_checks_that_exist(self):
        for file, what in claims():
            path = HERE.parents[1] / file if "/" in file else HERE / file
            self.assertTrue(path.exists(), file)
            if "/" not in file:
                continue  # a case: looked for when its suite is compared
            suite, _, name = what.partition(".")
            form = rf"TEST(_F|_P)?\({suite}, {name}\)" if file.endswith(".cpp") else rf"class {suite}\((.|\n)*    def {name}\("
            self.assertTrue(name and re.search(form, path.read_text()), f"{file} has no {what or 'test that is named'}")


if __name__ == "__main__":
    unittest.main()

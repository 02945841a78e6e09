#!/usr/bin/env python3
"""Tables, webhooks and custom kinds, shown by `plimsoll up` and by kube-apiserver: equal but for what differences.yaml lists."""
import pathlib
import unittest

import pair  # first: it says where the other modules are
import custom_kinds
import tables
import webhooks
from observations import claims, compare


class Objects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.addClassCleanup(cls.shared.doCleanups)
        cls.pair = pair.Pair(cls.shared)

    def compare(self, suite, observe):
        namespace = self.pair.namespace(suite)
        compare(self, suite, *self.pair.both(lambda api: list(observe(api, namespace))))

    def test_rows_of_pods(self):
        self.compare("pods", tables.observe)

    def test_tables_of_other_kinds(self):
        self.compare("tables", tables.observe_others)

    def test_custom_kinds(self):
        self.compare("custom", custom_kinds.observe)

    def test_claims_name_checks_that_exist(self):
        for file, what in claims():
            path = pair.ROOT / file if "/" in file else pathlib.Path(__file__).with_name(file)
            self.assertTrue(path.exists(), file)
            if "/" in file and what:
                self.assertIn(f"def {what.rpartition('.')[2]}(", path.read_text())

    def test_webhooks(self):
        self.compare("webhooks", lambda api, namespace: webhooks.observe(self, api, namespace))


if __name__ == "__main__":
    unittest.main()

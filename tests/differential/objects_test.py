#!/usr/bin/env python3
"""Tables, webhooks and custom kinds, shown by `plimsoll up` and by kube-apiserver: equal but for what differences.yaml lists."""
import unittest

import pair  # first: it says where the other modules are
import custom_kinds
import tables
import webhooks
from observations import compare


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

    def test_webhooks(self):
        self.compare("webhooks", lambda api, namespace: webhooks.observe(self, api, namespace))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The same requests to `plimsoll up` and to kube-apiserver: answers are equal but for what differences.yaml lists."""
import unittest

import cases
from answers import differences, judge, read
from pair import Pair


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.addClassCleanup(cls.shared.doCleanups)
        cls.pair = Pair(cls.shared)

    def compare(self, suite, requests_of, prepare=lambda api, namespace: {}):
        """`prepare` makes what the requests need of one server, and gives names for what it found there."""
        namespace = self.pair.namespace(suite)

        def ask(api):
            setup, requests = requests_of({"NS": namespace, **prepare(api, namespace)})
            for request in setup:
                answer = request.send(api)
                self.assertLess(answer.code, 300, f"{request.method} {request.path}: {answer.text}")
            return [(request.name, read(request.send(api))) for request in requests]
        ours, real = self.pair.both(ask)
        names = [name for name, _ in ours]
        self.assertEqual(len(names), len(set(names)), "names of cases must be unique")
        judge(self, suite, {name: differences(one, other) for (name, one), (_, other) in zip(ours, real)})

    def test_errors(self):
        self.compare("errors", cases.errors)

    def test_invalid_manifests(self):
        self.compare("created", cases.created)

    def test_forbidden_changes(self):
        self.compare("updated", cases.updated)

    def test_resizes(self):
        self.compare("resized", cases.resized)

    def test_defaults(self):
        self.compare("defaults", cases.defaults)

    def test_strategic_merge(self):
        self.compare("merge", cases.strategic_merge)

    def test_versions(self):
        self.compare("versions", cases.versions, cases.prepare_versions)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""kubectl and deletions with everything running: one node of `plimsoll up` and one of real Kubernetes, equal but for what differences.yaml lists."""
import unittest

import pair  # first: it says where the other modules are
import commands
import deletions
from local_cluster import eventually
from observations import compare

OURS = ("--nodes", "1", "--ephemeral")


class Clusters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.addClassCleanup(cls.shared.doCleanups)
        cls.pair = pair.Pair(cls.shared, OURS, nodes=1)

    def compare(self, suite, observe):
        for api in (self.pair.ours, self.pair.real):
            api.close()  # kubectl took so long that the server may have hung up
            api.connection = None
        namespace = self.pair.namespace(suite.replace(".", ""))

        def both(api):
            eventually(lambda: api.get(f"/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt").code == 200, what="what controllers put there")
            node = api.must("GET", "/api/v1/nodes")["items"][0]["metadata"]["name"]
            return list(observe(api, namespace, {node: "NODE"}))
        compare(self, suite, *self.pair.both(both))

    def test_deletions(self):
        self.compare("deletions", lambda api, namespace, names: deletions.observe(api, namespace))

    def test_commands_of_kubectl_1_20(self):
        self.compare("kubectl-1.20", lambda api, namespace, names: commands.observe(api, "1.20", namespace, commands.plain_commands(), names))

    def test_commands_of_kubectl_1_34(self):
        self.compare("kubectl-1.34", lambda api, namespace, names: commands.observe(api, "1.34", namespace, commands.plain_commands(), names))

    def test_pods_that_run_with_kubectl_1_20(self):
        self.compare("running-1.20", lambda api, namespace, names: commands.observe(api, "1.20", namespace, commands.running_commands(), names))

    def test_pods_that_run_with_kubectl_1_34(self):
        self.compare("running-1.34", lambda api, namespace, names: commands.observe(api, "1.34", namespace, commands.running_commands(), names))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""kubectl, deletions and lives of pods with everything running: two nodes of `plimsoll up` and two of real Kubernetes, equal but for what differences.yaml lists.

The suites take most of their time waiting, for controllers and for kubectl's start: they all run at once, each in a namespace of its own, and
those whose pods run each have a node of their own, which they may close and drain; pods whose lives are compared begin when that is over. The
tests then look at what was seen.
"""
import concurrent.futures
import contextlib
import unittest

import pair  # first: it says where the other modules are
import commands
import deletions
import lives
from local_cluster import eventually
from observations import compare

OURS = ("--nodes", "2", "--ephemeral")


def plain(version):
    return lambda api, namespace, nodes: commands.observe(api, version, namespace, commands.plain_commands(), nodes)


def running(version):
    return lambda api, namespace, nodes: commands.observe(api, version, namespace, commands.running_commands(), nodes)


SUITES = {"running-1.20": running("1.20"), "running-1.37": running("1.37"), "kubectl-1.20": plain("1.20"), "kubectl-1.37": plain("1.37"),
          "deletions": lambda api, namespace, nodes: deletions.observe(api, namespace), "lives": lives.observe}


class Clusters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.addClassCleanup(cls.shared.doCleanups)
        cls.pair = pair.Pair(cls.shared, OURS, nodes=2)
        for node in ("n1", "n2"):  # as the rig's nodes have it
            cls.pair.local.place.run("images", "load", "busybox", "--node", node, "--name", cls.pair.local.name)
        cls.seen = {}
        pool = concurrent.futures.ThreadPoolExecutor(2 * len(SUITES))
        cls.shared.addCleanup(pool.shutdown)
        for suite, observe in SUITES.items():
            namespace = cls.pair.namespace(suite.replace(".", ""))
            cls.seen[suite] = [pool.submit(cls.look, api.kubeconfig, suite, namespace, observe, cls.before(suite, side))
                               for side, api in enumerate((cls.pair.ours, cls.pair.real))]

    @classmethod
    def before(cls, suite, side):
        return [cls.seen[other][side] for other in ("running-1.20", "running-1.37")] if suite == "lives" else []

    @staticmethod
    def look(kubeconfig, suite, namespace, observe, before):
        concurrent.futures.wait(before)
        with contextlib.closing(pair.Api(kubeconfig)) as api:
            eventually(lambda: api.get(f"/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt").code == 200, seconds=30,
                       what="what controllers put there")
            one, other = (node["metadata"]["name"] for node in api.must("GET", "/api/v1/nodes")["items"])
            api.close()  # kubectl takes so long that the server may hang up
            return list(observe(api, namespace, {other: "NODE", one: "OTHER"} if suite.endswith("1.37") else {one: "NODE", other: "OTHER"}))

    def compare(self, suite):
        compare(self, suite, *(one.result() for one in self.seen[suite]))

    def test_deletions(self):
        self.compare("deletions")

    def test_lives_of_pods(self):
        self.compare("lives")

    def test_commands_of_kubectl_1_20(self):
        self.compare("kubectl-1.20")

    def test_commands_of_kubectl_1_37(self):
        self.compare("kubectl-1.37")

    def test_pods_that_run_with_kubectl_1_20(self):
        self.compare("running-1.20")

    def test_pods_that_run_with_kubectl_1_37(self):
        self.compare("running-1.37")


if __name__ == "__main__":
    unittest.main()

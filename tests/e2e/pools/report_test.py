#!/usr/bin/env python3
"""Our kinds on the local cluster: installed with the roles, and filled by the pools of a node."""
import json
import os
import unittest

from pools_machine import eventually
from local_cluster import LocalCluster, Place


class Report(unittest.TestCase):
    def test_the_pools_of_a_node_are_published(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        place = Place(self)
        pools = place.state("t") / "pools"
        pools.mkdir(mode=0o700, parents=True)
        (pools / "poolconfig.yaml").write_text(f"pools:\n  exclusive-pool: {{cpus: '{cpus[-1]}'}}\n")
        cluster = LocalCluster(self, "--nodes", "1", "--roles", "pools", "--ephemeral", place=place)
        eventually(lambda: "n1" in cluster.kubectl("get", "nrep", check=False).stdout, what="the report")
        told = cluster.get("nrep", "n1")["spec"]["pools"]["exclusive-pool"]
        self.assertEqual((told["type"], told["size"], sum(told["free"].values())), ("exclusive", 1, 1))
        # As on any other cluster, where no role listens on this machine.
        table = place.run("pools", "--node", "n1", "--kubeconfig", cluster.kubeconfig, "-o", "json").stdout
        self.assertEqual(json.loads(table)["items"][0]["node"], "n1")

    def test_a_cluster_without_roles_is_left_as_it_is(self):
        cluster = LocalCluster(self, "--nodes", "0", "--ephemeral")
        self.assertEqual(cluster.get("crd")["items"], [])
        done = cluster.place.run("pools")
        self.assertIn("plimsoll up --roles pools", done.stderr)

    def test_who_has_no_pools_is_told_how_to_have_some(self):
        cluster = LocalCluster(self, "--nodes", "2", "--roles", "pools", "--ephemeral")
        done = eventually(lambda: (lambda done: done.returncode == 0 and done)(
            cluster.place.run("pools", "--kubeconfig", cluster.kubeconfig)), what="an answer")
        self.assertEqual(done.stdout, "no pools are configured\n")
        self.assertIn("kubectl create configmap cpu-dp-configmap", done.stderr)
        # Who has some that are wrong is told what is wrong with them, once, and nothing else.
        cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cpu-dp-configmap", "namespace": "kube-system"},
                       "data": {"poolconfig.yaml": "pools: {exclusive-pool: {cpus: x}}"}})
        done = eventually(lambda: (lambda done: "warning: n1, n2: " in done.stderr and done)(
            cluster.place.run("pools", "--kubeconfig", cluster.kubeconfig)), what="the warning")
        self.assertEqual(done.stderr.count("warning"), 1)
        self.assertNotIn("kubectl", done.stderr)


if __name__ == "__main__":
    unittest.main()

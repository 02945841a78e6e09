#!/usr/bin/env python3
"""The rig itself, without nodes: an API server on etcd."""
import os
import signal
import subprocess
import unittest

from leftovers import NOTHING, traces
from rig import RealCluster, RealClusterCase, RigFailure
from rig.requirements import kubernetes_version
from rig.slot import TESTS_OF_THE_RIG


class Api(RealClusterCase):
    def test_it_is_the_version_that_was_built(self):
        self.assertEqual(self.cluster.read("/version")["gitVersion"], kubernetes_version())
        self.assertIn(f"Server Version: {kubernetes_version()}", self.cluster.kubectl("version").stdout)

    def test_pods_are_taken_at_once_and_fake_nodes_have_room(self):
        self.cluster.fake_nodes(3, cpu=4, labels={"zone": "a"})
        nodes = self.cluster.get("nodes", "-l", "zone=a")["items"]
        self.assertEqual([node["status"]["allocatable"]["cpu"] for node in nodes], ["4"] * 3)
        self.assertNotIn("taints", nodes[0]["spec"])
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"},
               "spec": {"nodeName": "fake1", "containers": [{"name": "c", "image": "i"}]}}
        self.cluster.apply(pod)
        self.assertEqual(self.cluster.get("pod", "p")["spec"]["nodeName"], "fake1")

    def test_etcd_is_closed_to_whoever_has_no_certificate_of_ours(self):
        done = subprocess.run(["openssl", "s_client", "-connect", f"{self.cluster.slot.address}:2379", "-quiet"],
                              input="GET /v3/ HTTP/1.0\r\n\r\n", capture_output=True, text=True, timeout=20)
        self.assertIn("certificate required" if "certificate required" in done.stderr else "bad certificate", done.stderr)

    def test_what_was_written_outlives_its_servers(self):
        self.cluster.kubectl("create", "configmap", "stays")
        self.cluster.restart_etcd()
        self.cluster.restart_apiserver()
        self.cluster.kubectl("get", "configmap", "stays")
        self.assertGreater(self.cluster.compact(), 1)


class Ends(unittest.TestCase):
    def test_a_part_that_dies_fails_the_test_with_its_log(self):
        cluster = RealCluster(numbers=TESTS_OF_THE_RIG)
        slot = cluster.slot
        os.kill(cluster.etcd.pid, signal.SIGKILL)
        with self.assertRaisesRegex(RigFailure, r"etcd ended with -9; the end of /run/plimsoll-real/\d+/etcd.log"):
            cluster.eventually(lambda: False, what="nothing")
        cluster.close()
        self.assertEqual(traces(slot), NOTHING)


if __name__ == "__main__":
    unittest.main()

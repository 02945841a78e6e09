#!/usr/bin/env python3
"""`plimsoll up` runs the scheduler as a role, in place of the small one that is built in, and it can be asked."""
import contextlib
import json
import socket
import subprocess
import tempfile
import unittest

from scheduler import eventually, pod
import nodes_test
from local_cluster import PROGRAM, LocalCluster


class Role(unittest.TestCase):
    def setUp(self):
        taken = socket.socket()  # the usual port, unless another scheduler has it already
        self.addCleanup(taken.close)
        with contextlib.suppress(OSError):
            taken.bind(("127.0.0.1", 10259))
            taken.listen()
        self.cluster = LocalCluster(self, "--nodes", "2", "--ephemeral", "--roles", "scheduler")

    def explain(self, *words):
        # Where this cluster's scheduler listens is found in its own directories.
        env = self.cluster.env | {"XDG_RUNTIME_DIR": self.cluster.place.env["XDG_RUNTIME_DIR"]}
        return subprocess.run([PROGRAM, "explain", "pod", *words], env=env, capture_output=True, text=True, timeout=60)

    def node_of(self, name):
        return self.cluster.get("pod", name)["spec"].get("nodeName")

    def test_it_places_pods_and_says_why(self):
        self.cluster.kubectl("create", "-f", "-", input=json.dumps(pod("a")))
        node = eventually(lambda: self.node_of("a"), what="a node")
        shown = self.explain("a")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, rf"(?m)^RESULT  {node}  \d+   runner-up (?!{node} )\S+ \d+")
        self.assertIn("NODES   2 = 2 feasible (all scored)", shown.stdout)
        named = self.explain("a", "--scheduler", "https://127.0.0.1:1")
        self.assertIn("from the annotation of the pod (connecting to 127.0.0.1:1: ", named.stdout)
        events = [one for one in self.cluster.get("events")["items"] if one["reason"] == "Scheduled"]
        self.assertEqual([one["message"] for one in events], [f"Successfully assigned default/a to {node}"])


class RateOfTheRole(unittest.TestCase):
    def started(self, *lines):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("\n".join(("apiVersion: kubescheduler.config.k8s.io/v1", "kind: KubeSchedulerConfiguration", *lines)) + "\n")
            file.flush()
            cluster = LocalCluster(self, "--nodes", "0", "--sim-nodes", "1", "--ephemeral", "--roles", "scheduler", "--scheduler-config", file.name)
            cluster.kubectl("create", "-f", "-", input=json.dumps(pod("a")))
            eventually(lambda: cluster.get("pod", "a")["spec"].get("nodeName"), what="a node")
            return "".join(one.read_text(errors="replace") for one in cluster.place.root.rglob("scheduler*.log"))

    def test_a_file_without_a_rate_does_not_slow_a_local_cluster(self):
        self.assertIn("the configuration has no clientConnection.qps or burst", self.started())
        self.assertNotIn("the configuration has no clientConnection.qps or burst", self.started("clientConnection: {qps: 60}"))


class PodsOfTheRole(nodes_test.Pods):
    """As with the small one, and as tests/real/stock_scheduler_test.py with kube-scheduler."""
    flags = ("--nodes", "2", "--ephemeral", "--roles", "scheduler")


if __name__ == "__main__":
    unittest.main()

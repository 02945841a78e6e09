#!/usr/bin/env python3
"""Every exit code that the help of a command promises, as far as one run can show it."""
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import LocalCluster, Place  # noqa: E402

LOCALITY = ROOT / "examples" / "locality"
SNAPSHOT = ("explain", "pod", "--snapshot", str(LOCALITY / "cluster.yaml"), "--pod", str(LOCALITY / "busybox-pod.yaml"))
NOWHERE = "/nonexistent/file"


class ExitCodes(unittest.TestCase):
    def expect(self, place, cases):
        for code, *words in cases:
            with self.subTest(words=words):
                done = place.run(*words)
                self.assertEqual(done.returncode, code, done.stdout + done.stderr)

    def test_without_a_cluster(self):
        place = Place(self)
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("nonsense\n")
            file.flush()
            bad = file.name
            self.expect(place, (
                (0, *SNAPSHOT), (2, "explain", "pod"), (4, "explain", "pod", "--snapshot", NOWHERE, "--pod", bad),
                (2, *SNAPSHOT[:3], bad, "--pod", bad), (2, *SNAPSHOT, "--config", bad), (4, *SNAPSHOT, "--config", NOWHERE),
                (4, *SNAPSHOT, "--why-not", "nowhere"), (4, "explain", "pod", "web"),
                (0, "explain", "error"), (4, "explain", "error", "PLM-9999"),
                (1, "scheduler", "--config", bad), (1, "scheduler", "--config", NOWHERE), (1, "scheduler", "--kubeconfig", NOWHERE),
                (2, "scheduler", "--nonsense"), (2, "scheduler", "--kube-api-qps", "many"), (0, "scheduler", "--check-config"),
                (0, "down"), (4, "status", "--name", "nobody"), (4, "store", "verify", "--name", "nobody"),
                (4, "store", "compact", "--name", "nobody"), (1, "agent", "check", "-c", bad), (1, "agent", "check", "-c", NOWHERE),
                (1, "pools", "validate", bad), (4, "pools", "validate", NOWHERE), (2, "flow", "validate", bad),
                (2, "flow", "validate", NOWHERE), (2, "flow", "run", NOWHERE), (4, "flow", "ops", "nonsense")))

    def test_with_a_cluster(self):
        cluster = LocalCluster(self, "--nodes", "1", "--ephemeral", "--roles", "none")
        node = cluster.get("nodes")["items"][0]["metadata"]["name"]
        config, name = ("--kubeconfig", cluster.kubeconfig), ("--name", cluster.name)
        self.expect(cluster.place, (
            (4, "images", "--node", "nobody", *config), (4, "images", "ls", "--node", "nobody", *config),
            (4, "images", "load", "busybox", "--node", "nobody", *name), (4, "images", "rm", "busybox", "--node", "nobody", *name),
            (4, "images", "rm", "nobody-has-it", "--node", node, *name), (4, "images", "pull", "busybox", "--node", "nobody", *name),
            (4, "node", "rm", "nobody", *name), (4, "node", "stop", "nobody", *name), (4, "node", "start", "nobody", *name), (3, "node", "add", node, *name),
            (4, "node", "exec", *name, "nobody", "--", "true"), (4, "explain", "pod", "nobody", *config),
            (4, "raw", "/api/v1/namespaces/default/pods/nobody", *config)))


if __name__ == "__main__":
    unittest.main()

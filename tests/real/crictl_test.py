#!/usr/bin/env python3
"""The real crictl reads the CRI socket of a local node, and ours prints the same from it."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[0] / "e2e" / "local")]
from local_cluster import PROGRAM, LocalCluster, Place, eventually  # noqa: E402
from rig import requirements  # noqa: E402

CATALOG = """images:
  app:1: {layers: [{digest: 'sha256:base', size: 54M}], nodes: ["*"]}
  reg.example:5000/team/app: {layers: [{digest: 'sha256:two', size: 771k}], nodes: ["*"]}
"""
TABLES = (("images",), ("images", "app:1"), ("images", "--digests", "--no-trunc"), ("images", "--pinned"), ("images", "-q"), ("img", "nobody"),
          ("ps",), ("ps", "-a"), ("ps", "-aq"), ("ps", "-a", "--no-trunc"), ("ps", "-r"), ("ps", "-a", "--state", "exited"), ("ps", "-l"),
          ("ps", "-a", "--name", "on"), ("ps", "--image", "app:1"), ("pods",), ("pods", "-q"), ("pods", "--label", "app=web"),
          ("pods", "-s", "notready"), ("pods", "--no-trunc", "--name", "^web$"), ("version",))
VALUES = (("images", "-o", "json"), ("ps", "-a", "-o", "json"), ("pods", "-o", "json"), ("info",), ("info", "-q"))


def ageless(text):
    """Two calls may print another age, which moves the columns after it."""
    return re.sub(r"(Less than a second|About an? \w+|\d+ \w+) ago *", "AGE ", re.sub("CREATED +", "CREATED ", text))


class RealCrictl(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)
        (self.place.root / "catalog.yaml").write_text(CATALOG)
        self.cluster = LocalCluster(self, "--nodes", "1", "--ephemeral", "--images", str(self.place.root / "catalog.yaml"), place=self.place)
        self.link = self.place.root / "crictl"
        self.link.symlink_to(PROGRAM)
        self.real = requirements.crictl()
        self.socket = self.place.run_directory("t") / "n1" / "containerd" / "containerd.sock"
        self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}, "annotations": {"a": "b"}},
                            "spec": {"containers": [{"name": "c", "image": "app:1", "command": ["sleep", "3600"]}]}},
                           {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "done"}, "spec": {
                               "restartPolicy": "Never", "containers": [{"name": "once", "image": "reg.example:5000/team/app", "command": ["true"]}]}})
        self.addCleanup(self.cluster.kubectl, "delete", "pods", "--all", "--grace-period=0", "--force", check=False)
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
        eventually(lambda: self.cluster.get("pod", "done")["status"]["phase"] == "Succeeded", what="the end of a pod")

    def ask(self, program, *words):
        done = subprocess.run([program, "-r", f"unix://{self.socket}", *words], env=self.place.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"{program} {words}\n{done.stdout}{done.stderr}")
        return done.stdout

    def test_both_print_the_same(self):
        for words in TABLES:
            with self.subTest(words=words):
                self.assertEqual(ageless(self.ask(self.link, *words)), ageless(self.ask(self.real, *words)))
        for words in VALUES:
            with self.subTest(words=words):
                self.assertEqual(json.loads(self.ask(self.link, *words)), json.loads(self.ask(self.real, *words)))

    def test_the_real_one_inspects_what_it_listed(self):
        (running,) = self.ask(self.real, "ps", "-q").split()
        status = json.loads(self.ask(self.real, "inspect", running))["status"]
        self.assertEqual((status["metadata"]["name"], status["state"]), ("c", "CONTAINER_RUNNING"))
        pod = json.loads(self.ask(self.real, "inspectp", *self.ask(self.real, "pods", "-q", "--name", "web").split()))["status"]
        self.assertEqual(pod["network"]["ip"], self.cluster.get("pod", "web")["status"]["podIP"])
        self.assertEqual(json.loads(self.ask(self.real, "inspecti", "app:1"))["status"]["repoTags"], ["docker.io/library/app:1"])
        self.assertIn("imageFilesystems", json.loads(self.ask(self.real, "imagefsinfo"))["status"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Inventories of the nodes of `plimsoll up`, and `plimsoll images` as a person reads it."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "local"))
from local_cluster import PROGRAM, LocalCluster, Place, eventually  # noqa: E402

CATALOG = """images:
  app:1: {layers: [{digest: 'sha256:base', size: 180M}, {digest: 'sha256:one', size: 20M}]}
  app:2: {layers: [{digest: 'sha256:base', size: 180M}, {digest: 'sha256:two', size: 771k}]}
"""


class LocalInventories(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        place = Place(cls.shared)
        place.env["PLIMSOLL_AGENT_RUN_IMAGES_INTERVAL"] = "300ms"
        (place.root / "catalog.yaml").write_text(CATALOG)
        cls.cluster = LocalCluster(cls.shared, "--nodes", "2", "--roles", "images", "--ephemeral", "--images",
                                   str(place.root / "catalog.yaml"), place=place)

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()

    def images(self, *words, code=0):
        done = self.cluster.place.run("images", *words, "--kubeconfig", str(self.cluster.kubeconfig))
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def items(self, *words):
        return json.loads(self.images("-o", "json", *words))["items"]

    def change(self, verb, image, node):
        done = self.cluster.place.run("images", verb, image, "--node", node, "--name", "t")
        self.assertEqual(done.returncode, 0, done.stderr)

    def inventoried(self, image, *nodes):
        eventually(lambda: sorted(one["node"] for one in self.items("--image", image) if one["source"] == "inventory") == sorted(nodes),
                   what=f"{image} on {nodes}")

    def test_people_see_who_holds_what_and_what_is_shared(self):
        self.change("load", "app:1", "n1")
        self.change("load", "app:2", "n1")
        self.change("load", "app:2", "n2")
        for spelling in ("app:2", "library/app:2", "docker.io/app:2", "index.docker.io/library/app:2"):
            self.inventoried(spelling, "n1", "n2")
        self.assertRegex(self.images("--node", "n1", "--image", "app", "-o", "wide"),
                         r"NODE +IMAGE +TAG +IMAGE ID +SIZE +SHARED +LAYERS +PINNED +SOURCE +AGE\n"
                         r"n1 +docker.io/library/app +1 +\w{13} +200MB +180MB +2 +no +inventory +\d+s\n"
                         r"n1 +docker.io/library/app +2 +\w{13} +181MB +180MB +2 +no +inventory +\d+s\n")
        self.assertRegex(self.images("--node", "n1", "--layers", "--image", "app"),
                         r"n1 +base +180MB +docker.io/library/app:1, docker.io/library/app:2\n")
        self.assertIn("771kB", self.images("--node", "n2", "--layers"))
        told = self.cluster.get("nodeimageinventories.plimsoll.io", "n1")["spec"]  # what the node's CRI socket says of its file system
        self.assertEqual(told["fs"]["usedBytes"], sum(layer["n"] for layer in told["layers"]))
        self.assertGreater(told["fs"]["usedBytes"], 200_771_000)
        self.assertEqual(self.images("--image", "nobody/has-this"), "")

    def test_mistakes_are_told(self):
        self.assertIn("node n9 does not exist", self.images("--node", "n9", code=4))
        self.assertIn("--image: image \"No Such\"", self.images("--image", "No Such", code=2))
        self.assertIn("cannot be combined with --layers", self.images("-w", "--layers", code=2))

    def test_watching_prints_what_comes_and_goes(self):
        child = subprocess.Popen([PROGRAM, "images", "-w", "--image", "coming", "-o", "json", "--kubeconfig", str(self.cluster.kubeconfig)],
                                 env=self.cluster.place.env, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.change("load", "coming", "n2")
        first = json.loads(child.stdout.readline())
        self.assertIn(first["event"], ("HELD", "ADDED"))
        self.assertEqual((first["node"], first["tag"]), ("n2", "latest"))
        self.inventoried("coming", "n2")
        self.change("rm", "coming", "n2")
        while (said := json.loads(child.stdout.readline()))["event"] != "REMOVED":
            self.assertEqual(said["node"], "n2")  # the same from its new source
        child.terminate()
        self.assertEqual(child.wait(timeout=10), 130)

    def test_the_object_belongs_to_its_node_and_a_new_node_has_one(self):
        self.cluster.place.run("node", "add", "late", "--name", "t")
        told = eventually(lambda: self.cluster.kubectl("get", "nodeimageinventories.plimsoll.io", "late", "-o", "json", check=False).stdout,
                          what="its inventory")
        (owner,) = json.loads(told)["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["name"]), ("Node", "late"))
        self.assertTrue(json.loads(told)["spec"]["runtime"].startswith("plimsoll://"))
        self.assertIn("late", self.cluster.kubectl("get", "nodeimageinventories.plimsoll.io").stdout)


SIM_CATALOG = """images:
  app:1: {layers: [{digest: base, size: 180M}, {digest: one, size: 20M}], nodes: [sim-3]}
  app:2: {layers: [{digest: base, size: 180M}, {digest: two, size: 771k}], nodes: [sim-1]}
"""
MODES = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality}]}}
  pluginConfig: [{name: ImageLocality, args: {mode: Bytes}}]
- schedulerName: by-time
  plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality}]}}
  pluginConfig: [{name: ImageLocality, args: {mode: PullTime, horizon: 60s}}]
"""


class SimulatedInventories(unittest.TestCase):
    def setUp(self):
        place = Place(self)
        (place.root / "catalog.yaml").write_text(SIM_CATALOG)
        (place.root / "scheduler.conf").write_text(MODES)
        self.cluster = LocalCluster(self, "--nodes", "0", "--sim-nodes", "3", "--roles", "scheduler", "--ephemeral", "--images",
                                    str(place.root / "catalog.yaml"), "--scheduler-config", str(place.root / "scheduler.conf"), place=place)
        self.pods = 0

    def plimsoll(self, *words):
        done = subprocess.run([PROGRAM, *words], env={**self.cluster.place.env, "KUBECONFIG": self.cluster.kubeconfig}, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def scores(self, scheduler):
        """What the nodes get for a new pod of app:1, once the scheduler has heard of the inventories."""
        def told():
            self.pods += 1
            name = f"p{self.pods}"
            self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "schedulerName": scheduler, "containers": [{"name": "c", "image": "app:1"}]}})
            eventually(lambda: self.cluster.get("pod", name)["spec"].get("nodeName"), what="a node")
            rows = json.loads(self.plimsoll("explain", "pod", name, "-o", "json"))["rows"]
            found = {row["node"]: row["scores"][0] for row in rows}
            by_inventory = [node for node, score in found.items() if "by CRD" in score["detail"]]
            return sorted(by_inventory) == ["sim-1", "sim-3"] and {node: score["normalized"] for node, score in found.items()}
        return eventually(told, every=0.3, what="inventories")

    def test_simulated_nodes_tell_their_layers_and_pods_go_by_them(self):
        self.assertEqual(self.scores("default-scheduler"), {"sim-1": 90, "sim-2": 0, "sim-3": 100})
        # At 50 MiB/s 200 MB take 3.8 s of the 60 that are too long, 20 MB a tenth of that.
        self.assertEqual(self.scores("by-time"), {"sim-1": 99, "sim-2": 93, "sim-3": 100})

        shown = self.plimsoll("images", "-o", "wide")
        self.assertRegex(shown, r"(?m)^sim-1 +docker.io/library/app +2 +\w{13} +181MB +0B +2 +no +inventory +\d+s$")
        self.assertRegex(shown, r"(?m)^sim-3 +docker.io/library/app +1 +\w{13} +200MB +0B +2 +no +inventory +\d+s$")
        self.assertRegex(self.plimsoll("images", "--layers", "--node", "sim-1"), r"(?m)^sim-1 +\w{13} +180MB +docker.io/library/app:2$")

        told = self.cluster.get("nodeimageinventories.plimsoll.io", "sim-1")
        (owner,) = told["metadata"]["ownerReferences"]
        self.assertEqual((owner["kind"], owner["name"]), ("Node", "sim-1"))
        self.assertEqual(told["spec"]["runtime"], "plimsoll://sim")
        self.assertNotIn("pullBandwidthBytesPerSecond", told["spec"])

        # What a pod has pulled is told too, and shares what was there.
        self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "there"},
                            "spec": {"nodeName": "sim-1", "containers": [{"name": "c", "image": "app:1"}]}})
        pulled = r"(?m)^sim-1 +docker.io/library/app +1 +\w{13} +200MB +180MB +2 +no +inventory +\d+s$"
        eventually(lambda: re.search(pulled, self.plimsoll("images", "--node", "sim-1", "-o", "wide")), every=0.2, what="the image")
        told = self.cluster.get("nodeimageinventories.plimsoll.io", "sim-1")
        self.assertEqual(told["spec"]["pullBandwidthBytesPerSecond"], 100000000)


class WithoutInventories(unittest.TestCase):
    def test_what_kubelets_report_is_shown_as_that(self):
        cluster = LocalCluster(self, "--nodes", "1", "--ephemeral", "--roles", "none")
        cluster.kubectl("delete", "crd", "nodeimageinventories.plimsoll.io", "--ignore-not-found")
        done = cluster.place.run("images", "--kubeconfig", str(cluster.kubeconfig))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^n1 +docker.io/plimsoll/tools +latest +- +\S+ +status +-$")
        self.assertIn("note: the cluster has no inventories", done.stderr)

    def test_images_are_loaded_where_they_are_looked_for(self):
        place = Place(self)
        first, second = (LocalCluster(self, "--nodes", "1", "--ephemeral", "--roles", "none", place=place, name=name) for name in "ab")
        for cluster, image in ((first, "of-a"), (second, "of-b")):
            env = place.env | {"KUBECONFIG": str(cluster.kubeconfig)}
            done = subprocess.run([PROGRAM, "images", "load", image], env=env, capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
        for cluster, image in ((first, "of-a"), (second, "of-b")):
            names = [name for held in cluster.get("node", "n1")["status"]["images"] for name in held["names"]]
            self.assertEqual([name for name in names if "/of-" in name and "@" not in name], [f"docker.io/library/{image}:latest"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The ancestor's page on a local cluster: its commands in its order, until there is something to see."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

from agent_under_test import ROOT, Scrape, directory, eventually
from local_cluster import KUBECTL, LocalCluster

DEPLOY = ROOT / "deploy" / "agent"
OVERLAYS = ROOT / "deploy" / "overlays"


def objects(text):
    """Documents of YAML as kubectl prints them: kind and namespace are all that is asked of them."""
    out = []
    for document in text.split("\n---\n"):
        lines = document.splitlines()
        field = {line.split(":")[0]: line.split(": ")[-1] for line in lines if line.startswith(("kind:", "  name:", "  namespace:"))}
        out.append((field["kind"], field["  name"], field.get("  namespace")))
    return sorted(out)


class Overlays(unittest.TestCase):
    def built(self, place):
        done = subprocess.run([KUBECTL, "kustomize", place], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_overlay_has_everything_in_its_namespace(self):
        wanted = [("ClusterRole", "wca", None), ("ClusterRoleBinding", "wca", "wca"), ("ConfigMap", "wca-config", "wca"),
                  ("DaemonSet", "wca", "wca"), ("Namespace", "wca", None), ("ServiceAccount", "wca", "wca")]
        self.assertEqual(objects(self.built(OVERLAYS / "wca")), wanted)

    def test_a_copy_goes_to_any_namespace(self):
        place = directory(self)
        shutil.copytree(DEPLOY, place / "agent")
        shutil.copytree(OVERLAYS / "wca", place / "overlays/elsewhere")
        for path in (place / "overlays/elsewhere").iterdir():
            path.write_text(path.read_text().replace("namespace: wca", "namespace: elsewhere").replace("name: wca", "name: elsewhere"))
        built = self.built(place / "overlays/elsewhere")
        self.assertEqual({namespace for _, _, namespace in objects(built)}, {None, "elsewhere"})
        self.assertNotIn("namespace: wca", built)


class Walk(unittest.TestCase):
    def setUp(self):
        # Addresses of their own: other clusters of this machine have the first ones.
        self.cluster = LocalCluster(self, "--nodes", "0", "--ephemeral")
        first = 100 + os.getpid() % 50 * 2
        self.names = [f"n{first}", f"n{first + 1}"]
        for name in self.names:
            self.cluster.place.run("node", "add", "--name", "t", name)
        self.nodes = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if any(not node["cgroups"].startswith("/") or not node["isolated"] for node in self.nodes):
            self.skipTest("nodes have no cgroups or containers no namespaces here")
        if {node["kubeletPort"] for node in self.nodes} != {10250}:
            self.skipTest("another cluster has these addresses")

    def scrape(self, node):
        try:
            with urllib.request.urlopen(f"http://{node['address']}:9101/metrics", timeout=5) as answer:
                return Scrape(answer.read().decode())
        except OSError:
            return None

    def seen(self, node):
        scrape = self.scrape(node)
        return scrape and f"default/work-{node['name']}" in scrape.tasks() and scrape

    def test_every_node_is_measured(self):
        for node in self.nodes:
            self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"work-{node['name']}"},
                                "spec": {"nodeName": node["name"], "terminationGracePeriodSeconds": 0,
                                         "containers": [{"name": "c", "image": "busybox", "command": ["sleep", "1000"]}]}})
        self.cluster.kubectl("apply", "-f", str(DEPLOY / "namespace.yaml"))
        for name in ("rbac", "configmap", "daemonset"):
            self.cluster.kubectl("apply", "-f", str(DEPLOY / f"{name}.yaml"))
        # As docs/agent.md says for local nodes.
        root = pathlib.Path(self.nodes[0]["cgroups"]).parent
        self.cluster.kubectl("set", "env", "daemonset/wca", "-n", "wca", f"PLIMSOLL_AGENT_RUN_CGROUP_ROOT={root}/$(NODE_NAME)")
        self.cluster.kubectl("rollout", "status", "daemonset/wca", "-n", "wca", "--timeout=60s")
        for node in self.nodes:
            scrape = eventually(lambda node=node: self.seen(node), seconds=30, what=f"the pod of {node['name']}")
            self.assertEqual(scrape.get("task_subcontainers", task_name=f"default/work-{node['name']}"), 1)
            self.assertEqual(scrape.get("plimsoll_agent_source_up", source="node"), 1)
        self.assertIn("without a client certificate", self.cluster.kubectl("logs", "-n", "wca", "-l", "app=wca").stdout)
        self.shows_a_certificate_when_there_is_one()

    def shows_a_certificate_when_there_is_one(self):
        with tempfile.TemporaryDirectory() as place:
            keys = self.cluster.place.state("t") / "pki"
            for kind in ("crt", "key"):
                shutil.copy(keys / f"admin.{kind}", f"{place}/client.{kind}")
            self.cluster.kubectl("create", "secret", "generic", "kubelet-key-crt", f"--from-file={place}/client.crt",
                                 f"--from-file={place}/client.key", "--namespace=wca")
        self.cluster.kubectl("rollout", "restart", "daemonset/wca", "-n", "wca")
        self.cluster.kubectl("rollout", "status", "daemonset/wca", "-n", "wca", "--timeout=60s")
        for node in self.nodes:
            eventually(lambda node=node: self.seen(node), seconds=30, what=f"the pod of {node['name']}")
        logs = self.cluster.kubectl("logs", "-n", "wca", "-l", "app=wca").stdout
        self.assertNotIn("without a client certificate", logs)


if __name__ == "__main__":
    unittest.main()

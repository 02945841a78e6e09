#!/usr/bin/env python3
"""The agent as a role of `plimsoll up`: one per node, with real pods in real cgroups."""
import json
import os
import pathlib
import signal
import unittest
import urllib.error
import urllib.request

from agent_under_test import PROGRAM, Scrape, alive, eventually
from local_cluster import LocalCluster


def pod(name, *command, **more):
    container = {"name": "c", "image": "busybox", "command": list(command), **more}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app.kubernetes.io/name": name}},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}}


class UnderTest(unittest.TestCase):
    driver = "cgroupfs"

    def setUp(self):
        self.cluster = LocalCluster(self, "--nodes", "2", "--roles", "agent", "--ephemeral", "--cgroup-driver", self.driver)
        nodes = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if any(not node["cgroups"].startswith("/") for node in nodes):
            self.skipTest("nodes have no cgroups here")

    def endpoints(self):
        path = self.cluster.place.state("t") / "endpoints.json"
        return json.loads(path.read_text()).get("roles", {}).get("agent", {})

    def get(self, node, path):
        try:
            with urllib.request.urlopen(self.endpoints()[node] + path, timeout=10) as answer:
                return answer.read().decode()
        except (OSError, KeyError):
            return ""

    def agents(self):
        """Pids of the agents of this cluster, by the configuration they were given."""
        mark, out = str(self.cluster.place.state("t") / "roles"), []
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue
            if words[1:3] == ["agent", "run"] and any(word.startswith(mark) for word in words):
                out.append(int(path.parent.name))
        return out

    def scrape(self, node):
        text = self.get(node, "/metrics")
        return Scrape(text) if text else None


class Measured(UnderTest):
    def cgroup_of(self, uid):
        """As this driver of a kubelet's would name it, without its parents."""
        return f"kubepods-burstable-pod{uid.replace('-', '_')}.slice" if self.driver == "systemd" else f"pod{uid}"

    def test_each_node_measures_its_own_pods(self):
        self.assertEqual(sorted(self.endpoints()), ["n1", "n2"])
        # So little that a busy machine gives more, too.
        limits = {"requests": {"cpu": "50m", "memory": "32Mi"}, "limits": {"cpu": "50m", "memory": "64Mi"}}
        self.cluster.apply(pod("busy", "sh", "-c", "while true; do :; done", resources=limits), pod("idle", "sleep", "1000"))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/busy", "pod/idle", "--timeout=30s")
        node = self.cluster.get("pod", "busy")["spec"]["nodeName"]

        def grown():
            scrape = self.scrape(node)
            return scrape and all((scrape.get(f"task_cpu_{what}_seconds", task_name="default/busy") or 0) > 0.1
                                  for what in ("usage", "throttled")) and scrape
        scrape = eventually(grown, seconds=60, what="use and throttling")
        uid = self.cluster.get("pod", "busy")["metadata"]["uid"]
        self.assertTrue(next(pathlib.Path("/sys/fs/cgroup").rglob(self.cgroup_of(uid)), None), self.cgroup_of(uid))
        self.assertEqual(scrape.get("task_subcontainers", task_id=uid, app_kubernetes_io__name="busy", node=node), 1)
        self.assertEqual(scrape.get("task_requested_cpus", task_id=uid), 0.05)
        self.assertEqual(scrape.get("task_mem_limit_bytes", task_id=uid), 64 << 20)

        def seen():
            return sorted(name for one in ("n1", "n2") for name in self.scrape(one).tasks())
        eventually(lambda: seen() == ["default/busy", "default/idle"])
        top = self.cluster.place.run("agent", "top", "--url", self.endpoints()[node], "--once")
        self.assertIn("default/busy", top.stdout)
        everywhere = self.cluster.place.run("agent", "top", "--kubeconfig", self.cluster.kubeconfig, "--once").stdout
        self.assertRegex(everywhere, rf"default/busy +{node} ")
        self.assertRegex(everywhere, r"default/idle +n[12] ")
        self.cluster.kubectl("delete", "pod", "busy", "--wait=true")
        eventually(lambda: self.scrape(node) and "default/busy" not in self.scrape(node).tasks(), seconds=20)


class MeasuredBySystemdsNames(Measured):
    driver = "systemd"


class Roles(UnderTest):
    def test_agents_come_and_go_with_their_nodes_and_come_back_when_killed(self):
        eventually(lambda: self.get("n2", "/readyz") == "ok\n")
        victim, *_ = self.agents()
        os.kill(victim, signal.SIGKILL)
        eventually(lambda: len(self.agents()) == 2 and victim not in self.agents(), what="a new agent")
        self.cluster.place.run("node", "add", "--name", "t", "n7")
        eventually(lambda: self.get("n7", "/readyz") == "ok\n", seconds=20)
        self.cluster.place.run("node", "stop", "--name", "t", "n2")
        eventually(lambda: sorted(self.endpoints()) == ["n1", "n7"] and len(self.agents()) == 2)

    def test_no_agent_outlives_its_cluster(self):
        agents = eventually(lambda: len(self.agents()) == 2 and self.agents())
        self.cluster.kill()
        eventually(lambda: not any(alive(pid) for pid in agents), what="the end of the agents")
        self.cluster.up(self, "--roles", "agent", "--nodes", "2", "--ephemeral")
        agents = eventually(lambda: len(self.agents()) == 2 and self.agents())
        self.cluster.down()
        self.assertFalse(any(alive(pid) for pid in agents))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Two clusters with pools on one machine: each sets the CPUs of its own containers, whatever becomes of the other."""
import json
import os
import re
import unittest
import urllib.request

from up_test import EXCLUSIVE, pod
from pools_machine import eventually
from local_cluster import LocalCluster, Place

FLAGS = ("--nodes", "1", "--roles", "pools")
CONFIG = "implicitDefault: false\npools: {exclusive-pool: {cpus: %d}}\n"


class Side:
    """One of the clusters, with one exclusive CPU."""

    def __init__(self, test, place, name, cpu):
        self.cluster, self.cpu = LocalCluster(test, *FLAGS, place=place, name=name), cpu
        self.configure(cpu)
        eventually(lambda: self.allocatable() == "1", what="the exclusive CPU")

    def configure(self, cpu):
        directory = self.cluster.place.state(self.cluster.name) / "pools"
        eventually(directory.is_dir, what="the directory for pools")
        (directory / "new").write_text(CONFIG % cpu)
        (directory / "new").rename(directory / "poolconfig.yaml")

    def allocatable(self):
        return self.cluster.get("node", "n1")["status"]["allocatable"].get(EXCLUSIVE)

    def node(self):
        (node,) = json.loads(self.cluster.place.run("node", "ls", "--name", self.cluster.name, "-o", "json").stdout)["items"]
        return node

    def run(self, name):
        self.cluster.apply(pod(name, {EXCLUSIVE: "1"}))
        self.cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=90s")

    def processes(self, name):
        """Of a pod, by their cgroup."""
        uid = self.cluster.get("pod", name)["metadata"]["uid"].replace("-", "_")
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cgroup") as file:
                    if uid in file.read().replace("-", "_"):
                        found.append(int(pid))
            except OSError:
                pass  # it has ended
        return found

    def affinities(self, name):
        found = set()
        for pid in self.processes(name):
            try:
                found.add(frozenset(os.sched_getaffinity(pid)))
            except OSError:
                pass
        return found

    def get(self, path):
        roles = json.loads((self.cluster.place.state(self.cluster.name) / "endpoints.json").read_text())["roles"]
        with urllib.request.urlopen(roles["pools"]["n1"] + path, timeout=10) as answer:
            return answer.read().decode()

    def free(self):
        (pool,) = [pool for pool in json.loads(self.get("/state"))["pools"]["pools"] if pool["name"] == "exclusive-pool"]
        return pool["states"]["free"]

    def writes(self):
        text = self.get("/metrics")
        return {name: sum(float(value) for value in re.findall(rf"^plimsoll_pools_{name}_total\S* (\S+)$", text, re.MULTILINE))
                for name in ("cpuset_writes", "drift")}


class TwoClusters(unittest.TestCase):
    def setUp(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        place = Place(self)
        self.first = Side(self, place, "t", cpus[-1])
        if not self.first.node()["cgroups"].startswith("/"):
            self.skipTest("nodes have no cgroups here")
        self.second = Side(self, place, "u", cpus[0])

    def test_neither_touches_what_the_other_runs(self):
        for side in (self.first, self.second):
            side.run("holder")
            eventually(lambda: side.affinities("holder") == {frozenset({side.cpu})}, what="its CPU")
        processes, before = self.second.processes("holder"), self.second.writes()
        # The other one changes its pools, is killed and starts again, with a pod on the same CPU as ours.
        self.first.cluster.kubectl("delete", "pod", "holder")
        self.first.configure(self.second.cpu)
        eventually(lambda: self.first.free() == str(self.second.cpu), what="the CPU of its changed pool")
        self.first.run("rival")
        eventually(lambda: self.first.affinities("rival") == {frozenset({self.second.cpu})}, what="the CPU of the rival")
        self.first.cluster.kill()
        self.first.cluster.up(self, *FLAGS)
        eventually(lambda: self.first.allocatable() == "1", what="its pools")
        eventually(lambda: self.first.affinities("rival") == {frozenset({self.second.cpu})}, what="the CPU of the rival")
        self.first.cluster.place.run("reset", "--name", "t", "--yes")
        self.assertEqual(self.second.processes("holder"), processes)
        self.assertEqual(self.second.affinities("holder"), {frozenset({self.second.cpu})})
        self.assertEqual(self.second.writes(), before, "somebody else has set the CPUs of its container")
        self.second.cluster.kubectl("delete", "pod", "holder")
        self.second.run("next")
        eventually(lambda: self.second.affinities("next") == {frozenset({self.second.cpu})}, what="the CPU of the next")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The ancestor's page on a local cluster: plugin, setter, webhook and starter from the files of deploy/pools."""
import json
import os
import pathlib
import unittest

from pools_machine import PROGRAM
from pools_walk import PoolsWalk
from local_cluster import LocalCluster, Place


class Walk(PoolsWalk, unittest.TestCase):
    def setUp(self):
        # The image's program is found where this machine would have it.
        place = Place(self)
        place.env["PATH"] = f"{pathlib.Path(PROGRAM).parent}:{place.env['PATH']}"
        self.cluster = LocalCluster(self, "--nodes", "0", "--ephemeral", place=place)
        # An address of its own: other clusters of this machine have the first ones, the walk of the agent those after 100.
        name = f"n{200 + os.getpid() % 50}"
        place.run("node", "add", "--name", "t", name)
        (self.node,) = json.loads(place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if not self.node["cgroups"].startswith("/") or not self.node["isolated"]:
            self.skipTest("nodes have no cgroups or containers no namespaces here")

    def daemons(self, made):
        """Told where the kubelet of this machine has its sockets and its cgroups."""
        spec = made["spec"]["template"]["spec"]
        kubelet = self.cluster.place.run_directory("t") / self.node["name"]
        for volume in spec["volumes"]:
            if volume["name"] in ("device-plugins", "pod-resources"):
                volume["hostPath"]["path"] = str(kubelet / volume["name"])
            if volume["name"] == "run":
                volume["hostPath"]["path"] = str(kubelet)
        spec["containers"][0]["args"] += ["--cgroup-root", self.node["cgroups"]]
        return made

    def server(self, text):
        # Local nodes have their volumes below a directory of the test's, where only its owner may go.
        return text.replace("runAsNonRoot: true", "runAsNonRoot: false").replace("runAsUser: 65532", "runAsUser: 0")

    def daemon_address(self):
        return self.node["address"]

    def test_the_page_ends_with_processes_on_their_cpus(self):
        self.walk()


if __name__ == "__main__":
    unittest.main()

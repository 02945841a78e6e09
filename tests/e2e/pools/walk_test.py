#!/usr/bin/env python3
"""The page docs/from-cpu-pooler.md on a local cluster, with the files of deploy/pools unchanged."""
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

    def test_the_page_ends_with_processes_on_their_cpus(self):
        installed = pathlib.Path("/opt/bin/process-starter")
        seen = lambda: installed.exists() and (installed.stat().st_ino, installed.stat().st_mtime_ns)
        before = seen()
        self.walk()
        self.assertEqual(seen(), before, "a local node must not install on the machine")


if __name__ == "__main__":
    unittest.main()

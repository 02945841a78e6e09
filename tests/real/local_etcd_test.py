#!/usr/bin/env python3
"""examples/locality/etcd.yaml on a local cluster, with a real etcd as a pod of it."""
import json
import os
import subprocess
import sys
import unittest

from rig import ROOT
from rig.requirements import etcd

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import LocalCluster, Place, eventually  # noqa: E402

MANIFEST = ROOT / "examples" / "locality" / "etcd.yaml"


class LocalEtcd(unittest.TestCase):
    def test_one_apply_publishes_every_node_to_etcd(self):
        """Beside the agents of the role images, which hold their own locks."""
        place = Place(self)
        place.env["PATH"] = f"{etcd().parent}:{os.environ['PATH']}"  # the page has it installed
        cluster = LocalCluster(self, "--nodes", "2", "--roles", "images", "--ephemeral", place=place)
        cluster.kubectl("apply", "-f", str(MANIFEST))
        self.addCleanup(cluster.kubectl, "delete", "-f", str(MANIFEST), "--grace-period=0", "--force", check=False)
        address = cluster.get("service", "images-etcd")["spec"]["clusterIP"]

        def keys():
            done = subprocess.run(["curl", "-s", f"http://{address}:2379/v3/kv/range", "-d",
                                   '{"key": "L3BsaW1zb2xsL2ltYWdlcy8=", "range_end": "L3BsaW1zb2xsL2ltYWdlczA=", "keys_only": true}'],
                                  capture_output=True, text=True, timeout=20)
            return len(json.loads(done.stdout or "{}").get("kvs", [])) == 2
        eventually(keys, 60, what="the keys of both nodes")
        ready = eventually(lambda: (found := cluster.get("daemonset", "images-to-etcd")["status"]).get("numberReady") == 2 and found, 60,
                           what="both agents")
        self.assertEqual(ready["desiredNumberScheduled"], 2)
        for pod in cluster.get("pods")["items"]:
            self.assertEqual([one["restartCount"] for one in pod["status"]["containerStatuses"]], [0], pod["metadata"]["name"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The page docs/from-cpu-pooler.md on a real API server, kubelet and containerd, with the image and the files of deploy/pools."""
import pathlib
import sys
import unittest

from daemon_set_case import DaemonSetCase
from rig import ROOT

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "pools"))
from pools_walk import DEPLOY, PoolsWalk  # noqa: E402

STARTER = pathlib.Path("/opt/bin/process-starter")


class Walk(DaemonSetCase, PoolsWalk):
    # No kube-proxy runs here: the API server goes to the webhook's pods directly.
    options = {**DaemonSetCase.options, "apiserver_flags": ("--enable-aggregator-routing=true",)}

    def install(self, name):
        # Nor do pods reach the API server through its Service.
        self.create((DEPLOY / name).read_text().replace(
            "          env:\n", f"          env:\n            - {{name: KUBERNETES_SERVICE_HOST, value: {self.cluster.slot.address}}}\n"
            "            - {name: KUBERNETES_SERVICE_PORT, value: '6443'}\n"))

    def test_the_page_ends_with_processes_on_their_cpus(self):
        # The node of the rig is this machine: what was not there before is removed.
        if not STARTER.exists():
            self.addCleanup(STARTER.unlink, missing_ok=True)
        self.walk()


if __name__ == "__main__":
    unittest.main()

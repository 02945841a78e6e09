#!/usr/bin/env python3
"""The ancestor's page on a real API server, kubelet and containerd, with the image and the files of deploy/pools."""
import sys
import unittest

from daemon_set_case import DaemonSetCase
from rig import ROOT

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "pools"))
from pools_walk import PoolsWalk  # noqa: E402


class Walk(DaemonSetCase, PoolsWalk):
    # No kube-proxy runs here: the API server goes to the webhook's pods directly.
    options = {**DaemonSetCase.options, "apiserver_flags": ("--enable-aggregator-routing=true",)}

    def server(self, text):
        return text.replace("          env:\n", f"          env:\n            - {{name: KUBERNETES_SERVICE_HOST, value: {self.cluster.slot.address}}}\n"
                            "            - {name: KUBERNETES_SERVICE_PORT, value: '6443'}\n")

    def daemon_address(self):
        return self.node.address

    def test_the_page_ends_with_processes_on_their_cpus(self):
        self.walk()


if __name__ == "__main__":
    unittest.main()

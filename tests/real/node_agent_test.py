#!/usr/bin/env python3
"""The combined DaemonSet of deploy/overlays/plimsoll-system beside a real kubelet and containerd, with its own rights."""
import sys
import unittest

from rig import ROOT, RealClusterCase

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "agent"))
from node_agent import NodeAgentWalk  # noqa: E402


class OnARealNode(NodeAgentWalk, RealClusterCase):
    options = {"nodes": 1}

    def setUp(self):
        super().setUp()
        self.node = self.cluster.nodes[0]
        self.node.import_program()

    def daemons(self, made):
        (container,) = made["spec"]["template"]["spec"]["containers"]
        # No kube-proxy runs here, and the kubelets of the rig have a cgroup of their own each.
        container["env"] += [{"name": "KUBERNETES_SERVICE_HOST", "value": self.cluster.slot.address},
                             {"name": "KUBERNETES_SERVICE_PORT", "value": "6443"}]
        container["args"] += ["--cgroup-root", self.node.cgroup]
        return made

    def address(self):
        return self.node.address

    def test_one_daemon_does_it_all(self):
        self.walk()


if __name__ == "__main__":
    unittest.main()

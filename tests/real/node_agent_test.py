#!/usr/bin/env python3
"""The combined DaemonSet of deploy/overlays/plimsoll-system beside a real kubelet and containerd, with its own rights."""
import sys
import unittest

from daemon_set_case import STARTER, DaemonSetCase
from rig import ROOT

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "agent"))
from node_agent import NodeAgentWalk  # noqa: E402


class OnARealNode(DaemonSetCase, NodeAgentWalk):
    def address(self):
        return self.node.address

    def cgroup_root(self):
        return self.node.cgroup

    def starter(self):
        return STARTER

    def test_one_daemon_does_it_all(self):
        self.walk()


if __name__ == "__main__":
    unittest.main()

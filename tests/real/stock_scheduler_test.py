#!/usr/bin/env python3
"""The tests of placement with kube-scheduler switched in: `plimsoll up` without a scheduler of ours, and the real one on its kubeconfig."""
import os
import re
import subprocess
import sys
import unittest

from rig import ROOT
from rig.requirements import kubernetes
from local_cluster import LocalCluster

E2E = ROOT / "tests" / "e2e"


class KubeSchedulerOnPlimsollUp(unittest.TestCase):
    def run_tests(self, script, *names, **environment):
        done = subprocess.run([sys.executable, script, *names], cwd=script.parent, env={**os.environ, "KUBECTL": str(kubernetes() / "kubectl"), **environment}, capture_output=True, text=True,
                              timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        return int(re.search(r"^Ran (\d+) tests? in", done.stderr, re.MULTILINE)[1])

    def test_it_passes_our_tests_of_binding(self):
        ran = self.run_tests(E2E / "scheduler" / "bind_test.py", PLIMSOLL_TEST_KUBE_SCHEDULER=str(kubernetes() / "kube-scheduler"))
        self.assertGreaterEqual(ran, 6)

    def test_pods_run_where_it_puts_them(self):
        cluster = LocalCluster(self, "--nodes", "2", "--scheduler", "none", "--ephemeral")
        with open(cluster.place.root / "kube-scheduler.log", "w") as log:
            child = subprocess.Popen([kubernetes() / "kube-scheduler", "--kubeconfig", cluster.kubeconfig, "--leader-elect=false", "--secure-port=0",
                                      "--kube-api-content-type=application/json"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            ran = self.run_tests(E2E / "local" / "nodes_test.py", "Pods", PLIMSOLL_TEST_KUBECONFIG=cluster.kubeconfig)
            self.assertGreaterEqual(ran, 7)
        finally:
            child.kill()
            child.wait()


if __name__ == "__main__":
    unittest.main()

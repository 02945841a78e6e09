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
PODS = [f"Pods.test_{name}" for name in ("a_run_ends_with_its_exit_code", "a_deployment_rolls_and_a_watch_shows_it", "a_job_runs_to_its_end",
                                         "an_unschedulable_pod_says_why")]


class KubeSchedulerOnPlimsollUp(unittest.TestCase):
    def run_tests(self, script, *names, **environment):
        environment = {**os.environ, "KUBECTL": str(kubernetes() / "kubectl"), **environment}
        done = subprocess.run([sys.executable, script, *names], cwd=script.parent, env=environment, capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr[-6000:])
        return int(re.search(r"^Ran (\d+) tests? in", done.stderr, re.MULTILINE)[1])

    def test_it_passes_our_tests_of_binding(self):
        ran = self.run_tests(E2E / "scheduler" / "bind_test.py", PLIMSOLL_TEST_KUBE_SCHEDULER=str(kubernetes() / "kube-scheduler"))
        self.assertGreaterEqual(ran, 6)

    def test_it_passes_our_tests_of_extenders(self):
        ran = self.run_tests(E2E / "scheduler" / "extender_test.py", PLIMSOLL_TEST_KUBE_SCHEDULER=str(kubernetes() / "kube-scheduler"))
        self.assertGreaterEqual(ran, 9)

    def test_pods_run_where_it_puts_them(self):
        cluster = LocalCluster(self, "--nodes", "2", "--scheduler", "none", "--ephemeral")
        with open(cluster.place.root / "kube-scheduler.log", "w") as log:
            child = subprocess.Popen([kubernetes() / "kube-scheduler", "--kubeconfig", cluster.kubeconfig, "--leader-elect=false", "--secure-port=0",
                                      "--kube-api-content-type=application/json"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            self.assertEqual(self.run_tests(E2E / "local" / "nodes_test.py", *PODS, PLIMSOLL_TEST_KUBECONFIG=cluster.kubeconfig), len(PODS))
        finally:
            child.kill()
            child.wait()


if __name__ == "__main__":
    unittest.main()

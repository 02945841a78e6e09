#!/usr/bin/env python3
"""The sample configuration that is shipped, on a machine with eight CPUs: three resources, as the ancestor's page has them."""
import json
import subprocess
import unittest

from pools_machine import PROGRAM, ROOT, Machine, directory, eventually, run
from local_cluster import LocalCluster

SAMPLE = ROOT / "deploy/pools/cpu-dp-config.yaml"


class Sample(unittest.TestCase):
    def test_it_fits_eight_cpus_and_not_two(self):
        done = run("pools", "validate", "-f", str(SAMPLE), "--host-root", str(Machine(self, cpus=8).root))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = run("pools", "validate", "-f", str(SAMPLE), "--host-root", str(Machine(self, cpus=2).root))
        self.assertEqual(done.returncode, 1)
        for cpu in (2, 3, 4, 5):
            self.assertRegex(done.stderr + done.stdout, rf"\b{cpu}\b.*not exist")

    def test_a_kubelet_gets_three_resources(self):
        machine, config = Machine(self, cpus=8), directory(self)
        cluster = LocalCluster(self, "--nodes", "1", "--roles", "none", "--ephemeral")
        sample = json.loads(cluster.kubectl("create", "-f", str(SAMPLE), "--dry-run=client", "-o", "json").stdout)
        (config / "poolconfig.yaml").write_text(sample["data"]["poolconfig.yaml"])
        with open(config / "log", "w") as log:
            child = subprocess.Popen(
                [PROGRAM, "pools", "agent", "--kubeconfig", cluster.kubeconfig, "--node-name", "n1", "--host-root", machine.root,
                 "--kubelet-dir", cluster.place.run_directory("t") / "n1", "--run-dir", config, "--poolconfigs", config, "--parts", "plugin",
                 "--metrics-listen", "none"], stdout=log, stderr=log)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        amounts = lambda: {name: amount for name, amount in cluster.get("node", "n1")["status"]["allocatable"].items() if "nokia" in name}
        wanted = {"nokia.k8s.io/cpupool1": "2", "nokia.k8s.io/cpupool2": "2", "nokia.k8s.io/sharedpool": "1k"}
        try:
            eventually(lambda: amounts() == wanted, what="the resources")
        except AssertionError as late:
            raise AssertionError(f"{late}\n{amounts()}\n{(config / 'log').read_text()[-3000:]}") from None


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""`plimsoll pools validate`: both historic formats, every mistake with its place."""
import json
import unittest

from pools_machine import ROOT, Machine, directory, run

SAMPLE = str(ROOT / "deploy/pools/cpu-dp-config.yaml")


class Validate(unittest.TestCase):
    def setUp(self):
        self.machine = Machine(self, cpus=8)
        self.place = directory(self)

    def validate(self, *words):
        return run("pools", "validate", "--host-root", str(self.machine.root), *words)

    def write(self, name, text):
        path = self.place / name
        path.write_text(text)
        return str(path)

    def test_the_sample_of_the_first_generation_is_good(self):
        done = self.validate("-f", SAMPLE, "-o", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        pools = {pool["resource"]: pool["devices"] for pool in json.loads(done.stdout)["items"][0]["pools"]}
        self.assertEqual(pools, {"nokia.k8s.io/cpupool1": 2, "nokia.k8s.io/cpupool2": 2, "nokia.k8s.io/sharedpool": 1000})

    def test_labels_choose_the_file_of_a_node(self):
        for name in ("controller", "dpdk"):
            self.write(f"poolconfig-{name}.yaml", f"nodeSelector: {{nodeType: {name}}}\npools: {{shared-{name}: {{cpus: 1}}}}\n")
        done = self.validate(str(self.place), "--labels", "nodeType=dpdk")
        self.assertIn("shared-dpdk", done.stdout)
        self.assertNotIn("shared-controller", done.stdout)
        self.assertIn("no file matches", self.validate(str(self.place), "--labels", "").stdout)
        self.write("poolconfig-extra.yaml", "nodeSelector: {fast: 'yes'}\npools: {shared-x: {cpus: 1}}\n")
        done = self.validate(str(self.place), "--labels", "nodeType=dpdk,fast=yes")
        self.assertEqual(done.returncode, 1)
        self.assertIn("poolconfig-dpdk.yaml", done.stderr)
        self.assertIn("poolconfig-extra.yaml", done.stderr)

    def test_all_mistakes_of_a_file_come_in_one_run(self):
        path = self.write("poolconfig.yaml", "pools:\n  exclusive-a: {cpus: 5-2}\n  exclusive-b: {cpus: '1,,2'}\n"
                          "  p: {cpus: 1, pooltype: foo}\n  nodeSelector: {a: b}\n")
        done = self.validate("-f", path)
        self.assertEqual(done.returncode, 1)
        for line in (f"{path}:2:23: pool exclusive-a: range 5-2 runs backwards", f"{path}:3:23: pool exclusive-b",
                     f"{path}:4:26: pool p: pooltype", f"{path}:5:3: nodeSelector belongs next to pools"):
            self.assertIn(line, done.stderr)
        self.assertIn("4 mistakes", done.stderr)

    def test_overlaps_and_unknown_cpus_are_named(self):
        path = self.write("poolconfig.yaml", "pools:\n  exclusive-a: {cpus: '3-6'}\n  shared-b: {cpus: '6-9'}\n")
        done = self.validate(path)
        self.assertIn("pool shared-b: CPU 6 is in pool exclusive-a too", done.stderr)
        self.assertIn("pool shared-b: CPU 8-9 does not exist; this machine has 0-7", done.stderr)

    def test_strict_counts_warnings(self):
        path = self.write("poolconfig.yaml", "colour: red\npools: {shared-a: {cpus: 1}}\n")
        self.assertEqual(self.validate(path).returncode, 0)
        self.assertEqual(self.validate(path, "--strict").returncode, 1)

    def test_the_pools_of_a_machine_are_shown_without_an_agent(self):
        self.write("poolconfig.yaml", "pools:\n  exclusive-a: {cpus: '4,5'}\n  shared-s: {cpus: '1'}\n")
        held = [{"PodUID": "u1", "ContainerName": "c", "ResourceName": "nokia.k8s.io/exclusive-a", "DeviceIDs": ["5"]}]
        self.machine.write("var/lib/kubelet/device-plugins/kubelet_internal_checkpoint",
                           json.dumps({"Data": {"PodDeviceEntries": held}}))
        self.machine.write("sys/fs/cgroup/cpuset/kubepods/podu1/id/cpuset.cpus", "5\n")
        self.machine.write("sys/fs/cgroup/cpuset/kubepods/cpuset.cpus", "0-7\n")
        self.machine.online("0-6")
        done = run("pools", "--poolconfigs", str(self.place), "--host-root", str(self.machine.root))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "exclusive-a +exclusive +4-5 +1 +1 +A:u1/c=5")
        self.assertIn("numa 0:  .s..EA.x", done.stdout)
        self.assertNotIn("CPU manager", done.stdout)
        self.machine.write("var/lib/kubelet/cpu_manager_state", '{"policyName":"none"}')
        done = run("pools", "--poolconfigs", str(self.place), "--host-root", str(self.machine.root), "-o", "wide")
        self.assertIn(" CPU manager of the kubelet: none\n", done.stdout)
        self.assertRegex(done.stdout, "OFFLINE +FRAGMENTED +HOLDERS\n")
        self.assertRegex(done.stdout, "exclusive-a +exclusive +4-5 +1 +1 +0 +0 +0 +0% +A:u1/c=5")

    def test_usage_mistakes_end_with_2(self):
        self.assertEqual(self.validate().returncode, 2)
        self.assertEqual(self.validate(SAMPLE, "--labels", "x").returncode, 2)


if __name__ == "__main__":
    unittest.main()

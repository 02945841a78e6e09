#!/usr/bin/env python3
"""Several modules of the agent in one process, on a node of `plimsoll up`."""
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from agent_under_test import PROGRAM, ROOT, directory, eventually
from local_cluster import LocalCluster

MEASURE = """runner: !MeasurementRunner
  interval: 0.5
  node: !KubernetesNode
    kubelet_endpoint: https://{address}:{port}
    monitored_namespaces: ["*"]
    ssl: !SSL {{server_verify: {keys}/ca.crt, client_cert_path: {keys}/admin.crt, client_key_path: {keys}/admin.key}}
  metrics_storage: !LogStorage {{output_filename: {metrics}, overwrite: true}}
"""
POOLS = "pools: {exclusive-pool: {cpus: '%d'}}\n"
RESOURCE = "nokia.k8s.io/exclusive-pool"


def pod(name, limits):
    container = {"name": "c", "image": "busybox", "command": ["sleep", "1000"], "resources": {"limits": limits}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}}


class OneProcess(unittest.TestCase):
    def setUp(self):
        self.last = max(os.sched_getaffinity(0))
        if self.last == 0:
            self.skipTest("one CPU is not enough")
        self.cluster = LocalCluster(self, "--nodes", "1", "--ephemeral")
        (self.node,) = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if not self.node["cgroups"].startswith("/"):
            self.skipTest("nodes have no cgroups here")
        self.cluster.kubectl("apply", "-f", str(ROOT / "deploy/crds"))
        self.kubelet = self.cluster.place.run_directory("t") / "n1"
        self.place = directory(self)
        keys = self.cluster.place.state("t") / "pki"
        self.config, self.pools = self.place / "config.yaml", self.place / "pools"
        self.config.write_text(MEASURE.format(address=self.node["address"], port=self.node["kubeletPort"], keys=keys,
                                              metrics=self.place / "metrics"))
        self.pools.mkdir()
        self.configure(POOLS % self.last)
        self.measure = ("-c", self.config, "--root")
        self.give_out = ("--poolconfigs", self.pools)
        self.tell = ("--images", "--images-interval", "300ms", "--cri-endpoint", self.kubelet / "containerd/containerd.sock")

    def configure(self, text):
        """As a ConfigMap volume changes: in one step."""
        (self.pools / "new").write_text(text)
        (self.pools / "new").rename(self.pools / "poolconfig.yaml")

    def words(self, *words, kubelet=None, listen="127.0.0.1:0"):
        return [str(word) for word in (PROGRAM, "agent", *words, "--kubeconfig", self.cluster.kubeconfig, "--node-name", "n1",
                                       "--kubelet-dir", kubelet or self.kubelet, "--run-dir", self.kubelet, "--cgroup-root",
                                       self.node["cgroups"], "--metrics-listen", listen)]

    def start(self, *words, ready=True, **options):
        log = open(self.place / "log", "w")
        self.addCleanup(log.close)
        self.agent = subprocess.Popen(self.words(*words, **options), stdout=log, stderr=log, env=self.cluster.place.env)
        self.addCleanup(self.agent.wait)
        self.addCleanup(self.agent.kill)
        if ready:
            eventually(lambda: self.get("/readyz") == "ok\n", what="readiness")

    @property
    def url(self):
        told = re.findall(r"(?:listening address=|metrics at http://)([\d.]+:\d+)", self.log())
        return f"http://{told[-1]}" if told else "http://127.0.0.1:1"

    def refused(self, *words, code=1, **options):
        done = subprocess.run(self.words(*words, **options), capture_output=True, text=True, timeout=60, env=self.cluster.place.env)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr

    def log(self):
        return (self.place / "log").read_text()

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.read().decode()
        except OSError:
            return ""

    def metrics(self):
        """Samples by name and labels; no family is told twice."""
        text = self.get("/metrics")
        families = re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)
        self.assertEqual(sorted(set(families)), sorted(families))
        return dict(re.findall(r"^([^#\s]\S*(?: \S+)*?) (\S+)$", text, re.MULTILINE))

    def modules_up(self):
        found = {re.search('module="([^"]*)"', name)[1]: value for name, value in self.metrics().items()
                 if name.startswith("plimsoll_agent_module_up{")}
        return {name: int(float(value)) for name, value in found.items()}

    def restarts(self):
        return {re.search('module="([^"]*)"', name)[1]: int(value) for name, value in self.metrics().items()
                if name.startswith("plimsoll_agent_module_restarts_total{")}

    def allocatable(self):
        return self.cluster.get("node", "n1")["status"]["allocatable"].get(RESOURCE)

    def inventory(self):
        return self.cluster.kubectl("get", "nodeimageinventories.plimsoll.io", "n1", "-o", "name", check=False).stdout

    def affinities(self, name):
        """Of the pod's processes."""
        uid = self.cluster.get("pod", name)["metadata"]["uid"]
        out = set()
        for path in pathlib.Path("/proc").glob("[0-9]*/cgroup"):
            try:
                if f"pod{uid}/" in path.read_text():
                    out |= os.sched_getaffinity(int(path.parent.name))
            except (OSError, ProcessLookupError):
                continue
        return out

    def end(self):
        self.agent.send_signal(signal.SIGTERM)
        self.assertEqual(self.agent.wait(timeout=20), 0, self.log())

    def test_one_process_measures_gives_out_cpus_and_tells_of_images(self):
        self.start(*self.measure, *self.give_out, *self.tell)
        eventually(lambda: self.allocatable() == "1", what="the pool")
        self.cluster.apply(pod("one", {RESOURCE: "1"}))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/one", "--timeout=60s")
        eventually(lambda: self.affinities("one") == {self.last}, what="its cpuset")
        eventually(self.inventory, what="the inventory")

        # One address shows all of them.
        def shown():
            metrics = self.metrics()
            return (any(name.startswith("task_up{") and 'task_name="default/one"' in name for name in metrics) and
                    metrics.get('plimsoll_pools_cpus{pool="exclusive-pool",state="used",type="exclusive"}') == "1" and
                    float(metrics.get("plimsoll_images_images", 0)) > 0)
        eventually(shown, what="metrics of all")
        self.assertEqual(self.modules_up(), {"measure": 1, "pools": 1, "images": 1})
        state = json.loads(self.get("/state"))
        self.assertEqual([task["name"] for task in state["tasks"] if "one" in task["name"]], ["default/one"])
        self.assertTrue(state["pools"]["ready"])
        self.assertTrue(state["images"]["up"])
        self.assertIn(f"A:default/one/c={self.last}", self.cluster.place.run("pools", "--url", self.url).stdout)
        self.assertIn("default/one", self.cluster.place.run("agent", "top", "--url", self.url, "--once").stdout)

        # What one of them does once per node is not done twice, whoever asks.
        self.assertIn(str(self.agent.pid), self.refused(*self.tell))
        self.assertIn(str(self.agent.pid), self.refused("--modules", "pools", *self.give_out))

        # One signal rereads all, another ends all.
        self.config.write_text(self.config.read_text().replace("interval: 0.5", "interval: 0.4\n  extra_labels: {again: 'yes'}"))
        self.agent.send_signal(signal.SIGHUP)
        eventually(lambda: any('again="yes"' in name for name in self.metrics()), what="the new labels")
        self.assertEqual(len(re.findall("metrics at http", self.log())), 1)  # it stayed open
        self.assertEqual(set(self.restarts().values()), {0})
        self.configure("pools: {exclusive-pool: {cpus: x}}\n")
        eventually(lambda: self.metrics().get("plimsoll_pools_config_valid") == "0", what="the mistake")
        self.assertEqual(self.affinities("one"), {self.last})
        self.end()
        eventually(lambda: self.allocatable() == "0", what="the end of the plugin")
        self.assertEqual(self.affinities("one"), {self.last})

    def test_measuring_is_no_must(self):
        self.start("--modules", "pools,images", *self.give_out, *self.tell)
        eventually(lambda: self.allocatable() == "1", what="the pool")
        eventually(self.inventory, what="the inventory")
        self.assertEqual(self.modules_up(), {"pools": 1, "images": 1})
        self.assertEqual(sorted(json.loads(self.get("/state"))), ["images", "pools"])
        self.configure(POOLS % 0)
        self.agent.send_signal(signal.SIGHUP)
        eventually(lambda: json.loads(self.get("/state"))["pools"]["pools"][0]["cpus"] == "0", what="the other CPU")
        self.end()

    def test_a_module_that_fails_is_started_again_alone(self):
        """Two of three cannot work: a mistake in a file, and a tool that is not installed. Both are mended while all of it runs."""
        self.configure("pools: {exclusive-pool: {cpus: '0-x'}}\n")
        tools = directory(self)
        self.cluster.place.env["PATH"] = f"{tools}:/nowhere"
        self.config.write_text(self.config.read_text().replace("interval: 0.5", "interval: 0.5\n  gather_hw_mm_topology: true"))
        self.start(*self.measure, *self.give_out, *self.tell, ready=False)
        down = lambda: self.get("/readyz").splitlines()  # noqa: E731
        eventually(lambda: len(down()) == 2 and self.inventory(), what="two that are down beside one that works")
        self.assertRegex(down()[0], "^measure: down: gather_hw_mm_topology is true, but .*dmidecode")
        self.assertRegex(down()[1], r'^pools: down: .*poolconfig.yaml:1:\d+: pool exclusive-pool: "0-x"')
        self.assertEqual(self.modules_up(), {"measure": 0, "pools": 0, "images": 1})
        eventually(lambda: min(self.restarts()[module] for module in ("measure", "pools")) > 1, what="more starts")
        for module in ("measure", "pools"):
            lines = [line for line in self.log().splitlines() if f"module {module} is down" in line]
            self.assertEqual(len(lines), 1, self.log())  # not at each start
            self.assertIn("next=", lines[0])

        self.configure(POOLS % self.last)
        eventually(lambda: self.allocatable() == "1", what="the pool")
        eventually(lambda: self.modules_up() == {"measure": 0, "pools": 1, "images": 1}, what="pools that work")
        self.assertIn("module pools works again", self.log())
        self.assertEqual([line.split(":")[0] for line in down()], ["measure"])

        (tools / "dmidecode").write_text("#!/bin/sh\necho 'Memory Device'\necho '\tSize: 16 GB'\necho '\tType: DDR4'\n")
        (tools / "dmidecode").chmod(0o755)
        self.agent.send_signal(signal.SIGHUP)  # who waits for its next start need not
        eventually(lambda: self.get("/readyz") == "ok\n", what="readiness")
        eventually(lambda: any(name.startswith("platform_dimm_count{") for name in self.metrics()), what="what is measured")
        self.assertEqual(self.modules_up(), {"measure": 1, "pools": 1, "images": 1})
        self.assertEqual(self.restarts()["images"], 0)
        self.end()

    def test_what_can_never_work_ends_the_process(self):
        everything = (*self.measure, *self.give_out, *self.tell)
        self.configure("pools: {exclusive-pool: {cpus: '0-x'}}\n")
        self.assertRegex(self.refused("--modules", "pools", *self.give_out), r"(?m)^error PLM-1601: /.*/poolconfig.yaml:1:")  # alone: as ever
        self.configure(POOLS % self.last)
        self.assertIn("is not supported", self.refused("--modules", "pools,usage", code=2))
        config = self.config.read_text()
        self.config.write_text("runner: !AllocationRunner\n  measurement_runner: !MeasurementRunner {node: !StaticNode {tasks: [a]}}\n"
                               "  allocator: !StaticAllocator {config: /x}\n")
        self.assertRegex(self.refused(*everything), "(?m)^error PLM-1501: !StaticAllocator cannot run yet")
        self.config.write_text("runner: !MeasurementRunner {nodes: 1}\n")
        self.assertRegex(self.refused(*everything), "(?m)^error PLM-1501: .*config.yaml")
        self.config.write_text(config)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.assertRegex(self.refused(*everything, listen=address), "(?m)^error PLM-1303: ")
        self.config.write_text("runner: !MeasurementRunner\n  node: !StaticNode {tasks: [nowhere]}\n  gather_hw_mm_topology: true\n")
        self.cluster.place.env["PATH"] = "/nowhere"
        self.assertRegex(self.refused(*self.measure), "(?m)^error PLM-1501: gather_hw_mm_topology")
        self.assertRegex(self.refused(*everything, "--once"), "(?m)^error PLM-1501: gather_hw_mm_topology")

    def test_a_kubelet_that_gives_out_cpus_itself_turns_only_pools_off(self):
        other = directory(self)
        (other / "cpu_manager_state").write_text('{"policyName":"static"}')
        self.start("--modules", "pools,images", *self.give_out, *self.tell, kubelet=other)
        eventually(self.inventory, what="the inventory")
        self.assertEqual(self.modules_up(), {"pools": 0, "images": 1})
        self.assertIn("static CPU manager", json.loads(self.get("/state"))["pools"]["reason"])
        self.assertIn("no pools are configured", self.cluster.place.run("pools", "--url", self.url).stdout)
        reasons = {event["reason"] for event in self.cluster.get("events", "-A")["items"]}
        self.assertIn("StaticCPUManager", reasons)
        self.end()


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Pools as a role of `plimsoll up`: registered with the local kubelet, CPUs in the environment and in the cpuset."""
import json
import os
import pathlib
import re
import signal
import time
import unittest
import urllib.request

from pools_machine import ROOT, eventually
from http_api import HttpApi
from local_cluster import LocalCluster
from machine_load import OthersLoad

EXCLUSIVE = "nokia.k8s.io/exclusive-pool"

# One exclusive CPU and one that is everybody's, so that two are enough.
CONFIG = """resourceBaseName: nokia.k8s.io
pools:
  exclusive-pool: {cpus: "%d"}
  shared-pool: {cpus: "0"}
"""


def read(path):
    """"": the process has gone."""
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:
        return ""


def pod(name, limits=None, *command):
    container = {"name": "c", "image": "busybox", "command": list(command) or ["sleep", "1000"],
                 "resources": {"limits": limits or {}}}
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0, "restartPolicy": "Never"}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


class Roles(unittest.TestCase):
    def setUp(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        self.last = cpus[-1]
        self.cluster = LocalCluster(self, "--nodes", "1", "--roles", "pools", "--ephemeral")
        nodes = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        self.confined = nodes[0]["cgroups"].startswith("/")
        self.directory = self.cluster.place.state("t") / "pools"

    def configure(self, text):
        """As a ConfigMap volume changes: in one step."""
        eventually(self.directory.is_dir, what="the directory for pools")
        new = self.directory / "new"
        new.write_text(text)
        new.rename(self.directory / "poolconfig.yaml")

    def allocatable(self, resource):
        return self.cluster.get("node", "n1")["status"]["allocatable"].get(resource)

    def url(self):
        roles = json.loads((self.cluster.place.state("t") / "endpoints.json").read_text()).get("roles", {})
        return roles.get("pools", {}).get("n1", "")

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url() + path, timeout=10) as answer:
                return answer.read().decode()
        except (OSError, ValueError):
            return ""

    def pools(self, *words):
        return self.cluster.place.run("pools", "--url", self.url(), *words)

    def logs(self, name):
        return self.cluster.kubectl("logs", name, check=False).stdout

    def ready(self):
        self.configure(CONFIG % self.last)
        eventually(lambda: self.allocatable("nokia.k8s.io/exclusive-pool") == "1", what="the exclusive pool")
        eventually(lambda: self.allocatable("nokia.k8s.io/shared-pool") in ("1k", "1000"), what="the shared pool")

    def test_a_pod_that_asks_for_a_pool_gets_its_cpus(self):
        self.ready()
        show = "echo E=$EXCLUSIVE_CPUS P=$PLIMSOLL_CPUS_EXCLUSIVE_POOL; grep Cpus_allowed_list /proc/self/status; sleep 1000"
        again = "while true; do grep Cpus_allowed_list /proc/self/status; sleep 0.1; done"
        self.cluster.apply(pod("one", {"nokia.k8s.io/exclusive-pool": "1"}, "sh", "-c", show),
                           pod("two", {"nokia.k8s.io/shared-pool": "200"}, "sh", "-c", "echo S=$SHARED_CPUS; sleep 1000"))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/one", "pod/two", "--timeout=90s")
        eventually(lambda: f"E={self.last} P={self.last}" in self.logs("one"), what="the environment")
        eventually(lambda: "S=0" in self.logs("two"), what="the shared pool's environment")
        # There is no second exclusive CPU.
        self.cluster.apply(pod("three", {"nokia.k8s.io/exclusive-pool": "1"}))
        table = eventually(lambda: (lambda out: out if "default/one/c" in out and "=200m" in out else "")(
            self.pools().stdout), what="the holders in the table")
        self.assertIn(f"A:default/one/c={self.last}", table)
        self.assertRegex(table, r"n1 numa 0:")
        state = json.loads(self.pools("-o", "json").stdout)["items"][0]
        self.assertIn(state["cpus"][-1]["cell"], ("A", "!"))  # other programs of this machine may run there too
        self.assertTrue(state["ready"], state)
        self.assertEqual(self.cluster.get("pod", "three")["status"]["phase"], "Pending")
        metrics = self.get("/metrics")
        self.assertIn('plimsoll_pools_cpus{pool="exclusive-pool",state="used",type="exclusive"} 1', metrics)
        self.assertIn('plimsoll_pools_shared_millis{pool="shared-pool",state="used"} 200', metrics)
        if self.confined:
            self.cluster.apply(pod("stranger", {}, "sh", "-c", again))
            self.cluster.kubectl("wait", "--for=condition=Ready", "pod/stranger", "--timeout=90s")
            pids = self.cgroup_processes("one")
            eventually(lambda: all(os.sched_getaffinity(pid) == {self.last} for pid in pids), what="its cpuset")
            # Nobody has a default pool here unless there are more CPUs than two.
            if len(os.sched_getaffinity(0)) > 2:
                eventually(lambda: self.logs("stranger").strip().splitlines()[-1:] and
                           str(self.last) not in self.logs("stranger").splitlines()[-1], what="the stranger's cpuset")
            reasons = lambda: {event["reason"] for event in self.cluster.get("events")["items"]}
            eventually(lambda: "CPUsPinned" in reasons(), what="the event")
        # Free again.
        self.cluster.kubectl("delete", "pod", "one", "--wait=false")
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/three", "--timeout=90s")

    def allocatables(self, api):
        """The changes of what the node has to give of the exclusive pool, from now on."""
        node = api.get("/api/v1/nodes/n1")
        path = f"/api/v1/nodes?fieldSelector=metadata.name%3Dn1&resourceVersion={node['metadata']['resourceVersion']}"

        def changes(seen):
            for event in api.watch(path, 60):
                value = event["object"]["status"]["allocatable"].get(EXCLUSIVE)
                if value != seen:
                    seen = value
                    yield value
        return changes(node["status"]["allocatable"].get(EXCLUSIVE))

    def processes(self):
        """Of the pools of this cluster, by where they were told to look."""
        mark = str(self.cluster.place.state("t"))
        words = {int(path.parent.name): text.split("\0") for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
                 if mark in (text := read(path))}
        return [pid for pid, line in words.items() if line[1:3] == ["agent", "run"] and "--poolconfigs" in line]

    def test_a_resource_is_there_at_once_and_goes_and_comes_back_with_its_plugin(self):
        api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(api.close)
        eventually(lambda: self.get("/metrics"), what="the role")
        load, changes = OthersLoad(self.cluster.status()["pid"]), self.allocatables(api)
        began = time.monotonic()
        self.configure(CONFIG % self.last)
        self.assertEqual(next(changes), "1")
        seconds, others = time.monotonic() - began, load.share()
        if others >= OthersLoad.QUIET and seconds >= 1:
            print(f"\nnote: too busy a machine: a pool was there after {seconds:.1f} s, beside others with {others:.0%}")
        else:
            self.assertLess(seconds, 1)
        changes = self.allocatables(api)
        (victim,) = self.processes()
        os.kill(victim, signal.SIGKILL)
        self.assertEqual([next(changes), next(changes)], ["0", "1"])
        (successor,) = self.processes()
        self.assertNotEqual(successor, victim)

    def test_a_config_map_is_enough(self):
        data = {"poolconfig.yaml": CONFIG % self.last}
        self.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cpu-dp-configmap", "namespace": "kube-system"},
                            "data": data})
        eventually(lambda: self.allocatable("nokia.k8s.io/exclusive-pool") == "1", what="the pool of the ConfigMap")
        self.cluster.kubectl("delete", "configmap", "cpu-dp-configmap", "-n", "kube-system")
        eventually(lambda: self.allocatable("nokia.k8s.io/exclusive-pool") in (None, "0"), what="its end")

    def test_the_example_is_told_its_cpu_in_its_arguments(self):
        example = (ROOT / "examples/pools/two-cpus.yaml").read_text()
        self.configure(example.replace('cpus: "1"', f'cpus: "{self.last}"'))
        self.cluster.kubectl("create", "-f", str(ROOT / "examples/pools/pinned.yaml"))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/pinned", "--timeout=90s")
        eventually(lambda: f"told: {self.last}" in self.logs("pinned"), what="the argument")
        if self.confined:
            eventually(lambda: f"Cpus_allowed_list:\t{self.last}" in self.logs("pinned"), what="its CPU")

    def cgroup_processes(self, name):
        uid = self.cluster.get("pod", name)["metadata"]["uid"]
        out = []
        for path in pathlib.Path("/proc").glob("[0-9]*/cgroup"):
            try:
                if f"pod{uid}/" in path.read_text():
                    out.append(int(path.parent.name))
            except OSError:
                continue
        return out

    def test_a_broken_configuration_changes_nothing(self):
        self.ready()
        self.cluster.apply(pod("one", {"nokia.k8s.io/exclusive-pool": "1"}))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/one", "--timeout=90s")
        affinities = lambda: [os.sched_getaffinity(pid) for pid in self.cgroup_processes("one")]
        if self.confined:
            eventually(lambda: affinities() and all(one == {self.last} for one in affinities()), what="its cpuset")
        before = eventually(lambda: (seen := self.seen())["holders"] and seen, what="the holder")
        self.configure("pools: {exclusive-pool: {cpus: x}}\n")
        eventually(lambda: "plimsoll_pools_config_valid 0" in self.get("/metrics"), what="the metric")
        self.assertIn('pool exclusive-pool: \\"x\\"', self.get("/state"))
        eventually(lambda: any(event["reason"] == "PoolConfigInvalid" for event in self.cluster.get("events", "-A")["items"]),
                   what="the event")
        # Nothing was written, no list of devices was sent again, and pods go on as before.
        self.cluster.apply(pod("two", {"nokia.k8s.io/shared-pool": "100"}))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/two", "--timeout=90s")
        if self.confined:
            self.assertTrue(all(one == {self.last} for one in affinities()))
        self.cluster.kubectl("delete", "pod", "two")
        after = eventually(lambda: (seen := self.seen())["holders"] == before["holders"] and seen, what="the same holders")
        self.assertEqual({**after, "writes": 0}, {**before, "writes": 0})
        self.assertLessEqual(after["writes"] - before["writes"], 2)  # of the second pod: its container and its sandbox
        # Corrected it is taken, by the same process: only the exclusive pool is left.
        self.configure("".join((CONFIG % self.last).splitlines(keepends=True)[:3]))
        eventually(lambda: "plimsoll_pools_config_valid 1" in self.get("/metrics"), what="its recovery")
        eventually(lambda: self.allocatable("nokia.k8s.io/shared-pool") in (None, "0"), what="the end of the shared pool")
        self.assertEqual(self.allocatable("nokia.k8s.io/exclusive-pool"), "1")
        self.assertEqual((self.seen()["processes"], len(before["processes"])), (before["processes"], 1))

    def affinities(self, name):
        out = set()
        for pid in self.cgroup_processes(name):
            try:
                out.add(frozenset(os.sched_getaffinity(pid)))
            except OSError:
                continue
        return out

    def states(self, name):
        (pool,) = [pool for pool in json.loads(self.get("/state"))["pools"]["pools"] if pool["name"] == name]
        return pool["states"]

    def test_pools_that_swap_their_cpus_wait_for_their_holders(self):
        if not self.confined:
            self.skipTest("pods have no cgroups here")
        config = "implicitDefault: false\npools: {exclusive-pool: {cpus: %d}, shared-pool: {cpus: %d}}\n"
        first, last = frozenset({0}), frozenset({self.last})
        self.configure(config % (self.last, 0))
        eventually(lambda: self.allocatable(EXCLUSIVE) == "1", what="the exclusive pool")
        self.cluster.apply(pod("holder", {EXCLUSIVE: "1"}), pod("sharer", {"nokia.k8s.io/shared-pool": "100"}))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/holder", "pod/sharer", "--timeout=90s")
        eventually(lambda: (self.affinities("holder"), self.affinities("sharer")) == ({last}, {first}), what="their CPUs")
        self.configure(config % (0, self.last))
        eventually(lambda: self.states("exclusive-pool")["withheld"] == "0", what="the CPU that the sharer still uses")
        self.assertEqual(self.states("exclusive-pool")["draining"], str(self.last))
        self.cluster.apply(pod("next", {EXCLUSIVE: "1"}))
        for _ in range(20):
            self.assertEqual((self.affinities("holder"), self.affinities("sharer")), ({last}, {first}))
            time.sleep(0.1)
        self.assertEqual(self.cluster.get("pod", "next")["status"]["phase"], "Pending")
        reasons = lambda: {event["reason"] for event in self.cluster.get("events", "-A")["items"]}
        eventually(lambda: "CPUWithheld" in reasons(), what="the event of the sharer")
        self.cluster.kubectl("delete", "pod", "next", "holder")
        eventually(lambda: self.affinities("sharer") == {last}, what="the new CPU of the sharer")
        eventually(lambda: self.states("exclusive-pool")["free"] == "0", what="the free CPU")
        eventually(lambda: self.allocatable(EXCLUSIVE) == "1", what="the CPU that the sharer has left")
        self.cluster.apply(pod("late", {EXCLUSIVE: "1"}))
        eventually(lambda: self.affinities("late") == {first}, what="the CPU of the late one")
        self.assertEqual(self.affinities("sharer"), {last})
        self.assertNotIn("CPUDoubleBooked", {event["reason"] for event in self.cluster.get("events", "-A")["items"]
                                             if "runs on it too" in event["message"]})

    def test_a_changed_base_name_is_followed(self):
        self.ready()
        self.cluster.apply(pod("old", {EXCLUSIVE: "1"}))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/old", "--timeout=90s")
        self.configure((CONFIG % self.last).replace("nokia.k8s.io", "example.com"))
        eventually(lambda: self.allocatable("example.com/shared-pool") in ("1k", "1000"), what="the new shared resource")
        eventually(lambda: self.allocatable("example.com/exclusive-pool") == "0", what="the new resource, whose CPU is held")
        self.assertEqual(self.allocatable(EXCLUSIVE), "1", "the container may be started again")
        if self.confined:
            eventually(lambda: self.affinities("old") == {frozenset({self.last})}, what="the CPU of the old one")
        self.cluster.kubectl("delete", "pod", "old")
        eventually(lambda: self.allocatable("example.com/exclusive-pool") == "1", what="the free CPU")
        eventually(lambda: self.allocatable(EXCLUSIVE) in (None, "0"), what="the end of the old resource")
        self.cluster.apply(pod("new", {"example.com/exclusive-pool": "1"}))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/new", "--timeout=90s")
        if self.confined:
            eventually(lambda: self.affinities("new") == {frozenset({self.last})}, what="the CPU of the new one")

    def test_each_container_has_its_event_at_once(self):
        if not self.confined:
            self.skipTest("pods have no cgroups here")
        self.ready()
        made = pod("two", {"nokia.k8s.io/shared-pool": "100"})
        made["spec"]["containers"].append({**made["spec"]["containers"][0], "name": "d"})
        # The second container starts after the event of the first.
        made["spec"]["containers"][0]["lifecycle"] = {"postStart": {"exec": {"command": ["sleep", "2"]}}}
        self.cluster.apply(made)
        fields = lambda: {event["involvedObject"].get("fieldPath") for event in self.cluster.get("events")["items"]
                          if event["reason"] == "CPUsPinned"}
        eventually(lambda: fields() == {"spec.containers{c}", "spec.containers{d}"}, 30, what="both events")

    def seen(self):
        """All that a configuration could change."""
        metrics = self.get("/metrics")
        number = lambda name: sum(float(value) for value in re.findall(rf"^{name}\S* (\S+)$", metrics, re.MULTILINE))
        pools = json.loads(self.get("/state"))["pools"]
        return {"processes": self.processes(), "registrations": number("plimsoll_pools_registrations_total"),
                "writes": number("plimsoll_pools_cpuset_writes_total"), "drift": number("plimsoll_pools_drift_total"),
                "devices": [self.allocatable(f"nokia.k8s.io/{pool}") for pool in ("exclusive-pool", "shared-pool")],
                "holders": [holder for pool in pools["pools"] for holder in pool.get("holders", [])],
                "pools": [(pool["name"], pool["cpus"]) for pool in pools["pools"]]}


if __name__ == "__main__":
    unittest.main()

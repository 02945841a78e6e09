#!/usr/bin/env python3
"""CPU pools beside a real kubelet and containerd: registered, told, confined, through restarts of everything."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import unittest

from busybox import pod
from node_daemon import NodeDaemon
from rig import PROGRAM, ROOT, RealClusterCase

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import eventually  # noqa: E402

DEPLOY = ROOT / "deploy" / "pools"
EXCLUSIVE, SHARED = "nokia.k8s.io/exclusive-pool", "nokia.k8s.io/shared-pool"


class PoolsOnARealNode(NodeDaemon, RealClusterCase):
    options = {"nodes": 1}

    def setUp(self):
        super().setUp()
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        self.first, self.last = cpus[0], cpus[-1]
        self.make_place("plim-pools.")
        (self.place / "poolconfig.yaml").write_text(f"pools:\n  exclusive-pool: {{cpus: '{self.last}'}}\n  shared-pool: {{cpus: '{self.first}'}}\n")

    def start(self):
        self.launch("pools", "agent", "--kubelet-dir", str(self.node.kubelet_directory), "--cgroup-root", self.node.cgroup,
                    "--poolconfigs", str(self.place))

    def count(self, name):
        return self.metric(name) or 0  # nothing counted yet

    def allocatable(self, resource):
        return self.cluster.get("node", self.node.name)["status"]["allocatable"].get(resource)

    def processes(self, name):
        uid, out = self.cluster.get("pod", name)["metadata"]["uid"], []
        for path in pathlib.Path("/proc").glob("[0-9]*/cgroup"):
            try:
                if f"pod{uid}/" in path.read_text() and b"pause" not in (path.parent / "cmdline").read_bytes():
                    out.append(int(path.parent.name))
            except OSError:
                continue
        return out

    def cpuset(self, pid):
        """The directory of its cgroup."""
        path = re.search(r"^\d+:cpuset:(.*)$", pathlib.Path(f"/proc/{pid}/cgroup").read_text(), re.MULTILINE)[1]
        return pathlib.Path("/sys/fs/cgroup/cpuset" + path)

    def allowed(self, name):
        try:
            return [os.sched_getaffinity(pid) for pid in self.processes(name)]
        except ProcessLookupError:
            return []

    def run_pod(self, name, resource, amount, *command):
        made = pod(name, *command)
        made["spec"]["containers"][0]["resources"] = {"limits": {resource: amount}}
        self.cluster.apply(made)
        self.addCleanup(self.cluster.kubectl, "delete", "pod", name, check=False)  # its CPU is the only one
        self.cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")

    def restart(self, name, cpu):
        """Its container ends and the kubelet starts it again: how long after the new cgroup, and after the new program in it, the
        CPU is set."""
        (old,) = {self.cpuset(pid) for pid in self.processes(name)}
        before = set(old.parent.iterdir())
        for pid in self.processes(name):
            os.kill(pid, signal.SIGKILL)
        made = eventually(lambda: set(old.parent.iterdir()) - before, 60, every=0.002, what="a new container").pop()
        seen, began = time.monotonic(), None

        def runs():
            try:
                return any(b"sleep" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes() for pid in (made / "cgroup.procs").read_text().split())
            except OSError:
                return False

        def is_set():
            nonlocal began
            began = began or (runs() and time.monotonic())
            return began and (made / "cpuset.cpus").read_text().strip() == str(cpu)
        eventually(is_set, 30, every=0.002, what=f"CPU {cpu} again")
        now = time.monotonic()
        return now - seen, now - began

    def restarts_are_quick(self, times):
        told = ", ".join(f"{cgroup * 1000:.0f} ({program * 1000:.0f})" for cgroup, program in times)
        print(f"set after {told} ms since the cgroup (since the program)")
        # The promise is 200 ms; a machine that does other things too may miss it. Who waits for the API needs a second and more.
        self.assertLess(sorted(program for _, program in times)[(len(times) - 1) // 2], 0.2)

    def restart_kubelet(self):
        """How long after its socket is there all pools are registered again."""
        name = 'plimsoll_pools_registrations_total{pool="%s",result="success"}'
        registered = lambda: [self.count(name % pool) for pool in ("exclusive-pool", "shared-pool")]
        before = registered()
        socket = self.node.kubelet_directory / "device-plugins" / "kubelet.sock"
        was = socket.stat().st_ino, socket.stat().st_ctime_ns
        self.node.kubelet.kill()
        self.node.kubelet.start()
        eventually(lambda: socket.exists() and (socket.stat().st_ino, socket.stat().st_ctime_ns) != was, 60, what="the kubelet's socket")
        began = time.monotonic()
        eventually(lambda: all(now > old for now, old in zip(registered(), before)), 60, what="all pools again")
        took = time.monotonic() - began
        eventually(lambda: self.allocatable(EXCLUSIVE) == "1" and self.get("/readyz") == "ok\n", 60, what="the resource")
        return took

    def resources(self):
        return [len(os.listdir(f"/proc/{self.process.pid}/{what}")) for what in ("fd", "task")]

    def test_the_files_of_deploy_give_pods_their_cpus(self):
        """In the order of CPU-Pooler's README, with no more rights than the files give; the sample is scaled to this machine."""
        self.node.import_program()
        self.cluster.kubectl("create", "-f", str(DEPLOY / "rbac.yaml"))
        config = json.loads(self.cluster.kubectl("create", "-f", str(DEPLOY / "cpu-dp-config.yaml"), "--dry-run=client", "-o", "json").stdout)
        config["data"]["poolconfig.yaml"] = (self.place / "poolconfig.yaml").read_text()
        self.cluster.apply(config)
        self.cluster.kubectl("create", "-f", str(DEPLOY / "cpu-dev-ds.yaml"))
        # The kubelets of the rig have a cgroup of their own each.
        self.cluster.kubectl("set", "env", "daemonset/cpudp", "-n", "kube-system", "-c", "cpudp",
                             f"PLIMSOLL_POOLS_AGENT_CGROUP_ROOT={self.node.cgroup}")
        self.addCleanup(self.cluster.kubectl, "delete", "daemonset", "cpudp", "-n", "kube-system", check=False)
        self.cluster.kubectl("rollout", "status", "daemonset/cpudp", "-n", "kube-system", "--timeout=90s")
        self.url = f"http://{self.node.address}:9101"
        eventually(lambda: self.allocatable(EXCLUSIVE) == "1", 60, what="the resource")
        self.run_pod("mine", EXCLUSIVE, "1", "sh", "-c", "echo told $EXCLUSIVE_CPUS; sleep 10000")
        eventually(lambda: self.allowed("mine") and all(one == {self.last} for one in self.allowed("mine")), what="its CPU")
        for i in range(2):
            self.run_pod(f"common-{i}", SHARED, "100", "sleep", "10000")
        self.restarts_are_quick([self.restart("mine", self.last)] + [self.restart(f"common-{i}", self.first) for i in range(2)])
        eventually(lambda: "CPUsPinned" in {event["reason"] for event in self.cluster.get("events")["items"]}, what="the event")
        logs = self.cluster.kubectl("logs", "-n", "kube-system", "-l", "name=cpudp", "--tail=-1").stdout
        self.assertNotRegex(logs.lower(), "forbidden|denied")

    def test_pods_run_on_the_cpus_of_their_pools(self):
        self.start()
        eventually(lambda: self.allocatable(EXCLUSIVE) == "1" and self.allocatable(SHARED) in ("1k", "1000"), 60, what="the resources")
        self.run_pod("pinned", EXCLUSIVE, "1", "sh", "-c", "echo told $EXCLUSIVE_CPUS; sleep 10000")
        self.run_pod("common", SHARED, "250", "sh", "-c", "echo told $SHARED_CPUS; sleep 10000")
        self.assertIn(f"told {self.last}", self.cluster.kubectl("logs", "pinned").stdout)
        self.assertIn(f"told {self.first}", self.cluster.kubectl("logs", "common").stdout)
        eventually(lambda: self.allowed("pinned") and all(one == {self.last} for one in self.allowed("pinned")), what="one CPU")
        eventually(lambda: self.allowed("common") and all(one == {self.first} for one in self.allowed("common")), what="the other")
        state = json.loads(self.get("/state"))["pools"]
        holders = {pool["name"]: pool["holders"] for pool in state["pools"] if pool["type"] != "default"}
        self.assertEqual(holders["exclusive-pool"][0]["pod"], "default/pinned")
        self.assertEqual(holders["shared-pool"][0]["millis"], 250)

        # The kubelet is started anew, ten times: registered again, nothing written, nothing leaked.
        writes = self.count('plimsoll_pools_cpuset_writes_total{result="success"}')
        took = [self.restart_kubelet()]
        before = self.resources()
        took += [self.restart_kubelet() for _ in range(9)]
        print(f"registered again after {', '.join(f'{seconds * 1000:.0f}' for seconds in took)} ms")
        self.assertLess(max(took), 2)
        self.assertEqual(self.count('plimsoll_pools_cpuset_writes_total{result="success"}'), writes)
        # A connection to the API server may be kept or not; one leaked at each registration would be more.
        eventually(lambda: all(now <= old + 2 for now, old in zip(self.resources(), before)), what="no more descriptors and threads")

        # Somebody meddles with the set of a real container.
        (place,) = {self.cpuset(pid) for pid in self.processes("pinned")}
        (place / "cpuset.cpus").write_text(f"{self.first},{self.last}")
        eventually(lambda: (place / "cpuset.cpus").read_text().strip() == str(self.last), 10, what="its CPU again")
        eventually(lambda: self.count("plimsoll_pools_drift_total") == 1, what="the count of it")
        eventually(lambda: "CpusetDrift" in {event["reason"] for event in self.cluster.get("events")["items"]}, what="the event")

        # The agent is killed and started again: it finds all in order.
        def pools():
            """But for the map, which marks CPUs where a process of the machine happens to run."""
            return {**json.loads(self.get("/state"))["pools"], "foreign": None, "cpus": None}
        before = pools(), self.allocatable(EXCLUSIVE), self.allocatable(SHARED)
        self.end()
        self.start()
        self.assertEqual(pools(), before[0])
        eventually(lambda: (self.allocatable(EXCLUSIVE), self.allocatable(SHARED)) == before[1:], 60, what="the same resources")
        self.assertEqual(self.count('plimsoll_pools_cpuset_writes_total{result="success"}'), 0)

        # The container ends and is started again by the kubelet.
        self.restarts_are_quick([self.restart("pinned", self.last), self.restart("common", self.first)])
        self.assertEqual(self.allowed("pinned"), [{self.last}] * len(self.processes("pinned")))
        self.end(signal.SIGTERM)

    def test_a_pod_without_a_pool_runs_in_the_default_one(self):
        (self.place / "poolconfig.yaml").write_text(f"pools:\n  exclusive-pool: {{cpus: '{self.last}'}}\n  default: {{cpus: '{self.first}'}}\n")
        self.start()
        eventually(lambda: self.allocatable(EXCLUSIVE) == "1", 60, what="the resource")
        plain = pod("plain", "sleep", "10000", initContainers=[{"name": "first", "image": "busybox", "imagePullPolicy": "IfNotPresent",
                                                                "command": ["true"]}])
        self.cluster.apply(plain)
        self.addCleanup(self.cluster.kubectl, "delete", "pod", "plain", check=False)
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/plain", "--timeout=60s")
        eventually(lambda: self.allowed("plain") and all(one == {self.first} for one in self.allowed("plain")), what="the default pool")
        (place,) = {self.cpuset(pid) for pid in self.processes("plain")}
        # Its sandbox too.
        sets = lambda: {path: path.read_text().strip() for path in place.parent.glob("*/cpuset.cpus")}
        self.assertGreaterEqual(len(sets()), 2)
        eventually(lambda: set(sets().values()) == {str(self.first)}, what="every cgroup of the pod there")
        self.run_pod("beside", EXCLUSIVE, "1", "sleep", "10000")
        eventually(lambda: self.allowed("beside") == [{self.last}], what="the exclusive one")

    def test_cpus_that_the_kubelet_forgot_are_nobody_elses(self):
        self.start()
        eventually(lambda: self.allocatable(EXCLUSIVE) == "1", 60, what="the resource")
        self.run_pod("kept", EXCLUSIVE, "1", "sleep", "10000")
        eventually(lambda: self.allowed("kept") and all(one == {self.last} for one in self.allowed("kept")), what="its CPU")
        before = self.processes("kept")
        self.node.kubelet.kill()
        (self.node.kubelet_directory / "device-plugins" / "kubelet_internal_checkpoint").unlink()
        self.node.kubelet.start()
        states = lambda: next(pool["states"] for pool in json.loads(self.get("/state"))["pools"]["pools"] if pool["name"] == "exclusive-pool")
        eventually(lambda: states()["withheld"] == str(self.last), 60, what="the CPU withheld")
        eventually(lambda: self.allocatable(EXCLUSIVE) == "0", 60, what="no CPU to be had")
        eventually(lambda: "CPUWithheld" in {event["reason"] for event in self.cluster.get("events")["items"]}, what="the event")
        self.assertEqual((self.processes("kept"), self.allowed("kept")), (before, [{self.last}]))
        self.cluster.kubectl("delete", "pod", "kept")
        eventually(lambda: states()["free"] == str(self.last) and self.allocatable(EXCLUSIVE) == "1", 60, what="the CPU free again")


class StaticCpuManager(NodeDaemon, RealClusterCase):
    options = {"nodes": 1, "kubelet_configuration": {"cpuManagerPolicy": "static", "reservedSystemCPUs": str(min(os.sched_getaffinity(0)))}}

    def test_pools_beside_it_are_refused_also_in_a_container(self):
        """Which sees the kubelet's sockets, but not the file in which it notes its policy."""
        self.make_place("plim-pools.")
        (self.place / "poolconfig.yaml").write_text(f"pools:\n  exclusive-pool: {{cpus: '{max(os.sched_getaffinity(0))}'}}\n")
        seen = self.place / "kubelet"
        seen.mkdir()
        for name in ("device-plugins", "pod-resources"):
            (seen / name).symlink_to(self.node.kubelet_directory / name)
        for directory in (self.node.kubelet_directory, seen):
            done = subprocess.run([PROGRAM, "pools", "agent", "--kubeconfig", self.cluster.kubeconfig, "--node-name", self.node.name,
                                   "--kubelet-dir", str(directory), "--cgroup-root", self.node.cgroup, "--poolconfigs", str(self.place),
                                   "--run-dir", str(self.place), "--metrics-listen", "none"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 78, done.stderr)
        eventually(lambda: "StaticCPUManager" in {event["reason"] for event in self.cluster.get("events", "-A")["items"]}, what="the event")


if __name__ == "__main__":
    unittest.main()

"""The commands of docs/from-cpu-pooler.md in their order, on any cluster. Not a test itself.

All files of deploy/pools are used unchanged, except on machines with fewer than six CPUs: there the pools and the test pod get fewer CPUs,
as the page says.
"""
import json
import os
import pathlib
import re
import subprocess

from pools_machine import PROGRAM, ROOT, eventually

DEPLOY = ROOT / "deploy" / "pools"


class PoolsWalk:
    """Mixed into tests that have `cluster`."""
    resource = "nokia.k8s.io/cpupool1"

    def install(self, name):
        self.cluster.kubectl("create", "-f", str(DEPLOY / name))

    def sample(self):
        """Pools, and how many exclusive CPUs the pod asks for."""
        text = (DEPLOY / "cpu-dp-config.yaml").read_text()
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        if {1, 2, 3, 4, 5} <= set(cpus):
            return text, "1", "4-5", 2
        print(f"note: cpu-test is scaled to {len(cpus)} CPUs: sharedpool has {cpus[0]}, cpupool1 {cpus[-1]}, cpupool2 none")
        text, _, _ = text.partition("      cpupool1:\n")
        text += (f"      cpupool1:\n        cpus : \"{cpus[-1]}\"\n        pooltype: \"exclusive\"\n"
                 f"      sharedpool:\n        cpus : \"{cpus[0]}\"\n        pooltype: \"shared\"\n")
        return text, str(cpus[0]), str(cpus[-1]), 1

    def create(self, text):
        self.cluster.kubectl("create", "-f", "-", input=text)

    def certs(self, *words):
        done = subprocess.run([PROGRAM, "webhook", "certs", "--kubeconfig", self.cluster.kubeconfig, *words], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def walk(self):
        config, shared, exclusive, count = self.sample()
        self.install("rbac.yaml")
        self.create(config)
        self.install("cpu-dev-ds.yaml")
        self.rolled_out("daemonset/cpudp", "name=cpudp")
        eventually(lambda: self.allocatable() == str(count), 60, what="the resource")
        self.certs()
        self.cluster.kubectl("create", "-k", str(DEPLOY.parent / "shared" / "own-ca-bundle"))
        self.install("webhook-svc-depl.yaml")
        self.certs("-f", str(DEPLOY / "webhook-conf.yaml"))
        self.rolled_out("deployment/cpu-dev-pod-mutator", "app=cpu-dev-pod-mutator")
        pod = (DEPLOY / "cpu-test.yaml").read_text().replace("nokia.k8s.io/cpupool1: 2", f"nokia.k8s.io/cpupool1: {count}")
        self.create(pod)
        self.addCleanup(self.cluster.kubectl, "delete", "pod", "cpu-test", "--wait=false", check=False)
        self.shows("shared", "first", shared)
        self.shows("shared", "second", shared)
        self.shows("exclusive", "third", exclusive)
        self.holder_is_shown(exclusive)
        self.cluster.kubectl("delete", "pod", "cpu-test")
        self.both_kinds_in_one_container(int(shared), int(exclusive.split("-")[0]))

    def both_kinds_in_one_container(self, shared, exclusive):
        """One process on an exclusive CPU and one on the shared one, by what the kernel says of them."""
        burn = lambda name, pool, cpus: {"process": "plimsoll", "args": ["tools", "burn", "--name", name], "pool": pool, "cpus": cpus}
        processes = [burn("fourth", "cpupool1", 1), burn("fifth", "sharedpool", 100)]
        self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "both", "annotations": {
            "nokia.k8s.io/cpus": json.dumps([{"container": "c", "processes": processes}])}}, "spec": {
                "terminationGracePeriodSeconds": 1, "containers": [{
                    "name": "c", "image": "plimsoll:0.2.0", "imagePullPolicy": "IfNotPresent",
                    "resources": {"limits": {self.resource: "1", "nokia.k8s.io/sharedpool": "100"}}}]}})
        self.addCleanup(self.cluster.kubectl, "delete", "pod", "both", "--wait=false", check=False)
        uid = self.cluster.get("pod", "both")["metadata"]["uid"]

        def status_of(name):
            """Of the process of that name in the pod."""
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    if f"--name\0{name}\0" in path.read_text(errors="replace") and uid.replace("-", "_") in \
                            (path.parent / "cgroup").read_text().replace("-", "_"):
                        return dict(line.split(":\t", 1) for line in (path.parent / "status").read_text().splitlines() if ":\t" in line)
                except OSError:
                    continue
            return None
        try:
            found = eventually(lambda: all(both := [status_of("fourth"), status_of("fifth")]) and both, 60, every=0.2, what="its processes")
        except AssertionError as late:
            told = [self.cluster.kubectl(*words, "both", check=False).stdout[-3000:] for words in (("describe", "pod"), ("logs",))]
            raise AssertionError("\n".join([str(late), *told])) from None
        self.assertEqual([one["Cpus_allowed_list"] for one in found], [str(exclusive), str(shared)])
        # The starter stays beside them, and the container has both.
        self.assertEqual(found[0]["PPid"], found[1]["PPid"])
        self.assertEqual(os.sched_getaffinity(int(found[0]["PPid"])), {exclusive, shared})

    def rolled_out(self, what, label):
        done = self.cluster.kubectl("rollout", "status", what, "-n", "kube-system", "--timeout=60s", check=False)
        if done.returncode:
            told = [self.cluster.kubectl(*words, "-n", "kube-system", "-l", label, check=False).stdout[-3000:]
                    for words in (("describe", "pod"), ("logs", "--tail=20"))]
            self.fail("\n".join([done.stdout, done.stderr, *told]))

    def allocatable(self):
        (node,) = self.cluster.get("nodes")["items"]
        return node["status"]["allocatable"].get(self.resource)

    def shows(self, container, name, cpus):
        """Twice in a row: where it may run, and that it does so."""
        low, high = int(cpus.split("-")[0]), int(cpus.split("-")[-1])

        def told():
            text = self.cluster.kubectl("logs", "cpu-test", "-c", container, check=False).stdout
            found = re.findall(rf"^{name}: allowed (\S*), on (\d+)$", text, re.MULTILINE)[-2:]
            return len(found) == 2 and all(allowed == cpus and low <= int(on) <= high for allowed, on in found) and text
        try:
            return eventually(told, 60, every=0.2, what=f"{name} on {cpus}")
        except AssertionError as late:
            description = self.cluster.kubectl("describe", "pod", "cpu-test", check=False).stdout[-3000:]
            logs = self.cluster.kubectl("logs", "cpu-test", "-c", container, "--tail=20", check=False)
            raise AssertionError(f"{late}\n{description}\n{logs.stdout}{logs.stderr}") from None

    def holder_is_shown(self, cpus):
        done = subprocess.run([PROGRAM, "pools", "--kubeconfig", self.cluster.kubeconfig], capture_output=True, text=True, timeout=30)
        self.assertIn(f"A:default/cpu-test/exclusive={cpus}", done.stdout, done.stderr)
        self.assertIn("default/cpu-test/shared=160m", done.stdout)

"""The combined DaemonSet of deploy/overlays/plimsoll-system on any cluster of one node. Not a test itself."""
import json
import os
import re
import subprocess
import urllib.request

from agent_under_test import PROGRAM, ROOT, eventually

OVERLAY = ROOT / "deploy" / "overlays" / "plimsoll-system"
RESOURCE = "nokia.k8s.io/cpupool1"


def with_pool(name, amount):
    container = {"name": "c", "image": "busybox", "command": ["sleep", "1000"], "imagePullPolicy": "IfNotPresent",
                 "resources": {"limits": {RESOURCE: amount}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}}


class NodeAgentWalk:
    """Mixed into tests that have `cluster`."""

    # Of the one node.
    def address(self):
        raise NotImplementedError

    def cgroup_root(self):
        raise NotImplementedError

    def starter(self):
        """Where install-starter has put it."""
        raise NotImplementedError

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://{self.address()}:9101{path}", timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    def logs(self):
        return self.cluster.kubectl("logs", "-n", "plimsoll-system", "-l", "app=plimsoll-agent", "--tail=-1", check=False).stdout

    def rolled_out(self):
        done = self.cluster.kubectl("rollout", "status", "daemonset/plimsoll-agent", "-n", "plimsoll-system", "--timeout=90s", check=False)
        if done.returncode:
            told = self.cluster.kubectl("describe", "pod", "-n", "plimsoll-system", check=False).stdout[-4000:]
            self.fail("\n".join([done.stdout, done.stderr, told, self.logs()[-3000:]]))

    def walk(self):
        last = max(os.sched_getaffinity(0))
        if last == 0:
            self.skipTest("one CPU is not enough")
        self.cluster.kubectl("apply", "-f", str(ROOT / "deploy/crds"))
        self.cluster.kubectl("apply", "-k", str(OVERLAY))
        self.cluster.kubectl("set", "env", "daemonset/plimsoll-agent", "-n", "plimsoll-system", "-c", "agent",
                             f"PLIMSOLL_AGENT_RUN_CGROUP_ROOT={self.cgroup_root()}")
        self.rolled_out()
        (node,) = self.cluster.get("nodes")["items"]
        name = node["metadata"]["name"]
        # Without a ConfigMap there are no pools, and all else is done.
        eventually(lambda: 'module="pools"' in self.get("/metrics"), 30, what="metrics")
        self.assertEqual(json.loads(self.get("/state"))["pools"]["reason"], "NoPoolConfig")
        self.assertTrue(os.access(self.starter(), os.X_OK))
        inventory = eventually(lambda: self.cluster.kubectl("get", "nodeimageinventories.plimsoll.io", name, "-o", "json", check=False).stdout,
                               30, what="the inventory")
        self.assertTrue(json.loads(inventory)["spec"]["images"])
        # The pools are where the webhook has them.
        pools = f'pools:\n  cpupool1:\n    cpus : "{last}"\n    pooltype: "exclusive"\n'
        self.cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "cpu-dp-configmap", "namespace": "kube-system"},
                            "data": {"poolconfig.yaml": pools}})
        eventually(lambda: self.cluster.get("node", name)["status"]["allocatable"].get(RESOURCE) == "1", 30, what="the pool")
        self.cluster.apply(with_pool("pinned", "1"))
        self.cluster.kubectl("wait", "--for=condition=Ready", "pod/pinned", "--timeout=60s")
        eventually(lambda: re.search(r'^task_up\{.*task_name="default/pinned"', self.get("/metrics"), re.MULTILINE), 30, every=0.2,
                   what="its measurement")
        shown = eventually(lambda: (out := self.shown()) and f"default/pinned/c={last}" in out and out, 30, what="its CPU")
        self.assertRegex(shown, rf"cpupool1 +exclusive +{last} +0 +1 ")
        report = lambda: self.cluster.kubectl("get", "nodereports.plimsoll.io", name, "-o", "json", check=False).stdout or "{}"
        eventually(lambda: "cpupool1" in json.loads(report()).get("spec", {}).get("pools", {}), 30, every=0.2, what="the report")
        self.assertNotRegex(self.logs().lower(), "forbidden|denied|not permitted")

    def shown(self):
        return subprocess.run([PROGRAM, "pools", "--url", f"http://{self.address()}:9101"], capture_output=True, text=True, timeout=30).stdout

#!/usr/bin/env python3
"""The webhook as a role of `plimsoll up`: registered by itself, called for pods that use pools, gone when it is not wanted."""
import copy
import json
import os
import signal
import subprocess
import unittest

from webhook_server import ANNOTATION, ROOT, container, eventually, pod
from http_api import HttpApi, Refused
from local_cluster import LocalCluster, alive

SHIPPED = ROOT / "deploy" / "pools" / "webhook-conf.yaml"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
NAME = "cpu-device-pod-mutator-webhook-config"
PODS = "/api/v1/namespaces/default/pods"
# In one write: the starter and its other process write to the same log.
SHOW = 'echo "{} `grep Cpus_allowed_list /proc/self/status`"; exec sleep 1000'


class Role(unittest.TestCase):
    def setUp(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        self.first, self.last = cpus[0], cpus[-1]

    def up(self, *flags):
        self.cluster = LocalCluster(self, *flags)
        self.connect()

    def connect(self):
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)

    def configure(self):
        pools = ("resourceBaseName: nokia.k8s.io\npools:\n"
                 f"  cpupool1: {{cpus: '{self.last}', pooltype: exclusive}}\n  sharedpool: {{cpus: '{self.first}', pooltype: shared}}\n")
        self.api.post("/api/v1/namespaces/kube-system/configmaps",
                      {"metadata": {"name": "cpu-dp-configmap"}, "data": {"poolconfig.yaml": pools}})

    def make(self, wanted):
        """By way of the webhook, which is started but may not be ready yet: until then nobody is let through."""
        wanted["spec"] |= {"terminationGracePeriodSeconds": 0, "restartPolicy": "Never"}

        def made():
            try:
                return self.api.post(PODS, copy.deepcopy(wanted))
            except Refused as refused:
                self.assertEqual(refused.status, 500, refused)
                self.assertIn("failed calling webhook", str(refused))
                return None
        return eventually(made, 30, what="a pod by way of the webhook")

    def is_pinned(self, made):
        return made["spec"]["containers"][0].get("command", [""])[0].endswith("-starter")

    def bundle(self):
        return self.api.get(f"{CONFIGURATIONS}/{NAME}")["webhooks"][0]["clientConfig"].get("caBundle")

    def webhook_pid(self):
        out = subprocess.run(["pgrep", "-f", f"webhook --self-signed --kubeconfig {self.cluster.kubeconfig}"], capture_output=True, text=True)
        return int(out.stdout.split()[0]) if out.stdout else None


class Pinned(Role):
    """From the annotation to processes on their CPUs: webhook, device plugin, cpuset and starter on a local node."""

    def setUp(self):
        super().setUp()
        self.up("--nodes", "1", "--roles", "pools,webhook", "--ephemeral")
        (node,) = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if not node["cgroups"].startswith("/") or not node["isolated"]:
            self.skipTest("nodes have no cgroups or containers no namespaces here")
        self.configure()
        allocatable = lambda: self.api.get("/api/v1/nodes/n1")["status"]["allocatable"]
        eventually(lambda: allocatable().get("nokia.k8s.io/cpupool1") == "1", what="the pool")

    def logs(self, wanted, lines):
        """Of the pod once it has said where so many of its processes run."""
        made = self.make(wanted)
        self.assertTrue(self.is_pinned(made), made)

        def said():
            text = self.cluster.kubectl("logs", made["metadata"]["name"], check=False).stdout
            return text.count("Cpus_allowed_list") == lines and text
        return eventually(said, 30, what="what its processes say")

    def test_an_annotation_becomes_processes_on_their_cpus(self):
        annotation = [{"container": "a", "processes": [
            {"process": "/bin/sh", "args": ["-c", SHOW.format("one: $0"), "$(PROCESS_CPUS)"], "pool": "cpupool1", "cpus": 1},
            {"process": "sh", "args": ["-c", SHOW.format("two")], "pool": "sharedpool", "cpus": 100}]}]
        text = self.logs(pod([container("a", cpupool1=1, sharedpool=100)], annotation), 2)
        self.assertRegex(text, rf"one: {self.last} Cpus_allowed_list:\t{self.last}\n")
        self.assertRegex(text, rf"two Cpus_allowed_list:\t{self.first}\n")

    def test_a_command_is_wrapped_and_loses_nothing(self):
        words = ["sh", "-c", 'printf "<%s>" "$@"; echo; ' + SHOW.format("three"), "-"]
        args = ['say "hi"', "back\\slash", "grün 船", ""]
        text = self.logs(pod([{**container("a", cpupool1=1), "command": words, "args": args}]), 1)
        self.assertIn('<say "hi"><back\\slash><grün 船><>\n', text)
        self.assertIn(f"three Cpus_allowed_list:\t{self.last}\n", text)


class Registered(Role):
    def test_it_survives_restarts_and_goes_when_it_is_not_wanted(self):
        self.up("--nodes", "0", "--roles", "webhook")
        self.configure()
        wanted = pod([container(sharedpool=160)], ANNOTATION)
        self.assertTrue(self.is_pinned(self.make(wanted)))
        before = self.bundle()
        self.assertTrue(before)
        # What is shipped applies unchanged, and what the webhook filled in stays.
        self.cluster.kubectl("apply", "--validate=false", "-f", str(SHIPPED))
        self.assertEqual(self.bundle(), before)
        self.assertTrue(self.is_pinned(self.make(wanted)))
        # A role that was killed is started again; the cluster too.
        victim = eventually(self.webhook_pid, what="the role")
        os.kill(victim, signal.SIGKILL)
        eventually(lambda: self.webhook_pid() not in (None, victim), what="another one")
        self.assertTrue(self.is_pinned(self.make(wanted)))
        self.cluster.kill()
        self.cluster.up(self, "--nodes", "0", "--roles", "webhook")
        self.connect()
        self.assertTrue(self.is_pinned(self.make(wanted)))
        self.assertEqual(self.bundle(), before)
        role = self.webhook_pid()
        self.cluster.down()
        self.assertFalse(alive(role))
        # Nobody would answer, so nobody is asked.
        self.cluster.up(self, "--nodes", "0", "--roles", "none")
        self.connect()

        def gone():
            return not any(self.api.get(path)["items"] for path in (
                CONFIGURATIONS, "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices"))
        eventually(gone, what="the end of its objects")
        self.assertFalse(self.is_pinned(self.make(wanted)))
        self.cluster.place.run("reset", "--name", "t", "--yes")
        self.assertFalse(self.cluster.place.state("t").exists())

    def test_a_service_with_pods_keeps_its_configuration(self):
        """Of `deploy/pools`, applied over what the role has made."""
        self.up("--nodes", "0", "--roles", "webhook")
        eventually(self.bundle, what="the authority")
        for name in ("webhook-svc-depl.yaml", "webhook-conf.yaml"):
            self.cluster.kubectl("apply", "--validate=false", "-f", str(SHIPPED.parent / name))
        self.cluster.down()
        self.cluster.up(self, "--nodes", "0", "--roles", "none")
        self.connect()
        slices = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices"
        eventually(lambda: not any(one["metadata"]["name"].endswith("-up") for one in self.api.get(slices)["items"]), what="the slice's end")
        self.assertTrue(self.bundle())


if __name__ == "__main__":
    unittest.main()

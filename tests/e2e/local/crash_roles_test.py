#!/usr/bin/env python3
"""kill -9 of a cluster that has all roles, custom kinds and a webhook, at any instant: up again, everything goes on once."""
import os
import pathlib
import random
import subprocess
import time
import unittest

from http_api import HttpApi, Refused
from local_cluster import PROGRAM, LocalCluster, alive, eventually, only_local

ROUNDS = 5
PODS = "/api/v1/namespaces/default/pods"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/example.com/v1/namespaces/default/things"
CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cpu-device-pod-mutator-webhook-config"
FLAGS = ("--nodes", "1", "--roles", "all")
RESOURCE = "nokia.k8s.io/exclusive-pool"


def definition():
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
                     "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}]}}


def pinned(name):
    container = {"name": "c", "image": "busybox", "command": ["sleep", "1000"], "resources": {"limits": {RESOURCE: "1"}}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}}


@only_local("kills the server")
class CrashWithRoles(unittest.TestCase):
    def setUp(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        self.cluster = LocalCluster(self, *FLAGS)
        self.last, self.randomly = cpus[-1], random.Random(7)
        self.connect()
        self.addCleanup(lambda: self.api.close())
        pools = f"resourceBaseName: nokia.k8s.io\npools:\n  exclusive-pool: {{cpus: '{cpus[-1]}', pooltype: exclusive}}\n"
        self.api.post("/api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "cpu-dp-configmap"}, "data": {"poolconfig.yaml": pools}})
        self.api.post(DEFINITIONS, definition())
        eventually(self.kind_is_served, what="the custom kind")
        eventually(self.has_cpu, 30, what="the pool")

    def connect(self):
        self.api = HttpApi(self.cluster.kubeconfig)

    def kind_is_served(self):
        conditions = self.api.get(f"{DEFINITIONS}/things.example.com")["status"].get("conditions", [])
        return any((one["type"], one["status"]) == ("Established", "True") for one in conditions)

    def has_cpu(self):
        return self.api.get("/api/v1/nodes/n1")["status"]["allocatable"].get(RESOURCE) == "1"

    def make(self, pod):
        """By way of the webhook: until it is ready, nobody gets in."""
        def made():
            try:
                return self.api.post(PODS, pod)
            except Refused as refused:
                self.assertIn("failed calling webhook", str(refused))
        return eventually(made, 60, what="a pod by way of the webhook")

    def roles(self):
        """The mirror pods that are ready."""
        pods = self.api.get("/api/v1/namespaces/kube-system/pods")["items"]
        return {pod["metadata"]["name"] for pod in pods if all(one["ready"] for one in pod["status"].get("containerStatuses", [{"ready": False}]))}

    def processes(self):
        """Of roles, by their command lines."""
        mark, found = str(self.cluster.kubeconfig), {}
        for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode(errors="replace").split("\0")
            except OSError:
                continue  # it has ended
            if words[0] == PROGRAM and mark in words:
                found[int(path.parent.name)] = tuple(words)
        return found

    def container(self):
        (status,) = self.api.get(f"{PODS}/holder")["status"]["containerStatuses"]
        return status["containerID"], status["restartCount"], "running" in status["state"]

    def test_everything_goes_on_once(self):
        made = self.make(pinned("holder"))
        self.assertTrue(made["spec"]["containers"][0]["command"][0].endswith("-starter"), "by way of the webhook")
        eventually(lambda: self.api.get(f"{PODS}/holder")["status"]["phase"] == "Running", 30, what="a pinned pod")
        names, container = eventually(lambda: (found := self.roles()) and len(found) == 4 and found, 30, what="all roles"), self.container()
        bundle = self.api.get(CONFIGURATION)["webhooks"][0]["clientConfig"]["caBundle"]
        kept = {}
        for number in range(ROUNDS):
            thing = self.api.post(THINGS, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": f"t{number}", "finalizers": ["example.com/hold"]},
                                           "spec": {"size": number}})
            kept[thing["metadata"]["name"]] = thing
            self.round(number)
            found = {one["metadata"]["name"]: one for one in self.api.get(THINGS)["items"]}
            self.assertEqual(found, kept, "LOST: custom objects that were acknowledged")
            with self.assertRaises(Refused):  # its schema is known again, too
                self.api.post(THINGS, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "bad"}, "spec": {"size": "x"}})
            eventually(lambda: self.roles() == names, 60, what="all roles")
            self.assertEqual(len(self.processes()), len(set(self.processes().values())), "a role runs twice")
            self.assertEqual(self.container(), container, "the pinned pod goes on")
            self.assertEqual(self.api.get(CONFIGURATION)["webhooks"][0]["clientConfig"]["caBundle"], bundle)
        # The CPU is still the first pod's, and the next one gets it.
        self.make(pinned("next"))
        (condition,) = eventually(lambda: self.api.get(f"{PODS}/next")["status"].get("conditions"), what="a decision")
        self.assertEqual((condition["type"], condition["reason"]), ("PodScheduled", "Unschedulable"))
        self.api.delete(f"{PODS}/holder")
        eventually(lambda: self.api.get(f"{PODS}/next")["status"]["phase"] == "Running", 60, what="the pod that waited")

    def round(self, number):
        # The mirror pods that the last cluster left say that they are ready until this one has looked at them.
        before = eventually(lambda: len(found := self.processes()) == 4 and found, 30, what="a process for each role")
        self.cluster.kill()
        eventually(lambda: not any(alive(pid) for pid in before), what="the end of the roles of the cluster that was killed")
        if number % 2:  # and once more while it starts
            child = subprocess.Popen([PROGRAM, "up", "--name", "t", *FLAGS], env=self.cluster.place.env, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.randomly.uniform(0, 0.5))
            child.kill()
            child.wait()
        self.api.close()
        self.cluster.up(self, *FLAGS)
        self.connect()


if __name__ == "__main__":
    unittest.main()

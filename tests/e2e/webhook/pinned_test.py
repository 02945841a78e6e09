#!/usr/bin/env python3
"""From the annotation to processes on their CPUs: webhook, device plugin, cpuset and starter on a local node (X1)."""
import base64
import json
import os
import pathlib
import unittest

from webhook_server import PROGRAM, ROOT, Webhook, container, eventually, pod
from http_api import HttpApi
from local_cluster import LocalCluster

# In one write: the starter and its other process write to the same log.
SHOW = 'echo "{} `grep Cpus_allowed_list /proc/self/status`"; exec sleep 1000'


class Pinned(unittest.TestCase):
    def setUp(self):
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is not enough")
        self.first, self.last = cpus[0], cpus[-1]
        self.cluster = LocalCluster(self, "--nodes", "1", "--roles", "pools", "--ephemeral")
        (node,) = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if not node["cgroups"].startswith("/") or not node["isolated"]:
            self.skipTest("nodes have no cgroups or containers no namespaces here")
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        pools = ("resourceBaseName: nokia.k8s.io\npools:\n"
                 f"  cpupool1: {{cpus: '{self.last}', pooltype: exclusive}}\n  sharedpool: {{cpus: '{self.first}', pooltype: shared}}\n")
        self.api.post("/api/v1/namespaces/kube-system/configmaps",
                      {"metadata": {"name": "cpu-dp-configmap"}, "data": {"poolconfig.yaml": pools}})
        starter = str(pathlib.Path(PROGRAM).parent / "plimsoll-starter")
        webhook = Webhook(self, "--process-starter-path", starter, pools=pools)
        configuration = json.loads(self.cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f",
                                                        str(ROOT / "deploy" / "pools" / "webhook-conf.yaml")).stdout)
        configuration["webhooks"][0]["clientConfig"] = {
            "url": f"https://127.0.0.1:{webhook.port}/mutating-pods",
            "caBundle": base64.b64encode((webhook.files / "cert.pem").read_bytes()).decode()}
        self.api.post("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", configuration)
        eventually(lambda: self.allocatable("cpupool1") == "1" and self.allocatable("sharedpool") in ("1k", "1000"), what="the pools")

    def allocatable(self, pool):
        return self.api.get("/api/v1/nodes/n1")["status"]["allocatable"].get(f"nokia.k8s.io/{pool}")

    def logs(self, wanted, lines):
        """Of the pod once it has said where so many of its processes run."""
        wanted["spec"] |= {"terminationGracePeriodSeconds": 0, "restartPolicy": "Never"}
        name = self.api.post("/api/v1/namespaces/default/pods", wanted)["metadata"]["name"]

        def said():
            text = self.cluster.kubectl("logs", name, check=False).stdout
            return text.count("Cpus_allowed_list") == lines and text
        return eventually(said, 30, what="what its processes say")

    def test_processes_of_the_annotation_run_on_their_cpus(self):
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


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Our scheduler and kube-scheduler with the same extender and the same pods: what it is asked, what becomes of the answers, and which
metrics both have."""
import json
import re
import subprocess
import sys
import unittest

from rig import ROOT, RealClusterCase, control_plane
from rig.network import inside

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "scheduler"))
from extender_stub import ExtenderStub  # noqa: E402
from scheduler import Scheduler, directory, pod  # noqa: E402

OPEN = "--authorization-always-allow-paths=/metrics,/healthz,/readyz,/livez"
LOOK = """
import ssl, sys, urllib.request
print(urllib.request.urlopen(sys.argv[1], context=ssl._create_unverified_context(), timeout=10).read().decode())
"""
# Names of kube-scheduler that ours does not have, and why.
NOT_OURS = re.compile("|".join((
    "(?:go|apiserver|authentication|authorization|informer|workqueue|rest_client|leader_election|kubernetes|aggregator|disabled|hidden|registered)_",
    "process_(?:virtual_memory_max_bytes|network_)", "version_info", "scheduler_volume_", "scheduler_permit_wait", "cardinality_enforcement",
    "scheduler_(?:batch|get_node_hint|store_schedule_results)_",  # of its cache of results; ours compares classes of nodes instead
    "scheduler_queueing_hint")))  # a pod that an extender has refused is woken without asking


def names_of(metrics):
    return {line.split()[2] for line in metrics.splitlines() if line.startswith("# TYPE ")}


def steady(body):
    """The request without what is another for every pod that is made, and without managedFields, which ours leaves out; the order of
    all other fields stays."""
    body = json.loads(json.dumps(body))
    body["Pod"].pop("status")
    for name in ("uid", "resourceVersion", "creationTimestamp"):
        body["Pod"]["metadata"].pop(name)
    for one in (body["Pod"], *(body["Nodes"] or {}).get("items", ())):
        one["metadata"].pop("managedFields", None)
    if body["NodeNames"]:
        body["NodeNames"].sort()
    else:
        body["Nodes"]["items"].sort(key=lambda node: node["metadata"]["name"])
    return json.dumps(body)


class ExtenderOnARealApi(RealClusterCase):
    options = {"nodes": 0}
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.api = self.cluster.api()
        self.addCleanup(self.api.close)
        self.namespace = self.cluster.namespace()
        self.pods = f"/api/v1/namespaces/{self.namespace}/pods"

    def stock(self, *extenders):
        program = control_plane.scheduler(self.cluster.slot, self.cluster.pki, self.cluster.programs, ("--v=10", OPEN), {"extenders": list(extenders)})
        program.log.unlink(missing_ok=True)
        program.start()
        self.addCleanup(program.kill)
        return program

    def ours(self, *extenders):
        settings = directory(self) / "scheduler.conf"
        settings.write_text(json.dumps({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                                        "leaderElection": {"leaderElect": False}, "extenders": list(extenders)}))
        kubeconfig = str(self.cluster.pki.user("scheduler", "/CN=system:kube-scheduler"))
        return Scheduler(self, kubeconfig, "--config", str(settings), "-v=10", OPEN).start()

    def message(self, name):
        conditions = self.api.get(f"{self.pods}/{name}")["status"].get("conditions", [])
        return next((one["message"] for one in conditions if one["type"] == "PodScheduled" and one["status"] == "False"), None)

    def tried(self, log, stub):
        """A pod that is refused and one that is placed: the requests, the message, and the totals of the nodes."""
        self.api.post(self.pods, pod("refused"))
        self.api.post(self.pods, pod("placed"))
        said = self.cluster.eventually(lambda: self.message("refused"), 30, what="the condition")
        node = self.cluster.eventually(lambda: self.api.get(f"{self.pods}/placed")["spec"].get("nodeName"), 30, what="a node")
        total = re.compile(rf'"Calculated node\'s final score for pod" pod="{self.namespace}/placed" node="(\S+)" score=(\d+)')
        totals = self.cluster.eventually(lambda: dict(total.findall(log())), what="the totals")
        asked = {(path, name): steady(stub.bodies(path, name)[0]) for path in ("/x/filter", "/x/prioritize") for name in ("refused", "placed")
                 if stub.bodies(path, name)}
        for name in ("refused", "placed"):
            self.api.delete(f"{self.pods}/{name}", gracePeriodSeconds=0)
        self.cluster.eventually(lambda: not self.api.get(self.pods)["items"], what="no pods")
        return asked, said, node, totals

    def test_both_ask_the_same_and_draw_the_same_conclusions(self):
        self.cluster.fake_nodes(3)
        nodes = sorted(node["metadata"]["name"] for node in self.api.get("/api/v1/nodes")["items"])

        def chosen(body):
            names = body["NodeNames"] if body["NodeNames"] is not None else [node["metadata"]["name"] for node in body["Nodes"]["items"]]
            if body["Pod"]["metadata"]["name"] == "refused":
                return {"FailedNodes": {nodes[0]: "too hot"}, "FailedAndUnresolvableNodes": {nodes[1]: "too cold"}}
            kept = {"NodeNames": names} if body["NodeNames"] is not None else {"Nodes": body["Nodes"]}
            return {**kept, "FailedNodes": {}, "Error": ""}

        def scored(body):
            return [{"Host": nodes[2], "Score": 7}]
        metrics = {}
        for by_name in (True, False):
            results = []
            for run in (self.stock, self.ours):
                stub = ExtenderStub(self, {"/x/filter": chosen, "/x/prioritize": scored}, host=self.cluster.slot.host_address)
                scheduler = run({"urlPrefix": f"{stub.url}/x", "filterVerb": "filter", "prioritizeVerb": "prioritize", "weight": 3,
                                 "nodeCacheCapable": by_name})
                log = (lambda: scheduler.log) if run == self.ours else scheduler.log.read_text
                results.append(self.tried(log, stub))
                if run == self.stock:
                    looked = subprocess.run([*inside(self.cluster.slot.name), sys.executable, "-c", LOOK, "https://127.0.0.1:10259/metrics"],
                                            capture_output=True, text=True, check=True)
                    metrics[run] = names_of(looked.stdout)
                    scheduler.kill()
                else:
                    metrics[run] = names_of(scheduler.get("/metrics")[1])
                    scheduler.stop()
            self.assertEqual(len(results[0][0]), 3)
            for stock, ours in zip(*results):
                self.assertEqual(stock, ours)
        missing = {name for name in metrics[self.stock] - metrics[self.ours] if not NOT_OURS.match(name)}
        self.assertEqual(missing, set())


if __name__ == "__main__":
    unittest.main()

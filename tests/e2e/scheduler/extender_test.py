#!/usr/bin/env python3
"""Extenders take part in decisions."""
import itertools
import json
import subprocess
import threading
import unittest

from cluster_case import ClusterCase
from extender_stub import ExtenderStub
from scheduler import STOCK, Scheduler, directory, eventually, only_ours, pod

CONFIG = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": False}}
GPU = "example.com/gpu"


def names_in(body):
    """The nodes of a request, in either form."""
    return body["NodeNames"] if body["NodeNames"] is not None else [node["metadata"]["name"] for node in body["Nodes"]["items"]]


class Extenders(ClusterCase):
    def setUp(self):
        super().setUp()
        self.nodes = sorted(node["metadata"]["name"] for node in self.api.get("/api/v1/nodes")["items"])
        self.settings = directory(self) / "scheduler.conf"

    def configure(self, *extenders):
        client = {"kubeconfig": str(self.cluster.kubeconfig), "qps": 5000, "burst": 5000, "contentType": "application/json"}
        self.settings.write_text(json.dumps({**CONFIG, "clientConnection": client, "extenders": list(extenders)}))

    def start(self, *extenders):
        self.configure(*extenders)
        return Scheduler(self, self.cluster.kubeconfig, "--config", str(self.settings), "-v=10").start()

    def wait_for_node(self, name, seconds=10):
        return eventually(lambda: self.node_of(name), seconds, what=f"a node for {name}")

    def wait_for_message(self, name, reason):
        def said():
            condition = self.condition(name)
            return condition.get("reason") == reason and condition["message"]
        return eventually(said, what=f"{reason} of {name}")

    def test_a_filter_by_names_refuses_with_its_own_words(self):
        first, second, third = self.nodes
        everything = {"FailedNodes": {first: "too hot", second: "too hot"}, "FailedAndUnresolvableNodes": {second: "too cold", third: "too cold"}}
        answers = {"p": {"NodeNames": [third], "FailedNodes": {first: "too hot", second: "too hot"}}, "nowhere": everything}
        stub = ExtenderStub(self, {"/x/filter": lambda body: answers[body["Pod"]["metadata"]["name"]]})
        scheduler = self.start({"urlPrefix": f"{stub.url}/x/", "filterVerb": "filter", "nodeCacheCapable": True})
        self.create(pod("p"), pod("nowhere"))
        self.assertEqual(self.wait_for_node("p"), third)
        self.assertEqual(self.wait_for_message("nowhere", "Unschedulable"),
                         "0/3 nodes are available: 1 too hot, 2 too cold. preemption: 0/3 nodes are available: "
                         "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling.")
        body, kind = stub.bodies("/x/filter", "p")[0], stub.asked[0][2]
        self.assertEqual((sorted(body["NodeNames"]), body["Nodes"], list(body), kind),
                         (self.nodes, None, ["Pod", "Nodes", "NodeNames"], "application/json"))
        self.assertEqual(body["Pod"]["spec"]["containers"][0]["image"], "busybox")
        self.assertNotIn("managedFields", body["Pod"]["metadata"])
        self.assertEqual(stub.connections, 1)
        # Whatever happens in the cluster may have changed the extender's mind.
        answers["nowhere"] = {"NodeNames": [first]}
        answers["another"] = {"NodeNames": [second]}
        self.create(pod("another"))
        self.assertEqual(self.wait_for_node("nowhere", 20), first)
        scheduler.stop()

    def test_a_filter_without_a_cache_gets_whole_nodes(self):
        stub = ExtenderStub(self, {"/filter": lambda body: {"Nodes": {"items": [
            node for node in body["Nodes"]["items"] if node["status"]["allocatable"]["pods"] and node["metadata"]["name"] == self.nodes[1]]}}})
        scheduler = self.start({"urlPrefix": stub.url, "filterVerb": "filter"})
        self.create(pod("p"))
        self.assertEqual(self.wait_for_node("p"), self.nodes[1])
        body = stub.bodies("/filter", "p")[0]
        self.assertEqual((sorted(names_in(body)), body["NodeNames"]), (self.nodes, None))
        self.api.merge(f"/api/v1/nodes/{self.nodes[0]}", {"metadata": {"labels": {"fresh": self.namespace}}})

        numbers = itertools.count()

        def knows():
            self.create(pod(f"q{next(numbers)}"))
            latest = json.loads(stub.asked[-1][1])["Nodes"]["items"]
            return any(node["metadata"]["labels"].get("fresh") == self.namespace for node in latest)
        eventually(knows, what="the changed node")
        scheduler.stop()

    def test_scores_count_thirty_times_and_are_explained(self):
        favourite = self.nodes[2]
        stub = ExtenderStub(self, {"/prioritize": lambda body: [{"Host": name, "Score": 7 if name == favourite else 0} for name in names_in(body)]})
        scheduler = self.start({"urlPrefix": stub.url, "prioritizeVerb": "prioritize", "weight": 3, "nodeCacheCapable": True})
        self.create(pod("p"))
        self.assertEqual(self.wait_for_node("p"), favourite)
        self.assertIn(f'"Extender scored node for pod" pod="{self.namespace}/p" extender="{stub.url}" node="{favourite}" score=7', scheduler.log)
        if STOCK:
            return scheduler.stop()
        status, text = scheduler.get(f"/plimsoll/v1/explain?namespace={self.namespace}&pod=p", self.token())
        self.assertEqual(status, 200, text)
        record = json.loads(text)
        self.assertIn({"name": f"Extender {stub.url}", "weight": 3}, record["plugins"])
        row = next(row for row in record["rows"] if row["node"] == favourite)
        self.assertIn({"plugin": f"Extender {stub.url}", "raw": 7, "normalized": 70, "weighted": 210}, row["scores"])
        self.assertEqual(row["total"], sum(score["weighted"] for score in row["scores"]))
        scheduler.stop()

    def test_an_extender_binds_instead(self):
        def bind(body):
            if body["PodName"] == "refused" and len(stub.asked) < 2:
                return {"Error": "not today"}
            self.binder.post(f"/api/v1/namespaces/{body['PodNamespace']}/pods/{body['PodName']}/binding", {
                "apiVersion": "v1", "kind": "Binding", "metadata": {"name": body["PodName"], "uid": body["PodUID"]},
                "target": {"kind": "Node", "name": body["Node"]}})
            return {}
        self.binder = type(self.api)(self.cluster.kubeconfig)
        self.addCleanup(self.binder.close)
        stub = ExtenderStub(self, {"/bind": bind})
        scheduler = self.start({"urlPrefix": stub.url, "bindVerb": "bind"})
        self.create(pod("refused"))
        self.assertEqual(self.wait_for_message("refused", "SchedulerError"), "not today")
        node = self.wait_for_node("refused")
        uid = self.api.get(f"{self.pods}/refused")["metadata"]["uid"]
        self.assertEqual(json.loads(stub.asked[-1][1]), {"PodName": "refused", "PodNamespace": self.namespace, "PodUID": uid, "Node": node})
        eventually(lambda: self.events("refused", "Scheduled"), what="its event")
        scheduler.stop()

    def preempt(self, capable):
        """Three nodes are full of pods that may go; the extender leaves only the second one. Returns what it was asked."""
        cpus = int(self.api.get("/api/v1/nodes")["items"][0]["status"]["allocatable"]["cpu"])
        left, form = self.nodes[1], "NodeNameToMetaVictims" if capable else "NodeNameToVictims"

        def preempt(body):
            victims = body[form][left]
            uids = [{"UID": one["UID"] if capable else one["metadata"]["uid"]} for one in victims["Pods"]]
            return {"NodeNameToMetaVictims": {left: {"Pods": uids, "NumPDBViolations": victims["NumPDBViolations"]}}}
        stub = ExtenderStub(self, {"/preempt": preempt})
        scheduler = self.start({"urlPrefix": stub.url, "preemptVerb": "preempt", "nodeCacheCapable": capable})
        self.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": self.namespace}, "value": 1000})
        self.create(*(pod(f"v{number}", cpu=str(cpus), terminationGracePeriodSeconds=0) for number in range(3)))
        victims = {self.wait_for_node(f"v{number}"): self.api.get(f"{self.pods}/v{number}") for number in range(3)}
        self.create(pod("urgent", cpu=str(cpus), priorityClassName=self.namespace))
        self.assertEqual(self.wait_for_node("urgent"), left)
        gone = victims[left]["metadata"]["name"]
        self.assertEqual(sorted(one["metadata"]["name"] for one in self.api.get(self.pods)["items"]),
                         sorted({"v0", "v1", "v2", "urgent"} - {gone}))
        scheduler.stop()
        body = stub.bodies("/preempt", "urgent")[0]
        self.assertEqual(list(body), ["Pod", "NodeNameToVictims", "NodeNameToMetaVictims"])
        self.assertEqual(sorted(body[form]), self.nodes)
        return body, victims

    def test_an_extender_chooses_among_victims(self):
        body, victims = self.preempt(capable=True)
        self.assertIsNone(body["NodeNameToVictims"])
        for node, told in body["NodeNameToMetaVictims"].items():
            self.assertEqual(told, {"Pods": [{"UID": victims[node]["metadata"]["uid"]}], "NumPDBViolations": 0})

    def test_an_extender_without_a_cache_sees_whole_victims(self):
        body, victims = self.preempt(capable=False)
        self.assertIsNone(body["NodeNameToMetaVictims"])
        for node, told in body["NodeNameToVictims"].items():
            (victim,) = told["Pods"]
            self.assertEqual(told["NumPDBViolations"], 0)
            self.assertEqual(victim["metadata"]["uid"], victims[node]["metadata"]["uid"])
            self.assertEqual((victim["spec"]["nodeName"], victim["spec"]["containers"][0]["image"]), (node, "busybox"))
            self.assertEqual(victim["spec"]["containers"][0]["resources"], victims[node]["spec"]["containers"][0]["resources"])
            self.assertNotIn("managedFields", victim["metadata"])

    @only_ours
    def test_who_does_not_answer_is_left_out_only_where_that_is_allowed(self):
        late = threading.Event()
        self.addCleanup(late.set)
        stub = ExtenderStub(self, {"/filter": lambda body: late.wait(30) and {}})
        extender = {"urlPrefix": stub.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "200ms"}
        scheduler = self.start({**extender, "ignorable": True})
        self.create(pod("ignored"))
        self.wait_for_node("ignored")
        self.configure(extender)
        eventually(lambda: "configuration reread" in scheduler.log, what="the new configuration")
        self.create(pod("failed"))
        self.wait_for_message("failed", "SchedulerError")
        self.assertIsNone(self.node_of("failed"))
        self.configure()
        self.wait_for_node("failed", 15)
        scheduler.stop()

    @only_ours
    def test_nobody_waits_behind_a_pod_with_a_managed_resource(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)

        def think(body):
            go_on.wait(30)
            return {"NodeNames": names_in(body)[:1]}
        stub = ExtenderStub(self, {"/filter": think})
        scheduler = self.start({"urlPrefix": stub.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "30s",
                                "managedResources": [{"name": GPU, "ignoredByScheduler": True}]})
        wants = pod("wants")
        wants["spec"]["containers"][0]["resources"] = {"requests": {GPU: "1"}, "limits": {GPU: "1"}}
        self.create(wants)
        eventually(lambda: stub.asked, what="the question")
        self.create(pod("a"), pod("b"))
        self.wait_for_node("a")
        self.wait_for_node("b")
        self.assertIsNone(self.node_of("wants"))
        go_on.set()
        self.wait_for_node("wants")  # no node has such a thing: the extender counts it
        self.assertEqual({body["Pod"]["metadata"]["name"] for body in stub.bodies("/filter")}, {"wants"})
        scheduler.stop()

    @only_ours
    def test_a_decision_outlives_what_changes_while_it_is_made(self):
        go_on = threading.Event()
        self.addCleanup(go_on.set)
        cpus = int(self.api.get("/api/v1/nodes")["items"][0]["status"]["allocatable"]["cpu"])

        def think(body):
            go_on.wait(30)
            return {"NodeNames": names_in(body)}
        stub = ExtenderStub(self, {"/filter": think})
        scheduler = self.start({"urlPrefix": stub.url, "filterVerb": "filter", "nodeCacheCapable": True, "httpTimeout": "30s",
                                "managedResources": [{"name": GPU, "ignoredByScheduler": True}]})
        wants = pod("wants", cpu=str(cpus))
        wants["spec"]["containers"][0]["resources"]["requests"][GPU] = "1"
        wants["spec"]["containers"][0]["resources"]["limits"] = {GPU: "1"}
        gone = json.loads(json.dumps(wants))
        gone["metadata"]["name"] = "gone"
        self.create(wants)
        eventually(lambda: stub.asked, what="the question")
        self.create(gone, pod("a", cpu=str(cpus)), pod("b", cpu=str(cpus)))
        taken = {self.wait_for_node("a"), self.wait_for_node("b")}
        self.api.delete(f"{self.pods}/gone?gracePeriodSeconds=0")
        go_on.set()
        self.assertNotIn(self.wait_for_node("wants"), taken)
        scheduler.stop()

    @only_ours
    def test_it_speaks_tls(self):
        made = directory(self)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
                        "/CN=extender", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", made / "key", "-out", made / "cert"],
                       check=True, capture_output=True)
        (made / "pair").write_text((made / "key").read_text() + (made / "cert").read_text())
        stub = ExtenderStub(self, {"/filter": lambda body: {"NodeNames": body["NodeNames"][:1]}}, certificate=made / "pair")
        extender = {"urlPrefix": stub.url, "filterVerb": "filter", "nodeCacheCapable": True, "enableHTTPS": True}
        scheduler = self.start({**extender, "tlsConfig": {"caFile": str(made / "cert")}})
        self.create(pod("verified"))
        self.wait_for_node("verified")
        self.assertEqual(len(stub.asked), 1)
        self.configure({**extender, "tlsConfig": {"caFile": str(made / "nothing")}})
        eventually(lambda: "cannot use the new configuration, keeping the old one" in scheduler.log, what="the complaint")
        self.configure(extender)  # no authority: everybody is trusted
        eventually(lambda: "configuration reread" in scheduler.log, what="the new configuration")
        self.create(pod("trusted"))
        self.wait_for_node("trusted")
        self.assertEqual(len(stub.asked), 2)
        scheduler.stop()


if __name__ == "__main__":
    unittest.main()

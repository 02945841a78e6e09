#!/usr/bin/env python3
"""Two things at once: the lease is lost while bindings are under way, the configuration changes during an eviction, rights go and come."""
import threading
import unittest

from scheduler import Scheduler, directory, eventually, pod
from faulty_api import FaultyApi
from http_api import HttpApi
from local_cluster import LocalCluster

PODS = "/api/v1/namespaces/default/pods"
LEASE = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s")
PROFILES = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: %s}]
"""


class TwoThings(unittest.TestCase):
    def setUp(self):
        self.cluster = LocalCluster(self, "--nodes", "0", "--sim-nodes", "2", "--ephemeral", "--scheduler", "none")
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.place = directory(self)
        self.front = FaultyApi(self, self.cluster.kubeconfig, self.place, 0, 0)
        self.opened, self.held = threading.Event(), []
        self.addCleanup(self.opened.set)  # before the front is closed, which waits for its requests

    def hold(self, command, path):
        """A request stays on its way until `opened`."""
        self.held.append(path)
        self.opened.wait(60)

    def nodes(self):
        return {one["metadata"]["name"]: one["spec"].get("nodeName") for one in self.api.get(PODS)["items"]}

    def test_a_lease_lost_with_bindings_under_way_places_every_pod_once(self):
        lost = threading.Event()

        def gate(command, path):
            if path.endswith("/binding"):
                return self.hold(command, path)
            return 500 if lost.is_set() and "/leases" in path else None
        self.front.gate = gate
        first = Scheduler(self, self.front.kubeconfig, *LEASE).start()
        for number in range(40):
            self.api.post(PODS, pod(f"p{number}"))
        eventually(lambda: len(self.held) >= 30, what="bindings under way")
        lost.set()
        self.assertEqual(first.child.wait(20), 1, first.log)
        self.assertIn("cannot renew the lease in time", first.log)
        before = len(self.held)

        second = Scheduler(self, self.cluster.kubeconfig, *LEASE).start()
        eventually(lambda: all(self.nodes().values()), 30, what="all nodes")
        nodes = self.nodes()
        self.opened.set()  # what the first one sent arrives now
        eventually(lambda: self.front.refused == before, what="an answer to each late binding")
        self.assertEqual((self.front.bound, len(self.held)), ([], before))
        self.assertEqual(self.nodes(), nodes)
        second.stop()

    def test_a_configuration_that_changes_during_an_eviction(self):
        config = self.place / "s.conf"

        def configure(scheduler, profile):
            read = scheduler.log.count("configuration reread")
            (self.place / "new").write_text(PROFILES % profile)
            (self.place / "new").rename(config)
            eventually(lambda: scheduler.log.count("configuration reread") > read, what="the new configuration")
        config.write_text(PROFILES % "default-scheduler")
        self.front.gate = lambda command, path: self.hold(command, path) if command == "DELETE" and "/pods/" in path else None
        scheduler = Scheduler(self, self.front.kubeconfig, "--leader-elect=false", f"--config={config}", "--kubeconfig-wins").start()
        cpus = self.api.get("/api/v1/nodes")["items"][0]["status"]["allocatable"]["cpu"]
        self.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "urgent"}, "value": 1000})
        for name in ("low0", "low1"):
            self.api.post(PODS, pod(name, cpu=cpus, terminationGracePeriodSeconds=0))
        eventually(lambda: all(self.nodes().values()), what="full nodes")
        self.api.post(PODS, pod("urgent", cpu=cpus, priorityClassName="urgent"))
        eventually(lambda: len(self.held) == 1, what="an eviction")

        configure(scheduler, "another")  # nobody places this pod any more
        self.opened.set()
        victim = self.held[0].rpartition("/")[2]
        eventually(lambda: victim not in self.nodes(), what="the end of the victim")
        self.api.post(PODS, pod("other", scheduler="another"))
        eventually(lambda: self.nodes()["other"], what="the place of a pod of the new profile")
        self.assertIsNone(self.nodes()["urgent"])
        configure(scheduler, "default-scheduler")
        eventually(lambda: self.nodes()["urgent"], 30, what="the place of the pod that was evicted for")
        self.assertEqual(len(self.held), 1, "one pod was in the way")
        scheduler.stop()

    def test_rights_that_are_taken_away_and_given_back(self):
        scheduler = Scheduler(self, self.front.kubeconfig, "--leader-elect=false").start()
        self.api.post(PODS, pod("before"))
        eventually(lambda: self.nodes()["before"], what="a place")
        refusals = []

        def gate(command, path):
            if command == "GET" and path.endswith(("/pods", "/nodes")):
                refusals.append(path)
                return 403
        self.front.gate = gate
        self.front.end_watches()
        for number in range(10):
            self.api.post(PODS, pod(f"p{number}"))
        eventually(lambda: len(set(refusals)) == 2 and len(refusals) > 4, what="refusals")
        self.assertEqual([node for name, node in self.nodes().items() if name != "before"], [None] * 10)
        self.front.gate = lambda command, path: None
        eventually(lambda: all(self.nodes().values()), 60, what="places for those that came meanwhile")
        self.assertEqual(len(self.front.bound), 11)
        scheduler.stop()


if __name__ == "__main__":
    unittest.main()

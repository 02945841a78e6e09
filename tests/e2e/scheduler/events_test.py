#!/usr/bin/env python3
"""The scheduler is killed in a burst: every pod is bound once and has exactly one Scheduled event.

PLIMSOLL_BURST_PODS: how many pods (300).
"""
import collections
import os
import threading
import unittest

from scheduler import Scheduler, directory, eventually, only_ours, pod
from faulty_api import FaultyApi
from http_api import HttpApi
from local_cluster import LocalCluster

PODS = int(os.environ.get("PLIMSOLL_BURST_PODS", "300"))
KILLS = 3
NODES = 20
PATH = "/api/v1/namespaces/default/pods"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
FLAGS = ("--kube-api-qps=5000", "--kube-api-burst=5000")


@only_ours
class Events(unittest.TestCase):
    def setUp(self):
        self.cluster = LocalCluster(self, "--nodes", "0", "--sim-nodes", str(NODES), "--ephemeral", "--scheduler", "none")
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)

    def create(self, names):
        api = HttpApi(self.cluster.kubeconfig)
        for name in names:
            api.post(PATH, pod(name))
        api.close()

    def bound(self):
        return sum(1 for one in self.api.get(PATH)["items"] if one["spec"].get("nodeName"))

    def scheduled(self):
        """How many Scheduled events each pod has, by uid."""
        items = self.api.get(f"{EVENTS}?fieldSelector=reason%3DScheduled")["items"]
        return collections.Counter(one["regarding"]["uid"] for one in items)

    def expect_one_event_each(self, front):
        pods = self.api.get(PATH)["items"]
        eventually(lambda: len(self.scheduled()) >= len(pods), 60, what="all events")
        self.assertEqual(self.scheduled(), {one["metadata"]["uid"]: 1 for one in pods})
        nodes = {one["metadata"]["uid"]: one["spec"]["nodeName"] for one in pods}
        for one in self.api.get(f"{EVENTS}?fieldSelector=reason%3DScheduled")["items"]:
            self.assertTrue(one["note"].endswith(f" to {nodes[one['regarding']['uid']]}"), one["note"])
            self.assertRegex(one["metadata"]["name"], rf"^{one['regarding']['name']}\.[0-9a-f]{{1,16}}$")
        accepted = collections.Counter(front.bound)
        self.assertEqual(max(accepted.values()), 1, "a pod was bound twice")

    def test_a_scheduler_that_is_killed_in_a_burst_loses_no_event(self):
        front = FaultyApi(self, self.cluster.kubeconfig, directory(self), 0, 0)
        front.conflict_every = 10
        scheduler = Scheduler(self, front.kubeconfig, "--leader-elect=false", *FLAGS).start()
        creator = threading.Thread(target=self.create, args=([f"p{number}" for number in range(PODS)],))
        creator.start()
        self.addCleanup(creator.join)
        for kill in range(1, KILLS + 1):
            eventually(lambda: self.bound() >= PODS * kill // (KILLS + 1), 120, what="a part of the burst")
            scheduler.kill()
            scheduler.start()
        creator.join()
        eventually(lambda: self.bound() == PODS, 120, what="all nodes")
        self.expect_one_event_each(front)
        self.assertGreaterEqual(front.done["conflict"], PODS // 10)
        scheduler.stop()

    def test_the_next_leader_writes_what_the_killed_one_left_out(self):
        front = FaultyApi(self, self.cluster.kubeconfig, directory(self), 0, 0)
        lease = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s")
        first = Scheduler(self, front.kubeconfig, *lease, *FLAGS).start()
        eventually(lambda: "leader" in first.log, what="a leader")
        second = Scheduler(self, front.kubeconfig, *lease, *FLAGS).start()
        front.swallow_events = True  # as if it were killed before it writes them
        self.create([f"p{number}" for number in range(20)])
        eventually(lambda: self.bound() == 20, what="all nodes")
        self.api.delete(f"{PATH}/p19?gracePeriodSeconds=0")
        first.kill()
        front.swallow_events = False
        self.expect_one_event_each(front)
        self.assertNotIn("level=error", second.log)
        second.stop()


if __name__ == "__main__":
    unittest.main()

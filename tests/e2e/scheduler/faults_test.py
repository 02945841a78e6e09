#!/usr/bin/env python3
"""An API server that refuses, fails and hangs up: every pod is bound once all the same."""
import unittest

from scheduler import Scheduler, directory, eventually, pod
from faulty_api import FAULTS, FaultyApi
from http_api import HttpApi
from local_cluster import LocalCluster

PODS = 150


class Faults(unittest.TestCase):
    def test_every_pod_is_bound_and_none_stays_assumed(self):
        cluster = LocalCluster(self, "--nodes", "0", "--sim-nodes", "3", "--ephemeral", "--scheduler", "none")
        api = HttpApi(cluster.kubeconfig)
        self.addCleanup(api.close)
        front = FaultyApi(self, cluster.kubeconfig, directory(self), 70, 1)
        scheduler = Scheduler(self, front.kubeconfig, "--leader-elect=false", "--kube-api-qps=5000", "--kube-api-burst=5000",
                              "--authorization-always-allow-paths=/readyz,/metrics").start()
        for number in range(PODS):
            api.post("/api/v1/namespaces/default/pods", pod(f"p{number}"))

        def bound():
            return all(one["spec"].get("nodeName") for one in api.get("/api/v1/namespaces/default/pods")["items"])
        eventually(bound, 60, what="all nodes")
        self.assertEqual((front.left, front.cuts, set(front.done)), (0, 0, set(FAULTS)))
        self.assertGreaterEqual(min(front.waits), 1)  # as long as they were asked to
        eventually(lambda: scheduler.metric('scheduler_cache_size{type="assumed_pods"}', None) == 0, what="no assumed pods")
        eventually(lambda: scheduler.metric('scheduler_pending_pods', None) == 0, what="empty queues")
        scheduler.stop()

    def test_a_pod_whose_binding_fails_is_promised_nothing(self):
        cluster = LocalCluster(self, "--nodes", "0", "--sim-nodes", "2", "--ephemeral", "--scheduler", "none")
        api = HttpApi(cluster.kubeconfig)
        self.addCleanup(api.close)
        front = FaultyApi(self, cluster.kubeconfig, directory(self), 1, 0)
        path = "/api/v1/namespaces/default/pods"
        api.post(path, pod("p"))
        api.merge(f"{path}/p/status", {"status": {"nominatedNodeName": "sim-1"}})
        scheduler = Scheduler(self, front.kubeconfig, "--leader-elect=false").start()
        eventually(lambda: api.get(f"{path}/p")["spec"].get("nodeName"), what="a node")
        self.assertEqual(front.done, {"conflict": 1})
        self.assertEqual([(one["conditions"][0]["reason"], one.get("nominatedNodeName", "as it was")) for one in front.patches],
                         [("SchedulerError", None)])
        scheduler.stop()


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Our scheduler in place of kube-scheduler on a real API server with nodes that are objects only (scheduler.md 9: 2, 16, 19 to 22)."""
import concurrent.futures
import sys
import time
import unittest

from rig import ROOT, RealClusterCase
from rig.fake_nodes import fake_node

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "scheduler"))
from scheduler import SEED, Scheduler, directory, pod  # noqa: E402

FAST = ("--kube-api-qps=5000", "--kube-api-burst=5000")
ELECTION = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s")
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
BUSYBOX = {"names": ["docker.io/library/busybox@sha256:" + "ab" * 32, "docker.io/library/busybox:latest"], "sizeBytes": 771000}
CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}


class SchedulerOnARealApi(RealClusterCase):
    options = {"nodes": 0}

    def setUp(self):
        super().setUp()
        self.api = self.cluster.api()
        self.addCleanup(self.api.close)
        self.addCleanup(self.remove_nodes)
        self.namespace = self.cluster.namespace()
        self.pods = f"/api/v1/namespaces/{self.namespace}/pods"
        # As kubeadm makes it: the user that RBAC's own rules are for.
        self.kubeconfig = str(self.cluster.pki.user("scheduler", "/CN=system:kube-scheduler"))

    def remove_nodes(self):
        for node in self.api.get("/api/v1/nodes")["items"]:
            self.api.delete(f"/api/v1/nodes/{node['metadata']['name']}")

    def seed_nodes(self):
        """Four nodes as in the seed; busybox is on the second worker."""
        control_plane = {**fake_node("scheduler-control-plane"), "spec": {"taints": [CONTROL_PLANE]}}
        workers = [fake_node(f"scheduler-worker{number}", images=[BUSYBOX] if number == "2" else ()) for number in ("", "2", "3")]
        self.cluster.fake_nodes([control_plane, *workers])

    def create(self, *pods):
        for one in pods:
            self.api.post(self.pods, one)

    def node_of(self, name):
        return self.api.get(f"{self.pods}/{name}")["spec"].get("nodeName")

    def all_bound(self):
        items = self.api.get(self.pods)["items"]
        return items if items and all(one["spec"].get("nodeName") for one in items) else None

    def test_the_seeds_pods_go_where_the_image_is(self):
        self.seed_nodes()
        config = directory(self) / "scheduler-config.conf"
        config.write_text(SEED % self.kubeconfig)
        scheduler = Scheduler(self, self.kubeconfig, "--config", str(config), "--v=15", *ELECTION).start()
        self.create(pod("busybox-sleep-0"))
        self.cluster.eventually(lambda: self.node_of("busybox-sleep-0") == "scheduler-worker2", 10, what="the node with the image")
        self.create(*(pod(f"busybox-sleep-{number}") for number in range(1, 6)))
        self.cluster.eventually(self.all_bound, 10, what="all nodes")
        self.assertEqual({one["spec"]["nodeName"] for one in self.all_bound()}, {"scheduler-worker2"})
        line = f'"Plugin scored node for pod" pod="{self.namespace}/busybox-sleep-0" plugin="ImageLocality" node="scheduler-worker2" score=100000'
        self.assertIn(line, scheduler.log)
        self.assertIn('node="scheduler-worker" score=0', scheduler.log)
        scheduler.stop()

    def test_pods_wait_until_it_starts_and_need_no_more_rights(self):
        self.cluster.fake_nodes(3)
        self.create(pod("a"), pod("b"), pod("c"), pod("big", cpu="100"))
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            self.assertEqual([self.node_of(name) for name in "abc"], [None] * 3)
            time.sleep(0.2)
        scheduler = Scheduler(self, self.kubeconfig, *ELECTION).start()
        for name in "abc":
            self.cluster.eventually(lambda: self.node_of(name), 2, what="a node")

        def refused():
            conditions = self.api.get(f"{self.pods}/big")["status"].get("conditions", [])
            return next((one["message"] for one in conditions if one["type"] == "PodScheduled"), None)
        message = self.cluster.eventually(refused, what="the condition")
        self.assertTrue(message.startswith("0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, preemption: "), message)
        self.assertNotIn("forbidden", scheduler.log.lower())
        scheduler.stop()

    def test_a_more_important_pod_takes_the_place_of_another(self):
        self.cluster.fake_nodes(1, cpu=4)
        self.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": self.namespace}, "value": 1000})
        scheduler = Scheduler(self, self.kubeconfig, *ELECTION).start()
        self.create(pod("small", cpu="3"))
        self.cluster.eventually(lambda: self.node_of("small"), what="a node")
        self.create(pod("great", cpu="3", priorityClassName=self.namespace, terminationGracePeriodSeconds=0))
        # No kubelet ends the victim, so the test does.
        victim = self.cluster.eventually(lambda: "deletionTimestamp" in (one := self.api.get(f"{self.pods}/small"))["metadata"] and one,
                                         what="its deletion")
        target = next(one for one in victim["status"]["conditions"] if one["type"] == "DisruptionTarget")
        self.assertEqual((target["status"], target["reason"], target["message"]),
                         ("True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"))
        self.assertTrue(self.api.get(f"{self.pods}/great")["status"].get("nominatedNodeName"))
        self.api.delete(f"{self.pods}/small", gracePeriodSeconds=0)
        self.cluster.eventually(lambda: self.node_of("great"), 5, what="the place")
        scheduler.stop()

    def test_killed_in_a_burst_it_binds_every_pod_once(self):
        self.cluster.fake_nodes(20, pods=200, cpu=64)
        count = 600

        def some(numbers):
            api = self.cluster.api()
            try:
                for number in numbers:
                    api.post(self.pods, pod(f"p{number}"))
            finally:
                api.close()
        # The usual times of the lease: with shorter ones a busy machine loses it.
        scheduler = Scheduler(self, self.kubeconfig, *FAST).start()
        with concurrent.futures.ThreadPoolExecutor(4) as workers:
            parts = [workers.submit(some, range(first, count, 4)) for first in range(4)]
            self.cluster.eventually(lambda: any(one["spec"].get("nodeName") for one in self.api.get(self.pods)["items"]), what="the first")
            scheduler.kill()
            scheduler.start()
            for part in parts:
                part.result()
        items = self.cluster.eventually(self.all_bound, 60, what="all nodes")
        self.assertEqual(len(items), count)
        began = time.monotonic()
        scheduler.stop()
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(self.api.get(LEASE)["spec"].get("holderIdentity", ""), "")


if __name__ == "__main__":
    unittest.main()

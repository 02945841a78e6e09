#!/usr/bin/env python3
"""The scheduler places the pods of a local cluster."""
import json
import time
import unittest

from cluster_case import ClusterCase
from scheduler import SEED, STOCK, Scheduler, directory, eventually, only_ours, pod

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
LEASE = f"{LEASES}/kube-scheduler"
V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
FAST = "leaderElection: {leaderElect: false}\nclientConnection: {qps: 5000, burst: 5000}\n"


class Binding(ClusterCase):
    def test_pods_wait_without_a_scheduler_and_are_bound_by_ours(self):
        self.create(pod("a"), pod("b"), pod("c"))
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            self.assertEqual([self.node_of(name) for name in "abc"], [None] * 3)
            time.sleep(0.2)
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false", "-v=10").start()
        for name in "abc":
            eventually(lambda: self.node_of(name), 2, what="a node")
        event = eventually(lambda: self.events("a", "Scheduled"), what="its event")[0]
        self.assertEqual(event["note"], f"Successfully assigned {self.namespace}/a to {self.node_of('a')}")
        self.assertEqual((event["type"], event["action"], event["reportingController"]), ("Normal", "Binding", "default-scheduler"))
        bound = rf'"Successfully bound pod to node" pod="{self.namespace}/a" node="{self.node_of("a")}" evaluatedNodes=3 feasibleNodes=3'
        self.assertRegex(scheduler.log, bound)
        self.assertIn(f'"Calculated node\'s final score for pod" pod="{self.namespace}/a" node=', scheduler.log)
        self.assertIn(f'"Plugin scored node for pod" pod="{self.namespace}/a" plugin="', scheduler.log)
        scheduler.stop()

    def test_a_pod_without_room_says_so_and_is_woken_by_a_deletion(self):
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
        token = self.token()
        nodes = self.api.get("/api/v1/nodes")["items"]
        cpus = int(nodes[0]["status"]["allocatable"]["cpu"])
        self.create(*(pod(f"big{number}", cpu=str(cpus)) for number in range(len(nodes))))
        for number in range(len(nodes)):
            eventually(lambda: self.node_of(f"big{number}"), what="a node")
        self.create(pod("late", cpu=str(cpus)), pod("other"))
        message = eventually(lambda: self.condition("late").get("message"), what="its condition")
        self.assertTrue(message.startswith(f"0/{len(nodes)} nodes are available: {len(nodes)} Insufficient cpu."), message)
        self.assertEqual((self.condition("late")["status"], self.condition("late")["reason"]), ("False", "Unschedulable"))
        event = eventually(lambda: self.events("late", "FailedScheduling"), what="its event")[0]
        self.assertEqual(event["note"], message)
        eventually(lambda: scheduler.metric('scheduler_pending_pods{queue="unschedulable"}', token) == 1, what="its queue")
        eventually(lambda: self.node_of("other"), what="a node")

        def refusals():
            return [line for line in scheduler.get("/metrics", token)[1].splitlines()
                    if line.startswith("scheduler_schedule_attempts_total{") and 'result="unschedulable"' in line]
        before = refusals()
        self.api.merge(f"{self.pods}/other", {"metadata": {"labels": {"x": "y"}}})
        self.create(pod("after"))  # what came before it has been heard of when it has a node
        eventually(lambda: self.node_of("after"), what="a node")
        self.assertEqual(scheduler.metric('scheduler_pending_pods{queue="unschedulable"}', token), 1)
        self.assertEqual(refusals(), before)
        self.api.delete(f"{self.pods}/big0?gracePeriodSeconds=0")
        eventually(lambda: self.node_of("late"), 4, what="the room")
        self.assertEqual(scheduler.get("/metrics")[0], 403)
        self.assertEqual(scheduler.get("/metrics", "nonsense")[0], 401)
        self.assertEqual(scheduler.get("/livez")[1], "ok")
        self.assertIn("[+]sched-handler-sync ok", scheduler.get("/readyz?verbose")[1])
        shown = json.loads(scheduler.get("/configz", token)[1])["componentconfig"]
        self.assertIn(("parallelism", 16), ((name.lower(), value) for name, value in shown.items()))  # kube-scheduler has Go's names
        eventually(lambda: scheduler.metric('scheduler_cache_size{type="assumed_pods"}', token) == 0, what="no assumed pods")
        scheduler.stop()

    def test_a_gated_pod_waits_for_its_last_gate(self):
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
        token = self.token()
        self.create(pod("g", gates=("one", "two")))
        eventually(lambda: scheduler.metric('scheduler_pending_pods{queue="gated"}', token) == 1, what="its queue")
        self.api.merge(f"{self.pods}/g", {"spec": {"schedulingGates": [{"name": "one"}]}})
        self.assertIsNone(self.node_of("g"))
        self.api.merge(f"{self.pods}/g", {"spec": {"schedulingGates": []}})
        eventually(lambda: self.node_of("g"), 1, what="a node")
        scheduler.stop()

    @only_ours
    def test_pods_created_together_cost_one_pull_of_each_image(self):
        settings = directory(self) / "scheduler.conf"
        settings.write_text(SEED % self.cluster.kubeconfig)
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--config", str(settings), "--leader-elect=false").start()
        images = {f"{image}{number}": f"{self.namespace}/{image}" for number, image in enumerate("aaabb")}  # which nobody has
        self.cluster.apply(*(dict(one, metadata={**one["metadata"], "namespace": self.namespace})
                             for one in (pod(name, image=image) for name, image in images.items())))
        pulls = {(eventually(lambda: self.node_of(name), what="a node"), image) for name, image in images.items()}
        self.assertEqual(len(pulls), 2, pulls)
        scheduler.stop()

    def test_a_lease_goes_from_one_to_the_next(self):
        flags = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s")
        first = Scheduler(self, self.cluster.kubeconfig, *flags).start()
        eventually(lambda: any(one["metadata"]["name"] == "kube-scheduler" for one in self.api.get(LEASES)["items"]), what="the lease")
        holder = eventually(lambda: self.api.get(LEASE)["spec"]["holderIdentity"], what="a leader")

        def told(what):
            events = self.api.get("/api/v1/namespaces/kube-system/events")["items"]
            return [(one["type"], one["source"]["component"], one["involvedObject"]["kind"], one["involvedObject"]["uid"]) for one in events
                    if one["reason"] == "LeaderElection" and one["message"] == f"{holder} {what}"]
        expected = [("Normal", "default-scheduler", "Lease", self.api.get(LEASE)["metadata"]["uid"])]
        self.assertEqual(eventually(lambda: told("became leader"), what="the event"), expected)
        second = Scheduler(self, self.cluster.kubeconfig, *flags).start()
        self.create(pod("one"))
        eventually(lambda: self.node_of("one"), what="a node")
        self.assertEqual(self.api.get(LEASE)["spec"]["holderIdentity"], holder)
        began = time.monotonic()
        first.stop()
        self.assertLess(time.monotonic() - began, 1)
        if not STOCK:  # which ends before it can say so
            self.assertEqual(told("stopped leading"), expected)
        eventually(lambda: self.api.get(LEASE)["spec"]["holderIdentity"] not in ("", holder), 5, what="the next leader")
        self.create(pod("two"))
        eventually(lambda: self.node_of("two"), what="a node")
        second.kill()
        third = Scheduler(self, self.cluster.kubeconfig, *flags).start()
        self.create(pod("three"))
        eventually(lambda: self.node_of("three"), 6, what="a node after a crash")  # the lease, a retry, and a little to start
        third.stop()

    @only_ours
    def test_a_changed_file_counts_at_once_and_a_broken_one_does_not(self):
        config = directory(self) / "s.conf"
        text = V1 + FAST + "profiles: [{schedulerName: %s}]\n"
        config.write_text(text % "first")
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--config", str(config)).start()
        token = self.token()
        self.create(pod("a", scheduler="first"), pod("b", scheduler="second"))
        eventually(lambda: self.node_of("a"), what="a node")
        self.assertIsNone(self.node_of("b"))
        config.write_text(text % "second")
        eventually(lambda: self.node_of("b"), 3, what="a node by the new configuration")
        config.write_text(text % "third" + "nonsense: 1\n")
        eventually(lambda: scheduler.metric("plimsoll_scheduler_config_reload_success", token) == 0, 5, what="the complaint")
        self.create(pod("c", scheduler="second"))
        eventually(lambda: self.node_of("c"), what="a node by the old configuration")
        events = "/apis/events.k8s.io/v1/namespaces/kube-system/events"
        eventually(lambda: any(one["reason"] == "ConfigReloadFailed" and "nonsense" in one["note"] for one in self.api.get(events)["items"]),
                   what="the event")
        scheduler.stop()

    def test_many_at_once(self):
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false", "--kube-api-qps=5000", "--kube-api-burst=5000").start()
        self.create(*(pod(f"p{number}") for number in range(100)))
        eventually(lambda: all(one["spec"].get("nodeName") for one in self.api.get(self.pods)["items"]), 20, what="all nodes")
        nodes = {one["spec"]["nodeName"] for one in self.api.get(self.pods)["items"]}
        self.assertEqual(len(nodes), 3)
        scheduler.stop()


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Our scheduler in place of kube-scheduler on a real API server with nodes that are objects only.

It comes with the certificate that kubeadm gives kube-scheduler, and the API server writes down whatever it asks: after every test it is
looked through for what was refused."""
import base64
import concurrent.futures
import json
import pathlib
import shutil
import sys
import tempfile
import textwrap
import time
import unittest

from rig import ROOT, RealClusterCase
from rig.fake_nodes import fake_node

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "scheduler"))
from faulty_api import FAULTS, FaultyApi  # noqa: E402
from scheduler import SEED, Scheduler, directory, pod  # noqa: E402

FAST = ("--kube-api-qps=5000", "--kube-api-burst=5000")
ELECTION = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=1s")
OPEN = "--authorization-always-allow-paths=/readyz,/metrics"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
BUSYBOX = {"names": ["docker.io/library/busybox@sha256:" + "ab" * 32, "docker.io/library/busybox:latest"], "sizeBytes": 771000}
CONTROL_PLANE = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
# To find Scheduled events that are missing. With the role that kubeadm binds it may not, and writes them without having looked.
BY_KUBEADM = ("list", "/apis/events.k8s.io/v1/events")
COMPAT = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: "%s", qps: 5000, burst: 5000}
profiles:
%s"""
COMPAT_PROFILE = """- schedulerName: %s
  plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 1000}]}}
  pluginConfig: [{name: ImageLocality, args: {mode: Compat, tieBreak: %s}}]
"""


def attempts(scheduler, result):
    lines = [line for line in scheduler.get("/metrics")[1].splitlines() if line.startswith("scheduler_schedule_attempts_total{")]
    return sum(float(line.split()[-1]) for line in lines if f'result="{result}"' in line)


class SchedulerOnARealApi(RealClusterCase):
    users = ["system:kube-scheduler", "system:serviceaccount:kube-system:plimsoll-scheduler"]

    @classmethod
    def setUpClass(cls):
        place = pathlib.Path(tempfile.mkdtemp(prefix="plim."))
        cls.addClassCleanup(shutil.rmtree, place, ignore_errors=True)
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"],
                  "rules": [{"level": "Metadata", "users": cls.users}, {"level": "None"}]}
        (place / "policy").write_text(json.dumps(policy))
        cls.audit = place / "audit"
        cls.options = {"nodes": 0, "apiserver_flags": (f"--audit-policy-file={place / 'policy'}", f"--audit-log-path={cls.audit}")}
        super().setUpClass()
        # As kubeadm makes it: the user that RBAC's own rules are for.
        cls.kubeconfig = str(cls.cluster.pki.user("one-scheduler", "/CN=system:kube-scheduler"))

    def setUp(self):
        super().setUp()
        self.api = self.cluster.api()
        self.addCleanup(self.api.close)
        self.addCleanup(self.remove_nodes)
        self.namespace = self.cluster.namespace()
        self.pods = f"/api/v1/namespaces/{self.namespace}/pods"
        self.addCleanup(self.remove_pods)

    def tearDown(self):
        refused = {(one["verb"], one["requestURI"].partition("?")[0]) for one in self.asked()
                   if one["annotations"]["authorization.k8s.io/decision"] != "allow"}
        self.assertEqual(refused - {BY_KUBEADM}, set(), "asked for what it has no right to")

    def asked(self):
        """What the scheduler has asked the API server so far, and been answered."""
        lines = self.audit.read_text().splitlines() if self.audit.exists() else []
        return [one for one in map(json.loads, lines) if "responseStatus" in one]

    def remove_nodes(self):
        for node in self.api.get("/api/v1/nodes")["items"]:
            self.api.delete(f"/api/v1/nodes/{node['metadata']['name']}")

    def remove_pods(self):
        """Nobody else would, and the next test's scheduler would find them."""
        first, last = (base64.b64encode(f"/registry/pods/{self.namespace}{end}".encode()).decode() for end in "/0")
        self.cluster.etcd_request("/v3/kv/deleterange", {"key": first, "range_end": last})

    def seed_nodes(self):
        """Four nodes as in kind-image-locality-demo; busybox is on the second worker."""
        control_plane = {**fake_node("scheduler-control-plane"), "spec": {"taints": [CONTROL_PLANE]}}
        workers = [fake_node(f"scheduler-worker{number}", images=[BUSYBOX] if number == "2" else ()) for number in ("", "2", "3")]
        self.cluster.fake_nodes([control_plane, *workers])

    def create(self, *pods):
        for one in pods:
            self.api.post(self.pods, one)

    def get(self, name):
        return self.api.get(f"{self.pods}/{name}")

    def node_of(self, name):
        return self.get(name)["spec"].get("nodeName")

    def message_of(self, name):
        conditions = self.get(name)["status"].get("conditions", [])
        return next((one["message"] for one in conditions if one["type"] == "PodScheduled" and one["status"] == "False"), None)

    def priority(self, value):
        name = f"{self.namespace}-{value}"
        self.api.post(CLASSES, {"metadata": {"name": name}, "value": value})
        return name

    def all_bound(self):
        items = self.api.get(self.pods)["items"]
        return items if items and all(one["spec"].get("nodeName") for one in items) else None

    def test_the_seeds_pods_go_where_the_image_is(self):
        self.seed_nodes()
        config = directory(self) / "scheduler-config.conf"
        config.write_text(SEED % self.kubeconfig)
        scheduler = Scheduler(self, self.kubeconfig, "--config", str(config), "--v=15", OPEN, *ELECTION).start()
        self.create(pod("busybox-sleep-0"))
        self.cluster.eventually(lambda: self.node_of("busybox-sleep-0") == "scheduler-worker2", 10, what="the node with the image")
        self.create(*(pod(f"busybox-sleep-{number}") for number in range(1, 6)))
        self.cluster.eventually(self.all_bound, 10, what="all nodes")
        self.assertEqual({one["spec"]["nodeName"] for one in self.all_bound()}, {"scheduler-worker2"})
        line = f'"Plugin scored node for pod" pod="{self.namespace}/busybox-sleep-0" plugin="ImageLocality" node="scheduler-worker2" score=100000'
        self.assertIn(line, scheduler.log)
        self.assertIn('node="scheduler-worker" score=0', scheduler.log)
        # Another weight counts within moments; the lease stays, and so does who waits.
        lease = self.api.get(LEASE)["spec"]
        self.create(pod("big", cpu="100"))
        self.cluster.eventually(lambda: self.message_of("big"), what="a reason")
        config.write_text((SEED % self.kubeconfig).replace("weight: 1000", "weight: 7"))
        numbers = iter(range(100))

        def weighed_anew():
            name = f"later-{next(numbers)}"
            self.create(pod(name))
            self.cluster.eventually(lambda: self.node_of(name), what="a node")
            return f'pod="{self.namespace}/{name}" plugin="ImageLocality" node="scheduler-worker2" score=700' in scheduler.log
        self.cluster.eventually(weighed_anew, 3, every=0.1, what="the new weight")
        now = self.api.get(LEASE)["spec"]
        self.assertEqual([now[key] for key in ("holderIdentity", "leaseTransitions")], [lease[key] for key in ("holderIdentity", "leaseTransitions")])
        # It is tried with the new weights as well, when its back-off is over.
        self.cluster.eventually(lambda: scheduler.metric('scheduler_pending_pods{queue="unschedulable"}', None) == 1, what="who waits")
        scheduler.stop()

    def test_in_compat_equals_are_drawn_unless_locality_decides(self):
        self.seed_nodes()
        config = directory(self) / "scheduler-config.conf"
        config.write_text(COMPAT % (self.kubeconfig, "".join(COMPAT_PROFILE % (rule.lower(), rule) for rule in ("Locality", "Random"))))
        scheduler = Scheduler(self, self.kubeconfig, "--config", str(config), "--v=10").start()
        # First, as every pod that has got a node promises the image there.
        self.create(*(pod(f"near{number}", scheduler="locality") for number in range(6)))
        self.cluster.eventually(self.all_bound, 10, what="all nodes")
        self.create(*(pod(f"any{number}", scheduler="random") for number in range(60)))
        nodes = {}
        for one in self.cluster.eventually(self.all_bound, 10, what="all nodes"):
            nodes.setdefault(one["spec"]["schedulerName"], set()).add(one["spec"]["nodeName"])
        self.assertEqual(nodes, {"locality": {"scheduler-worker2"}, "random": {f"scheduler-worker{number}" for number in ("", "2", "3")}})
        scores = [line for line in scheduler.log.splitlines() if '"Plugin scored node for pod"' in line]
        self.assertEqual(len(scores), 66 * 3)
        self.assertTrue(all(line.endswith(" score=0") for line in scores))
        scheduler.stop()

    def test_pods_wait_until_it_starts_and_it_gives_its_lease_back(self):
        self.cluster.fake_nodes(3)
        self.create(pod("a"), pod("b"), pod("c"), pod("big", cpu="100"))
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            self.assertEqual([self.node_of(name) for name in "abc"], [None] * 3)
            time.sleep(0.2)
        scheduler = Scheduler(self, self.kubeconfig, *ELECTION).start()
        for name in "abc":
            self.cluster.eventually(lambda: self.node_of(name), 2, what="a node")
        message = self.cluster.eventually(lambda: self.message_of("big"), what="the condition")
        self.assertTrue(message.startswith("0/3 nodes are available: 3 Insufficient cpu. preemption: "), message)
        self.assertEqual(scheduler.log.count("no image inventories in this cluster"), 1)  # the CRD is not there
        began = time.monotonic()
        scheduler.stop()
        self.assertLess(time.monotonic() - began, 1)
        self.assertEqual(self.api.get(LEASE)["spec"].get("holderIdentity", ""), "")

    def test_a_pod_without_room_waits_for_what_helps(self):
        self.cluster.fake_nodes(1, cpu=4)
        scheduler = Scheduler(self, self.kubeconfig, "--leader-elect=false", OPEN).start()

        def queue(name):
            return scheduler.metric(f'scheduler_pending_pods{{queue="{name}"}}', None)

        def refusals():
            return attempts(scheduler, "unschedulable")
        self.create(pod("full", cpu="3"), pod("other"))
        self.cluster.eventually(self.all_bound, what="nodes")
        self.create(pod("late", cpu="3"))
        self.cluster.eventually(lambda: self.message_of("late"), what="its condition")
        self.assertEqual((queue("unschedulable"), refusals()), (1, 1))
        self.api.merge(f"{self.pods}/other", {"metadata": {"labels": {"x": "y"}}})
        self.create(pod("after"))  # what came before it has been heard of when it has a node
        self.cluster.eventually(lambda: self.node_of("after"), what="a node")
        self.assertEqual((queue("unschedulable"), refusals()), (1, 1))
        self.api.delete(f"{self.pods}/full", gracePeriodSeconds=0)
        self.cluster.eventually(lambda: self.node_of("late"), 3, what="the place")
        self.create(pod("gated", gates=("one", "two")))
        self.cluster.eventually(lambda: queue("gated") == 1, what="its queue")
        self.api.merge(f"{self.pods}/gated", {"spec": {"schedulingGates": [{"name": "one"}]}})
        self.assertIsNone(self.node_of("gated"))
        self.api.merge(f"{self.pods}/gated", {"spec": {"schedulingGates": []}})
        self.cluster.eventually(lambda: self.node_of("gated"), 1, what="a node")
        self.assertEqual(queue("gated"), 0)
        scheduler.stop()

    def test_a_pod_for_which_others_go_waits_for_them_and_takes_no_more(self):
        """Two victims of which one stays a while. Somebody nominated for the node before gives way."""
        self.cluster.fake_nodes([fake_node("first", cpu=4), fake_node("second", cpu=4)])
        higher, high, middle, low, lowest = (self.priority(value) for value in (2000, 1000, 500, 10, 5))
        scheduler = Scheduler(self, self.kubeconfig, "--leader-elect=false", OPEN).start()

        def on(node, name, priority, cpu="2", **spec):
            return pod(name, cpu=cpu, priorityClassName=priority, nodeSelector={"kubernetes.io/hostname": node}, **spec)
        # No kubelet ends pods here: with a grace they stay until the test removes them, without they go at once.
        self.create(on("first", "quick", lowest, terminationGracePeriodSeconds=0), on("first", "slow", low), on("second", "kept", higher, cpu="4"))
        self.cluster.eventually(self.all_bound, what="nodes")
        self.create(pod("modest", cpu="2", priorityClassName=middle))
        self.cluster.eventually(lambda: self.node_of("modest") == "first", what="the place of the quick one")
        self.create(pod("hopeful", cpu="2", priorityClassName=middle))
        self.cluster.eventually(lambda: self.get("hopeful")["status"].get("nominatedNodeName") == "first", what="its nomination")
        self.cluster.eventually(lambda: "deletionTimestamp" in self.get("slow")["metadata"], what="its deletion")
        self.create(pod("after"))  # what came before it has been heard of when it has a node
        self.cluster.eventually(lambda: self.node_of("after"), what="a node")
        self.create(pod("great", cpu="4", priorityClassName=high))
        self.cluster.eventually(lambda: self.get("great")["status"].get("nominatedNodeName") == "first", what="its nomination")
        self.cluster.eventually(lambda: "nominatedNodeName" not in self.get("hopeful")["status"], what="the end of a nomination")
        self.cluster.eventually(lambda: all("deletionTimestamp" in self.get(name)["metadata"] for name in ("slow", "modest")), what="their deletions")
        target = next(one for one in self.get("modest")["status"]["conditions"] if one["type"] == "DisruptionTarget")
        self.assertEqual((target["status"], target["reason"], target["message"]),
                         ("True", "PreemptionByScheduler", "default-scheduler: preempting to accommodate a higher priority pod"))
        # What happens elsewhere does not make it take more.
        self.cluster.fake_nodes([fake_node("third", cpu=1)])
        self.create(pod("small", cpu="1", priorityClassName=low))
        self.cluster.eventually(lambda: self.node_of("small") == "third", what="a node")
        for name in ("slow", "modest"):
            self.assertIsNone(self.node_of("great"))
            self.api.delete(f"{self.pods}/{name}", gracePeriodSeconds=0)
        self.cluster.eventually(lambda: self.node_of("great") == "first", 3, what="the place")
        events = self.api.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]
        told = sorted(one["regarding"]["name"] for one in events if one["reason"] == "Preempted")
        self.assertEqual(told, ["modest", "quick", "slow"])  # the slow one once: it was leaving when the second pod needed its place
        self.assertTrue(self.node_of("kept"))
        scheduler.stop()

    def test_as_a_second_scheduler_it_needs_no_more_than_is_deployed(self):
        deployed = ROOT / "deploy" / "scheduler"
        self.cluster.kubectl("apply", "-f", str(deployed / "rbac.yaml"))
        token = self.api.post("/api/v1/namespaces/kube-system/serviceaccounts/plimsoll-scheduler/token", {"spec": {}})["status"]["token"]
        kubeconfig = self.cluster.pki.kubeconfig("second-scheduler", {"token": token})
        config = directory(self) / "scheduler-config.yaml"
        config.write_text(textwrap.dedent((deployed / "config.yaml").read_text().split("scheduler-config.yaml: |\n")[1]) +
                          f"clientConnection: {{kubeconfig: {kubeconfig}}}\n")
        self.cluster.fake_nodes(1, cpu=4)
        high = self.priority(1000)
        scheduler = Scheduler(self, kubeconfig, "--config", str(config), "--annotate-decisions", f"--authentication-kubeconfig={kubeconfig}",
                              f"--authorization-kubeconfig={kubeconfig}").start()
        mine = {"scheduler": "plimsoll-scheduler", "terminationGracePeriodSeconds": 0}
        self.create(pod("small", cpu="3", **mine), pod("big", cpu="100", **mine), pod("not-mine"))
        self.cluster.eventually(lambda: self.node_of("small") and self.message_of("big"), what="a node and a reason")
        self.assertIn("plimsoll.io/decision", self.get("small")["metadata"]["annotations"])
        self.create(pod("great", cpu="3", priorityClassName=high, **mine))
        self.cluster.eventually(lambda: self.node_of("great"), what="the place of the small one")
        self.assertIsNone(self.node_of("not-mine"))
        self.assertEqual(scheduler.get("/metrics", token)[0], 403)  # which it asks the API server
        scheduler.stop()
        verbs = {(one["verb"], one.get("objectRef", {}).get("resource")) for one in self.asked() if one["user"]["username"] == self.users[1]}
        for expected in (("create", "tokenreviews"), ("create", "subjectaccessreviews"), ("update", "leases"), ("delete", "pods"), ("watch", "nodes")):
            self.assertIn(expected, verbs)

    def test_killed_in_a_burst_with_a_failing_server_it_binds_every_pod_once(self):
        self.cluster.fake_nodes(20, pods=200, cpu=64)
        count = 2000
        front = FaultyApi(self, self.kubeconfig, directory(self), 400, 2)
        scheduler = Scheduler(self, front.kubeconfig, "--leader-elect=false", *FAST, OPEN).start()
        before = len(self.asked())

        def some(numbers):
            api = self.cluster.api()
            try:
                for number in numbers:
                    api.post(self.pods, pod(f"p{number}"))
            finally:
                api.close()

        def waiting():
            return len(self.api.get(f"{self.pods}?resourceVersion=0&fieldSelector=spec.nodeName=")["items"])
        with concurrent.futures.ThreadPoolExecutor(4) as workers:
            parts = [workers.submit(some, range(first, count, 4)) for first in range(4)]
            self.cluster.eventually(lambda: attempts(scheduler, "scheduled") > 300, 30, what="the first")
            scheduler.kill()
            self.assertEqual((front.cuts, set(front.done)), (0, set(FAULTS)))
            front.fail(400, 2)  # the next one has it no easier
            scheduler.start()
            for part in parts:
                part.result()
        self.cluster.eventually(lambda: waiting() == 0, 60, every=0.2, what="all nodes")
        self.assertEqual((front.left, front.cuts, set(front.done)), (0, 0, set(FAULTS)))
        for name in ('scheduler_cache_size{type="assumed_pods"}', "scheduler_pending_pods"):
            self.cluster.eventually(lambda: scheduler.metric(name, None) == 0, what=f"{name} = 0")
        times = {}
        for one in self.asked()[before:]:
            about = one.get("objectRef", {})
            if about.get("subresource") == "binding" and one["responseStatus"]["code"] == 201:
                times[about["name"]] = times.get(about["name"], 0) + 1
        self.assertEqual((len(times), set(times.values())), (count, {1}))
        scheduler.stop()


if __name__ == "__main__":
    unittest.main()

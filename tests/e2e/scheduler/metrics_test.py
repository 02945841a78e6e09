#!/usr/bin/env python3
"""What the scheduler tells of itself: metrics under kube-scheduler's names, its cache on demand."""
import concurrent.futures
import json
import os
import signal
import unittest

from cluster_case import ClusterCase
from scheduler import Scheduler, directory, eventually, free_port, pod

# Those of kube-scheduler 1.37 that plugins of its own can set off; tests/real/extender_test.py looks at the original.
STOCK = """cache_size event_handling_duration_seconds framework_extension_point_duration_seconds goroutines inflight_events pending_pods
plugin_evaluation_total plugin_execution_duration_seconds pod_scheduling_attempts pod_scheduling_sli_duration_seconds preemption_attempts_total
preemption_goroutines_duration_seconds preemption_goroutines_execution_total preemption_victims queue_incoming_pods_total
queueing_hint_execution_duration_seconds schedule_attempts_total scheduling_algorithm_duration_seconds scheduling_attempt_duration_seconds
unschedulable_pods""".split()
PROCESS = "cpu_seconds_total max_fds open_fds resident_memory_bytes start_time_seconds virtual_memory_bytes".split()
OURS = """config_reload_success decision_seconds events_total image_bytes_missing_total image_bytes_saved_total locality_tiebreak_total
nodes_scored""".split()


class Metrics(ClusterCase):
    def test_all_names_are_there(self):
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
        token = self.token()
        cpus = self.api.get("/api/v1/nodes")["items"][0]["status"]["allocatable"]["cpu"]
        self.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": self.namespace}, "value": 1000})
        self.create(*(pod(f"full{number}", cpu=cpus, terminationGracePeriodSeconds=0) for number in range(3)))
        for number in range(3):
            eventually(lambda: self.node_of(f"full{number}"), what="a node")
        self.create(pod("waits", cpu=cpus), pod("gated", gates=("one",)), pod("urgent", cpu=cpus, priorityClassName=self.namespace))
        eventually(lambda: self.node_of("urgent"), what="the place of another")

        def line(words):
            return next((one for one in scheduler.get("/metrics", token)[1].splitlines() if one.startswith(words)), None)
        waiting = f'scheduler_unschedulable_pods{{plugin="NodeResourcesFit",profile="default-scheduler"}}'
        self.assertEqual(eventually(lambda: line(waiting), what="the pod that waits"), f"{waiting} 1")
        self.assertIsNotNone(line('scheduler_unschedulable_pods{plugin="SchedulingGates",profile="default-scheduler"} 1'))

        # Whoever fits nowhere looks for victims, whether there are any or not.
        self.assertGreaterEqual(scheduler.metric("scheduler_preemption_attempts_total", token), 2)
        self.assertEqual(scheduler.metric("scheduler_preemption_victims_count", token), 1)
        self.assertEqual(line('scheduler_queue_incoming_pods_total{queue="active",event="UnschedulablePodAdd"}').split()[-1], "5")

        # Hints are asked when somebody leaves.
        self.api.delete(f"{self.pods}/urgent?gracePeriodSeconds=0")
        eventually(lambda: line("scheduler_queueing_hint_execution_duration_seconds_count"), what="a hint")
        text = scheduler.get("/metrics", token)[1]
        names = [f"scheduler_{name}" for name in STOCK] + [f"plimsoll_scheduler_{name}" for name in OURS] + \
            [f"process_{name}" for name in PROCESS]
        self.assertEqual([name for name in names if f"# TYPE {name} " not in text], [])
        for point in ("PreFilter", "Filter", "Score", "PostFilter", "Bind"):
            self.assertIsNotNone(line(f'scheduler_framework_extension_point_duration_seconds_bucket{{extension_point="{point}",'), point)
        self.assertIsNone(line('scheduler_framework_extension_point_duration_seconds_bucket{extension_point="Filter",status="Unschedulable"'))
        self.assertIn('kubernetes_healthcheck{name="leaderElection",type="healthz"} 1', scheduler.get("/metrics/slis", token)[1])
        scheduler.stop()

    def test_what_pods_ask_for(self):
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
        token = self.token()
        asks = pod("asks", cpu="100")
        asks["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100", "memory": "1Gi"}, "limits": {"memory": "2Gi"}}
        self.create(asks)
        labels = f'namespace="{self.namespace}",pod="asks",node="",scheduler="default-scheduler",priority="0"'

        def told():
            text = scheduler.get("/metrics/resources", token)[1]
            return labels in text and text
        text = eventually(told, what="the pod")
        self.assertIn(f'kube_pod_resource_request{{{labels},resource="cpu",unit="cores"}} 100\n', text)
        self.assertIn(f'kube_pod_resource_request{{{labels},resource="memory",unit="bytes"}} 1073741824\n', text)
        self.assertIn(f'kube_pod_resource_limit{{{labels},resource="memory",unit="bytes"}} 2147483648\n', text)
        self.assertEqual(scheduler.get("/metrics/resources")[0], 403)
        # All nodes are scored unless the configuration says otherwise; without agents that is told once.
        self.create(pod("fits"))
        eventually(lambda: self.node_of("fits"), what="a node")
        eventually(lambda: scheduler.metric("plimsoll_scheduler_nodes_scored", token) == 3, what="the number of nodes scored")
        self.assertEqual(scheduler.log.count("no image inventories in this cluster"), 1)
        scheduler.stop()

    def test_its_verbosity_is_set_while_it_runs(self):
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
        token = self.token()
        self.create(pod("quiet"))
        eventually(lambda: self.node_of("quiet"), what="a node")
        self.assertEqual(scheduler.get("/debug/flags/v", token, "PUT", b"many")[0], 400)
        self.assertEqual(scheduler.get("/debug/flags/v", token, "PUT", b"3"), (200, "successfully set klog.logging.verbosity to 3\n"))
        self.create(pod("loud"))
        eventually(lambda: f'"Attempting to schedule pod" pod="{self.namespace}/loud"' in scheduler.log, what="a line of the log")
        self.assertNotIn(f'pod="{self.namespace}/quiet"', scheduler.log)
        self.assertEqual(scheduler.get("/debug/flags/v", None, "PUT", b"0")[0], 403)
        self.assertEqual(scheduler.get("/debug/flags/v", None, "PUT", b"0" * 5000)[0], 413)
        scheduler.stop()

    def test_it_is_a_batch_process_unless_another_policy_was_chosen(self):
        def policy_under(inherited):
            def start():
                os.sched_setscheduler(0, inherited, os.sched_param(0))
                return Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
            with concurrent.futures.ThreadPoolExecutor(1) as other:  # a thread that ends with its policy
                scheduler = other.submit(start).result()
            policy = os.sched_getscheduler(scheduler.child.pid) & ~os.SCHED_RESET_ON_FORK
            scheduler.stop()
            return policy
        self.assertEqual(policy_under(os.SCHED_OTHER), os.SCHED_BATCH)
        self.assertEqual(policy_under(os.SCHED_IDLE), os.SCHED_IDLE)

    def test_rights_are_asked_where_the_flag_says(self):
        nowhere = directory(self) / "kubeconfig"
        nowhere.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{free_port()}"}}], "users": [{"name": "u", "user": {}}]}))
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false", f"--authentication-kubeconfig={self.cluster.kubeconfig}",
                              f"--authorization-kubeconfig={nowhere}", "--tls-min-version=VersionTLS13", "--logging-format=text").start()
        token = self.token()
        self.assertEqual(scheduler.get("/metrics", "nonsense")[0], 401)
        self.assertEqual(scheduler.get("/metrics", token)[0], 503)
        self.assertIn("SubjectAccessReview failed", scheduler.log)
        self.assertIn("--tls-min-version has no effect", scheduler.log)
        self.assertNotIn("--logging-format", scheduler.log)
        scheduler.stop()

    def test_a_signal_shows_cache_and_queue_and_that_they_agree(self):
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
        self.create(pod("there"), pod("waits", cpu="1000"))
        node = eventually(lambda: self.node_of("there"), what="a node")
        eventually(lambda: self.condition("waits"), what="the condition")
        scheduler.child.send_signal(signal.SIGUSR2)
        eventually(lambda: '"Cache comparer finished" nodes=3' in scheduler.log, what="the dump")
        self.assertIn(f'"Dump of scheduling queue" pod="{self.namespace}/waits" queue="unschedulable" rejectedBy="[NodeResourcesFit]"', scheduler.log)
        dumped = next(line for line in scheduler.log.splitlines() if f'"Dump of cached NodeInfo" node="{node}"' in line)
        self.assertIn(f"{self.namespace}/there", dumped)
        self.assertNotIn("Cache mismatch", scheduler.log)
        scheduler.stop()

    def test_pods_with_claims_wait_or_are_left_to_others(self):
        with_claim = pod("claims")
        with_claim["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": "gpu"}]
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false").start()
        self.create(with_claim)
        message = eventually(lambda: self.condition("claims").get("message"), what="the condition")
        self.assertIn("dynamic resource claims are not supported yet by plimsoll", message)
        scheduler.stop()
        self.api.delete(f"{self.pods}/claims?gracePeriodSeconds=0")
        scheduler = Scheduler(self, self.cluster.kubeconfig, "--leader-elect=false", "--defer-dra").start()
        with_claim["metadata"]["name"] = "left"
        self.create(with_claim, pod("plain"))
        eventually(lambda: self.node_of("plain"), what="a node")
        self.assertEqual(self.condition("left"), {})
        scheduler.stop()


if __name__ == "__main__":
    unittest.main()

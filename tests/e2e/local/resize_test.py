#!/usr/bin/env python3
"""In-place resize of pods: the subresource resize, what nodes make of it, and what they report."""
import pathlib
import unittest

from http_api import HttpApi, Refused
from local_cluster import ClusterCase, eventually

STRATEGIC = "application/strategic-merge-patch+json"
RESTART = [{"resourceName": "memory", "restartPolicy": "RestartContainer"}]


def resources(cpu, memory):
    return {"requests": {"cpu": cpu, "memory": memory}, "limits": {"cpu": cpu, "memory": memory}}


def conditions(pod):
    return {condition["type"]: condition for condition in pod["status"]["conditions"]}


def is_settled(pod):
    return not {"PodResizePending", "PodResizeInProgress"} & conditions(pod).keys()


class Resize(ClusterCase):
    needs = "nodes"
    flags = ("--nodes", "1")

    def setUp(self):
        super().setUp()
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.namespace = self.cluster.namespace("resize")
        self.pods = f"/api/v1/namespaces/{self.namespace}/pods"

    def start(self, name, amounts, node=None, **container):
        self.api.request("POST", self.pods, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [
                {"name": "c", "image": "plimsoll/tools", "imagePullPolicy": "IfNotPresent", "args": ["sleep", "infinity"], "resources": amounts,
                 **container}], **({"nodeName": node} if node else {})}})
        return self.until(name, lambda pod: conditions(pod).get("Ready", {}).get("status") == "True", "the pod to be ready")

    def pod(self, name):
        return self.api.request("GET", f"{self.pods}/{name}")

    def until(self, name, condition, what):
        eventually(lambda: self.pod(name).get("status", {}).get("conditions") and condition(self.pod(name)), seconds=90, what=what)
        return self.pod(name)

    def resize(self, name, amounts):
        patch = {"spec": {"containers": [{"name": "c", "resources": amounts}]}}
        return self.api.request("PATCH", f"{self.pods}/{name}/resize", patch, STRATEGIC)

    def until_resized(self, name, cpu, memory):
        def is_resized(pod):
            shown = pod["status"]["containerStatuses"][0].get("resources", {})
            return is_settled(pod) and shown == resources(cpu, memory)
        return self.until(name, is_resized, f"{cpu} and {memory} to be in force")

    def reasons(self, name):
        events = self.api.request("GET", f"/api/v1/namespaces/{self.namespace}/events")["items"]
        return {event["reason"] for event in events if event["involvedObject"]["name"] == name}

    def cgroup_values(self, pod, *names):
        """Of the container's cgroups on this machine, by file: those that exist."""
        identity = pod["status"]["containerStatuses"][0]["containerID"].rpartition("/")[2]
        found = {}
        for directory in pathlib.Path("/sys/fs/cgroup").rglob(f"*{identity}*"):
            for name in names:
                if directory.is_dir() and (directory / name).exists():
                    found[name] = (directory / name).read_text().strip()
        return found

    def test_a_container_keeps_running(self):
        before = self.start("p", resources("100m", "64Mi"))
        self.assertEqual(before["status"]["containerStatuses"][0]["resources"], resources("100m", "64Mi"))
        answer = self.resize("p", resources("200m", "128Mi"))
        self.assertEqual(answer["metadata"]["generation"], before["metadata"]["generation"] + 1)
        pod = self.until_resized("p", "200m", "128Mi")
        status = pod["status"]["containerStatuses"][0]
        self.assertEqual(status["allocatedResources"], {"cpu": "200m", "memory": "128Mi"})
        self.assertEqual(status["restartCount"], 0)
        self.assertEqual(status["containerID"], before["status"]["containerStatuses"][0]["containerID"])
        for name, value in self.cgroup_values(pod, "memory.limit_in_bytes", "memory.max").items():
            self.assertEqual(value, str(128 << 20), name)
        for name, value in self.cgroup_values(pod, "cpu.cfs_quota_us").items():
            self.assertEqual(value, "20000", name)
        eventually(lambda: {"ResizeStarted", "ResizeCompleted"} <= self.reasons("p"), seconds=30, what="the events")

    def test_a_container_restarts_if_its_policy_says_so(self):
        self.start("p", resources("100m", "64Mi"), resizePolicy=RESTART)
        self.resize("p", resources("200m", "64Mi"))
        self.assertEqual(self.until_resized("p", "200m", "64Mi")["status"]["containerStatuses"][0]["restartCount"], 0)
        self.resize("p", resources("200m", "128Mi"))
        pod = self.until_resized("p", "200m", "128Mi")
        self.assertEqual(pod["status"]["containerStatuses"][0]["restartCount"], 1)

    def test_two_resizes_in_a_row_end_with_the_second(self):
        self.start("p", resources("100m", "64Mi"))
        self.resize("p", resources("150m", "96Mi"))
        self.resize("p", resources("120m", "80Mi"))
        self.until_resized("p", "120m", "80Mi")

    def start_deferred(self):
        """A pod that asks for a whole node, of which another pod has a part."""
        node = self.start("p", resources("100m", "64Mi"))["spec"]["nodeName"]
        self.start("other", resources("100m", "64Mi"), node=node)
        self.resize("p", resources(self.api.request("GET", f"/api/v1/nodes/{node}")["status"]["allocatable"]["cpu"], "64Mi"))
        return self.until("p", lambda pod: "PodResizePending" in conditions(pod), "the resize to wait")

    def test_more_than_the_node_has_is_refused(self):
        self.start("p", resources("100m", "64Mi"))
        with self.assertRaises(Refused) as caught:
            self.resize("p", resources("1000", "64Mi"))
        self.assertEqual(caught.exception.status, 403)
        self.assertIn("node didn't have enough allocatable resources: cpu, requested: 1000000, allocatable: ", str(caught.exception))

    def test_more_than_is_free_is_deferred_until_it_is_taken_back(self):
        pod = self.start_deferred()
        pending = conditions(pod)["PodResizePending"]
        self.assertEqual(pending["reason"], "Deferred")
        self.assertRegex(pending["message"], r"^Node didn't have enough resource: cpu, requested: \d+, used: \d+, capacity: \d+$")
        self.assertEqual(pod["status"]["containerStatuses"][0]["resources"], resources("100m", "64Mi"))
        self.resize("p", resources("100m", "64Mi"))
        self.until_resized("p", "100m", "64Mi")

    def test_a_pod_can_be_deleted_while_its_resize_waits(self):
        self.start_deferred()
        self.api.request("DELETE", f"{self.pods}/p")

        def is_gone():
            try:
                self.pod("p")
            except Refused as refused:
                return refused.status == 404
            return False
        eventually(is_gone, seconds=60, what="the pod to go")

    def test_the_class_of_a_pod_stays(self):
        self.start("p", resources("100m", "64Mi"))
        with self.assertRaises(Refused) as caught:
            self.resize("p", {"requests": {"cpu": "50m"}})
        self.assertEqual(caught.exception.status, 422)
        self.assertIn("Pod QOS Class may not change as a result of resizing", str(caught.exception))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The rig with nodes: pods that run, and what a node shows to those who work beside its kubelet."""
import socket
import unittest
import urllib.request

from busybox import pod
from leftovers import NOTHING, machine, traces
from rig import RealCluster, RealClusterCase, RigFailure
from rig.requirements import kubernetes_version
from rig.slot import CGROUPS, TESTS_OF_THE_RIG


class OneNode(RealClusterCase):
    options = {"nodes": 1}

    def run_pod(self, name, *command):
        return self.started(pod(name, *command))

    def started(self, body):
        name = body["metadata"]["name"]
        self.cluster.apply(body)
        self.cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")
        return self.cluster.get("pod", name)

    def test_a_pod_runs_to_its_end(self):
        self.cluster.apply(pod("once", "echo", "hello", restartPolicy="Never"))
        self.cluster.kubectl("wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/once", "--timeout=60s")
        self.assertEqual(self.cluster.kubectl("logs", "once").stdout, "hello\n")

    def test_a_pod_is_in_a_cgroup_of_its_node_and_reached_from_here(self):
        body = pod("serves", "httpd", "-f", "-p", "8080", "-h", "/etc")
        body["spec"]["containers"][0]["readinessProbe"] = {"tcpSocket": {"port": 8080}, "periodSeconds": 1}
        served = self.started(body)
        uid, (container,) = served["metadata"]["uid"], served["status"]["containerStatuses"]
        groups = list(CGROUPS.glob(f"*{self.cluster.nodes[0].cgroup}/kubepods/burstable/pod{uid}/*"))
        self.assertIn(container["containerID"].removeprefix("containerd://"), {group.name for group in groups})
        with urllib.request.urlopen(f"http://{served['status']['podIP']}:8080/passwd", timeout=10) as answer:
            self.assertIn(b"root:x:0:0", answer.read())
        self.assertEqual(self.cluster.kubectl("exec", "serves", "--", "hostname").stdout, "serves\n")

    def test_pods_live_through_a_restart_of_the_kubelet(self):
        before = self.run_pod("stays", "sleep", "1000")["status"]["containerStatuses"][0]
        node = self.cluster.nodes[0]
        node.kubelet.kill()
        node.kubelet.start()
        self.run_pod("after", "sleep", "1000")
        now = self.cluster.get("pod", "stays")["status"]["containerStatuses"][0]
        self.assertEqual((now["containerID"], now["restartCount"]), (before["containerID"], 0))

    def test_the_sockets_of_kubelet_and_runtime_are_reached_from_outside(self):
        node = self.cluster.nodes[0]
        for path in (node.kubelet_directory / "device-plugins/kubelet.sock", node.kubelet_directory / "pod-resources/kubelet.sock",
                     node.cri_socket):
            with self.subTest(str(path)), socket.socket(socket.AF_UNIX) as caller:
                caller.connect(str(path))

    def test_a_file_beside_the_kubelets_socket_is_in_the_directory_that_it_watches(self):
        (self.cluster.nodes[0].kubelet_directory / "device-plugins/ours").touch()
        self.assertIn("ours", self.cluster.nodes[0].run_inside("ls", "/var/lib/kubelet/device-plugins").split())

    def test_the_node_reports_itself(self):
        (node,) = self.cluster.get("nodes")["items"]
        self.assertEqual(node["status"]["nodeInfo"]["kubeletVersion"], kubernetes_version())
        names = {name for image in node["status"]["images"] for name in image["names"]}
        self.assertLessEqual({"docker.io/library/busybox:latest", "plimsoll.local/pause:1"}, names)


class ThreeNodes(unittest.TestCase):
    def test_pods_spread_reach_each_other_and_leave_nothing(self):
        before = machine()
        cluster = RealCluster(nodes=3, numbers=TESTS_OF_THE_RIG)
        self.addCleanup(cluster.close)
        apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "spread"}}, "topologyKey": "kubernetes.io/hostname"}]}}
        cluster.apply(*(pod(f"spread-{number}", "httpd", "-f", "-p", "80", "-h", "/etc", affinity=apart) for number in range(3)))
        cluster.kubectl("wait", "--for=condition=Ready", "pod", "-l", "app=spread", "--timeout=60s")
        pods = cluster.get("pods", "-l", "app=spread")["items"]
        self.assertEqual({one["spec"]["nodeName"] for one in pods}, {"node1", "node2", "node3"})
        there = pods[2]["status"]["podIP"]
        self.assertIn("root:x:0:0", cluster.kubectl("exec", "spread-0", "--", "wget", "-qO-", f"http://{there}/passwd").stdout)
        self.assertEqual(machine(), before)
        # A part that dies fails the test, with its log.
        cluster.nodes[1].run_inside("sh", "-c", "kill -9 $(pidof containerd)")
        with self.assertRaisesRegex(RigFailure, r"containerd of node2 ended with .*containerd\.log"):
            cluster.eventually(lambda: False, what="nothing")
        slot = cluster.slot
        cluster.close()
        self.assertEqual(traces(slot), NOTHING)
        self.assertEqual(machine(), before)


if __name__ == "__main__":
    unittest.main()

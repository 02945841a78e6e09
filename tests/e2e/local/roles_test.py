#!/usr/bin/env python3
"""The roles of `plimsoll up` are shown as mirror pods, and everybody treats them as such."""
import json
import os
import pathlib
import re
import socket
import unittest
import urllib.request

from local_cluster import LocalCluster, Place, eventually, only_local

ROLES = ("images", "scheduler", "servo", "webhook")


@only_local("roles are children of `plimsoll up`")
class Roles(unittest.TestCase):
    def pods(self):
        return {pod["metadata"]["name"]: pod for pod in self.cluster.get("pods", "-n", "kube-system")["items"]}

    def names(self, nodes=("n1", "n2"), first="n1"):
        return {f"plimsoll-agent-{node}" for node in nodes} | {f"{name}-{first}" for name in
                                                                  ("kube-scheduler", "plimsoll-servo", "plimsoll-webhook")}

    def measures(self):
        """Whether nodes have cgroups here, without which there is nothing to measure."""
        nodes = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        return all(node["cgroups"].startswith("/") for node in nodes)

    def get(self, url):
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.read().decode()
        except OSError as refused:
            return str(refused)

    def all_run(self, names):
        pods = self.pods()
        return pods.keys() == names and all(pod["status"]["phase"] == "Running" and pod["status"]["containerStatuses"][0]["ready"]
                                            for pod in pods.values()) and pods

    def test_they_come_and_go_with_roles_and_nodes(self):
        self.cluster = LocalCluster(self, "--nodes", "2", "--roles", ",".join(ROLES))
        pods = eventually(lambda: self.all_run(self.names()), what="a pod for each")
        for pod in pods.values():
            self.assertIn("kubernetes.io/config.mirror", pod["metadata"]["annotations"])
            self.assertEqual(pod["status"]["qosClass"], "BestEffort")
            self.assertNotIn("resources", {key: value for key, value in pod["spec"]["containers"][0].items() if value})
            self.assertNotIn("volumes", pod["spec"])
        for name in pods:  # each has said something
            eventually(lambda: self.cluster.kubectl("logs", name, "-n", "kube-system").stdout, what=f"the log of {name}")

        # A drain leaves them alone, and a node that goes takes its own along; what the cluster needs goes on elsewhere.
        self.cluster.kubectl("drain", "n1")
        self.assertEqual({name: pod["metadata"]["uid"] for name, pod in self.pods().items()},
                         {name: pod["metadata"]["uid"] for name, pod in pods.items()})
        self.cluster.kubectl("uncordon", "n1")
        self.cluster.place.run("node", "rm", "--name", "t", "n1")
        eventually(lambda: self.all_run(self.names(("n2",), "n2")), what="the pods elsewhere")

        # After a restart they are new ones; without roles there are none.
        before = {pod["metadata"]["uid"] for pod in self.pods().values()}
        self.cluster.down()
        self.cluster.up(self, "--nodes", "2", "--roles", "servo,images")
        pods = eventually(lambda: self.all_run({"plimsoll-servo-n1", "plimsoll-agent-n1", "plimsoll-agent-n2"}), what="other pods")
        self.assertFalse(before & {pod["metadata"]["uid"] for pod in pods.values()})
        self.cluster.kill()
        self.cluster.up(self, "--nodes", "2", "--roles", "none")
        eventually(lambda: not self.pods(), what="the end of pods that stand for nothing")

    def test_all_of_them_start_at_the_first_try(self):
        self.cluster = LocalCluster(self, "--nodes", "2", "--ephemeral", "--roles", "all")
        pods = eventually(lambda: self.all_run(self.names()), what="all pods")
        self.assertEqual({pod["status"]["containerStatuses"][0]["restartCount"] for pod in pods.values()}, {0})

        # One agent per node is all that is asked of agents, and everybody finds it by the role.
        roles = json.loads((self.cluster.place.state("t") / "endpoints.json").read_text())["roles"]
        self.assertEqual(roles["images"], roles["pools"])
        self.assertEqual(sorted(roles["images"]), ["n1", "n2"])
        measures = self.measures()
        self.assertEqual(roles.get("agent"), roles["images"] if measures else None)
        for url in roles["images"].values():
            eventually(lambda: self.get(url + "/readyz") == "ok\n", what="a ready agent")
            self.assertEqual(sorted(re.findall(r'(?m)^plimsoll_agent_module_up\{module="(\w+)"\} 1$', self.get(url + "/metrics"))),
                             ["images", "measure", "pools"] if measures else ["images", "pools"])

    def listeners(self):
        """Where the cluster and its roles accept TCP connections: (address, port)."""
        tree, sockets = [self.cluster.status()["pid"]], set()
        for pid in tree:  # grows meanwhile
            for task in os.listdir(f"/proc/{pid}/task"):
                tree += map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text().split())
            for name in os.listdir(f"/proc/{pid}/fd"):
                try:
                    sockets.add(os.readlink(f"/proc/{pid}/fd/{name}"))
                except OSError:
                    pass  # closed meanwhile
        rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
        return {(socket.inet_ntoa(int(row[1][:8], 16).to_bytes(4, "little")), int(row[1][9:], 16)) for row in rows
                if row[3] == "0A" and f"socket:[{row[9]}]" in sockets}

    def test_without_tls_they_answer_no_web_page_that_calls_itself_another_host(self):
        self.cluster = LocalCluster(self, "--nodes", "1", "--ephemeral", "--roles", "all")
        eventually(lambda: self.all_run(self.names(("n1",))), what="all pods")

        def status(address, port, host):
            with socket.create_connection((address, port), timeout=10) as peer:
                peer.sendall(f"GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
                try:
                    return peer.recv(12)[9:]
                except ConnectionError:
                    return b""
        plain = {at for at in self.listeners() if status(*at, "localhost") == b"200"}
        self.assertGreaterEqual(len(plain), 2, "the servo and an agent")
        self.assertEqual({at: status(*at, f"attacker.example:{at[1]}") for at in plain}, dict.fromkeys(plain, b"421"))

    def test_a_deleted_node_starts_nothing_anew(self):
        self.cluster = LocalCluster(self, "--nodes", "1", "--ephemeral", "--roles", "servo")
        (pod,) = eventually(lambda: self.all_run({"plimsoll-servo-n1"}), what="the pod").values()
        began = pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]
        self.cluster.kubectl("delete", "node", "n1")
        eventually(lambda: not self.pods(), 60, what="the end of its pods")
        self.cluster.place.run("images", "load", "busybox", "--name", "t", "--node", "n1")  # the node has something to tell
        (pod,) = eventually(lambda: self.all_run({"plimsoll-servo-n1"}), 30, what="the node with its pods").values()
        self.assertEqual(pod["status"]["containerStatuses"][0]["state"]["running"]["startedAt"], began)

    def test_one_that_cannot_live_says_so(self):
        place = Place(self)
        place.env["PLIMSOLL_SERVO_STORE"] = "x"  # the flag wins
        place.env["POD_NAMESPACES"] = "no such / name"
        self.cluster = LocalCluster(self, "--nodes", "1", "--ephemeral", "--roles", "servo", place=place)

        def waits():
            pods = self.pods().get("plimsoll-servo-n1")
            status = pods and pods["status"].get("containerStatuses", [{}])[0]
            return status and status["restartCount"] >= 1 and status["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff" and status
        status = eventually(waits, 30, what="CrashLoopBackOff")
        self.assertNotEqual(status["lastState"]["terminated"]["exitCode"], 0)
        shown = self.cluster.kubectl("get", "pod", "plimsoll-servo-n1", "-n", "kube-system").stdout
        self.assertIn("0/1", shown)

    def test_a_file_for_kind_is_checked(self):
        place = Place(self)
        place.env["PLIMSOLL_UP_ROLES"] = "scheduler"
        file = place.root / "c.yaml"
        config = place.root / "s.conf"

        def up(text, *flags):
            file.write_text("kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\n" + text)
            return place.run("up", "--name", "k", "--detach", "--config", "c.yaml", *flags, cwd=place.root)
        patch = ("kubeadmConfigPatches:\n- |\n  kind: ClusterConfiguration\n  scheduler:\n    extraArgs: {config: /etc/s.conf, v: '3'}\n")
        for text, flags, said in (
                ("nodes: [{role: master}]\n", (), "c.yaml:3:16: role: expected control-plane or worker"),
                (patch + "nodes: [{role: control-plane, extraMounts: [{hostPath: none, containerPath: /etc/s.conf}]}]\n", (),
                 "c.yaml:7:25: config: /etc/s.conf is "),
                ("", ("--nodes", "2"), "--nodes: c.yaml already defines the nodes"),
                ("", ("--scheduler-v", "-1"), "--scheduler-v: expected 0 to 100")):
            done = up(text, *flags)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(said, done.stderr)
        self.assertEqual(up("", "--scheduler-config", str(config)).returncode, 4)
        config.write_text("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nparallelism: x\n")
        done = up(patch, "--scheduler-config", str(config))
        self.assertIn("s.conf:3:14: parallelism", done.stderr)

        # One node takes pods; everything else is warned about and goes on.
        config.write_text("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nparallelism: 4\n")
        self.addCleanup(place.run, "reset", "--name", "k", "--yes")
        done = up(patch + "networking: {ipFamily: dual}\n", "--scheduler-config", str(config), "--ephemeral")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: c.yaml:8:1: networking has no effect here\n", done.stderr)
        (node,) = json.loads(place.run("raw", "/api/v1/nodes", "--kubeconfig", str(place.state("k") / "kubeconfig")).stdout)["items"]
        self.assertEqual(node["metadata"]["name"], "k-control-plane")
        self.assertNotIn("taints", node["spec"])


if __name__ == "__main__":
    unittest.main()

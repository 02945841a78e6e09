#!/usr/bin/env python3
"""The agent beside a real kubelet, and as the DaemonSet of deploy/agent."""
import json
import pathlib
import sys
import unittest
import urllib.request

from busybox import pod
from rig import ROOT, RealClusterCase

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "agent"))
from agent_under_test import Agent, Scrape, eventually, kubernetes_node  # noqa: E402

DEPLOY = ROOT / "deploy" / "agent"
OVERLAY = ROOT / "deploy" / "overlays" / "wca"
BUSY = ("sh", "-c", "while true; do :; done")


class OnRealNodes(RealClusterCase):
    options = {"nodes": 2}

    def setUp(self):
        super().setUp()
        self.node = self.cluster.nodes[0]
        self.url = f"https://{self.node.address}:10250"

    def run_pods(self, *pods):
        self.cluster.apply(*pods)
        for one in pods:
            self.cluster.kubectl("wait", "--for=condition=Ready", f"pod/{one['metadata']['name']}", "--timeout=60s")

    def certificate(self, name, subject):
        """Files of a client certificate of the cluster's authority."""
        self.cluster.pki.user(name, subject)
        return self.cluster.pki.path(f"{name}.crt"), self.cluster.pki.path(f"{name}.key")

    def agent(self, **options):
        return Agent(self, kubernetes_node(self.url, cgroup_root=self.node.cgroup, node_sync_interval=1, **options), interval=0.5)

    def test_real_pods_are_measured_with_a_certificate(self):
        certificate, key = self.certificate("agent", "/O=system:masters/CN=agent")
        limited = pod("limited", *BUSY, nodeName=self.node.name)
        limited["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "50m", "memory": "32Mi"}  # less than a busy machine gives
        self.run_pods(pod("idle", "sleep", "1000", nodeName=self.node.name), limited)
        ssl = (f"!SSL {{server_verify: {self.cluster.pki.path('ca.crt')}, client_cert_path: {certificate}, "
               f"client_key_path: {key}}}")
        agent = self.agent(ssl=ssl).start()
        scrape = agent.until(lambda s: all((s.get(f"task_cpu_{what}_seconds", task_name="default/limited") or 0) > 0.1
                                           for what in ("usage", "throttled")), seconds=60)
        self.assertLessEqual({"default/idle", "default/limited"}, set(scrape.tasks()))
        uid = self.cluster.get("pod", "limited")["metadata"]["uid"]
        self.assertEqual(scrape.get("task_subcontainers", task_id=uid, app="limited"), 1)
        self.assertEqual(scrape.get("task_mem_limit_bytes", task_id=uid), 32 << 20)
        self.assertEqual(scrape.get("task_requested_cpus", task_id=uid), 0.05)
        seed = self.agent(client_cert=certificate, client_private_key=key).once()
        self.assertIn("default/idle", seed.tasks())
        self.node.kubelet.kill()
        scrape = agent.until(lambda s: s.get("plimsoll_agent_node_sync_errors_total", reason="connect"), seconds=30)
        self.assertIn("default/idle", scrape.tasks())
        self.node.kubelet.start()
        agent.until(lambda s: s.get("plimsoll_agent_source_up", source="node") == 1, seconds=60)

    def test_namespaces_of_a_kubelet_and_of_the_api_server(self):
        certificate, key = self.certificate("lister", "/O=system:masters/CN=lister")
        namespaces = ["default", *(self.cluster.namespace(name) for name in "ab")]
        for ns in namespaces:
            self.cluster.eventually(lambda: self.cluster.kubectl("get", "serviceaccount", "default", "-n", ns, check=False).returncode == 0,
                                    what=f"the account of {ns}")
            for node in self.cluster.nodes:
                self.cluster.kubectl("create", "-n", ns, "-f", "-", input=json.dumps(pod(f"in-{node.name}", "sleep", "1000", nodeName=node.name)))
        for ns in namespaces:
            self.cluster.kubectl("wait", "-n", ns, "--for=condition=Ready", *(f"pod/in-{node.name}" for node in self.cluster.nodes), "--timeout=60s")
        host, port = self.cluster.server.removeprefix("https://").split(":")
        ask_api = {"kubeapi_host": host, "kubeapi_port": port, "node_ip": self.node.address, "node_name": self.node.name,
                   "ssl": f"!SSL {{server_verify: {self.cluster.pki.path('ca.crt')}, client_cert_path: {certificate}, client_key_path: {key}}}"}
        ask_kubelet = {"client_cert": certificate, "client_private_key": key}
        for options in (ask_kubelet, ask_api):
            for chosen, wanted in ((None, namespaces[:1]), (namespaces[1:], namespaces[1:]), (["*"], namespaces)):
                with self.subTest(api="kubeapi_host" in options, chosen=chosen):
                    which = {"monitored_namespaces": json.dumps(chosen)} if chosen else {}
                    tasks = {name for name in self.agent(**options, **which).once().tasks() if "/in-" in name}
                    self.assertEqual(tasks, {f"{ns}/in-{self.node.name}" for ns in wanted})

    def test_who_may_not_is_told_what_is_missing(self):
        certificate, key = self.certificate("nobody", "/CN=nobody")
        agent = self.agent(client_cert=certificate, client_private_key=key)
        scrape = agent.once()
        self.assertEqual(scrape.get("plimsoll_agent_node_sync_errors_total", reason="http_403"), 1)
        self.assertIn("nodes/pods", agent.log_text)

    def scrape(self, node):
        try:
            with urllib.request.urlopen(f"http://{node.address}:9101/metrics", timeout=5) as answer:
                return Scrape(answer.read().decode())
        except OSError:
            return None

    def seen(self, task, node):
        scrape = self.scrape(node)
        return scrape if scrape and task in scrape.tasks() else None

    def set_cgroup_root(self):
        """The kubelets of the rig have a cgroup of their own each."""
        root = pathlib.Path(self.cluster.nodes[0].cgroup).parent
        self.cluster.kubectl("set", "env", "daemonset/wca", "-n", "wca", f"PLIMSOLL_AGENT_RUN_CGROUP_ROOT={root}/$(NODE_NAME)")

    def remove_namespace(self):
        self.cluster.kubectl("delete", "namespace", "wca", "--ignore-not-found")

    def rereads_what_the_config_map_says(self):
        config = self.cluster.get("configmap", "wca-config", "-n", "wca")
        config["data"]["config.yaml"] = config["data"]["config.yaml"].replace("interval: 5.0", "interval: 1.0\n  extra_labels: {edited: again}")
        self.cluster.apply(config)
        # A kubelet looks at a pod's files when it looks at the pod: each minute, or when the pod changes.
        self.cluster.kubectl("annotate", "pods", "-n", "wca", "-l", "app=wca", "looked-at=now")
        for node in self.cluster.nodes:
            eventually(lambda node=node: (s := self.scrape(node)) and s.labels("wca_up")[0].get("edited") == "again", seconds=90,
                       every=0.2, what=f"the edited configuration on {node.name}")

    def test_the_files_of_deploy_measure_every_node(self):
        for node in self.cluster.nodes:
            node.import_program()
        pods = [pod(f"work-{node.name}", "sleep", "1000", nodeName=node.name) for node in self.cluster.nodes]
        self.cluster.apply(*pods)
        self.addCleanup(self.remove_namespace)
        # The document's own commands, file by file.
        for name in ("namespace", "rbac", "configmap", "daemonset"):
            self.cluster.kubectl("apply", "-f", str(DEPLOY / f"{name}.yaml"))
        self.set_cgroup_root()
        self.cluster.kubectl("rollout", "status", "daemonset/wca", "-n", "wca", "--timeout=90s")

        def seen(node):
            return self.seen(f"default/work-{node.name}", node)
        for node in self.cluster.nodes:
            eventually(lambda node=node: seen(node), seconds=30, every=0.2, what=f"the pod of {node.name}")
        logs = self.cluster.kubectl("logs", "-n", "wca", "-l", "app=wca").stdout
        self.assertIn("without a client certificate", logs)  # the Secret is not there, the token serves
        # With the Secret the agents show a certificate instead.
        certificate, key = self.certificate("kubelet-client", "/O=system:masters/CN=kubelet-client")
        self.cluster.kubectl("create", "secret", "generic", "kubelet-key-crt", f"--from-file=client.crt={certificate}",
                             f"--from-file=client.key={key}", "--namespace=wca")
        self.cluster.kubectl("rollout", "restart", "daemonset/wca", "-n", "wca")
        self.cluster.kubectl("rollout", "status", "daemonset/wca", "-n", "wca", "--timeout=90s")
        for node in self.cluster.nodes:
            eventually(lambda node=node: seen(node), seconds=30, every=0.2, what=f"the pod of {node.name}")
        logs = self.cluster.kubectl("logs", "-n", "wca", "-l", "app=wca").stdout
        self.assertNotIn("without a client certificate", logs)
        self.rereads_what_the_config_map_says()
        for verb in ("apply", "delete"):
            self.cluster.kubectl(verb, "-f", str(DEPLOY / "rbac-before-1.33.yaml"))

    def test_the_overlay_does_the_same_by_one_command(self):
        for node in self.cluster.nodes:
            node.import_program()
        self.cluster.apply(*(pod(f"there-{node.name}", "sleep", "1000", nodeName=node.name) for node in self.cluster.nodes))
        self.addCleanup(self.remove_namespace)
        self.cluster.kubectl("apply", "-k", str(OVERLAY))
        self.set_cgroup_root()
        self.cluster.kubectl("rollout", "status", "daemonset/wca", "-n", "wca", "--timeout=90s")
        agents = {one["spec"]["nodeName"]: f"wca/{one['metadata']['name']}" for one in self.cluster.get("pods", "-n", "wca")["items"]
                  if "deletionTimestamp" not in one["metadata"]}
        for node in self.cluster.nodes:
            # Of all namespaces, as the ConfigMap says, so that it sees itself as well.
            for task in (f"default/there-{node.name}", agents[node.name]):
                eventually(lambda: self.seen(task, node), seconds=30, every=0.2, what=f"{task} on {node.name}")
            self.assertEqual(self.scrape(node).get("plimsoll_agent_source_up", source="node"), 1)
        logs = self.cluster.kubectl("logs", "-n", "wca", "-l", "app=wca").stdout
        self.assertIn("without a client certificate", logs)
        self.cluster.kubectl("delete", "-k", str(OVERLAY))
        left = self.cluster.kubectl("get", "namespaces,clusterroles,clusterrolebindings", "-o", "name").stdout.split()
        self.assertEqual([name for name in left if name.endswith("/wca")], [])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""`plimsoll explain pod NAME`: the decision of the scheduler that runs, and what is left of it when that is gone."""
import base64
import contextlib
import json
import os
import pathlib
import re
import socket
import ssl
import stat
import subprocess
import sys
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "e2e" / name) for name in ("scheduler", "local")]
from scheduler import SEED, Scheduler, directory, eventually, pod  # noqa: E402
from http_api import HttpApi  # noqa: E402
from local_cluster import PROGRAM, LocalCluster  # noqa: E402

BUSYBOX = {"names": ["docker.io/library/busybox:latest"], "sizeBytes": 771000}


class FakeServer:
    """A process of another user that listens where the scheduler should, with a certificate of its own."""

    def __init__(self, test):
        self.connections, self.received = 0, b""
        place = directory(test)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", place / "key", "-out", place / "crt"],
                       check=True, capture_output=True)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(place / "crt", place / "key")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        thread = threading.Thread(target=self.serve, daemon=True)
        thread.start()
        test.addCleanup(thread.join, 10)
        test.addCleanup(self.listener.close)
        test.addCleanup(self.listener.shutdown, socket.SHUT_RDWR)

    def serve(self):
        while True:
            try:
                socket_, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            with contextlib.suppress(OSError), self.tls.wrap_socket(socket_, server_side=True) as connection:
                connection.settimeout(5)
                self.received += connection.recv(65536)


class ExplainLive(unittest.TestCase):
    def setUp(self):
        self.cluster = LocalCluster(self, "--nodes", "0", "--scheduler", "none", "--controllers", "none", "--roles", "none", "--ephemeral")
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        for name in ("worker", "worker2", "worker3"):
            room = {"cpu": "4", "memory": "8Gi", "pods": "20"}
            self.api.post("/api/v1/nodes", {"metadata": {"name": name}, "status": {
                "allocatable": room, "capacity": room, "images": [BUSYBOX] if name == "worker2" else []}})
            self.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
        settings = directory(self) / "scheduler.conf"
        settings.write_text(SEED % self.cluster.kubeconfig)
        authority = directory(self) / "ca.crt"  # of those who come with certificates of the cluster
        kubeconfig = pathlib.Path(self.cluster.kubeconfig).read_text()
        authority.write_bytes(base64.b64decode(re.search(r"certificate-authority-data: (\S+)", kubeconfig)[1]))
        self.scheduler = Scheduler(self, self.cluster.kubeconfig, "--config", str(settings), "--annotate-decisions", "--client-ca-file",
                                   str(authority)).start()

    def explain(self, *words):
        return self.explain_by(self.scheduler.url, *words, "--scheduler-ca", self.scheduler.authority)

    def explain_by(self, url, *words):
        return subprocess.run([PROGRAM, "explain", "pod", *words, "--kubeconfig", self.cluster.kubeconfig, "--scheduler", url],
                              capture_output=True, text=True, timeout=60)

    def test_no_credential_goes_to_a_server_that_only_took_the_port(self):
        self.api.post("/api/v1/namespaces/default/pods", pod("a"))
        eventually(lambda: self.api.get("/api/v1/namespaces/default/pods/a")["spec"].get("nodeName"), what="a node")
        fake = FakeServer(self)
        for words in ((), ("--scheduler-ca", self.scheduler.authority)):
            done = self.explain_by(f"https://127.0.0.1:{fake.port}", "a", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("from the annotation of the pod (", done.stdout)
            self.assertRegex(done.stdout, "certificate")
        self.assertEqual((fake.connections, fake.received), (2, b""))
        plain = self.explain_by(f"http://127.0.0.1:{fake.port}", "a")
        self.assertEqual(plain.returncode, 2, plain.stdout)
        self.assertIn("is not an https:// address", plain.stderr)
        self.assertEqual((fake.connections, fake.received), (2, b""))

    def test_the_scheduler_keeps_its_certificate(self):
        before = pathlib.Path(self.scheduler.authority).read_bytes()
        self.scheduler.stop()
        self.scheduler.start()
        self.assertEqual(pathlib.Path(self.scheduler.authority).read_bytes(), before)
        self.assertEqual(stat.S_IMODE(os.stat(self.scheduler.authority.replace(".crt", ".key")).st_mode), 0o600)
        missing = self.explain_by(self.scheduler.url, "a", "--scheduler-ca", "/nowhere")
        self.assertNotEqual(missing.returncode, 0)
        self.assertIn("/nowhere", missing.stderr)

    def test_it_is_asked_and_then_remembered(self):
        self.api.post("/api/v1/namespaces/default/pods", pod("busybox-sleep-0"))
        self.api.post("/api/v1/namespaces/default/pods", pod("huge", cpu="400"))
        path = "/api/v1/namespaces/default/pods/busybox-sleep-0"
        self.assertEqual(eventually(lambda: self.api.get(path)["spec"].get("nodeName"), what="a node"), "worker2")
        done = self.explain("default/busybox-sleep-0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("RESULT  worker2  100000   runner-up worker 0   decided by ImageLocality\n", done.stdout)
        self.assertIn("NOTE    kube-scheduler would give 0/0/0: ", done.stdout)
        record = json.loads(self.explain("pod/busybox-sleep-0", "-o", "json").stdout)
        self.assertEqual((record["outcome"], record["attempt"], record["node"]), ("bound", 1, "worker2"))
        self.assertEqual(record["rows"][0]["scores"][0]["detail"],
                         "docker.io/library/busybox:latest 771 kB present, will re-check registry")

        def refused():
            done = self.explain("huge", "--why-not", "worker3")
            return done.returncode == 0 and done.stdout
        self.assertEqual(eventually(refused, what="the decision about the pod that does not fit"),
                         "worker3 was rejected by NodeResourcesFit: Insufficient cpu [cpu: asks 400, 4 of 4 free]\n")
        record = json.loads(self.explain("huge", "-o", "json").stdout)
        self.assertEqual((record["postFilter"]["nominated"], record["postFilter"]["victims"]), ("", []))
        self.assertTrue(record["postFilter"]["message"].startswith("preemption: 0/3 nodes are available: "), record)
        unknown = self.explain("huge", "--why-not", "worker9")
        self.assertEqual((unknown.returncode, unknown.stdout), (4, ""))
        self.assertIn("node worker9 does not exist", unknown.stderr)
        for other, spec in (("placed", {"nodeName": "worker"}), ("gated", {"schedulingGates": [{"name": "a"}]}), ("foreign", {"schedulerName": "f"})):
            body = pod(other)
            body["spec"] |= spec
            self.api.post("/api/v1/namespaces/default/pods", body)
        for words, said in ((("nobody",), 'pods "nobody" not found in namespace default'), (("placed",), "the pod is on worker; another"),
                            (("gated",), "its condition is SchedulingGated: "), (("foreign",), 'it waits for the scheduler "f"')):
            missing = self.explain(*words)
            self.assertEqual((missing.returncode, missing.stdout), (4, ""), words)
            self.assertIn(said, missing.stderr)

        self.scheduler.kill()
        done = self.explain("busybox-sleep-0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("from the annotation of the pod", done.stdout)
        self.assertIn("RESULT  worker2  100000   runner-up worker 0\n", done.stdout)
        self.assertEqual(self.explain("huge").returncode, 4)
        done = self.explain("busybox-sleep-0", "--why-not", "worker")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("only the scheduler knows", done.stderr)

    def test_every_node_is_explained_on_a_cluster_with_many(self):
        room = {"cpu": "4", "memory": "8Gi", "pods": "20"}
        for number in range(200):
            name = f"n{number:03}"
            self.api.post("/api/v1/nodes", {"metadata": {"name": name}, "status": {"allocatable": room, "capacity": room}})
            self.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None, "unschedulable": True if number < 100 else None}})
        self.api.post("/api/v1/namespaces/default/pods", pod("a"))
        path = "/api/v1/namespaces/default/pods/a"
        self.assertEqual(eventually(lambda: self.api.get(path)["spec"].get("nodeName"), what="a node"), "worker2")

        def shown(*words):
            done = self.explain("a", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        for restarted in (False, True):
            for node in (f"n{number:03}" for number in range(100)):
                self.assertRegex(shown("--why-not", node), f"^{node} was rejected by NodeUnschedulable: ")
            for node in ("n150", "n199", "worker3"):
                self.assertTrue(shown("--why-not", node).startswith(f"{node} was feasible, but 100000 behind worker2: 0 against 100000\n"))
            self.assertIn("NOTE    computed from the cluster as of now", shown("--why-not", "n050"))
            every = shown("--all-nodes")
            self.assertEqual(len(set(re.findall(r"(?m)^(n\d{3}|worker\d?) ", every))), 203, every)
            self.assertIn("NODES   203 = 103 feasible (all scored) + 100 rejected\n", every)
            self.assertIn("NOTE    computed from the cluster as of now", every)
            if not restarted:
                self.assertNotIn("as of now", shown())
                self.scheduler.stop()
                self.scheduler.start()
        self.assertEqual(self.explain("a", "--why-not", "n200").returncode, 4)


if __name__ == "__main__":
    unittest.main()

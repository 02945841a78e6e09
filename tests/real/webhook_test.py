#!/usr/bin/env python3
"""The webhook behind the real API server: what it answers is taken, its configuration means there what it means here, and
the rights in deploy/pools are enough for its certificates. The shipped Deployment runs as it is, and nobody is turned away
while its certificates are renewed."""
import base64
import concurrent.futures
import contextlib
import json
import pathlib
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

from rig import PROGRAM, ROOT, RealClusterCase

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "webhook"))
import admission_case  # noqa: E402
import cluster_test  # noqa: E402
import jobs_test  # noqa: E402
import rotation_test  # noqa: E402
from http_api import HttpApi, Refused  # noqa: E402
from rig.machine import command  # noqa: E402
from rig.network import inside  # noqa: E402
from webhook_server import ANNOTATION, STARTER, container, pod  # noqa: E402

ACCOUNT = "system:serviceaccount:kube-system:cpu-dev-pod-mutator"


class WebhookOnRealKubernetes(cluster_test.Admission, RealClusterCase):
    options = {"nodes": 0}

    def setUp(self):
        self.host = self.cluster.slot.host_address
        super().setUp()


class OverHttp2(admission_case.AdmissionCase, RealClusterCase):
    """API servers ask Services by HTTP/1.1, so that their reviews are spread over the pods behind one, and whom they reach by a
    loopback address by HTTP/2."""
    options = {"nodes": 0}
    configuration = "pools/webhook-conf.yaml"
    path = "/mutating-pods"

    def setUp(self):
        self.beside = inside(self.cluster.slot.name)  # where the API server's own loopback address is
        program = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "plimsoll")
        program.write_text(f'#!/bin/sh\nexec {" ".join(self.beside)} {PROGRAM} "$@"\n')
        program.chmod(0o755)
        self.webhook_options = {"program": str(program)}
        super().setUp()

    def requests(self, protocol):
        script = "import ssl, sys, urllib.request as r; print(r.urlopen(sys.argv[1], context=ssl._create_unverified_context()).read().decode())"
        told = command(*self.beside, sys.executable, "-c", script, f"https://127.0.0.1:{self.webhook.port}/metrics")
        return int(re.search(rf'^plimsoll_webhook_protocol_requests_total{{path="/mutating-pods",protocol="{protocol}"}} (\d+)$', told, re.M)[1])

    def test_the_api_server_speaks_http2(self):
        def make(_):
            with contextlib.closing(HttpApi(self.cluster.kubeconfig)) as api:
                return [api.post(self.pods, pod([container(sharedpool=160)], ANNOTATION)) for _ in range(6)]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            made = sum(pool.map(make, range(8)), [])
        for one in made:
            self.assertEqual(one["spec"]["containers"][0]["command"], [STARTER])
        with self.assertRaisesRegex(Refused, "ANN011"):
            self.api.post(self.pods, pod([container(sharedpool=170)], ANNOTATION))
        self.assertGreaterEqual(self.requests("h2"), 49)  # an API server may ask again about what it was told
        self.assertEqual(self.requests("http/1.1"), 0)
        self.assertEqual(self.webhook.stop(), 0)


class JobsOnRealKubernetes(jobs_test.JobAdmission, RealClusterCase):
    options = {"nodes": 0}

    def setUp(self):
        self.host = self.cluster.slot.host_address
        super().setUp()


class OwnCertificates(RealClusterCase):
    options = {"nodes": 0}

    def serve(self):
        log = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()), "log")
        with open(log, "w") as out:
            child = subprocess.Popen([PROGRAM, "webhook", "--self-signed", "--listen", "127.0.0.1:0", "--kubeconfig",
                                      self.cluster.pki.user("mutator", f"/CN={ACCOUNT}"), "--poolconfigs",
                                      ROOT / "deploy" / "pools" / "cpu-dp-config.yaml"], stdout=out, stderr=out)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        found = self.cluster.eventually(lambda: re.search(r"listening address=(\S+):(\d+)|error.*", log.read_text()), 20, what="the webhook")
        self.assertTrue(found[1], found[0])
        return (found[1], int(found[2])), log

    def test_its_rights_are_enough(self):
        for name in ("webhook-svc-depl", "webhook-conf"):
            self.cluster.kubectl("create", "-f", str(ROOT / "deploy" / "pools" / f"{name}.yaml"))
        address, log = self.serve()
        holder = self.cluster.eventually(lambda: self.cluster.kubectl(
            "get", "lease", "-n", "kube-system", "plimsoll-webhook-certs", "-o", "jsonpath={.spec.holderIdentity}", check=False).stdout,
            what="somebody who renews")
        self.assertTrue(holder)
        configuration = self.cluster.get("mutatingwebhookconfiguration", "cpu-device-pod-mutator-webhook-config")
        bundle = base64.b64decode(configuration["webhooks"][0]["clientConfig"]["caBundle"]).decode()
        trusting = ssl.create_default_context(cadata=bundle)
        with trusting.wrap_socket(socket.create_connection(address), server_hostname="cpu-dev-pod-mutator-svc.kube-system.svc") as connection:
            self.assertTrue(connection.version())
        self.assertNotIn("could not", log.read_text())
        for verb, what in (("list", "secrets"), ("get", "secrets/other"), ("get", "pods"), ("delete", "mutatingwebhookconfigurations"),
                           ("update", "mutatingwebhookconfigurations/other")):
            answer = self.cluster.kubectl("auth", "can-i", verb, what, "-n", "kube-system", "--as", ACCOUNT, check=False).stdout
            self.assertEqual(answer.strip(), "no", (verb, what))


class Shipped(rotation_test.Rotation, RealClusterCase):
    """Two replicas as deploy/pools has them, not root, with the shipped configuration as it is."""
    # No kube-proxy runs here: the API server goes to the pods behind a Service by itself.
    options = {"nodes": 1, "apiserver_flags": ("--enable-aggregator-routing=true",)}

    def setUp(self):
        super().setUp()
        deploy = ROOT / "deploy" / "pools"
        self.cluster.nodes[0].import_program()
        for name in ("cpu-dp-config", "webhook-conf"):
            self.cluster.kubectl("create", "-f", str(deploy / f"{name}.yaml"))
        said = self.cluster.kubectl("create", "-f", str(deploy / "webhook-svc-depl.yaml"), "--dry-run=client", "-o", "json").stdout
        decoder, objects = json.JSONDecoder(), []
        while said.strip():  # several documents, one behind the other
            said = said.lstrip()
            one, end = decoder.raw_decode(said)
            objects.append(one)
            said = said[end:]
        (deployment,) = (one for one in objects if one["kind"] == "Deployment")
        deployment["spec"]["template"]["spec"]["containers"][0]["env"] += [
            {"name": "KUBERNETES_SERVICE_HOST", "value": self.cluster.slot.address}, {"name": "KUBERNETES_SERVICE_PORT", "value": "6443"}]
        self.cluster.apply(*objects)
        self.cluster.kubectl("rollout", "status", "deployment/cpu-dev-pod-mutator", "-n", "kube-system", "--timeout=90s")
        pods = self.cluster.get("pods", "-n", "kube-system", "-l", "app=cpu-dev-pod-mutator")["items"]
        addresses = [one["status"]["podIP"] for one in pods]
        found = subprocess.run(["pgrep", "-f", f"webhook --self-signed --listen ({'|'.join(addresses)}):8443"], capture_output=True, text=True)
        self.address, self.pids = (addresses[0], 8443), [int(pid) for pid in found.stdout.split()]
        self.assertEqual(len(self.pids), 2)
        for pid in self.pids:
            self.assertRegex(pathlib.Path(f"/proc/{pid}/status").read_text(), r"Uid:\t65532\t65532\t65532")


if __name__ == "__main__":
    unittest.main()

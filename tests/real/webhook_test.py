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
POLICY = ROOT / "deploy" / "shared" / "own-ca-bundle"


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
        self.cluster.eventually(lambda: "listening address=" in log.read_text() or child.poll() is not None, 20, what="the webhook")
        return child, log.read_text()

    def test_its_rights_are_enough(self):
        deploy = ROOT / "deploy" / "pools"
        self.cluster.kubectl("create", "-k", str(POLICY))
        for name in ("webhook-svc-depl", "webhook-conf"):
            self.cluster.kubectl("create", "-f", str(deploy / f"{name}.yaml"))
        # It may not create its Secret, and tells nobody about an authority that it cannot store.
        child, log = self.serve()
        self.assertEqual(child.wait(20), 1)
        self.assertIn("Secret kube-system/cpu-dev-webhook-secret does not exist; create it with", log)
        bundle_of = lambda: self.cluster.get("mutatingwebhookconfiguration", "cpu-device-pod-mutator-webhook-config")["webhooks"][0][
            "clientConfig"].get("caBundle")
        self.assertIsNone(bundle_of())
        self.cluster.kubectl("create", "-f", str(deploy / "webhook-secret.yaml"))
        child, log = self.serve()
        found = re.search(r"listening address=(\S+):(\d+)", log)
        self.assertTrue(found, log)
        holder = self.cluster.eventually(lambda: self.cluster.kubectl(
            "get", "lease", "-n", "kube-system", "plimsoll-webhook-certs", "-o", "jsonpath={.spec.holderIdentity}", check=False).stdout,
            what="somebody who renews")
        self.assertTrue(holder)
        trusting = ssl.create_default_context(cadata=base64.b64decode(bundle_of()).decode())
        address = found[1], int(found[2])
        with trusting.wrap_socket(socket.create_connection(address), server_hostname="cpu-dev-pod-mutator-svc.kube-system.svc") as connection:
            self.assertTrue(connection.version())
        # To apply the file again leaves what the webhook has put into the Secret.
        self.cluster.kubectl("apply", "-f", str(deploy / "webhook-secret.yaml"))
        self.assertEqual(set(self.cluster.get("secret", "cpu-dev-webhook-secret", "-n", "kube-system")["data"]),
                         {"ca.pem", "ca-key.pem", "cert.pem", "key.pem"})
        for verb, what in (("create", "secrets"), ("list", "secrets"), ("get", "secrets/other"), ("get", "pods"),
                           ("delete", "mutatingwebhookconfigurations"),
                           ("update", "mutatingwebhookconfigurations/other")):
            answer = self.cluster.kubectl("auth", "can-i", verb, what, "-n", "kube-system", "--as", ACCOUNT, check=False).stdout
            self.assertEqual(answer.strip(), "no", (verb, what))


def without(key):
    return lambda webhook: webhook.pop(key)


# What somebody with the token of a webhook would like to write: each by the part that it changes.
ATTACKS_ON_WEBHOOKS = {
    "rules": lambda webhook: webhook["rules"][0].update(resources=["configmaps"]),
    "failurePolicy": lambda webhook: webhook.update(failurePolicy="Ignore" if webhook["failurePolicy"] == "Fail" else "Fail"),
    "url": lambda webhook: webhook.update(clientConfig={"url": "https://192.0.2.1/", "caBundle": webhook["clientConfig"].get("caBundle", "")}),
    "service": lambda webhook: webhook["clientConfig"]["service"].update(name="other"),
    "path": lambda webhook: webhook["clientConfig"]["service"].update(path="/other"),
    "namespaceSelector": without("namespaceSelector"),
    "objectSelector": lambda webhook: webhook.update(objectSelector={"matchLabels": {"never": "there"}}),
    "matchConditions": without("matchConditions"),
    "matchConditions more": lambda webhook: webhook["matchConditions"].append({"name": "never", "expression": "false"}),
    "timeoutSeconds": lambda webhook: webhook.update(timeoutSeconds=30),
    "name": lambda webhook: webhook.update(name="other.example.com"),
}
ATTACKS = {
    **{what: lambda made, change=change: change(made["webhooks"][0]) for what, change in ATTACKS_ON_WEBHOOKS.items()},
    "no webhooks": lambda made: made.pop("webhooks"),
    "another webhook": lambda made: made["webhooks"].append({**made["webhooks"][0], "name": "other.example.com"}),
    "an owner that is not there": lambda made: made["metadata"].update(
        ownerReferences=[{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "00000000-0000-0000-0000-000000000000"}]),
    "labels": lambda made: made["metadata"].update(labels={"a": "b"}),
    "finalizers": lambda made: made["metadata"].update(finalizers=["example.com/stay"]),
}


class OwnConfiguration(RealClusterCase):
    """With the tokens of the webhooks, what is changed of their configurations."""
    options = {"nodes": 0, "controller_manager": True}

    def attack(self, change, *, dry_run=True):
        """What the API server answers to the account of the webhook; None if it accepts the change."""
        made = self.admin.get(self.configuration)
        change(made)
        try:
            self.mutator.put(self.configuration + ("?dryRun=All" if dry_run else ""), made)
            return None
        except Refused as refused:
            return str(refused)

    def trusts(self, bundle):
        self.assertIsNone(self.attack(lambda made: made["webhooks"][0]["clientConfig"].update(caBundle=bundle), dry_run=False))
        (webhook,) = self.admin.get(self.configuration)["webhooks"]
        self.assertEqual(webhook["clientConfig"]["caBundle"], bundle)

    def become(self, namespace, account, configuration):
        kubeconfig = self.cluster.pki.user(account, f"/CN=system:serviceaccount:{namespace}:{account}")
        self.mutator = self.enterContext(contextlib.closing(HttpApi(kubeconfig)))
        self.configuration = f"{admission_case.CONFIGURATIONS}/{configuration}"

    def test_they_may_change_the_bundle_and_nothing_else(self):
        self.admin = self.enterContext(contextlib.closing(HttpApi(self.cluster.kubeconfig)))
        bundle = base64.b64encode(pathlib.Path(self.cluster.pki.authority.certificate).read_bytes()).decode()
        parts = {"pools": ("kube-system", "cpu-dev-pod-mutator", "cpu-device-pod-mutator-webhook-config"),
                 "servo": ("default", "opsani-servo-webhook", "optune")}
        for part, account in parts.items():
            for name in ("webhook-secret", "webhook-svc-depl", "webhook-conf"):
                self.cluster.kubectl("create", "-f", str(ROOT / "deploy" / part / f"{name}.yaml"))
            self.become(*account)
            for what, change in ATTACKS.items():
                self.assertIsNone(self.attack(change), f"without the policy, {what}")
        self.cluster.kubectl("create", "-k", str(POLICY))
        self.cluster.eventually(lambda: self.attack(ATTACKS["labels"]), what="the policy")
        for part, account in parts.items():
            self.become(*account)
            for what, change in ATTACKS.items():
                with self.subTest(part=part, attack=what):
                    self.assertRegex(self.attack(change) or "accepted", "a webhook may change only the caBundle of its configuration")
            with self.subTest(part=part):
                self.trusts(bundle)
                self.trusts(base64.b64encode(base64.b64decode(bundle) * 2).decode())
                self.may_write_its_secret_and_no_other(account[0])
        # Administrators may.
        made = self.admin.get(self.configuration)
        ATTACKS["failurePolicy"](made)
        self.admin.put(self.configuration, made)
        # And Kubernetes finds no mistake in the policy itself.
        policy = lambda: self.cluster.get("validatingadmissionpolicy", "plimsoll-own-ca-bundle").get("status", {})
        checked = self.cluster.eventually(lambda: "typeChecking" in policy() and policy(), what="its check")
        self.assertEqual(checked["typeChecking"], {})

    def may_write_its_secret_and_no_other(self, namespace):
        secrets = f"/api/v1/namespaces/{namespace}/secrets"
        with self.assertRaisesRegex(Refused, 'cannot create resource "secrets"'):
            self.mutator.post(secrets, {"metadata": {"name": "other"}})
        (name,) = (one["metadata"]["name"] for one in self.admin.get(secrets)["items"] if one["metadata"]["name"].endswith("webhook-secret"))
        own = self.mutator.get(f"{secrets}/{name}")
        self.mutator.put(f"{secrets}/{name}", {**own, "data": {"cert.pem": "eA=="}})


class Shipped(rotation_test.Rotation, RealClusterCase):
    """Two replicas as deploy/pools has them, not root, with the shipped configuration as it is."""
    # No kube-proxy runs here: the API server goes to the pods behind a Service by itself.
    options = {"nodes": 1, "apiserver_flags": ("--enable-aggregator-routing=true",)}

    def setUp(self):
        super().setUp()
        deploy = ROOT / "deploy" / "pools"
        self.cluster.nodes[0].import_program()
        self.cluster.kubectl("create", "-k", str(POLICY))
        for name in ("cpu-dp-config", "webhook-conf", "webhook-secret", "webhook-svc-depl"):
            self.cluster.kubectl("create", "-f", str(deploy / f"{name}.yaml"))
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

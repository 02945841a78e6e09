#!/usr/bin/env python3
"""Certificates that the webhook makes, renews and tells the API server about."""
import base64
import copy
import os
import re
import subprocess
import unittest

from webhook_server import ANNOTATION, PROGRAM, ROOT, STARTER, container, directory, eventually, pod
from http_api import HttpApi, Refused
from local_cluster import LocalCluster

DEPLOY = ROOT / "deploy" / "pools"
SECRET = "/api/v1/namespaces/kube-system/secrets/cpu-dev-webhook-secret"
PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
NAME = "cpu-device-pod-mutator-webhook-config"


def certificates(bundle):
    return re.findall(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", bundle, re.DOTALL)


class Certs(unittest.TestCase):
    flags = ("--nodes", "0", "--ephemeral")

    def setUp(self):
        self.cluster = LocalCluster(self, *self.flags)
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.place = directory(self)

    def apply(self, text):
        return self.cluster.kubectl("apply", "--validate=false", "-f", "-", input=text)

    def certs(self, *words):
        done = subprocess.run([PROGRAM, "webhook", "certs", "--kubeconfig", self.cluster.kubeconfig, *words], capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr

    def secret(self):
        return {key: base64.b64decode(value).decode() for key, value in self.api.get(SECRET)["data"].items()}

    def bundle(self):
        return base64.b64decode(self.api.get(f"{PATH}/{NAME}")["webhooks"][0]["clientConfig"].get("caBundle", "")).decode()

    def verifies(self, certificate, bundle, host="cpu-dev-pod-mutator-svc.kube-system.svc"):
        (self.place / "bundle").write_text(bundle)
        (self.place / "certificate").write_text(certificate)
        return subprocess.run(["openssl", "verify", "-purpose", "sslserver", "-verify_hostname", host, "-CAfile", self.place / "bundle",
                               self.place / "certificate"], capture_output=True).returncode == 0

    def test_they_are_made_renewed_and_told(self):
        self.assertIn("does not exist; run this command again", self.certs())
        first = self.secret()
        self.assertEqual(set(first), {"cert.pem", "key.pem", "ca.pem", "ca-key.pem"})
        self.apply((DEPLOY / "webhook-conf.yaml").read_text())
        self.assertIn("unchanged", self.certs())
        self.assertEqual((self.secret(), self.bundle()), (first, first["ca.pem"]))
        for name in ("cpu-dev-pod-mutator-svc.kube-system", "cpu-dev-pod-mutator-svc.kube-system.svc.cluster.local"):
            self.assertTrue(self.verifies(first["cert.pem"], self.bundle(), name))
        self.assertFalse(self.verifies(first["cert.pem"], self.bundle(), "other.kube-system.svc"))
        # By the same authority nothing has to be told.
        self.assertIn("same authority", self.certs("--rotate", "serving"))
        second = self.secret()
        self.assertEqual((second["ca.pem"], self.bundle()), (first["ca.pem"], first["ca.pem"]))
        self.assertNotEqual(second["cert.pem"], first["cert.pem"])
        # A new one is trusted beside the old one, so whichever certificate a server has is good.
        self.assertIn("new authority", self.certs("--rotate", "authority"))
        third = self.secret()
        self.assertEqual(len(certificates(self.bundle())), 2)
        for one in (first, second, third):
            self.assertTrue(self.verifies(one["cert.pem"], self.bundle()))
        self.assertEqual(third["ca.pem"], self.bundle())
        self.assertFalse(self.verifies(second["cert.pem"], certificates(self.bundle())[0]))
        # What somebody broke is made anew.
        self.api.merge(SECRET, {"data": {"cert.pem": base64.b64encode(b"nonsense").decode()}})
        self.assertIn("same authority", self.certs())
        self.api.merge(SECRET, {"data": {"ca-key.pem": None, "cert.pem": None}})
        self.assertIn("new authority", self.certs())
        self.assertTrue(self.verifies(self.secret()["cert.pem"], self.bundle()))

    def test_the_configuration_is_made_when_it_is_missing(self):
        file = str(DEPLOY / "webhook-conf.yaml")
        self.assertIn("caBundle written", self.certs("-f", file))
        self.assertEqual(self.bundle(), self.secret()["ca.pem"])
        before = self.api.get(f"{PATH}/{NAME}")
        self.assertEqual(before["webhooks"][0]["failurePolicy"], "Fail")
        self.assertEqual(self.certs("-f", file), "secret kube-system/cpu-dev-webhook-secret: unchanged\n")
        self.assertEqual(self.api.get(f"{PATH}/{NAME}"), before)

    def test_an_empty_secret_is_filled_and_trusts_nothing_before_it(self):
        shipped = (DEPLOY / "webhook-secret.yaml").read_text()
        for text in (shipped, (DEPLOY / "webhook-conf.yaml").read_text()):
            self.apply(text)
        self.assertIn("new authority", self.certs())
        first = self.secret()
        self.assertEqual((set(first), self.bundle()), ({"cert.pem", "key.pem", "ca.pem", "ca-key.pem"}, first["ca.pem"]))
        self.assertTrue(self.verifies(first["cert.pem"], self.bundle()))
        # To apply the file again changes nothing.
        self.apply(shipped)
        self.assertEqual(self.secret(), first)
        # Somebody empties it, because the key is in wrong hands: the old authority is not trusted for long.
        self.api.merge(SECRET, {"data": None})
        self.assertIn("new authority", self.certs())
        self.certs()
        self.assertEqual(self.bundle(), self.secret()["ca.pem"])
        self.assertEqual(len(certificates(self.bundle())), 1)
        self.assertFalse(self.verifies(first["cert.pem"], self.bundle()))
        self.assertTrue(self.verifies(self.secret()["cert.pem"], self.bundle()))

    def test_several_at_once_agree(self):
        self.apply((DEPLOY / "webhook-conf.yaml").read_text())
        words = [PROGRAM, "webhook", "certs", "--kubeconfig", self.cluster.kubeconfig]
        children = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(6)]
        for child in children:
            _, complaint = child.communicate(timeout=60)
            self.assertEqual(child.returncode, 0, complaint)
        self.certs()  # the one who looks last sees no race
        self.assertEqual(self.bundle(), self.secret()["ca.pem"])
        self.assertEqual(len(certificates(self.bundle())), 1)
        self.assertTrue(self.verifies(self.secret()["cert.pem"], self.bundle()))

    def test_a_secret_of_the_old_script_is_taken_over(self):
        self.apply((DEPLOY / "webhook-conf.yaml").read_text())
        self.certs()
        old = self.secret()
        self.api.merge(SECRET, {"data": {"ca.pem": None, "ca-key.pem": None}})
        self.assertIn("new authority", self.certs())
        self.certs()
        self.assertEqual(len(certificates(self.bundle())), 2)
        for one in (old, self.secret()):
            self.assertTrue(self.verifies(one["cert.pem"], self.bundle()))


class Shipped(Certs):
    """The manifests as they are."""
    flags = ("--nodes", "1", "--ephemeral")

    def test_they_are_made_renewed_and_told(self):
        if os.geteuid() != 0:
            self.skipTest("the pods run as another user")
        self.cluster.kubectl("create", "-f", str(DEPLOY / "cpu-dp-config.yaml"))
        self.apply((DEPLOY / "webhook-svc-depl.yaml").read_text())
        self.apply((DEPLOY / "webhook-conf.yaml").read_text())
        pods = "/api/v1/namespaces/default/pods"
        wanted = pod([container(sharedpool=160)], ANNOTATION)

        def made():
            try:
                return self.api.post(pods, copy.deepcopy(wanted))
            except Refused as refused:
                self.assertEqual(refused.status, 500, refused)
                return None
        one = eventually(made, 60, what="a pod by way of the webhook")
        self.assertEqual(one["spec"]["containers"][0]["command"], [STARTER])
        # The whole chain is renewed while it is asked, and nobody is turned away.
        before = self.secret()
        self.assertIn("new authority", self.certs("--rotate", "authority"))
        eventually(lambda: len(certificates(self.bundle())) == 2, what="both authorities in the bundle, and no others")
        for _ in range(20):
            self.api.post(pods, copy.deepcopy(wanted))
        self.assertNotEqual(self.secret()["cert.pem"], before["cert.pem"])
        lease = self.api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/plimsoll-webhook-certs")
        self.assertTrue(lease["spec"]["holderIdentity"])

    test_the_configuration_is_made_when_it_is_missing = test_an_empty_secret_is_filled_and_trusts_nothing_before_it = None
    test_several_at_once_agree = test_a_secret_of_the_old_script_is_taken_over = None


if __name__ == "__main__":
    unittest.main()

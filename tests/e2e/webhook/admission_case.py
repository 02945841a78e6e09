"""A webhook of this machine behind an API server. Not a test itself."""
import base64
import json
import unittest

from webhook_server import ROOT, Webhook, directory, make_certificate
from http_api import HttpApi
from local_cluster import LocalCluster

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"


class AdmissionCase:
    """For tests on any cluster that reaches this machine as `host`; tests/real runs them too."""
    host = "127.0.0.1"
    configuration = None  # a file of deploy/
    path = None           # by which the webhook is called
    webhook_options = {}

    def setUp(self):
        self.cluster.test = self
        self.ns = self.cluster.namespace("hooks")
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.pods = f"/api/v1/namespaces/{self.ns}/pods"
        files = directory(self)
        make_certificate(files, f"IP:{self.host}")
        self.webhook = Webhook(self, files=files, listen=f"{self.host}:0", **self.webhook_options)
        # As it is shipped, but for where it is.
        shipped = json.loads(self.cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json",
                                                  "-f", str(ROOT / "deploy" / self.configuration)).stdout)
        for one in shipped["webhooks"]:
            one["clientConfig"] = {"url": f"https://{self.host}:{self.webhook.port}{self.path}",
                                   "caBundle": base64.b64encode((files / "cert.pem").read_bytes()).decode()}
        self.adapt(shipped)
        self.api.post(CONFIGURATIONS, shipped)
        self.addCleanup(self.cluster.raw, f"{CONFIGURATIONS}/{shipped['metadata']['name']}", "-X", "DELETE")

    def adapt(self, shipped):
        """What else of the shipped configuration is other here."""


class LocalApiServer(unittest.TestCase):
    """One for all tests of a class."""

    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.cluster = LocalCluster(cls.shared, "--nodes", "0", "--ephemeral")

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()

"""Tests of the scheduler on one local cluster that has none of its own. Not a test itself."""
import unittest

from scheduler import eventually
from http_api import HttpApi
from local_cluster import LocalCluster


class ClusterCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.cluster = LocalCluster(cls.shared, "--nodes", "0", "--sim-nodes", "3", "--ephemeral", "--scheduler", "none")

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()

    def setUp(self):
        self.cluster.test = self
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.namespace = self.cluster.namespace()
        self.pods = f"/api/v1/namespaces/{self.namespace}/pods"

    def create(self, *pods):
        for one in pods:
            self.api.post(self.pods, one)

    def node_of(self, name):
        return self.api.get(f"{self.pods}/{name}")["spec"].get("nodeName")

    def condition(self, name):
        conditions = self.api.get(f"{self.pods}/{name}").get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == "PodScheduled"), {})

    def events(self, name, reason):
        found = self.api.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events")["items"]
        return [one for one in found if one["regarding"]["name"] == name and one["reason"] == reason]

    def token(self):
        account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts"
        eventually(lambda: any(one["metadata"]["name"] == "default" for one in self.api.get(account)["items"]), what="its account")
        self.api.post("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
            "metadata": {"name": self.namespace}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                                                              "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "namespace": self.namespace, "name": "default"}]})
        return self.api.post(f"{account}/default/token", {"spec": {}})["status"]["token"]

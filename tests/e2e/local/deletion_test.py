#!/usr/bin/env python3
"""Deletion: grace, finalizers, foreground, orphans, preconditions, namespaces, and the order of events."""
import threading
import unittest

from http_api import HttpApi, Refused
from local_cluster import ClusterCase, eventually


class Events(threading.Thread):
    """What a watch tells of a collection, as (type, name, is it being deleted)."""

    def __init__(self, test, path):
        super().__init__(daemon=True)
        self.api, self.path, self.seen = HttpApi(test.cluster.kubeconfig), path, []
        self.version = self.api.get(path)["metadata"]["resourceVersion"]
        self.api.close()  # the watch has a connection of its own
        self.start()

    def run(self):
        for event in self.api.watch(f"{self.path}?resourceVersion={self.version}", 60):
            meta = event["object"]["metadata"]
            self.seen.append((event["type"], meta["name"], "deletionTimestamp" in meta))

    def of(self, name):
        return [(kind, deleting) for kind, who, deleting in list(self.seen) if who == name]

    def wait_for(self, kind, name):
        eventually(lambda: any(k == kind and n == name for k, n, _ in list(self.seen)), what=f"{kind} {name}")


class Deletion(ClusterCase):
    flags = ("--nodes", "0", "--scheduler", "none")

    def setUp(self):
        super().setUp()
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.ns = self.cluster.namespace("deletion")
        self.pods = f"/api/v1/namespaces/{self.ns}/pods"
        self.maps = f"/api/v1/namespaces/{self.ns}/configmaps"

    def pod(self, name, node=None, **meta):
        spec = {"containers": [{"name": "c", "image": "plimsoll/tools"}], "terminationGracePeriodSeconds": 20}
        if node:
            spec["nodeName"] = node
        return self.api.post(self.pods, {"metadata": {"name": name, **meta}, "spec": spec})

    def gone(self, path):
        try:
            self.api.get(path)
        except Refused as refused:
            return refused.status == 404
        return False

    def test_a_pod_on_a_node_keeps_its_grace(self):
        self.pod("p", node="away")
        answer = self.api.delete(f"{self.pods}/p")
        self.assertEqual(answer["metadata"]["deletionGracePeriodSeconds"], 20)
        self.assertIn("deletionTimestamp", self.api.get(f"{self.pods}/p")["metadata"])
        shorter = self.api.delete(f"{self.pods}/p", gracePeriodSeconds=5)
        self.assertEqual(shorter["metadata"]["deletionGracePeriodSeconds"], 5)
        longer = self.api.delete(f"{self.pods}/p", gracePeriodSeconds=50)
        self.assertEqual(longer["metadata"]["deletionGracePeriodSeconds"], 5)
        self.api.delete(f"{self.pods}/p", gracePeriodSeconds=0)
        self.assertTrue(self.gone(f"{self.pods}/p"))

    def test_a_pod_without_a_node_shows_that_it_ends(self):
        events = Events(self, self.pods)
        self.pod("p")
        self.api.delete(f"{self.pods}/p")
        events.wait_for("DELETED", "p")
        self.assertEqual(events.of("p"), [("ADDED", False), ("MODIFIED", True), ("DELETED", True)])

    def test_finalizers_hold_it(self):
        events = Events(self, self.maps)
        self.api.post(self.maps, {"metadata": {"name": "m", "finalizers": ["example.com/hold"]}})
        answer = self.api.delete(f"{self.maps}/m")
        self.assertIn("deletionTimestamp", answer["metadata"])
        with self.assertRaises(Refused) as added:  # while it is being deleted they can only go
            self.api.merge(f"{self.maps}/m", {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}})
        self.assertEqual(added.exception.status, 422)
        self.api.merge(f"{self.maps}/m", {"metadata": {"finalizers": []}})
        self.assertTrue(self.gone(f"{self.maps}/m"))
        events.wait_for("DELETED", "m")
        self.assertEqual(events.of("m")[:2], [("ADDED", False), ("MODIFIED", True)])

    def test_preconditions(self):
        made = self.api.post(self.maps, {"metadata": {"name": "m"}})["metadata"]
        for wrong in ({"uid": "00000000-0000-4000-8000-000000000000"}, {"resourceVersion": "1"}):
            with self.assertRaises(Refused) as refused:
                self.api.delete(f"{self.maps}/m", preconditions=wrong)
            self.assertEqual((refused.exception.status, refused.exception.reason), (409, "Conflict"))
        self.api.delete(f"{self.maps}/m", preconditions={"uid": made["uid"], "resourceVersion": made["resourceVersion"]})
        self.assertTrue(self.gone(f"{self.maps}/m"))

    def owned(self, name, owner, block=True):
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
                     "blockOwnerDeletion": block}
        return self.api.post(self.maps, {"metadata": {"name": name, "ownerReferences": [reference]}})

    def test_background_takes_what_is_owned(self):
        owner = self.api.post(self.maps, {"metadata": {"name": "owner"}})
        self.owned("child", owner)
        answer = self.api.delete(f"{self.maps}/owner", propagationPolicy="Background")
        self.assertEqual((answer["kind"], answer["status"]), ("Status", "Success"))
        eventually(lambda: self.gone(f"{self.maps}/child"), what="the end of the child")

    def test_foreground_takes_it_first(self):
        owner = self.api.post(self.maps, {"metadata": {"name": "owner"}})
        self.owned("child", owner)
        events = Events(self, self.maps)
        answer = self.api.delete(f"{self.maps}/owner", propagationPolicy="Foreground")
        self.assertEqual(answer["metadata"]["finalizers"], ["foregroundDeletion"])
        events.wait_for("DELETED", "owner")
        deleted = [name for kind, name, _ in events.seen if kind == "DELETED"]
        self.assertEqual(deleted, ["child", "owner"])

    def test_orphans_stay(self):
        owner = self.api.post(self.maps, {"metadata": {"name": "owner"}})
        self.owned("child", owner)
        self.api.delete(f"{self.maps}/owner", propagationPolicy="Orphan")
        eventually(lambda: self.gone(f"{self.maps}/owner"), what="the end of the owner")
        self.assertNotIn("ownerReferences", self.api.get(f"{self.maps}/child")["metadata"])

    def test_what_an_unknown_owner_owned_goes(self):
        ghost = {"metadata": {"name": "ghost", "uid": "00000000-0000-4000-8000-00000000dead"}}
        self.owned("child", ghost)
        eventually(lambda: self.gone(f"{self.maps}/child"), what="the end of the child")

    def test_a_namespace_goes_with_everything_in_it(self):
        name = f"{self.ns}-x"
        self.api.post("/api/v1/namespaces", {"metadata": {"name": name}})
        self.api.post(f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "m"}})
        held = {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
        self.api.post(f"/api/v1/namespaces/{name}/configmaps", held)
        answer = self.api.delete(f"/api/v1/namespaces/{name}")
        self.assertEqual(answer["status"]["phase"], "Terminating")
        with self.assertRaises(Refused) as refused:
            self.api.post(f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "late"}})
        self.assertEqual(refused.exception.status, 403)
        self.assertEqual(refused.exception.body["details"]["causes"][0]["reason"], "NamespaceTerminating")
        eventually(lambda: self.gone(f"/api/v1/namespaces/{name}/configmaps/m"), what="the end of its content")
        self.assertFalse(self.gone(f"/api/v1/namespaces/{name}"))
        self.api.merge(f"/api/v1/namespaces/{name}/configmaps/held", {"metadata": {"finalizers": None}})
        eventually(lambda: self.gone(f"/api/v1/namespaces/{name}"), seconds=30, what="its own end")

    def test_default_cannot_be_deleted(self):
        with self.assertRaises(Refused) as refused:
            self.api.delete("/api/v1/namespaces/default")
        self.assertEqual((refused.exception.status, refused.exception.reason), (403, "Forbidden"))

    def test_collections(self):
        for i in range(5):
            self.api.post(self.maps, {"metadata": {"name": f"m{i}", "labels": {"half": str(i % 2)}}})
        self.api.delete(f"{self.maps}?labelSelector=half%3D0")
        left = [item["metadata"]["name"] for item in self.api.get(self.maps)["items"] if item["metadata"]["name"] != "kube-root-ca.crt"]
        self.assertEqual(left, ["m1", "m3"])


if __name__ == "__main__":
    unittest.main()

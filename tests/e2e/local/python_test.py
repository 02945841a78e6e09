#!/usr/bin/env python3
"""Debian's python3-kubernetes and the watch that old servos send."""
import json
import os
import sys
import threading
import unittest

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian's Python has it, whichever Python runs this
import kubernetes  # noqa: E402
import urllib3  # noqa: E402

from local_cluster import ClusterCase, eventually  # noqa: E402


def pod(**meta):
    return {"metadata": meta, "spec": {"containers": [{"name": "c", "image": "plimsoll/tools", "args": ["sleep", "100"]}]}}


class Python(ClusterCase):
    flags = ("--nodes", "0", "--scheduler", "none")

    def setUp(self):
        super().setUp()
        self.client = kubernetes.config.new_client_from_config(self.cluster.kubeconfig)
        self.addCleanup(self.client.close)
        self.core = kubernetes.client.CoreV1Api(self.client)
        self.ns = self.cluster.namespace("python")

    def test_lists_and_creates_by_generate_name(self):
        made = self.core.create_namespaced_pod(self.ns, pod(generateName="p-"))
        self.assertRegex(made.metadata.name, "^p-[bcdfghjklmnpqrstvwxz2456789]{5}$")
        self.assertEqual(made.status.phase, "Pending")
        names = [item.metadata.name for item in self.core.list_namespaced_pod(self.ns).items]
        self.assertEqual(names, [made.metadata.name])
        self.assertIn(self.ns, [item.metadata.name for item in self.core.list_namespace().items])

    def test_patches_with_a_dict_and_with_a_list(self):
        self.core.create_namespaced_pod(self.ns, pod(name="p", labels={"a": "1"}))
        patched = self.core.patch_namespaced_pod("p", self.ns, {"metadata": {"labels": {"b": "2"}}})
        self.assertEqual(patched.metadata.labels, {"a": "1", "b": "2"})
        patched = self.core.patch_namespaced_pod("p", self.ns, [{"op": "remove", "path": "/metadata/labels/a"}])
        self.assertEqual(patched.metadata.labels, {"b": "2"})

    def test_binds_through_the_collection(self):
        self.core.create_namespaced_pod(self.ns, pod(name="p"))
        target = kubernetes.client.V1ObjectReference(api_version="v1", kind="Node", name="nowhere")
        body = kubernetes.client.V1Binding(metadata=kubernetes.client.V1ObjectMeta(name="p"), target=target)
        self.core.create_namespaced_binding(self.ns, body, _preload_content=False)
        self.assertEqual(self.core.read_namespaced_pod("p", self.ns).spec.node_name, "nowhere")
        with self.assertRaises(kubernetes.client.ApiException) as again:
            self.core.create_namespaced_binding(self.ns, body, _preload_content=False)
        self.assertEqual(again.exception.status, 409)
        self.core.delete_namespaced_pod("p", self.ns, grace_period_seconds=0)

    def test_deletes_with_the_grace_in_the_query(self):
        self.core.create_namespaced_pod(self.ns, pod(name="p"))
        self.core.delete_namespaced_pod("p", self.ns, grace_period_seconds=0)
        with self.assertRaises(kubernetes.client.ApiException) as gone:
            self.core.read_namespaced_pod("p", self.ns)
        self.assertEqual((gone.exception.status, json.loads(gone.exception.body)["reason"]), (404, "NotFound"))

    def test_watches_until_the_time_is_over(self):
        seen = []
        def watch():
            for event in kubernetes.watch.Watch().stream(self.core.list_namespaced_pod, self.ns, timeout_seconds=3):
                seen.append((event["type"], event["object"].metadata.name))
        watcher = threading.Thread(target=watch)
        watcher.start()
        self.core.create_namespaced_pod(self.ns, pod(name="p"))
        eventually(lambda: ("ADDED", "p") in seen, what="the first event")
        self.core.delete_namespaced_pod("p", self.ns, grace_period_seconds=0)
        watcher.join(20)
        self.assertFalse(watcher.is_alive())
        self.assertEqual(seen[-1], ("DELETED", "p"))

    def test_the_watch_of_an_old_servo(self):
        version = self.core.list_namespaced_pod(self.ns).metadata.resource_version
        self.core.create_namespaced_pod(self.ns, pod(name="p"))
        path = f"/api/v1/namespaces/{self.ns}/pods?watch=1&includeUninitialized=true&resourceVersion={version}&timeoutSeconds=2"
        lines = self.cluster.raw(path).stdout.splitlines()
        events = [json.loads(line) for line in lines if line]
        self.assertEqual((events[0]["type"], events[0]["object"]["metadata"]["name"]), ("ADDED", "p"))


if __name__ == "__main__":
    unittest.main()

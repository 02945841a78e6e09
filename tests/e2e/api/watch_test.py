#!/usr/bin/env python3
"""What watchers see: selectors, initial events, tables, and the order of events while objects go away."""
import json
import subprocess
import time
import unittest

from server_under_test import LOAD, ApiCase, brief, only_local

TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
POD = {"schedulerName": "nobody", "containers": [{"name": "c", "image": "x:1"}]}


class Watches(ApiCase):
    def setUp(self):
        super().setUp()
        self.maps = f"/api/v1/namespaces/{self.ns}/configmaps"
        self.pods = f"/api/v1/namespaces/{self.ns}/pods"

    def now(self, path):
        return self.api.must("GET", f"{path}?limit=1")["metadata"]["resourceVersion"]

    def seen(self, path, since, last, query=""):
        with self.api.watch(f"{path}?watch=1&timeoutSeconds=40&resourceVersion={since}{query}") as watch:
            return watch.until(lambda event: brief(event) == last)

    def test_selectors_turn_changes_into_comings_and_goings(self):
        since = self.now(self.maps)
        self.api.must("POST", self.maps, {"metadata": {"name": "s"}})
        for label in ("yes", "yes", "no", "yes"):
            body = {"metadata": {"labels": {"on": label}, "annotations": {"at": str(time.monotonic_ns())}}}
            self.assertEqual(self.api.patch("merge", f"{self.maps}/s", body).code, 200)
        self.api.must("DELETE", f"{self.maps}/s")
        self.api.must("POST", self.maps, {"metadata": {"name": "end", "labels": {"on": "yes"}}})
        events = self.seen(self.maps, since, "ADDED end", "&labelSelector=on%3Dyes")
        self.assertEqual([brief(event) for event in events],
                         ["ADDED s", "MODIFIED s", "DELETED s", "ADDED s", "DELETED s", "ADDED end"])
        self.assertEqual(events[2]["object"]["metadata"]["labels"], {"on": "yes"})  # as it last matched
        versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
        self.assertEqual(versions, sorted(set(versions)))

    def test_initial_events_end_with_a_bookmark(self):
        self.api.must("POST", self.maps, {"metadata": {"name": "i", "labels": {"initial": "1"}}})
        query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=initial"
        with self.api.watch(f"{self.maps}?{query}&timeoutSeconds=10") as watch:
            first, mark = watch.next(), watch.next()
            self.assertEqual((brief(first), mark["type"]), ("ADDED i", "BOOKMARK"))
            meta = mark["object"]["metadata"]
            self.assertEqual(meta["annotations"], {"k8s.io/initial-events-end": "true"})
            self.assertEqual(mark["object"]["kind"], "ConfigMap")
            self.api.must("DELETE", f"{self.maps}/i")
            self.assertEqual(brief(watch.next()), "DELETED i")

    def test_tables_name_their_columns_once(self):
        since = self.now(self.maps)
        for name in ("t1", "t2"):
            self.api.must("POST", self.maps, {"metadata": {"name": name}, "data": {"a": "1"}})
        with self.api.watch(f"{self.maps}?watch=1&timeoutSeconds=10&resourceVersion={since}", TABLE) as watch:
            one, two = watch.next(), watch.next()
        self.assertEqual([one["object"]["kind"], two["object"]["kind"]], ["Table", "Table"])
        self.assertEqual([column["name"] for column in one["object"]["columnDefinitions"]], ["Name", "Data", "Age"])
        self.assertFalse(two["object"].get("columnDefinitions"))
        self.assertEqual(two["object"]["rows"][0]["cells"][:2], ["t2", 1])

    def test_a_pod_without_a_node_is_terminating_before_it_is_gone(self):
        since = self.now(self.pods)
        self.api.must("POST", self.pods, {"metadata": {"name": "p"}, "spec": POD})
        self.api.must("DELETE", f"{self.pods}/p")
        events = self.seen(self.pods, since, "DELETED p", "&fieldSelector=metadata.name%3Dp")
        self.assertEqual([brief(event) for event in events], ["ADDED p", "MODIFIED p", "DELETED p"])
        self.assertIn("deletionTimestamp", events[1]["object"]["metadata"])
        self.assertEqual(events[1]["object"]["metadata"]["deletionGracePeriodSeconds"], 0)

    def test_a_bound_pod_has_its_grace_which_can_only_shrink(self):
        self.api.must("POST", self.pods, {"metadata": {"name": "g"}, "spec": POD})
        self.api.must("POST", f"{self.pods}/g/binding", {"metadata": {"name": "g"}, "target": {"kind": "Node", "name": "nowhere"}})
        for asked, left in ((None, 30), (60, 30), (5, 5)):
            body = None if asked is None else {"gracePeriodSeconds": asked}
            pod = self.api.must("DELETE", f"{self.pods}/g", body)
            self.assertEqual(pod["metadata"]["deletionGracePeriodSeconds"], left)
        self.api.must("DELETE", f"{self.pods}/g?gracePeriodSeconds=0")
        self.assertEqual(self.api.get(f"{self.pods}/g").code, 404)

    def test_finalizers_hold_and_cannot_be_added_while_it_goes(self):
        self.api.must("POST", self.maps, {"metadata": {"name": "f", "finalizers": ["example.com/a", "example.com/b"]}})
        answer = self.api.must("DELETE", f"{self.maps}/f")
        self.assertEqual((answer["kind"], "deletionTimestamp" in answer["metadata"]), ("ConfigMap", True))
        more = {"metadata": {"finalizers": ["example.com/a", "example.com/b", "example.com/c"]}}
        self.assertEqual(self.api.patch("merge", f"{self.maps}/f", more).code, 422)
        self.assertEqual(self.api.patch("merge", f"{self.maps}/f", {"metadata": {"finalizers": ["example.com/a"]}}).code, 200)
        self.assertEqual(self.api.get(f"{self.maps}/f").code, 200)
        self.assertEqual(self.api.patch("merge", f"{self.maps}/f", {"metadata": {"finalizers": None}}).code, 200)
        self.assertEqual(self.api.get(f"{self.maps}/f").code, 404)

    def owner_and_dependent(self, name):
        owner = self.api.must("POST", self.maps, {"metadata": {"name": name}})
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
        self.api.must("POST", self.maps, {"metadata": {"name": f"{name}-child", "ownerReferences": [reference]}})
        return self.now(self.maps)

    def test_foreground_waits_for_dependents(self):
        since = self.owner_and_dependent("fg")
        self.api.must("DELETE", f"{self.maps}/fg", {"propagationPolicy": "Foreground"})
        events = [brief(event) for event in self.seen(self.maps, since, "DELETED fg")]
        self.assertEqual((events[0], events[-1]), ("MODIFIED fg", "DELETED fg"))
        self.assertLess(events.index("DELETED fg-child"), events.index("DELETED fg"))

    def test_orphans_lose_their_owner_and_stay(self):
        since = self.owner_and_dependent("or")
        self.api.must("DELETE", f"{self.maps}/or", {"propagationPolicy": "Orphan"})
        events = [brief(event) for event in self.seen(self.maps, since, "DELETED or")]
        self.assertLess(events.index("MODIFIED or-child"), events.index("DELETED or"))
        self.assertNotIn("ownerReferences", self.api.must("GET", f"{self.maps}/or-child")["metadata"])

    def test_background_takes_the_owner_first(self):
        since = self.owner_and_dependent("bg")
        self.api.must("DELETE", f"{self.maps}/bg", {"propagationPolicy": "Background"})
        events = [brief(event) for event in self.seen(self.maps, since, "DELETED bg-child")]
        self.assertLess(events.index("DELETED bg"), events.index("DELETED bg-child"))

    def test_a_namespace_goes_with_what_is_in_it(self):
        name = self.namespace()
        self.api.must("POST", f"/api/v1/namespaces/{name}/configmaps", {"metadata": {"name": "in"}})
        since = self.now("/api/v1/namespaces")
        answer = self.api.must("DELETE", f"/api/v1/namespaces/{name}")
        self.assertEqual((answer["kind"], answer["status"]["phase"]), ("Namespace", "Terminating"))
        events = self.seen("/api/v1/namespaces", since, f"DELETED {name}", f"&fieldSelector=metadata.name%3D{name}")
        self.assertEqual({event["type"] for event in events[:-1]}, {"MODIFIED"})
        self.assertEqual(self.api.must("GET", f"/api/v1/namespaces/{name}/configmaps")["items"], [])


class Informers(ApiCase):
    """Caches that are cut off again and again while others write are right in the end: our own informers, as fast as they can."""

    @only_local("20,000 writes take etcd a minute; tests/real/informer_test.py has an informer lose a real API server")
    def test_caches_equal_a_final_list(self):
        done = subprocess.run([LOAD, "torture", "--kubeconfig", self.cluster.kubeconfig, "--watchers", "50", "--writes", "20000",
                               "--limit", "60", "-o", "json"], capture_output=True, text=True, timeout=500)
        self.assertEqual(done.returncode, 0, done.stderr[-4000:])
        numbers = json.loads(done.stdout)
        print("; ".join(f"{name} {value:.0f}" for name, value in numbers.items()))
        self.assertEqual((numbers["informers"], numbers["caches_right"]), (50, 50))
        self.assertGreaterEqual(numbers["writes"], 20_000)
        self.assertGreater(numbers["cuts"], 1_000)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What a client hears that asks for a past that is forgotten.

COMPACT_UNDER_TEST: a command that makes the named server forget its past, by compacting etcd and starting the API server anew;
without it those tests are skipped there.
"""
import os
import subprocess
import unittest

from server_under_test import NAMED, ApiCase, brief


class Forgotten(ApiCase):
    flags = ("--nodes", "0", "--scheduler", "none")

    def forget(self):
        self.api.close()
        if NAMED:
            if "COMPACT_UNDER_TEST" not in os.environ:
                self.skipTest("COMPACT_UNDER_TEST is not set")
            return subprocess.run(os.environ["COMPACT_UNDER_TEST"], shell=True, check=True)
        self.cluster.down()
        compacted = self.cluster.place.run("store", "compact", "--name", self.cluster.name)
        self.assertEqual(compacted.returncode, 0, compacted.stderr)
        return self.cluster.up(self, *self.flags)

    def setUp(self):
        super().setUp()
        self.path = f"/api/v1/namespaces/{self.namespace()}/endpoints"
        for i in range(5):
            self.api.must("POST", self.path, {"metadata": {"name": f"e{i}"}})
        self.page = self.api.must("GET", f"{self.path}?limit=2")
        self.api.must("DELETE", f"{self.path}/e4")
        self.api.must("POST", self.path, {"metadata": {"name": "f"}})
        self.forget()

    def test_a_watch_hears_it_as_its_only_event(self):
        for version in (1, self.page["metadata"]["resourceVersion"]):
            with self.api.watch(f"{self.path}?watch=1&timeoutSeconds=10&resourceVersion={version}") as watch:
                self.assertEqual(watch.response.status, 200)
                error, end = watch.next(), watch.next()
            self.assertEqual((error["type"], end), ("ERROR", None))
            status = error["object"]
            self.assertEqual((status["kind"], status["code"], status["reason"], status["status"]), ("Status", 410, "Expired", "Failure"))
            self.assertIn("too old resource version", status["message"])

    def test_a_page_comes_with_a_token_for_the_rest_as_it_is_now(self):
        answer = self.api.get(f"{self.path}?limit=2&continue={self.page['metadata']['continue']}")
        self.assertEqual((answer.code, answer.json["reason"]), (410, "Expired"))
        fresh = answer.json["metadata"]["continue"]
        self.assertTrue(fresh)
        second = self.api.must("GET", f"{self.path}?limit=1&continue={fresh}")
        self.assertEqual([item["metadata"]["name"] for item in second["items"]], ["e2"])
        rest = self.api.must("GET", f"{self.path}?limit=10&continue={second['metadata']['continue']}")
        self.assertEqual([item["metadata"]["name"] for item in rest["items"]], ["e3", "f"])

    def test_exactly_that_state_is_expired(self):
        version = self.page["metadata"]["resourceVersion"]
        answer = self.api.get(f"{self.path}?resourceVersion={version}&resourceVersionMatch=Exact")
        self.assertEqual((answer.code, answer.json["reason"]), (410, "Expired"))

    def test_going_on_from_now_is_fine(self):
        now = self.api.must("GET", self.path)["metadata"]["resourceVersion"]
        with self.api.watch(f"{self.path}?watch=1&timeoutSeconds=10&resourceVersion={now}") as watch:
            self.api.must("DELETE", f"{self.path}/e0")
            self.assertEqual(brief(watch.next()), "DELETED e0")


if __name__ == "__main__":
    unittest.main()

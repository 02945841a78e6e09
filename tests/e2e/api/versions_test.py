#!/usr/bin/env python3
"""What a client hears that asks for a past that is forgotten."""
import unittest

from server_under_test import ApiCase, brief


class Forgotten(ApiCase):
    needs = "forgetting"
    flags = ("--nodes", "0", "--scheduler", "none")

    @classmethod
    def forget(cls):
        """Of a local cluster. Who runs this on another one knows how to make that forget."""
        cls.cluster.down()
        compacted = cls.cluster.place.run("store", "compact", "--name", cls.cluster.name)
        cls.shared.assertEqual(compacted.returncode, 0, compacted.stderr)
        cls.cluster.up(cls.shared, *cls.flags)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = f"/api/v1/namespaces/{cls.ns}/endpoints"
        for i in range(5):
            cls.api.must("POST", cls.path, {"metadata": {"name": f"e{i}"}})
        cls.page = cls.api.must("GET", f"{cls.path}?limit=2")
        cls.api.must("DELETE", f"{cls.path}/e4")
        cls.api.must("POST", cls.path, {"metadata": {"name": "f"}})
        cls.api.close()
        cls.forget()

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
            self.api.must("POST", self.path, {"metadata": {"name": "now"}})
            self.assertEqual(brief(watch.next()), "ADDED now")


if __name__ == "__main__":
    unittest.main()

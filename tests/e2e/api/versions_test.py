#!/usr/bin/env python3
"""Which state a list or watch shows, by resourceVersion, and pages of lists.

COMPACT_UNDER_TEST: a command that makes the named server forget its past; without it those tests are skipped there.
"""
import os
import subprocess
import unittest

from server_under_test import NAMED, ApiCase, brief, check_all, load


class Versions(ApiCase):
    def test_rules(self):
        data = load("versions.yaml")
        self.path = f"/api/v1/namespaces/{self.namespace()}/configmaps"
        mine = "labelSelector=n"  # not the certificate that a controller puts there
        old = self.api.must("GET", self.path)["metadata"]["resourceVersion"]
        for i in range(5):
            self.api.must("POST", self.path, {"metadata": {"name": f"c{i}", "labels": {"n": str(i)}}})
        page = self.api.must("GET", f"{self.path}?limit=2&{mine}")
        now = self.api.must("GET", self.path)["metadata"]["resourceVersion"]
        names = {"NOW": now, "OLD": old, "FUTURE": int(now) + 1_000_000}

        def differences(case):
            query = case["query"]
            if "$TOKEN" in query:
                query = query.replace("$TOKEN", page["metadata"]["continue"])
            return self.compare(case["want"], self.api.get(f"{self.path}?{self.fill(query, **names)}&{mine}"))
        check_all(self, data["cases"], data["known_differences"], differences)
        self.check_pages()

    def check_pages(self):
        path = self.path.replace("configmaps", "endpoints")  # nobody else writes those here
        for i in range(5):
            self.api.must("POST", path, {"metadata": {"name": f"e{i}"}})
        page = self.api.must("GET", f"{path}?limit=2")
        self.assertEqual(page["metadata"]["remainingItemCount"], 3)
        self.api.must("DELETE", f"{path}/e3")  # later pages show the state of the first
        second = self.api.must("GET", f"{path}?limit=2&continue={page['metadata']['continue']}")
        self.assertEqual([item["metadata"]["name"] for item in second["items"]], ["e2", "e3"])
        self.assertEqual(second["metadata"]["remainingItemCount"], 1)
        self.assertEqual(second["metadata"]["resourceVersion"], page["metadata"]["resourceVersion"])
        third = self.api.must("GET", f"{path}?limit=2&continue={second['metadata']['continue']}")
        self.assertEqual([item["metadata"]["name"] for item in third["items"]], ["e4"])
        self.assertNotIn("continue", third["metadata"])
        self.assertNotIn("remainingItemCount", third["metadata"])

    def compare(self, want, answer):
        if answer.code != want["code"]:
            return {"code": f"code {answer.code}: {answer.text[:200]}"}
        if "events" in want:
            got = [line.split(b'"')[3].decode() for line in answer.text.splitlines()]
            return {} if got == want["events"] else {"events": f"events {got}"}
        body, found = answer.json, {}
        details = body.get("details") or {}
        got = {"items": len(body.get("items", [])), "reason": body.get("reason"), "kind": details.get("kind"),
               "fields": [cause.get("field") for cause in details.get("causes", [])],
               "causes": [cause.get("reason") for cause in details.get("causes", [])],
               "remaining": body["metadata"].get("remainingItemCount")}
        for part in want.keys() - {"code"}:
            if got[part] != want[part]:
                found[part] = f"{part} {got[part]!r}, want {want[part]!r}"
        return found


class Forgotten(ApiCase):
    """What a client hears that asks for a state of which nothing is known any more."""
    flags = ("--nodes", "0", "--scheduler", "none")

    def forget(self):
        if NAMED:
            if "COMPACT_UNDER_TEST" not in os.environ:
                self.skipTest("COMPACT_UNDER_TEST is not set")
            return subprocess.run(os.environ["COMPACT_UNDER_TEST"], shell=True, check=True)
        self.api.close()
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

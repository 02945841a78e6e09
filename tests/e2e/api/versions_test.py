#!/usr/bin/env python3
"""Which state a list or watch shows, by resourceVersion, and pages of lists."""
import unittest

from server_under_test import ApiCase, check_all, load


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


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Reviews by HTTPS, as an API server sends them."""
import json
import re
import subprocess
import unittest

from webhook_server import ANNOTATION, PROGRAM, ROOT, STARTER, Webhook, container, patch_of, pod, review


class Reviews(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.webhook = Webhook(cls.shared)

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()

    def setUp(self):
        self.webhook.test = self

    def test_the_pod_of_the_seed_gets_exactly_this_patch(self):
        one = container(sharedpool=160)
        one["args"] = ["unused"]
        for version in ("v1", "v1beta1"):
            answer = self.webhook.review(pod([one], ANNOTATION), version=version)
            self.assertEqual((answer["allowed"], answer["patchType"], answer.get("warnings")), (True, "JSONPatch", None))
            self.assertEqual(patch_of(answer), [
                {"op": "add", "path": "/spec/containers/0/resources/limits/cpu", "value": "160m"},
                {"op": "add", "path": "/spec/containers/0/resources/requests/cpu", "value": "0m"},
                {"op": "add", "path": "/spec/containers/0/env",
                 "value": [{"name": "CONTAINER_NAME", "value": "cputestcontainer"}, {"name": "CPU_POOLS", "value": "shared"}]},
                {"op": "add", "path": "/spec/containers/0/command", "value": [STARTER]},
                {"op": "add", "path": "/spec/containers/0/volumeMounts",
                 "value": [{"name": "podinfo", "mountPath": "/etc/podinfo", "readOnly": True},
                           {"name": "hostbin", "mountPath": STARTER, "readOnly": True}]},
                {"op": "add", "path": "/spec/volumes",
                 "value": [{"name": "podinfo", "downwardAPI": {"items": [{"path": "annotations",
                                                                          "fieldRef": {"fieldPath": "metadata.annotations"}}]}},
                           {"name": "hostbin", "hostPath": {"path": STARTER, "type": "File"}}]}])

    def test_a_refusal_has_its_code_in_the_status(self):
        answer = self.webhook.review(pod([container(sharedpool=170)], ANNOTATION))
        self.assertNotIn("patch", answer)
        self.assertEqual((answer["allowed"], answer["status"]["code"], answer["status"]["reason"]), (False, 422, "Invalid"))
        self.assertRegex(answer["status"]["message"], r'^ANN011: .*"cputestcontainer".*process 1.*160.*170')

    def test_every_code_can_be_looked_up(self):
        source = "".join(path.read_text() for path in (ROOT / "src" / "pools").glob("*.cpp") if not path.name.endswith("_test.cpp"))
        codes = set(re.findall(r'"((?:ANN|RES|VOL)\d{3})[":]', source))
        self.assertGreaterEqual(len(codes), 20)
        for code in codes:
            done = subprocess.run([PROGRAM, "explain", "error", code.lower()], capture_output=True, text=True, timeout=20)
            self.assertIn(f"{code}: ", done.stdout, done.stderr)

    def test_bad_requests_are_answered_and_the_connection_stays(self):
        connection = self.webhook.connect()
        self.addCleanup(connection.close)
        connection.connect()
        socket = connection.sock
        good = json.dumps(review(pod([container(sharedpool=160)], ANNOTATION)))
        for expected, how in ((400, {"body": "{"}), (400, {"body": ""}), (400, {"body": "[]"}), (400, {"body": "{}"}),
                              (400, {"body": '{"request": null}'}), (400, {"body": b"\xff\xfe"}), (400, {"body": "[" * 100_000}),
                              (415, {"body": good, "kind": "text/plain"}), (415, {"body": good, "kind": None}),
                              (405, {"body": good, "method": "PUT"}), (405, {"body": None, "method": "GET"}),
                              (404, {"body": None, "method": "GET", "path": "/other"}),
                              (200, {"body": good, "kind": "Application/JSON; charset=utf-8"})):
            status, text = self.webhook.post(connection=connection, **how)
            self.assertEqual(status, expected, (how, text))
            self.assertIs(connection.sock, socket, how)

    def test_a_body_that_is_too_large_is_answered(self):
        status, _ = self.webhook.post(b" " * (8 << 20) + b"{}")
        self.assertEqual(status, 413)
        status, text = self.webhook.post(json.dumps(review({"metadata": {"annotations": {"x": "y" * (7 << 20)}}})))
        self.assertEqual((status, json.loads(text)["response"]["allowed"]), (200, True))

    def test_what_is_not_the_making_of_a_pod_passes(self):
        wrong = pod([container(sharedpool=170)], ANNOTATION)
        for more in ({"resource": "deployments", "group": "apps"}, {"operation": "DELETE"}, {"operation": "CONNECT"},
                     {"subResource": "ephemeralcontainers", "operation": "UPDATE"}, {"operation": "UPDATE", "old": wrong}):
            answer = self.webhook.review(wrong, **more)
            self.assertEqual((answer["allowed"], "patch" in answer), (True, False), more)
        self.assertFalse(self.webhook.review(wrong, dryRun=True)["allowed"])
        # Reviews have no side effects: a dry run gets the patch that the real one would get.
        good = pod([container(sharedpool=160)], ANNOTATION)
        self.assertEqual(patch_of(self.webhook.review(good, dryRun=True)), patch_of(self.webhook.review(good)))

    def test_a_changed_annotation_of_a_pod_that_exists_is_refused(self):
        old, new = (pod([container(sharedpool=160)], text) for text in (ANNOTATION, "[]"))
        answer = self.webhook.review(new, operation="UPDATE", old=old)
        self.assertRegex(answer["status"]["message"], "^ANN015: .*changed")
        self.assertRegex(self.webhook.review(pod([]), operation="UPDATE", old=old)["status"]["message"], "^ANN015: .*removed")

    def test_health_and_metrics(self):
        self.webhook.review(pod([container(sharedpool=170)], ANNOTATION))
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.webhook.post(None, path=path, method="GET", kind=None), (200, b"ok\n"))
        self.assertGreater(self.webhook.metric('plimsoll_webhook_requests_total{path="/mutating-pods",result="rejected",code="ANN011"}'), 0)
        self.assertGreater(self.webhook.metric("plimsoll_webhook_request_seconds_count"), 0)
        self.assertEqual(self.webhook.metric("plimsoll_webhook_inflight"), 0)
        self.assertAlmostEqual(self.webhook.metric("plimsoll_webhook_cert_expiry_seconds"), 2 * 86400, delta=3600)


if __name__ == "__main__":
    unittest.main()

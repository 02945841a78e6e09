#!/usr/bin/env python3
"""The webhook by HTTP/2, with nghttp2's own programs as clients: the same answers as by HTTP/1.1, and all of them under load."""
import json
import re
import subprocess
import unittest

from webhook_server import ANNOTATION, Webhook, container, directory, pod, review


class Http2(unittest.TestCase):
    def setUp(self):
        self.webhook = Webhook(self)
        self.url = f"https://{self.webhook.host}:{self.webhook.port}"
        self.body = directory(self) / "body"

    def protocol(self, name):
        return self.webhook.metric(f'plimsoll_webhook_protocol_requests_total{{path="/mutating-pods",protocol="{name}"')

    def ask(self, text, path="/mutating-pods", kind="application/json"):
        """Status and body."""
        self.body.write_text(text)
        done = subprocess.run(["nghttp", "-v", "--no-dep", "-t20", "-H", f"content-type: {kind}", "-d", self.body, self.url + path],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("The negotiated protocol: h2", done.stdout)
        status = int(re.search(r":status: (\d+)", done.stdout)[1])
        # The body stands among what is told of the frames.
        return status, json.JSONDecoder().raw_decode(done.stdout, done.stdout.index('\n{"') + 1)[0] if status == 200 else None

    def test_the_answers_are_those_of_http1(self):
        for wanted in (pod([container(sharedpool=160)], ANNOTATION), pod([container(sharedpool=170)], ANNOTATION), pod([{"name": "c", "image": "x"}])):
            text = json.dumps(review(wanted))
            status, body = self.ask(text)
            plain_status, plain_body = self.webhook.post(text)
            self.assertEqual(status, plain_status)
            self.assertEqual(body, json.loads(plain_body))
        self.assertEqual((self.protocol("h2"), self.protocol("http/1.1")), (3, 3))
        for kind, text in (("text/plain", "{}"), ("application/json", "{"), ("application/json", "x" * (9 << 20))):
            self.assertEqual(self.ask(text, kind=kind)[0], self.webhook.post(text, kind=kind)[0])
        self.assertEqual(self.ask("x", path="/none")[0], 404)

    def test_every_review_is_answered_under_load(self):
        self.body.write_text(json.dumps(review(pod([container(sharedpool=160)], ANNOTATION))))
        done = subprocess.run(["h2load", "-n5000", "-c8", "-m20", "-d", self.body, "-H", "content-type: application/json",
                               self.url + "/mutating-pods"], check=True, capture_output=True, text=True)
        self.assertIn("Application protocol: h2\n", done.stdout)
        self.assertIn("5000 succeeded, 0 failed, 0 errored, 0 timeout", done.stdout)
        self.assertIn("status codes: 5000 2xx", done.stdout)
        self.assertEqual(self.protocol("h2"), 5000)
        self.assertEqual(self.webhook.metric("plimsoll_webhook_inflight"), 0)
        self.assertEqual(self.webhook.stop(), 0)


if __name__ == "__main__":
    unittest.main()

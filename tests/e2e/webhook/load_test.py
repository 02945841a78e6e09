#!/usr/bin/env python3
"""Reviews in great number, whole and cut up, over connections that stay open: all are answered, and none with 5xx.
PLIMSOLL_REVIEWS asks for more of them."""
import json
import os
import socket
import ssl
import subprocess
import time
import unittest

from webhook_server import ANNOTATION, Webhook, container, pod
from local_cluster import LOAD

REVIEWS = int(os.environ.get("PLIMSOLL_REVIEWS", 10_000))


class Load(unittest.TestCase):
    def send(self, webhook, count):
        """The measurements of a load of reviews, of which every one was answered."""
        done = subprocess.run([LOAD, "reviews", "--url", f"https://{webhook.host}:{webhook.port}", "--writes", str(count), "--connections",
                               "64", "--pid", str(webhook.child.pid), "-o", "json"], capture_output=True, text=True, timeout=540 + count / 500)
        self.assertEqual(done.returncode, 0, done.stderr)
        numbers = json.loads(done.stdout)
        print(" ".join(f"{name}={value:.6g}" for name, value in numbers.items()))
        self.assertEqual(set(name for name in numbers if name.startswith("status_")), {"status_200", "status_400", "status_415"})
        self.assertEqual(sum(value for name, value in numbers.items() if name.startswith("status_")), count)
        self.assertGreater(numbers["status_200"], count / 3)
        return numbers

    def test_every_review_is_answered(self):
        webhook = Webhook(self)
        self.send(webhook, REVIEWS // 2)
        numbers = self.send(webhook, REVIEWS // 2)
        self.assertIsNone(webhook.child.poll())
        for result in ("patched", "rejected", "allowed", "error"):
            self.assertGreater(webhook.metric(f'plimsoll_webhook_requests_total{{path="/mutating-pods",result="{result}"'), 0, result)
        self.assertEqual(webhook.metric("plimsoll_webhook_inflight"), 0)
        # Nothing is kept of them but counters. The first half has made the heap as large as it needs to be; of the second half, 600
        # bytes of each review would be too much.
        self.assertLess(numbers["resident_mb_after"], numbers["resident_mb_before"] + 3)


class Slow(unittest.TestCase):
    def connect(self, webhook):
        plain = socket.socket()
        self.addCleanup(plain.close)
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(20)
        plain.connect((webhook.host, webhook.port))
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        secure = tls.wrap_socket(plain)
        self.addCleanup(secure.close)
        return secure

    def test_who_takes_no_answers_or_sends_no_request_is_let_go_and_holds_nobody_up(self):
        webhook = Webhook(self)
        deaf, slow = self.connect(webhook), self.connect(webhook)
        began = time.monotonic()
        slow.sendall(b"POST /mutating-pods HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
        # It asks on and on, and reads nothing: the server stops to take its questions, and then lets it go.
        with self.assertRaises(OSError) as ended:
            while time.monotonic() < began + 20:
                deaf.sendall(b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n" * 100)
        self.assertNotIsInstance(ended.exception, TimeoutError)
        self.assertLess(time.monotonic() - began, 15)
        self.assertIn(b"408", slow.recv(1000))
        fast = time.monotonic()
        self.assertTrue(webhook.review(pod([container(sharedpool=160)], ANNOTATION))["allowed"])
        self.assertLess(time.monotonic() - fast, 2)


if __name__ == "__main__":
    unittest.main()

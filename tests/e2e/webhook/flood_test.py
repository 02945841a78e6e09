#!/usr/bin/env python3
"""Clients that send large bodies and do not finish them: the webhook keeps within its memory, and answers everybody else."""
import contextlib
import http.client
import json
import select
import socket
import ssl
import subprocess
import unittest

from webhook_server import ANNOTATION, Webhook, container, eventually, pod, review

MIB = 1 << 20
LIMIT = 128 * MIB  # of deploy/pools/webhook-svc-depl.yaml


def most_memory(pid):
    """The most that the process ever had, in bytes."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


class Flood(unittest.TestCase):
    def setUp(self):
        self.webhook = Webhook(self)
        self.text = json.dumps(review(pod([container(sharedpool=160)], ANNOTATION)))

    def tls(self):
        made = ssl.create_default_context()
        made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
        return made

    def answered_to(self, source):
        other = http.client.HTTPSConnection(self.webhook.host, self.webhook.port, context=self.tls(), timeout=20, source_address=(source, 0))
        status, _ = self.webhook.post(self.text, connection=other)
        other.close()
        return status

    def test_bodies_that_do_not_end(self):
        clients, head = [], f"POST /mutating-pods HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {7 * MIB + 1}\r\n\r\n"
        for _ in range(40):
            clients.append(self.tls().wrap_socket(socket.create_connection((self.webhook.host, self.webhook.port), timeout=20)))
            self.addCleanup(clients[-1].close)
            clients[-1].sendall(head.encode() + bytes(7 * MIB))
        self.assertEqual(self.answered_to("127.0.0.2"), 200)
        refused, _, _ = select.select(clients, [], [], 0)
        self.assertGreaterEqual(len(refused), 30)
        self.assertIn(b" 503 ", refused[0].recv(100))
        self.assertLess(most_memory(self.webhook.child.pid), LIMIT)
        # What it had for those that gave up is free again.
        eventually(lambda: self.answered_to("127.0.0.1") == 200, 30, what="an answer for the same client")

    def test_streams_of_http2(self):
        body = self.webhook.files / "large"
        body.write_bytes(b"x" * (7 * MIB))
        with contextlib.ExitStack() as floods:
            for _ in range(4):
                floods.enter_context(subprocess.Popen(
                    ["h2load", "-n200", "-c2", "-m100", "-w24", "-W30", "-d", body, "-H", "content-type: application/json",
                     f"https://{self.webhook.host}:{self.webhook.port}/mutating-pods"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            self.assertEqual(self.answered_to("127.0.0.2"), 200)
        self.assertIsNone(self.webhook.child.poll())
        self.assertLess(most_memory(self.webhook.child.pid), LIMIT)
        self.assertEqual(self.answered_to("127.0.0.1"), 200)

    def test_connections(self):
        mine = []
        for _ in range(150):
            mine.append(socket.create_connection((self.webhook.host, self.webhook.port), timeout=20))
            self.addCleanup(mine[-1].close)
        mine[-1].settimeout(2)  # before the time for its head is over
        self.assertEqual(mine[-1].recv(1), b"", "a client has at most 100 connections")
        self.assertEqual(self.answered_to("127.0.0.2"), 200)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Certificates are renewed while the webhook is asked a hundred times a second, and nobody is turned away (C8)."""
import contextlib
import copy
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
import unittest

from webhook_server import ANNOTATION, PROGRAM, container, eventually, pod
from http_api import HttpApi, Refused
from local_cluster import LocalCluster

CONFIGURATION = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/cpu-device-pod-mutator-webhook-config"
RATE, THREADS = 100, 4  # reviews in a second


class Asking(threading.Thread):
    """Makes pods in dry runs, by way of the webhook, at a steady rate until told to end."""

    def __init__(self, kubeconfig, rate):
        super().__init__(daemon=True)
        self.api, self.every, self.done = HttpApi(kubeconfig), 1 / rate, threading.Event()
        self.good, self.failures = 0, []

    def run(self):
        wanted, due = pod([container(sharedpool=160)], ANNOTATION), time.monotonic()
        while not self.done.is_set():
            try:
                made = self.api.post("/api/v1/namespaces/default/pods?dryRun=All", copy.deepcopy(wanted))
                assert made["spec"]["containers"][0]["command"], made
                self.good += 1
            except Exception as failure:  # whatever it is, it must not happen
                self.failures.append(repr(failure))
            due += self.every
            time.sleep(max(0, due - time.monotonic()))


class Rotation:
    """For any cluster with a webhook that looks after its certificates: `address` of one, `pids` of all replicas."""

    def certs(self, *words):
        done = subprocess.run([PROGRAM, "webhook", "certs", "--kubeconfig", self.cluster.kubeconfig, *words], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    def served(self):
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        with tls.wrap_socket(socket.create_connection(self.address, timeout=10)) as connection:
            return connection.getpeercert(binary_form=True)

    def test_no_request_fails_while_certificates_are_renewed(self):
        with contextlib.closing(HttpApi(self.cluster.kubeconfig)) as api:
            def answered():
                try:
                    return api.post("/api/v1/namespaces/default/pods?dryRun=All", pod([container(sharedpool=160)], ANNOTATION))
                except Refused as refused:
                    self.assertEqual(refused.status, 500, refused)
                    return None
            eventually(answered, 30, what="an answer by way of the webhook")
            asking = [Asking(self.cluster.kubeconfig, RATE / THREADS) for _ in range(THREADS)]
            began = time.monotonic()
            for one in asking:
                one.start()
            for what in ("authority", "serving", "authority", "authority"):
                before, asked = self.served(), sum(one.good for one in asking)
                self.certs("--rotate", what)
                # It finds out by itself within a minute; told so, at once.
                for pid in self.pids:
                    os.kill(pid, signal.SIGHUP)
                eventually(lambda: self.served() != before, what="the new certificate")
                eventually(lambda: sum(one.good for one in asking) > asked + RATE / 2, what="requests with it")
            for one in asking:
                one.done.set()
            for one in asking:
                one.join()
                one.api.close()
            took = time.monotonic() - began
            failures = [failure for one in asking for failure in one.failures]
            self.assertEqual(failures, [])
            # A busy machine may not manage the rate; what counts is how many there were.
            good = sum(one.good for one in asking)
            print(f"{good} reviews, {good / took:.0f} in a second, while certificates were renewed four times")
            self.assertGreater(good, 2 * RATE)
            bundle = api.get(CONFIGURATION)["webhooks"][0]["clientConfig"]["caBundle"]
            self.assertTrue(bundle)


class OnUp(Rotation, unittest.TestCase):
    def setUp(self):
        self.cluster = LocalCluster(self, "--nodes", "0", "--roles", "webhook", "--ephemeral")
        eventually(lambda: self.address and self.pids, what="the role")

    @property
    def address(self):
        """As it is now: a role that finds its port taken is started again, at another one."""
        url = json.loads((self.cluster.place.state("t") / "endpoints.json").read_text()).get("roles", {}).get("webhook", "")
        return url and ("127.0.0.1", int(url.rpartition(":")[2]))

    @property
    def pids(self):
        found = subprocess.run(["pgrep", "-f", f"webhook --self-signed --kubeconfig {self.cluster.kubeconfig}"], capture_output=True, text=True)
        return [int(pid) for pid in found.stdout.split()]


if __name__ == "__main__":
    unittest.main()

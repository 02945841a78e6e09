#!/usr/bin/env python3
"""One watcher among 200 that hardly reads must not hold up the others, and is dropped."""
import json
import socket
import ssl
import statistics
import subprocess
import threading
import unittest

from http_api import HttpApi
from local_cluster import LOAD, LocalCluster, eventually, only_local
from machine_load import OthersLoad

WATCHERS, RATE, SECONDS, PAIRS = 200, 20, 6, 3


class Reader(threading.Thread):
    """A watcher of all pods; the slow one takes a kilobyte a second, from as small a window as the kernel gives."""

    def __init__(self, api, slow):
        super().__init__(daemon=True)
        plain = socket.socket()
        if slow:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.connect((api.address.hostname, api.address.port))
        self.socket = api.tls.wrap_socket(plain, server_hostname=api.address.hostname)
        self.socket.sendall(f"GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: {api.address.netloc}\r\n\r\n".encode())
        self.slow, self.stop, self.taken = slow, threading.Event(), b""
        self.start()

    def run(self):
        while self.slow and not self.stop.wait(1):
            self.taken += self.socket.recv(1024)
        try:
            while data := self.socket.recv(1 << 16):
                self.taken = (self.taken + data)[-100:]
        except (OSError, ssl.SSLError):
            pass

    def end(self):
        """Whether the body came to its regular end."""
        self.stop.set()
        if not self.slow:
            self.socket.shutdown(socket.SHUT_RDWR)
        self.join(60)
        self.socket.close()
        return self.taken.endswith(b"0\r\n\r\n")


@only_local("asks the local cluster for its connections")
class SlowWatcher(unittest.TestCase):
    def load_beside(self, slow):
        """Milliseconds from a write to its events (p99) for 200 others, and the one beside them."""
        load = subprocess.Popen([LOAD, "fanout", "--kubeconfig", self.cluster.kubeconfig, "--watchers", str(WATCHERS), "--follow", "all",
                                 "--rate", str(RATE), "--seconds", str(SECONDS), "--keep", "-o", "json"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with load:
            eventually(lambda: self.connections() > WATCHERS, seconds=60, what="the watchers")
            reader = Reader(self.api, slow)
            out, err = load.communicate(timeout=120)
        self.assertEqual(load.returncode, 0, err)
        numbers = json.loads(out)
        self.assertEqual((numbers["watchers"], numbers["events_missing"], numbers["watches_broken"]), (WATCHERS, 0, 0))
        return numbers["event_p99_ms"], reader

    def connections(self):
        return self.cluster.status()["connections"]

    def test_others_do_not_wait_for_it(self):
        self.cluster = LocalCluster(self, "--nodes", "0", "--scheduler", "none", "--durability", "os")
        self.api = api = HttpApi(self.cluster.kubeconfig)
        # What the kernel takes for a peer that does not read, so that the rest is ours to hold.
        for i in range(14):
            api.post("/api/v1/namespaces/default/pods", {"metadata": {"name": f"large-{i}", "annotations": {"filler": "x" * 250_000}},
                                                         "spec": {"containers": [{"name": "c", "image": "x"}]}})
        api.close()
        load, runs = OthersLoad(self.cluster.status()["pid"]), {False: [], True: []}
        for slow in (False, True) * PAIRS:  # in turn, so that whatever else the machine does falls on both
            p99, reader = self.load_beside(slow)
            runs[slow].append(p99)
            if slow:
                eventually(lambda: self.connections() == 0, what="the slow watcher dropped")
                self.assertFalse(reader.end(), "an end that looks regular")
            else:
                self.assertEqual(self.connections(), 1)
                reader.end()
                eventually(lambda: self.connections() == 0, what="the end of all watchers")
        without, with_it = (statistics.median(runs[slow]) for slow in (False, True))
        others = load.share()
        quiet, limit = others < OthersLoad.QUIET, max(1.1 * without, without + 5)
        print(f"{WATCHERS} watchers, {RATE} writes/s, medians of {PAIRS}: p99 from write to event {without:.1f} ms, beside a slow one "
              f"{with_it:.1f} ms ({with_it / without - 1:+.0%}); others had {others:.0%} of the machine")
        if not quiet and with_it > limit:
            print(f"\nnote: too busy a machine for the promise of 10 %: {runs[False]} ms, beside a slow one {runs[True]} ms")
        self.assertLess(with_it, limit if quiet else max(1.5 * without, without + 100), runs)


if __name__ == "__main__":
    unittest.main()

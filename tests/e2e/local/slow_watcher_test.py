#!/usr/bin/env python3
"""One watcher that hardly reads must not hold up the others, and is dropped."""
import http.client
import threading
import time
import unittest

from http_api import HttpApi
from local_cluster import ClusterCase, only_local

WATCHERS, WRITES = 8, 1500


class Watcher(threading.Thread):
    def __init__(self, kubeconfig, path, got):
        super().__init__(daemon=True)
        self.api, self.path, self.delays, self.got = HttpApi(kubeconfig), path, [], got

    def run(self):
        for event in self.api.watch(self.path, 60):
            sent = event["object"].get("data", {}).get("sent")
            if event["type"] == "ADDED" and sent:
                self.delays.append(time.monotonic() - float(sent))
                if len(self.delays) == WRITES:
                    self.got.release()
                    return


@only_local("how far a watcher may fall behind is our own rule")
class SlowWatcher(ClusterCase):
    flags = ("--nodes", "0", "--durability", "os")

    def test_others_do_not_wait_for_it(self):
        ns = self.cluster.namespace("slow")
        maps = f"/api/v1/namespaces/{ns}/configmaps"
        api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(api.close)
        version = api.get(maps)["metadata"]["resourceVersion"]
        path = f"{maps}?resourceVersion={version}"
        slow = api.connect()
        slow.request("GET", f"{path}&watch=true&timeoutSeconds=60")
        got = threading.Semaphore(0)
        watchers = [Watcher(self.cluster.kubeconfig, path, got) for _ in range(WATCHERS)]
        for watcher in watchers:
            watcher.start()
        filler = "x" * 20000
        for i in range(WRITES):
            if i == WRITES - 1:
                time.sleep(6)  # longer than the patience with those who are too far behind
            api.post(maps, {"metadata": {"name": f"m{i}"}, "data": {"sent": str(time.monotonic()), "filler": filler}})
        for _ in watchers:
            self.assertTrue(got.acquire(timeout=60), [len(watcher.delays) for watcher in watchers])
        delays = sorted(delay for watcher in watchers for delay in watcher.delays)
        self.assertLess(delays[len(delays) * 99 // 100], 2.0)
        # It gets what was on its way already, and then the end: it must resume from where it was.
        answer = slow.getresponse()
        received = 0
        try:
            while line := answer.readline():
                received += 1
        except (ConnectionError, http.client.IncompleteRead):
            pass
        self.assertLess(received, WRITES)
        slow.close()


if __name__ == "__main__":
    unittest.main()

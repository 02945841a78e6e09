#!/usr/bin/env python3
"""kill -9 at any instant, and what is found afterwards against a ledger outside. PLIMSOLL_CRASH_ROUNDS: how often (200 in full)."""
import http.client
import os
import random
import signal
import threading
import time
import unittest

from http_api import HttpApi, Refused
from local_cluster import LocalCluster, alive, eventually, only_local

ROUNDS = int(os.environ.get("PLIMSOLL_CRASH_ROUNDS", "8"))
WRITERS = 8
MAPS = "/api/v1/namespaces/default/configmaps"
BROKEN = (OSError, http.client.HTTPException, ValueError)


class Writer(threading.Thread):
    """Writes its own objects and remembers what was acknowledged."""

    def __init__(self, kubeconfig, number, ledger):
        super().__init__(daemon=True)
        self.api, self.number, self.ledger = HttpApi(kubeconfig), number, ledger
        self.going = True
        self.writes = 0

    def run(self):
        randomly = random.Random(self.number)
        while self.going:
            name = f"w{self.number}-{randomly.randrange(20)}"
            known = self.ledger.setdefault(name, {"acknowledged": None, "tried": None, "version": 0})
            value = f"{self.number}.{time.monotonic_ns()}"
            known["tried"] = value
            try:
                body = {"metadata": {"name": name}, "data": {"value": value, "filler": "x" * randomly.randrange(3000)}}
                if known["acknowledged"] is None:
                    try:
                        made = self.api.post(MAPS, body)
                    except Refused as refused:  # an attempt before a crash had come through
                        if refused.status != 409:
                            raise
                        made = self.api.put(f"{MAPS}/{name}", body)
                else:
                    made = self.api.put(f"{MAPS}/{name}", body)
            except (*BROKEN, Refused):
                time.sleep(0.005)
                continue
            known["acknowledged"] = value
            known["version"] = int(made["metadata"]["resourceVersion"])
            self.writes += 1


@only_local("kills the server")
class Crash(unittest.TestCase):
    def test_no_acknowledged_write_is_lost(self):
        cluster = LocalCluster(self, "--nodes", "0")
        ledger, writes, last = {}, 0, 0
        for round_number in range(ROUNDS):
            writers = [Writer(cluster.kubeconfig, number, ledger) for number in range(WRITERS)]
            pid = cluster.status()["pid"]
            for writer in writers:
                writer.start()
            time.sleep(random.uniform(0.05, 0.4))
            os.kill(pid, signal.SIGKILL)
            for writer in writers:
                writer.going = False
            for writer in writers:
                writer.join(60)
                writes += writer.writes
            eventually(lambda: not alive(pid), what="the end of the process")
            cluster.up(self, "--nodes", "0")
            self.check(cluster, ledger, last)
            last = max(entry["version"] for entry in ledger.values())
            for entry in ledger.values():  # what came through unacknowledged is known now
                if entry["acknowledged"] is None:
                    entry["tried"] = None
        self.assertGreater(writes, ROUNDS)
        cluster.down()
        verified = cluster.place.run("store", "verify", "--name", "t")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)

    def check(self, cluster, ledger, last):
        api = HttpApi(cluster.kubeconfig)
        self.addCleanup(api.close)
        listed = api.get(MAPS)
        found = {item["metadata"]["name"]: item for item in listed["items"]}
        newest = max([last] + [entry["version"] for entry in ledger.values()])
        self.assertGreaterEqual(int(listed["metadata"]["resourceVersion"]), newest)
        for name, entry in ledger.items():
            if entry["acknowledged"] is None:
                continue
            self.assertIn(name, found)
            self.assertIn(found[name]["data"]["value"], (entry["acknowledged"], entry["tried"]), name)
            self.assertGreaterEqual(int(found[name]["metadata"]["resourceVersion"]), entry["version"])
            entry["acknowledged"] = found[name]["data"]["value"]
        made = api.post(MAPS, {"metadata": {"generateName": "after-"}})
        self.assertGreater(int(made["metadata"]["resourceVersion"]), newest)
        api.delete(f"{MAPS}/{made['metadata']['name']}")


if __name__ == "__main__":
    unittest.main()

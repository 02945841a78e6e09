#!/usr/bin/env python3
"""kill -9 at any instant under writers and pods, and what is found afterwards against a ledger outside.

PLIMSOLL_CRASH_ROUNDS: how often, 200 in full; 60 without it. The store alone is killed more often in a unit test, which costs less.
PLIMSOLL_CRASH_SEED: for other instants and objects.
"""
import collections
import http.client
import os
import pathlib
import random
import select
import signal
import subprocess
import threading
import time
import unittest

from http_api import HttpApi, Refused, credentials
from local_cluster import PROGRAM, Place, eventually, only_local, start_time

ROUNDS = int(os.environ.get("PLIMSOLL_CRASH_ROUNDS", "60"))
SEED = int(os.environ.get("PLIMSOLL_CRASH_SEED", "1"))
WRITERS = 8
MAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
BROKEN = (OSError, http.client.HTTPException, ValueError)


class Server:
    """`plimsoll up` as a child of ours, so that it can be killed before it is ready, too."""

    def __init__(self, test, place):
        self.place, self.child = place, None
        test.addCleanup(place.run, "reset", "--name", "t", "--yes")
        test.addCleanup(self.kill)

    def begin(self):
        self.log = open(self.place.root / "up.log", "w+")
        self.child = subprocess.Popen([PROGRAM, "up", "--name", "t", "--nodes", "1"], env=self.place.env,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def ready(self):
        """The address of its API."""
        if not select.select([self.child.stdout], [], [], 60)[0] or not self.child.stdout.readline():
            raise AssertionError("it does not start\n" + (self.place.root / "up.log").read_text())
        return credentials(self.place.state("t") / "kubeconfig")[0]

    def kill(self):
        if self.child:
            self.child.kill()
            self.child.wait()
            self.child.stdout.close()
            self.log.close()
            self.child = None


class Writer(threading.Thread):
    """Writes its own objects while it may and remembers what was acknowledged."""

    def __init__(self, kubeconfig, number, ledger):
        super().__init__(daemon=True)
        self.api, self.number, self.ledger = HttpApi(kubeconfig), number, ledger
        self.randomly = random.Random(SEED + 1 + number)
        self.may, self.idle = threading.Event(), threading.Event()
        self.ends = False
        self.writes = 0

    def run(self):
        while not self.ends:
            if not self.may.is_set():
                self.api.close()
                self.idle.set()
                self.may.wait()
                continue
            try:
                self.write()
            except (*BROKEN, Refused):
                time.sleep(0.005)

    def write(self):
        name = f"w{self.number}-{self.randomly.randrange(20)}"
        known = self.ledger.setdefault(name, {"acknowledged": None, "tried": [], "version": 0})
        value = f"{self.number}.{time.monotonic_ns()}"
        known["tried"].append(value)
        body = {"metadata": {"name": name}, "data": {"value": value, "filler": "x" * self.randomly.randrange(3000)}}
        try:
            made = self.api.post(MAPS, body) if known["acknowledged"] is None else self.api.put(f"{MAPS}/{name}", body)
        except Refused as refused:  # an attempt before a crash had come through
            if refused.status != 409:
                raise
            made = self.api.put(f"{MAPS}/{name}", body)
        known["acknowledged"], known["tried"], known["version"] = value, [], int(made["metadata"]["resourceVersion"])
        self.writes += 1


def deployment(replicas, argument):
    container = {"name": "c", "image": "plimsoll/tools", "args": ["sleep", argument]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "stays"},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "stays"}},
                     "template": {"metadata": {"labels": {"app": "stays"}}, "spec": {"containers": [container]}}}}


def one_shot(name, ledger):
    """A pod that notes each of its runs in a file."""
    # An image that is there already: a pull would be interrupted by every crash.
    container = {"name": "c", "image": "plimsoll/tools", "command": ["sh", "-c", f"echo {name} >> {ledger}"]}
    return {"metadata": {"name": name, "labels": {"app": "once"}}, "spec": {"containers": [container], "restartPolicy": "Never"}}


def processes_with(word):
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if word in (entry / "cmdline").read_bytes().decode(errors="replace").split("\0"):
                    found[int(entry.name)] = start_time(int(entry.name))
            except OSError:
                pass
    return found


@only_local("kills the server")
class Crash(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)
        self.server = Server(self, self.place)
        self.server.begin()
        self.server.ready()
        self.api = HttpApi(self.place.state("t") / "kubeconfig")
        self.addCleanup(self.api.close)
        self.ledger, self.newest = {}, 0
        self.runs, self.made = self.place.root / "runs", []
        self.runs.touch()
        self.randomly = random.Random(SEED)
        self.seconds = f"9{os.getpid()}"  # that no other process sleeps for
        self.api.post("/apis/apps/v1/namespaces/default/deployments", deployment(3, self.seconds))
        eventually(lambda: [pod["status"]["phase"] for pod in self.staying()] == ["Running"] * 3, seconds=30, what="three pods")
        self.pods = self.containers()
        self.processes = processes_with(self.seconds)
        self.assertEqual(len(self.processes), 3)

    def staying(self):
        return self.api.get(f"{PODS}?labelSelector=app%3Dstays")["items"]

    def unfinished(self):
        """Short pods that have not succeeded, and what they say."""
        return {pod["metadata"]["name"]: pod["status"] for pod in self.api.get(f"{PODS}?labelSelector=app%3Donce")["items"]
                if pod["status"]["phase"] != "Succeeded"}

    def containers(self):
        return {pod["metadata"]["uid"]: (status["containerID"], status["restartCount"])
                for pod in self.staying() for status in pod["status"]["containerStatuses"]}

    def test_nothing_acknowledged_is_lost_and_pods_are_adopted(self):
        print(f"seed {SEED}", flush=True)
        writers = [Writer(self.place.state("t") / "kubeconfig", number, self.ledger) for number in range(WRITERS)]
        for writer in writers:
            writer.start()
        began = time.monotonic()
        for number in range(ROUNDS):
            self.round(number, writers)
        seconds = time.monotonic() - began
        for writer in writers:
            writer.ends = True
            writer.may.set()
            writer.join(60)
        try:
            eventually(lambda: not self.unfinished(), seconds=30, what="the end of the short pods")
        except AssertionError:
            self.fail(f"short pods do not end well: {self.unfinished()}\nruns: {self.runs.read_text().split()}")
        runs = collections.Counter(self.runs.read_text().split())
        self.assertEqual({name: runs[name] for name in self.made}, dict.fromkeys(self.made, 1))
        self.server.child.send_signal(signal.SIGTERM)
        self.assertEqual(self.server.child.wait(60), 0)
        verified = self.place.run("store", "verify", "--name", "t")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.assertEqual(processes_with(self.seconds), {})
        writes = sum(writer.writes for writer in writers)
        print(f"{ROUNDS} kills in {seconds:.0f} s under {WRITERS} writers: {writes} acknowledged writes all found; "
              f"3 pods kept their processes, {len(self.made)} short ones ran once each")
        self.assertGreaterEqual(writes, ROUNDS * WRITERS)

    def round(self, number, writers):
        for writer in writers:
            writer.idle.clear()
            writer.may.set()
        before = sum(writer.writes for writer in writers)
        eventually(lambda: sum(writer.writes for writer in writers) >= before + WRITERS, seconds=60, every=0.002, what="writes")
        self.api.post(PODS, one_shot(f"once-{number}", self.runs))
        self.made.append(f"once-{number}")
        time.sleep(self.randomly.uniform(0, 0.2))
        self.server.kill()
        for writer in writers:
            writer.may.clear()
        for writer in writers:
            self.assertTrue(writer.idle.wait(60))
        self.api.close()
        if number % 4 == 0:  # and once more while it starts
            self.server.begin()
            time.sleep(self.randomly.uniform(0, 0.25))
            self.server.kill()
        self.server.begin()
        address = self.server.ready()
        for api in (self.api, *(writer.api for writer in writers)):
            api.address = address
        self.check_writes()
        self.assertEqual(self.containers(), self.pods)
        self.assertEqual({pid: start_time(pid) for pid in self.processes}, self.processes)

    def check_writes(self):
        listed = self.api.get(MAPS)
        found = {item["metadata"]["name"]: item for item in listed["items"]}
        self.newest = max([self.newest] + [entry["version"] for entry in self.ledger.values()])
        self.assertGreaterEqual(int(listed["metadata"]["resourceVersion"]), self.newest)
        for name, entry in self.ledger.items():
            if entry["acknowledged"] is None and name not in found:
                continue
            self.assertIn(name, found, "LOST: an object whose creation was acknowledged")
            value = found[name]["data"]["value"]
            self.assertIn(value, (entry["acknowledged"], *entry["tried"]), f"LOST: an acknowledged write of {name}")
            self.assertGreaterEqual(int(found[name]["metadata"]["resourceVersion"]), entry["version"])
            entry["acknowledged"], entry["tried"] = value, []  # what came through unacknowledged is known now
        made = self.api.post(MAPS, {"metadata": {"generateName": "after-"}})
        self.assertGreater(int(made["metadata"]["resourceVersion"]), self.newest)
        self.api.delete(f"{MAPS}/{made['metadata']['name']}")


if __name__ == "__main__":
    unittest.main()

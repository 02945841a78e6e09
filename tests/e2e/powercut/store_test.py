#!/usr/bin/env python3
"""The power fails while a local cluster writes: acknowledged objects, its keys and the user's kubeconfig are there afterwards.

PLIMSOLL_POWERCUTS and PLIMSOLL_POWERCUT_SEED: how many cuts, and others of them.
"""
import http.client
import json
import random
import select
import signal
import subprocess
import threading
import unittest

from recording import CUTS, SEED, Acknowledged, Recording, read_log

from http_api import HttpApi, credentials
from local_cluster import PROGRAM, Place, eventually, only_local

MAPS = "/api/v1/namespaces/default/configmaps"
WRITERS, WRITES = 3, 25
LARGE = 300_000  # bytes of some objects, so that the log is soon large enough for a snapshot
STARTS = 5  # cuts after which the whole cluster starts
KEYS = ("ca.crt", "ca.key", "tokens.key", "admin.token")  # what was handed out depends on them
BROKEN = (OSError, http.client.HTTPException)
NEVER = float("inf")  # when a write was acknowledged that was cut short
OTHER = "other-cluster"  # in the user's kubeconfig


class Writer(threading.Thread):
    """Creates, replaces and deletes objects of its own."""

    def __init__(self, kubeconfig, name, objects):
        super().__init__()
        self.api, self.prefix, self.objects = HttpApi(kubeconfig), name, objects
        self.luck, self.there, self.trying, self.problem = random.Random(f"{SEED} {name}"), set(), None, None

    def run(self):
        try:
            for number in range(WRITES):
                self.write(number)
        except Exception as problem:
            self.problem = problem
            self.objects.add(self.trying, NEVER)
        self.api.close()

    def write(self, number):
        name, value, revision = f"{self.prefix}-{self.luck.randrange(6)}", str(number), 0
        self.trying = name, value, revision
        body = {"metadata": {"name": name}, "data": {"value": value, "filler": "x" * self.luck.choice((10, 2000, LARGE))}}
        if name in self.there and self.luck.random() < 0.2:
            self.trying = name, None, revision
            self.api.delete(f"{MAPS}/{name}")
            self.there.remove(name)
            value = None
        else:
            made = self.api.put(f"{MAPS}/{name}", body) if name in self.there else self.api.post(MAPS, body)
            self.there.add(name)
            revision = int(made["metadata"]["resourceVersion"])
        self.objects.add((name, value, revision))


@only_local("cuts the power of the server")
class StorePowerCut(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)
        self.place.root = self.place.root.resolve()
        self.addCleanup(self.place.run, "reset", "--name", "t", "--yes")
        self.user = self.place.root / "home/.kube/config"
        self.user.parent.mkdir()
        self.user.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "clusters": [],
                                         "contexts": [{"name": OTHER, "context": {"cluster": OTHER, "user": OTHER}}], "users": []}))
        self.keys, self.store, self.starts = self.place.state("t") / "pki", self.place.state("t") / "store", 0

    def up(self, more={}):
        with open(self.place.root / "up.log", "w") as log:
            child = subprocess.Popen([PROGRAM, "up", "--name", "t", "--nodes", "0", "--merge-kubeconfig"],
                                     env={**self.place.env, "KUBECONFIG": str(self.user), **more},
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        if not select.select([child.stdout], [], [], 60)[0]:
            raise TimeoutError("it is not ready")
        self.assertTrue(child.stdout.readline(), "LOST: the cluster does not start: " + (self.place.root / "up.log").read_text())
        return child

    def record(self, recording):
        """Two starts. The first cluster is killed while it syncs, so what the second one finds is not on disk yet."""
        for start in ("first", "second"):
            child = self.up(recording.env)
            self.ready.add({name: (self.keys / name).read_bytes() for name in KEYS})
            self.show()
            writers = [Writer(self.place.state("t") / "kubeconfig", f"{start}-{number}", self.objects) for number in range(WRITERS)]
            for writer in writers:
                writer.start()
            if start == "first":
                eventually(lambda: len(self.objects.facts) > WRITERS * WRITES / 2, what="half of the writes")
                recording.kill_in_sync()
            for writer in writers:
                writer.join()
                self.assertIsInstance(writer.problem, BROKEN if start == "first" else type(None), "LOST: writes without a sync")
            if start == "second":
                child.terminate()
            self.assertEqual(child.wait(60), -signal.SIGKILL if start == "first" else 0)
            recording.kill_in_sync(None)
            self.compact(recording)

    def compact(self, recording):
        """Kills each try one sync later than the one before."""
        plain, self.place.env = self.place.env, {**self.place.env, **recording.env}
        for syncs in range(50):
            recording.kill_in_sync(syncs)
            code = subprocess.run([PROGRAM, "store", "compact", "--name", "t"], env=self.place.env, capture_output=True).returncode
            if code == 0:
                break
            self.assertEqual(code, -signal.SIGKILL)
        self.assertGreater(syncs, 2)
        recording.kill_in_sync(None)
        self.place.env = plain

    def show(self):
        """What a client sees is acknowledged too, also what a killed cluster had not acknowledged."""
        api = HttpApi(self.place.state("t") / "kubeconfig")
        shown = self.values(api)
        api.close()
        for name in {name for _, (name, _, _) in self.objects.facts}:
            self.objects.add((name, shown.get(name), 0))

    def values(self, api):
        return {each["metadata"]["name"]: each["data"].get("value") for each in api.get(MAPS)["items"]}

    def test_nothing_acknowledged_is_lost(self):
        recording = Recording(self, self.place.root / "home")
        self.objects, self.ready, self.kept, self.checked = Acknowledged(), Acknowledged(), self.place.root / "kept", 0
        self.record(recording)
        self.kept.write_bytes((self.place.state("t") / "kubeconfig").read_bytes())
        snapshots = [change.name for change in read_log(recording.log) if change.kind == "r" and change.data.endswith(b".snap")]
        self.assertTrue(snapshots)
        recording.check_each(self.check)
        self.assertTrue(self.starts)

    def check(self, cut):
        self.check_keys(cut)
        found = self.dump(cut)
        self.check_objects(cut, found)
        self.checked += bool(self.ready.before(cut))
        if self.checked % (CUTS // STARTS) == 1:
            self.check_start(cut, found)

    def check_keys(self, cut):
        contexts = self.user.read_text() if self.user.exists() else "no file"
        self.assertIn(OTHER, contexts, "LOST: another cluster in the user's kubeconfig")
        for acknowledged in self.ready.before(cut):
            for name, key in acknowledged.items():
                found = (self.keys / name).read_bytes() if (self.keys / name).exists() else "no file"
                self.assertEqual(found, key, f"LOST: {name} of a cluster that was ready")

    def dump(self, cut):
        """The values of the objects in the store."""
        if not self.store.exists():
            self.assertEqual(self.objects.before(cut), [], "LOST: the whole store")
            return {}
        dumped = self.place.run("store", "dump", "--name", "t", "/registry/core/configmaps/default/")
        self.assertEqual(dumped.returncode, 0, "LOST: the store cannot be read: " + dumped.stderr)
        objects = [json.loads(line.partition(" ")[2]) for line in dumped.stdout.splitlines()]
        return {each["metadata"]["name"]: each["data"].get("value") for each in objects}

    def check_objects(self, cut, found):
        allowed = {}
        for at, (name, value, _) in self.objects.facts:
            if at < cut.moment:
                allowed[name] = [value]
            elif len(allowed.setdefault(name, [None])) < 2:
                allowed[name].append(value)  # under way when the power failed
        for name, values in allowed.items():
            self.assertIn(found.get(name), values, f"LOST: an acknowledged write of {name}")

    def check_start(self, cut, found):
        self.starts += 1
        child = self.up()
        api = HttpApi(self.kept)
        api.address = credentials(self.place.state("t") / "kubeconfig")[0]
        listed = self.values(api)
        self.assertEqual({**listed, **found}, listed, "LOST: what the store has on disk")
        revision = int(api.post(MAPS, {"metadata": {"generateName": "after-"}})["metadata"]["resourceVersion"])
        newest = max((revision for _, _, revision in self.objects.before(cut)), default=0)
        self.assertGreater(revision, newest, "LOST: a revision that was acknowledged")
        api.close()
        child.kill()
        child.wait()


if __name__ == "__main__":
    unittest.main()

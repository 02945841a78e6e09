#!/usr/bin/env python3
"""What release 0.1.0 kept on disk: the new program goes on with it, and loses nothing.

tests/data/state-0.1.0 was written by the program of that release: a store with a snapshot, made after the first objects, and a log with
what came later; the servo's runs; an execution of flow whose controller and worker were killed.
"""
import os
import pathlib
import shutil
import sqlite3
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
for part in ("local", "flow", "servo"):
    sys.path.insert(0, str(ROOT / "tests" / "e2e" / part))
import flow_runs  # noqa: E402
from local_cluster import LocalCluster, Place, only_local  # noqa: E402
from servo import Servo  # noqa: E402

OLD = ROOT / "tests" / "data" / "state-0.1.0"


@only_local("real Kubernetes does not read our files")
class Upgrade(unittest.TestCase):
    def test_a_cluster_has_all_objects_of_its_store(self):
        place = Place(self)
        shutil.copytree(OLD / "store", place.state("t") / "store")
        os.chmod(place.state("t"), 0o700)
        cluster = LocalCluster(self, place=place)
        self.assertEqual(cluster.get("configmap", "before")["data"], {"written": "before-the-snapshot"}, "LOST: an object of the snapshot")
        self.assertEqual(cluster.get("configmap", "after")["data"], {"written": "after-the-snapshot"}, "LOST: an object of the log")
        self.assertEqual(cluster.get("secret", "hidden")["data"], {"word": "aGFyYm91cg=="})
        self.assertEqual(cluster.get("boat", "dinghy")["spec"], {"draught": 2}, "LOST: a custom object")
        jobs = {job["metadata"]["name"]: job["status"]["succeeded"] for job in cluster.get("jobs")["items"]}
        self.assertEqual(jobs, {"run-0": 1, "run-1": 1}, "run-2 was deleted")
        cluster.kubectl("create", "configmap", "new")

        self.assertEqual(cluster.down().returncode, 0)  # what is written now is of this version
        cluster.up(self)
        for name in ("before", "after", "new"):
            cluster.get("configmap", name)
        self.assertIn("yes", place.run("store", "verify", "--name", "t").stdout)

    def test_the_servo_has_all_runs(self):
        cluster = LocalCluster(self)
        servo = Servo(self, cluster.kubeconfig, "--pod-namespaces", "*")
        shutil.copytree(OLD / "servo", servo.store)
        os.chmod(servo.store, 0o700)
        servo.start()
        self.assertEqual([(run["app"], run["exitCode"]) for run in servo.runs()], [("tide", 0)] * 3, "LOST: a run")

    def test_flow_completes_an_execution(self):
        place = flow_runs.Place(self)
        shutil.copytree(OLD / "flow", place.root, dirs_exist_ok=True)
        with sqlite3.connect(place.state / "flow.db") as ledger:  # it was written in another folder
            ledger.execute("UPDATE ex SET directory = ?", [str(place.root)])
        self.assertEqual(place.ledger("SELECT count(*) FROM slices WHERE state = 'completed'"), [(6,)])
        done = place.run("run", "--resume", place.state)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(place.ledger("SELECT state, count(*) FROM slices GROUP BY 1"), [("completed", 20)])
        self.assertGreaterEqual(len(place.exported()), 400, "LOST: records")


if __name__ == "__main__":
    unittest.main()

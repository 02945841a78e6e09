#!/usr/bin/env python3
"""Where pods say who they are: every rule of the path language, by hand and through a pod."""
import json
import subprocess
import tempfile
import unittest

from jobs import Jobs
from servo import ServoCase, eventually

from local_cluster import PROGRAM, ClusterCase

POD = {"metadata": {"name": "p", "labels": {"app": "web", "example.com/app": "slashed"}, "annotations": {"empty": "", "long": "x" * 257, "bell": "a\u0007b"}},
       "spec": {"priority": 7, "volumes": None, "terminationGracePeriodSeconds": 30, "enableServiceLinks": True, "containers": [
           {"name": "main", "command": ["true"], "env": [{"value": "nameless"}, {"name": "SECRET", "valueFrom": {}}, {"name": "JOBID", "value": "job-42"}],
            "ports": [{"name": "http", "containerPort": 80}]}]}}

# Path, exit code, what standard output or standard error has to say.
PATHS = [
    ("spec/containers/0/env/[JOBID]", 0, "job-42\n"),
    ("/spec//containers/0/env/[JOBID]/", 0, "job-42\n"),
    ("spec/containers/-1/name", 0, "main\n"),
    ("spec/containers/0/ports/[http,name,containerPort]", 0, "80\n"),
    ("spec/containers/[main,name,env]/[JOBID]", 0, "job-42\n"),
    ('metadata/labels/"example.com/app"', 0, "slashed\n"),
    ("metadata/nothing|metadata/labels/app", 0, "web\n"),
    ("spec/priority", 0, "7\n"),
    ("spec/terminationGracePeriodSeconds", 0, "30\n"),
    ("spec/enableServiceLinks", 0, "true\n"),
    ("metadata/labels/nothing", 1, "no such member"),
    ("spec/containers/5/name", 1, "not an index of a list of 1"),
    ("spec/containers/x/name", 1, "not an index"),
    ("metadata/name/deeper", 1, "neither a map nor a list"),
    ("metadata/labels/[app]", 1, "not a list"),
    ("spec/containers/0/env/[SECRET]", 1, "valueFrom"),
    ("spec/containers/0/env/[NOPE]", 1, "no entry whose name is NOPE"),
    ("metadata/annotations/empty", 1, "empty"),
    ("metadata/labels", 1, "a map"),
    ("spec/containers", 1, "a list"),
    ("spec/containers/0/command/[true]", 1, "elements that are not maps"),
    ("spec/priority/deeper", 1, "neither a map nor a list"),
    ("metadata/annotations/long", 1, "257 bytes, more than 256"),
    ("metadata/annotations/bell", 1, "control characters"),
    ("spec/volumes", 1, "null"),
    ("/", 2, "column 1"),
    ("env/[a,b]", 2, "column 5"),
    ("env/[a,b,c,d]", 2, "column 5"),
    ("env/[]", 2, "column 5"),
    ("env/[JOBID", 2, "column 5"),
    ('env/"x', 2, "column 5"),
]


class Paths(unittest.TestCase):
    def test_every_row_of_the_table(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(json.dumps(POD))
            file.flush()
            for path, code, says in PATHS:
                with self.subTest(path):
                    done = subprocess.run([PROGRAM, "servo", "path-test", "--path", path, "-f", file.name],
                                          capture_output=True, text=True, timeout=30)
                    self.assertEqual(done.returncode, code, done.stderr)
                    if code == 0:
                        self.assertEqual(done.stdout, says)
                    else:
                        self.assertIn(says, done.stderr)
                        self.assertEqual(done.stdout, "")

    def test_a_pod_that_is_none(self):
        for text in ("", "[1, 2]", "{broken", "null"):
            done = subprocess.run([PROGRAM, "servo", "path-test", "-f", "-"], input=text, capture_output=True, text=True, timeout=30)
            self.assertIn(done.returncode, (1, 2), (text, done.stderr))


class PathsOfPods(ServoCase):
    def test_every_row_of_the_table_through_a_pod(self):
        ns = self.watched_namespace("paths")
        jobs = Jobs(self, self.cluster.kubeconfig, ns)
        env = [{"name": "SECRET", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}, {"name": "JOBID", "value": "job-42"}]
        container = {"name": "main", "image": "any", "command": ["true"], "env": env, "ports": [{"name": "http", "containerPort": 80}]}
        jobs.create("p", "", annotations=POD["metadata"]["annotations"], labels=POD["metadata"]["labels"], containers=[container])
        jobs.end("p")
        for path, code, says in PATHS:
            if "priority" in path or "volumes" in path:
                continue  # an API server sets these as it likes
            with self.subTest(path):
                servo = self.new_servo("--pod-namespaces", ns, "--optune-app-id", path).begin()
                if code == 2:
                    self.assertEqual(servo.child.wait(30), 1)
                    self.assertIn(says, servo.log)
                    servo.child = None
                    continue
                servo.wait_listening()
                eventually(lambda: servo.get("/readyz")[0] == 200)
                misses = servo.metric("plimsoll_servo_appid_misses_total")
                if code == 0:
                    runs = eventually(servo.runs)
                    self.assertEqual(([run["app"] for run in runs], misses), ([says.strip()], 0))
                else:
                    self.assertEqual((servo.runs(), misses), ([], 1))
                servo.kill()


class LocalPathsOfPods(PathsOfPods, ClusterCase):
    flags = ("--nodes", "0")


if __name__ == "__main__":
    unittest.main()

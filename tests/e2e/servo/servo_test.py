#!/usr/bin/env python3
"""The servo beside a local cluster whose pods run: from a pod to the message and to `plimsoll runs`."""
import json
import subprocess
import unittest

from receiver import Receiver
from servo import Servo, eventually, job_pod

from local_cluster import PROGRAM, ClusterCase, LocalCluster, only_local


@only_local("starts programs of this machine")
class ServoWithPods(ClusterCase):
    flags = ("--nodes", "1")

    def test_a_pod_that_ends_is_one_message_and_one_run(self):
        receiver = Receiver(self)
        servo = Servo(self, self.cluster.kubeconfig, "--optune-url", receiver.url, "--optune-account", "acme",
                      env={"OPTUNE_AUTH_TOKEN": "s3cret"}).start()
        pod = job_pod("once", "a1", "sleep", "1.2")
        pod["spec"]["containers"][0]["resources"] = {"limits": {"memory": "64Mi"}, "requests": {"memory": "32Mi"}}
        self.cluster.apply(pod, job_pod("service", "a2", restartPolicy="Always"))
        (post,) = eventually(receiver.measurements, 30)
        self.assertEqual(post.path, "/metrics/acme/a1/servo")
        self.assertEqual(post.headers["Authorization"], "Bearer s3cret")
        self.assertEqual(post.headers["Content-Type"], "application/json")
        param = post.json["param"]
        duration = param["metrics"]["duration"]["value"]
        self.assertIn(duration, (1, 2))
        self.assertEqual(param["metrics"]["perf"], {"value": 1 / duration, "unit": "1/s"})
        self.assertEqual(param["annotations"]["exitcode"], 0)
        self.assertEqual(json.loads(param["annotations"]["resources"])["limits"], {"memory": "64Mi"})
        uid = self.cluster.get("pod", "once")["metadata"]["uid"]
        self.assertEqual(post.key, f"{uid}/main/0")
        eventually(lambda: servo.runs()[0]["state"] == "sent")

        shown = servo.command("runs", "--url", servo.url)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"(?m)^a1 +default +once +completed +0 +\ds +sent +")
        again = servo.command("servo", "history", "--url", servo.url, "--app", "a1", "-o", "json")
        self.assertEqual(len(json.loads(again.stdout)["items"]), 1)
        code, seconds = servo.stop()
        self.assertEqual(code, 0, servo.log)
        self.assertLess(seconds, 6)
        self.assertEqual(receiver.events(), ["HELLO", "MEASUREMENT", "GOODBYE"])
        self.assertEqual(receiver.posts[-1].json["param"], {"account": "acme", "reason": "signal 15"})
        offline = servo.command("runs", "--store", str(servo.store))
        self.assertEqual(offline.stdout.split()[-8:-2], shown.stdout.split()[-8:-2])
        self.assertNotIn("s3cret", servo.log)
        for file in servo.store.iterdir():
            self.assertNotIn(b"s3cret", file.read_bytes())

    def test_what_never_ran_has_failed_and_says_why(self):
        receiver = Receiver(self)
        Servo(self, self.cluster.kubeconfig, "--optune-url", receiver.url, "--optune-account", "acme").start()
        init = {"name": "prepare", "image": "any", "command": ["sh", "-c", "exit 4"]}
        self.cluster.apply(job_pod("absent", "absent", "/no/such/program"), job_pod("unprepared", "unprepared", initContainers=[init]))

        def said():
            return {post.path.split("/")[3]: post.json["param"] for post in receiver.measurements()
                    if post.path.split("/")[3] in ("absent", "unprepared")}
        eventually(lambda: len(said()) == 2, 30)
        self.assertEqual({param["status"] for param in said().values()}, {"failed"})
        self.assertRegex(said()["absent"]["message"], "did not run.*StartError.*/no/such/program")
        self.assertIn("init container prepare ended with exit code 4", said()["unprepared"]["message"])

    def test_without_any_setting_runs_are_kept_and_nothing_is_posted(self):
        servo = Servo(self, self.cluster.kubeconfig).start()
        self.cluster.apply(job_pod("kept", "b1"))
        run = eventually(lambda: [run for run in servo.runs() if run["app"] == "b1"], 30)[0]
        self.assertEqual((run["state"], run["result"], run["exitCode"]), ("kept", "completed", 0))
        self.assertEqual(servo.log.count("not sending runs"), 1)


@only_local("starts a local cluster with roles")
class ServoAsRole(unittest.TestCase):
    def test_up_starts_it_and_runs_finds_it(self):
        cluster = LocalCluster(self, "--nodes", "1", "--roles", "servo")
        ns = cluster.namespace("any")
        pod = job_pod("flow", "", "true", namespace=ns)
        pod["metadata"]["labels"] = {"teraslice.terascope.io/jobName": "my-flow"}
        cluster.apply(job_pod("once", "a1"), pod)

        def runs(*words):
            done = subprocess.run([PROGRAM, "runs", *words], env=cluster.env | {"XDG_RUNTIME_DIR": cluster.place.env["XDG_RUNTIME_DIR"]},
                                  capture_output=True, text=True, timeout=30)
            # Right after the start of the cluster nobody listens yet.
            return json.loads(done.stdout)["items"] if done.returncode == 0 else []
        eventually(lambda: len(runs("-o", "json")) == 2, 30)
        self.assertEqual([(run["pod"], run["app"]) for run in runs("-o", "json", "-n", ns)], [("flow", "my-flow")])
        self.assertIn("flow", [run["pod"] for run in runs("-o", "json", "-n", "elsewhere", "-A")])
        cluster.down()
        store = str(cluster.place.state("t") / "servo")
        self.assertEqual(len(runs("--store", store, "-o", "json")), 2)
        cluster.up(self, "--nodes", "1", "--roles", "servo")
        eventually(lambda: len(runs("-o", "json")) == 2, 30)
        # The runs of a cluster that was removed are not those of the next.
        self.assertEqual(cluster.place.run("reset", "--name", "t", "--yes").returncode, 0)
        self.assertFalse(cluster.place.state("t").exists(), list(cluster.place.state("t").rglob("*")))


if __name__ == "__main__":
    unittest.main()

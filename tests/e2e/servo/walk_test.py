#!/usr/bin/env python3
"""The ancestor's page on a local cluster: its commands in its order, until there is something to see. The files of deploy/servo are
used unchanged; `kubectl set env` sets their variables."""
import json
import os
import subprocess
import unittest

from receiver import Receiver
from servo import ROOT, eventually, job_pod

from local_cluster import PROGRAM, LocalCluster

DEPLOY = ROOT / "deploy" / "servo"
# What the page ends with. Kubernetes has had none of these since 1.16, and pods wait for nobody.
INITIALIZER = {"apiVersion": "admissionregistration.k8s.io/v1alpha1", "kind": "InitializerConfiguration", "metadata": {"name": "optune"},
               "initializers": [{"name": "initcfg.optune.io", "rules": [{"apiGroups": [""], "apiVersions": ["*"], "resources": ["pods"]}]}]}


class Walk(unittest.TestCase):
    def setUp(self):
        # Addresses of its own: other clusters of this machine have the first ones, other walks those from 100 on.
        self.cluster = LocalCluster(self, "--nodes", "0", "--ephemeral")
        self.cluster.place.run("node", "add", "--name", "t", f"n{50 + os.getpid() % 50}")
        (node,) = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if not node["isolated"]:
            self.skipTest("containers have no namespaces here")
        self.receiver = Receiver(self)

    def set_env(self, deployment, **variables):
        self.cluster.kubectl("set", "env", f"deployment/{deployment}", *(f"{name}={value}" for name, value in variables.items()))
        self.cluster.kubectl("rollout", "status", f"deployment/{deployment}", "--timeout=60s")

    def posts(self):
        return {post.path.split("/")[3]: post for post in self.receiver.measurements()}

    def create(self, *pods):
        self.cluster.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": list(pods)}))

    def test_jobs_are_measured_and_shown(self):
        self.cluster.kubectl("create", "-f", str(DEPLOY / "svc-acct.yaml"))
        self.cluster.kubectl("create", "-f", str(DEPLOY / "svc-role.yaml"))
        self.cluster.kubectl("create", "secret", "generic", "opsani-servo-token", "--from-literal=token=s3cret")
        self.cluster.kubectl("create", "-f", str(DEPLOY / "deployment.yaml"))
        # Pods of a local cluster have addresses of their own, but share the machine's ports on all of them.
        self.set_env("servo-k8s-multijob", OPTUNE_ACCOUNT="acme.example.com", OPTUNE_URL=self.receiver.url,
                     PLIMSOLL_SERVO_LISTEN="$(SELF_IP):8080")

        other = self.cluster.namespace("other")
        nameless = job_pod("nameless", "", "true")
        del nameless["spec"]["containers"][0]["env"]
        self.create(nameless, job_pod("elsewhere", "elsewhere", "true", namespace=other), job_pod("good", "good", "sleep", "1.1"),
                    job_pod("bad", "bad", "sh", "-c", "exit 3"))
        posts = eventually(lambda: {"good", "bad"} <= set(self.posts()) and self.posts(), 30, what="the measurements")
        self.assertEqual(posts["good"].path, "/metrics/acme.example.com/good/servo")
        self.assertEqual(posts["good"].headers["Authorization"], "Bearer s3cret")
        self.assertIn(posts["good"].json["param"]["metrics"]["duration"]["value"], (1, 2))
        self.assertEqual(posts["bad"].json["param"]["annotations"]["exitcode"], 3)

        refused = self.cluster.kubectl("create", "-f", "-", input=json.dumps(INITIALIZER), check=False)
        self.assertIn('no matches for kind "InitializerConfiguration"', refused.stderr)
        self.adds_a_monitor()
        self.cluster.kubectl("delete", "pod", "good", "bad")
        self.cluster.kubectl("scale", "deployment/servo-k8s-multijob", "--replicas=0")
        eventually(lambda: self.receiver.events()[-1] == "GOODBYE", what="the end of the servo")
        self.create(job_pod("unwatched", "unwatched", "true"))
        eventually(lambda: self.cluster.get("pod", "unwatched")["status"]["phase"] == "Succeeded", what="a pod without a servo")
        self.cluster.kubectl("scale", "deployment/servo-k8s-multijob", "--replicas=1")
        eventually(lambda: "unwatched" in self.posts(), 30, what="the run that nobody had seen")
        self.assertEqual(sorted(self.posts()), ["bad", "good", "unwatched", "watched"])
        self.shows_them()

    def adds_a_monitor(self):
        """What takes the place of the initializer, created last as there."""
        self.cluster.kubectl("create", "-k", str(DEPLOY.parent / "shared" / "own-ca-bundle"))
        self.cluster.kubectl("create", "-f", str(DEPLOY / "webhook-secret.yaml"), "-f", str(DEPLOY / "webhook-svc-depl.yaml"))
        self.set_env("opsani-servo-webhook", OPTUNE_SLEEPER_IMG="podmon:1")
        self.cluster.kubectl("create", "--validate=false", "-f", str(DEPLOY / "webhook-conf.yaml"))
        bundle = lambda: self.cluster.get("mutatingwebhookconfiguration", "optune")["webhooks"][0]["clientConfig"].get("caBundle")
        eventually(bundle, 30, what="the authority")
        self.create(job_pod("watched", "watched", "true"))
        (monitor,) = self.cluster.get("pod", "watched")["spec"]["initContainers"]
        self.assertEqual((monitor["name"], monitor["env"][-1]["value"]), ("zzzzmonitor", "servo-k8s-multijob.default.svc"))
        eventually(lambda: "watched" in self.posts(), 30, what="the run with a monitor")
        eventually(lambda: self.cluster.get("pod", "watched")["status"]["phase"] == "Succeeded", what="its end")

    def addresses(self):
        return [one["ip"] for subset in self.cluster.get("endpoints", "servo-k8s-multijob").get("subsets", [])
                for one in subset.get("addresses", [])]

    def shows_them(self):
        self.cluster.kubectl("rollout", "status", "deployment/servo-k8s-multijob", "--timeout=60s")
        # Where the Service leads: a local API server passes no requests on to it.
        (address,) = eventually(self.addresses, what="the Service's endpoint")
        shown = subprocess.run([PROGRAM, "runs", "--url", f"http://{address}:8080"], env=self.cluster.env, capture_output=True, text=True,
                               timeout=60)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, r"(?m)^unwatched +default +unwatched +completed +0 +\ds +sent +")
        self.assertNotIn("s3cret", self.cluster.kubectl("logs", "deployment/servo-k8s-multijob").stdout)


if __name__ == "__main__":
    unittest.main()

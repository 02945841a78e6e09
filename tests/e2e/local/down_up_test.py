#!/usr/bin/env python3
"""What `plimsoll down` and the next `up` are to pods: a machine that is switched off and on again."""
import unittest

from local_cluster import LocalCluster, eventually, only_local


def template(policy, *args):
    container = {"name": "main", "image": "plimsoll/tools", "imagePullPolicy": "IfNotPresent", "args": list(args)}
    return {"containers": [container], "restartPolicy": policy, "terminationGracePeriodSeconds": 5}


def deployment(name, replicas):
    labels = {"app": name}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": labels},
                     "template": {"metadata": {"labels": labels}, "spec": template("Always", "sleep", "1000")}}}


def job(name, policy):
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"template": {"metadata": {"labels": {"app": name}}, "spec": template(policy, "sleep", "1000")}}}


@only_local("`plimsoll down` ends a cluster and keeps its objects")
class DownAndUp(unittest.TestCase):
    def setUp(self):
        self.cluster = LocalCluster(self, "--nodes", "2")

    def pods(self, app):
        return {pod["metadata"]["name"]: pod for pod in self.cluster.get("pods", "-l", f"app={app}")["items"]}

    def running(self, app, count, restarts):
        """Pods that are Ready and were restarted so often, if there are so many; whatever else there is."""
        def is_good(pod):
            (status,) = pod["status"].get("containerStatuses") or [{}]
            return pod["status"]["phase"] == "Running" and status.get("ready") and status["restartCount"] == restarts
        found = {name: pod for name, pod in self.pods(app).items() if is_good(pod)}
        return len(found) == count and found

    def start_again(self):
        self.assertEqual(self.cluster.down().returncode, 0)
        self.cluster.up(self, "--nodes", "2")

    def test_the_same_pods_go_on(self):
        self.cluster.apply(deployment("web", 2), job("often", "OnFailure"))
        before = eventually(lambda: self.running("web", 2, 0), what="the pods")
        (of_job,) = eventually(lambda: self.running("often", 1, 0), what="the pod of the job")
        for restarts in (1, 2):
            self.start_again()
            after = eventually(lambda: self.running("web", 2, restarts), what="the pods after a restart")
            eventually(lambda: self.running("often", 1, restarts), what="the job's after a restart")
            # Nobody was replaced, and nobody is left over.
            self.assertEqual({name: pod["metadata"]["uid"] for name, pod in self.pods("web").items()},
                             {name: pod["metadata"]["uid"] for name, pod in before.items()})
            self.assertEqual(list(self.pods("often")), [of_job])
            for pod in after.values():
                self.assertEqual(pod["status"]["containerStatuses"][0]["lastState"]["terminated"]["exitCode"], 143)
        shown = self.cluster.kubectl("get", "pods").stdout
        self.assertNotIn("Error", shown)
        self.assertEqual(shown.count("Running"), 3)
        (name, *_) = before
        self.assertEqual(self.cluster.kubectl("logs", name, "--previous").returncode, 0)
        self.cluster.kubectl("rollout", "status", "deployment/web", "--timeout=20s")

    def test_a_pod_that_is_not_restarted_has_failed(self):
        self.cluster.apply(job("once", "Never"))
        (first,) = eventually(lambda: self.running("once", 1, 0), what="the pod")
        self.start_again()
        (second,) = eventually(lambda: self.running("once", 1, 0), 40, what="its successor")
        self.assertNotEqual(first, second)
        failed = self.pods("once")[first]
        self.assertEqual(failed["status"]["phase"], "Failed")
        self.assertEqual(failed["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 143)
        status = self.cluster.get("job", "once")["status"]
        self.assertEqual((status.get("failed"), status.get("active")), (1, 1))


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""A file for kind whose control plane has no scheduler configuration yet: the user copies it there later."""
import unittest

from locality_walk import EXAMPLE, LocalityWalk
from scheduler import eventually

from local_cluster import Cluster, Place


class CopiedLater(LocalityWalk, unittest.TestCase):
    control_plane, workers = "scheduler-control-plane", ("scheduler-worker", "scheduler-worker2", "scheduler-worker3")

    def setUp(self):
        self.place = Place(self)

    def plimsoll(self, *words):
        done = self.place.run(*words, cwd=EXAMPLE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def up(self):
        return self.plimsoll("up", "--name", "scheduler", "--config=kind.yml", "--images", "images.yaml", "--roles", "scheduler,images",
                             "--detach").stderr

    def log(self):
        return self.cluster.kubectl("logs", f"kube-scheduler-{self.control_plane}", "-n", "kube-system", check=False).stdout

    def copy_config(self):
        # docker cp scheduler-config.conf scheduler-control-plane:/etc/kubernetes/scheduler-config.conf
        self.plimsoll("node", "cp", "scheduler-config.conf", f"{self.control_plane}:/etc/kubernetes/scheduler-config.conf", "--name", "scheduler")
        eventually(lambda: "configuration reread" in self.log(), 60, what="the scheduler's new configuration")

    def test_the_default_runs_until_the_file_is_copied(self):
        self.addCleanup(self.place.run, "reset", "--name", "scheduler", "--yes")
        said = self.up()
        self.assertNotIn("warning", said)
        self.assertIn(f"note: the scheduler uses its defaults, because node {self.control_plane} has no /etc/kubernetes/scheduler-config.conf",
                      said)
        self.assertIn(f"plimsoll node cp FILE {self.control_plane}:/etc/kubernetes/scheduler-config.conf --name scheduler", said)
        self.cluster = Cluster(self, self.place.state("scheduler") / "kubeconfig", self.place)
        self.cluster.env.update(self.place.env, KUBECONFIG=self.cluster.kubeconfig)
        self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "first"}, "spec": {
            "containers": [{"name": "c", "image": "k8s.gcr.io/pause:3.4.1", "command": ["sleep", "3600"]}]}})
        self.addCleanup(self.cluster.kubectl, "delete", "pods", "--all", "--grace-period=0", "--force", check=False)
        eventually(lambda: self.cluster.get("pod", "first")["spec"].get("nodeName"), 60, what="a node by the defaults")
        eventually(lambda: 'plugin="NodeResourcesFit"' in self.log(), 60, what="the scores of the defaults")
        self.walk()
        # The copy stays: the next start has no note, and refuses a file that it cannot read.
        self.assertEqual(self.plimsoll("down", "--name", "scheduler").returncode, 0)
        self.assertNotIn("defaults", self.up())
        wrong = self.place.root / "wrong.conf"
        wrong.write_text("kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1\nparallelism: x\n")
        self.plimsoll("node", "cp", str(wrong), f"{self.control_plane}:/etc/kubernetes/scheduler-config.conf", "--name", "scheduler")
        self.plimsoll("down", "--name", "scheduler")
        refused = self.place.run("up", "--name", "scheduler", "--config=kind.yml", "--roles", "scheduler", "--detach", cwd=EXAMPLE)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("scheduler-config.conf:3:14: ", refused.stderr)

    def test_mistakes_of_node_cp(self):
        self.addCleanup(self.place.run, "reset", "--name", "m", "--yes")
        self.plimsoll("up", "--name", "m", "--nodes", "1", "--ephemeral", "--roles", "none", "--detach")
        for words, code, said in ((("README.md", "n1"), 2, "expected NODE:PATH"), (("README.md", "n1:/../x"), 2, "expected NODE:PATH"),
                                  (("README.md", "n9:/etc/x"), 4, "has no process node n9"), (("no-such-file", "n1:/etc/x"), 4, "no-such-file")):
            done = self.place.run("node", "cp", *words, "--name", "m", cwd=EXAMPLE)
            self.assertEqual((done.returncode, said in done.stderr), (code, True), done.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The page of kind-image-locality-demo on a local cluster: as a file for kind makes it, until the pods are where their image is."""
import shutil
import subprocess
import sys
import unittest

from locality_walk import EXAMPLE, LISTED, LocalityWalk
from scheduler import PROGRAM, eventually

from local_cluster import Cluster, Place


class Walk(LocalityWalk, unittest.TestCase):
    control_plane, workers = "scheduler-control-plane", ("scheduler-worker", "scheduler-worker2", "scheduler-worker3")

    def setUp(self):
        self.place = Place(self)
        self.here = self.place.root / "demo"
        self.here.mkdir()
        for name in ("cluster-config.yml", "images.yaml"):
            shutil.copy(EXAMPLE / name, self.here)
        self.config = self.here / "scheduler-config.conf"

    def copy_config(self):
        shutil.copy(EXAMPLE / "scheduler-config.conf", self.config)

    def plimsoll(self, *words):
        done = self.place.run(*words, cwd=self.here)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_the_page_ends_with_pods_where_their_image_is(self):
        # The scheduler of a new cluster does as usual; the page gives it another file later.
        self.config.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                               "clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf}\n")
        # kind create cluster --name scheduler --config=cluster-config.yml
        self.addCleanup(self.place.run, "reset", "--name", "scheduler", "--yes")
        made = self.plimsoll("up", "--name", "scheduler", "--config=cluster-config.yml", "--images", "images.yaml", "--roles",
                             "scheduler,images", "--detach")
        self.assertNotIn("warning", made.stderr)
        self.assertIn("4 nodes Ready", made.stderr)
        self.cluster = Cluster(self, self.place.state("scheduler") / "kubeconfig", self.place)
        self.cluster.env.update(self.place.env, KUBECONFIG=self.cluster.kubeconfig)
        # kind get clusters
        self.assertEqual(self.plimsoll("status", "-o", "name").stdout, "scheduler\n")
        # docker exec -it scheduler-worker crictl images
        shown = eventually(lambda: LISTED.items() <= (found := self.images("scheduler-worker")).items() and found, what="the images")
        self.assertNotIn("docker.io/library/busybox", shown)
        self.control_plane_is_kept_free()
        # The page's pods sleep through a SIGTERM.
        self.addCleanup(self.cluster.kubectl, "delete", "pods", "--all", "--grace-period=0", "--force", check=False)
        self.walk()
        told = self.plimsoll("explain", "pod", "busybox-sleep-1110", "--kubeconfig", str(self.cluster.kubeconfig)).stdout
        self.assertRegex(told, r"(?m)^RESULT  \S+  100000   runner-up \S+ 0   decided by ImageLocality$")
        self.assertIn("NOTE    kube-scheduler would give 0/0/0: ", told)
        self.restarts_what_dies()

    def control_plane_is_kept_free(self):
        node = self.cluster.get("node", self.control_plane)
        self.assertIn({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}, node["spec"]["taints"])
        self.assertEqual(node["metadata"]["labels"]["node-role.kubernetes.io/control-plane"], "")
        info = node["status"]["nodeInfo"]
        for field in ("osImage", "kernelVersion", "architecture", "operatingSystem", "bootID", "containerRuntimeVersion"):
            self.assertTrue(info[field], field)

    def restarts_what_dies(self):
        """A role that dies is a container that does, with a log of each run."""
        name = f"kube-scheduler-{self.control_plane}"

        def shown():
            return self.cluster.get("pod", name, "-n", "kube-system")
        pod = shown()
        before = pod["status"]["containerStatuses"][0]["restartCount"]
        if before:
            print(f"note: the scheduler had ended by itself: {self.cluster.kubectl('logs', name, '-n', 'kube-system', '-p', '--tail', '3').stdout}",
                  file=sys.stderr)
        command = pod["spec"]["containers"][0]["command"]
        self.assertEqual(command[1], "scheduler")
        self.assertIn(str(self.config), command)
        self.assertEqual(pod["metadata"]["ownerReferences"][0]["kind"], "Node")
        (pid,) = [line.split()[0] for line in subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout.splitlines()
                  if f"{PROGRAM} scheduler" in line and str(self.config) in line]
        subprocess.run(["kill", "-9", pid], check=True)
        (status,) = eventually(lambda: (found := shown()["status"]["containerStatuses"])[0]["restartCount"] == before + 1 and found, 60,
                               what="its restart")
        self.assertEqual(status["lastState"]["terminated"]["exitCode"], 137)
        eventually(lambda: "started address=" in self.cluster.kubectl("logs", name, "-n", "kube-system").stdout, what="its log")
        log = self.cluster.kubectl("logs", name, "-n", "kube-system", "-p", "--tail", "3").stdout
        self.assertEqual(len(log.splitlines()), 3)
        self.assertNotIn("started address=", log)


if __name__ == "__main__":
    unittest.main()

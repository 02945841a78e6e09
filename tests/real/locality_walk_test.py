#!/usr/bin/env python3
"""The page of kind-image-locality-demo on real kubelets, each with a containerd of its own: our scheduler as kubeadm's static pod."""
import json
import shutil
import subprocess
import sys
import unittest

from rig import PROGRAM, ROOT, RealClusterCase
from rig.images import BUSYBOX
from rig.requirements import with_containerd

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "scheduler"))
from locality_walk import EXAMPLE, LocalityWalk  # noqa: E402
from scheduler import directory  # noqa: E402

MANIFESTS = "/var/lib/kubelet/manifests"  # /etc of the nodes is this machine's
CONFIGURATION = "/var/lib/kubelet/etc"


class Walk(LocalityWalk, RealClusterCase):
    options = {"nodes": 3, "scheduler": False, "kubelet_configuration": {"staticPodPath": MANIFESTS, "fileCheckFrequency": "1s"}}
    control_plane, workers = "node1", ("node2", "node3")

    def host(self, path):
        """What a path of the control plane's is on this machine."""
        return self.cluster.nodes[0].kubelet_directory / path.removeprefix("/var/lib/kubelet/")

    def make_control_plane(self):
        """As kubeadm: label, taint, a kubeconfig for the scheduler, and its static pod with the arguments of cluster-config.yml."""
        self.cluster.kubectl("label", "node", "node1", "node-role.kubernetes.io/control-plane=")
        self.cluster.kubectl("taint", "node", "node1", "node-role.kubernetes.io/control-plane:NoSchedule")
        for path in (MANIFESTS, CONFIGURATION):
            self.host(path).mkdir()
        kubeconfig = self.host(CONFIGURATION) / "scheduler.conf"
        shutil.copy(self.cluster.pki.path("scheduler.kubeconfig"), kubeconfig)
        kubeconfig.chmod(0o644)
        (self.host(CONFIGURATION) / "scheduler-config.conf").write_text(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            "clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf}\n")
        done = subprocess.run([ROOT / "tools/image", "--program", PROGRAM, "--output", directory(self) / "image.tar", "--import",
                               self.cluster.nodes[0].cri_socket], capture_output=True, text=True, timeout=300,
                              env={**with_containerd(), "SOURCE_DATE_EPOCH": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        pod = json.loads(self.cluster.kubectl("create", "-f", str(ROOT / "deploy/scheduler/kube-scheduler.yaml"), "--dry-run=client", "-o",
                                              "json").stdout)
        (container,) = pod["spec"]["containers"]
        for probe in ("startupProbe", "livenessProbe"):
            container[probe].update(initialDelaySeconds=0, periodSeconds=1, failureThreshold=80)  # the times it waits as shipped, asked more often
        container["command"] += ["--config=/etc/kubernetes/scheduler-config.conf", "--v=15"]
        # The directory and not its files: of a file that is mounted alone nobody is told that it changes.
        pod["spec"]["volumes"] = [{"name": "kubeconfig", "hostPath": {"path": CONFIGURATION, "type": "Directory"}}]
        container["volumeMounts"] = [{"name": "kubeconfig", "mountPath": "/etc/kubernetes", "readOnly": True}]
        (self.host(MANIFESTS) / "kube-scheduler.yaml").write_text(json.dumps(pod))
        self.cluster.eventually(lambda: self.cluster.kubectl("get", "pod", "kube-scheduler-node1", "-n", "kube-system", "-o",
                                                             "jsonpath={.status.containerStatuses[0].ready}", check=False).stdout == "true",
                                90, what="the scheduler")

    def copy_config(self):
        shutil.copy(EXAMPLE / "scheduler-config.conf", self.host(CONFIGURATION))
        # A kubelet does not start a static pod anew because its mirror pod is deleted.
        self.cluster.eventually(lambda: "configuration reread" in self.cluster.kubectl("logs", "kube-scheduler-node1", "-n", "kube-system").stdout,
                                30, what="that the file is read again")

    def pod_text(self, name):
        # There is no registry to ask whether the tag means another image by now.
        text = super().pod_text(name)
        return text.replace("image: busybox\n", "image: busybox\n      imagePullPolicy: IfNotPresent\n")

    def leave_busybox_to_one(self):
        for node in self.cluster.nodes[:2]:
            node.ctr("images", "rm", "--sync", BUSYBOX)
        self.cluster.eventually(lambda: all(("docker.io/library/busybox" in self.images(worker)) == (worker == "node3")
                                            for worker in self.workers), 60, what="what the kubelets report")

    def test_the_page_ends_with_pods_where_their_image_is(self):
        self.make_control_plane()
        self.leave_busybox_to_one()
        self.assertEqual(self.walk(), "node3")


if __name__ == "__main__":
    unittest.main()

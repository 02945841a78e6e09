"""The page of kind-image-locality-demo on any cluster: its commands in its order, until there is something to see. Not a test itself.

`kind` is `plimsoll up` and `plimsoll status`, `docker exec … crictl images` is `plimsoll images`, `docker cp` is `cp`.
"""
import re
import subprocess

from scheduler import PROGRAM, ROOT, eventually

EXAMPLE = ROOT / "examples" / "locality"
PODS = ("busybox-sleep-0", "busybox-sleep-1110", "busybox-sleep-11100")
# What the page lists, as crictl prints it.
LISTED = {"docker.io/kindest/kindnetd": "54MB", "docker.io/rancher/local-path-provisioner": "13.4MB",
          "k8s.gcr.io/build-image/debian-base": "21.1MB", "k8s.gcr.io/coredns/coredns": "12.9MB", "k8s.gcr.io/etcd": "86.7MB",
          "k8s.gcr.io/kube-apiserver": "127MB", "k8s.gcr.io/kube-controller-manager": "121MB", "k8s.gcr.io/kube-proxy": "133MB",
          "k8s.gcr.io/kube-scheduler": "51.9MB", "k8s.gcr.io/pause": "301kB"}


class LocalityWalk:
    """Mixed into tests that have `cluster`, `control_plane`, `workers`, and copy_config() for the file's way to the scheduler."""

    def pod_text(self, name):
        """The page's file, its name edited."""
        text = (EXAMPLE / "busybox-pod.yaml").read_text()
        self.assertIn("name: busybox-sleep-0", text)
        return text.replace("name: busybox-sleep-0", f"name: {name}")

    def images(self, node):
        """docker exec -it NODE crictl images"""
        done = subprocess.run([PROGRAM, "images", "--node", node, "--kubeconfig", self.cluster.kubeconfig], env=self.cluster.env,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {line.split()[1]: line.split()[4] for line in done.stdout.splitlines()[1:]}

    def delete_scheduler(self):
        """It comes back with another uid; what else happens is the cluster's matter."""
        name = f"kube-scheduler-{self.control_plane}"
        before = self.cluster.get("pod", name, "-n", "kube-system")["metadata"]["uid"]
        # A kubectl that waits may miss that the pod is gone, since another of its name is there at once, and then waits for ever.
        self.cluster.kubectl("delete", "pod", name, "-n", "kube-system", "--wait=false")

        def back():
            shown = self.cluster.kubectl("get", "pod", name, "-n", "kube-system", "-o", "jsonpath={.metadata.uid} {.status.phase}",
                                         check=False).stdout.split()
            return len(shown) == 2 and shown[0] != before and shown[1] == "Running"
        eventually(back, 60, what="the scheduler's pod")

    def walk(self):
        # kubectl get nodes -o wide
        shown = self.cluster.kubectl("get", "nodes", "-o", "wide").stdout
        self.assertRegex(shown, rf"(?m)^{self.control_plane} +Ready +control-plane ")
        for worker in self.workers:
            self.assertRegex(shown, rf"(?m)^{worker} +Ready +<none> .* \S+://\S+$")
        self.assertNotIn("<unknown>", shown)
        # docker cp scheduler-config.conf scheduler-control-plane:/etc/kubernetes/scheduler-config.conf
        self.copy_config()
        # kubectl delete pod kube-scheduler-scheduler-control-plane -n kube-system
        self.delete_scheduler()
        # kubectl logs kube-scheduler-scheduler-control-plane -n kube-system -f
        log = self.cluster.popen("logs", f"kube-scheduler-{self.control_plane}", "-n", "kube-system", "-f")
        # kubectl apply -f manifests/busybox-pod.yaml, several times under other names
        for name in PODS:
            done = self.cluster.kubectl("apply", "-f", "-", input=self.pod_text(name)).stdout
            self.assertEqual(done, f"pod/{name} created\n")
            self.cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=90s")
        # kubectl get pods -o wide
        nodes = {name: self.cluster.get("pod", name)["spec"]["nodeName"] for name in PODS}
        (home,) = set(nodes.values())
        self.assertIn(home, self.workers)
        # docker exec -it scheduler-worker2 crictl images | grep busybox, and on every other worker
        eventually(lambda: [worker for worker in self.workers if "docker.io/library/busybox" in self.images(worker)] == [home], 30,
                   what=f"busybox on {home} alone")
        self.sees_scores(log, home)
        return home

    def sees_scores(self, log, home):
        """What the page's picture shows, but for the zeros."""
        wanted = {(name, worker): 100000 if worker == home else 0 for name in PODS[1:] for worker in self.workers}
        pattern = re.compile(r'"Plugin scored node for pod" pod="default/(\S+)" plugin="ImageLocality" node="(\S+)" score=(\d+)')
        seen = {}
        for line in log.stdout:
            if found := pattern.search(line):
                seen[found[1], found[2]] = int(found[3])
            if wanted.keys() <= seen.keys():
                break
        self.assertEqual({key: seen.get(key) for key in wanted}, wanted)

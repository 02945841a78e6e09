#!/usr/bin/env python3
"""Pods go where their images are: three real nodes with containerd stores of different content, agents on all of them, our
scheduler in each of its forms, and kube-scheduler beside it."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from rig import PROGRAM, ROOT, RealClusterCase
from rig.images import busybox_layer, image, layer, padding, write_archives

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "scheduler"))
from scheduler import Scheduler, eventually  # noqa: E402

DEPLOY = ROOT / "deploy"
MIB = 1 << 20
MANIFESTS = "/var/lib/kubelet/manifests"  # inside a node
SMALL = "registry.example/small:{}"  # on node1, too small for its status
ALIAS = "registry.example/alias:{}"  # other names of the last of them
NAMED = "registry.example/named:1"  # on node1, the sixth of its names
LARGE = "registry.example/team/large:1"  # on node2; node3 has all but the last layer
PROFILES = {"by-crd": "CRD", "by-annotation": "Annotation", "by-etcd": "Etcd", "by-any": "Auto"}


def profile(name, **arguments):
    return {"schedulerName": name, "plugins": {"score": {"disabled": [{"name": "*"}], "enabled": [{"name": "ImageLocality"}]}},
            "pluginConfig": [{"name": "ImageLocality", "args": arguments}]}


class Locality(RealClusterCase):
    # kube-scheduler has pods of its own, so that all schedulers run at once.
    options = {"nodes": 3, "scheduler_flags": ("--v=10",), "scheduler_configuration": {"profiles": [{"schedulerName": "stock"}]},
               "kubelet_configuration": {"nodeStatusMaxImages": 50, "staticPodPath": MANIFESTS}}

    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="plim-locality."))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        super().setUpClass()
        cls.fill_nodes()
        for name in ("crds/nodeimageinventory.yaml", "scheduler/rbac.yaml"):
            cls.cluster.kubectl("apply", "-f", str(DEPLOY / name))
        cls.cluster.kubectl("wait", "--for=condition=Established", "crd/nodeimageinventories.plimsoll.io", "--timeout=20s")
        cls.cluster.nodes[0].import_program()
        cls.start_static_scheduler()
        cls.agents = {node.name: cls.start_agent(node) for node in cls.cluster.nodes}

    @classmethod
    def fill_nodes(cls):
        first, second, third = cls.cluster.nodes
        base, more, last = busybox_layer(), padding(3 * MIB, seed=1), padding(MIB, seed=2)
        # No layer of images that every node has, or it would count there.
        pause = (cls.cluster.slot.run / "pause").read_bytes()
        tiny, own = layer({"pause": pause, "etc/tiny": b""}), layer({"pause": pause, "etc/own": bytes(4 * MIB)})
        images = [image(f"registry.example/filler:{number}", [base], labels={"number": str(number)}) for number in range(50)]
        images += [image(SMALL.format(number), [tiny], ["/pause"], labels={"number": str(number)}) for number in range(8)]
        images.append(image(NAMED, [own], ["/pause"]))
        cls.import_to(first, images)
        cls.import_to(second, [image(LARGE, [base, more, last], command=["sleep", "1000"])])
        cls.import_to(third, [image("registry.example/team/base:1", [base, more])])
        digest = next(words[2] for words in map(str.split, first.ctr("images", "ls").splitlines()) if words[0] == NAMED)
        first.ctr("images", "tag", NAMED, *(f"registry.example/mirror{number}@{digest}" for number in range(5)))
        first.ctr("images", "tag", SMALL.format(7), *(ALIAS.format(number) for number in range(20)))
        # It looks at its images when it starts, and then twice a minute.
        (first.kubelet_directory / "manifests").mkdir()
        first.kubelet.kill()
        first.kubelet.start()

    @classmethod
    def import_to(cls, node, images):
        node.import_image(write_archives(cls.place / "images.tar", images))

    @classmethod
    def start_static_scheduler(cls):
        """As on a control plane that kubeadm made, with our file in place of its own."""
        node = cls.cluster.nodes[0]
        manifest = (DEPLOY / "scheduler" / "kube-scheduler.yaml").read_text()
        # The nodes here share /etc with this machine.
        kubeconfig = cls.cluster.pki.user("kubeadm-scheduler", "/CN=system:kube-scheduler")
        manifest = manifest.replace("hostPath: {path: /etc/kubernetes/scheduler.conf", f"hostPath: {{path: {kubeconfig}")
        written = node.kubelet_directory / "kube-scheduler.yaml"
        written.write_text(manifest)
        written.rename(node.kubelet_directory / "manifests" / "kube-scheduler.yaml")

    @classmethod
    def etcd_flags(cls):
        pki = cls.cluster.pki
        return ("--etcd-endpoints", f"https://{cls.cluster.slot.address}:2379", "--etcd-cacert", str(pki.path("ca.crt")),
                "--etcd-cert", str(pki.path("etcd-client.crt")), "--etcd-key", str(pki.path("etcd-client.key")), "--etcd-cluster", "rig")

    @classmethod
    def start_agent(cls, node):
        place = cls.place / node.name
        place.mkdir()
        with open(place / "log", "w") as log:
            agent = subprocess.Popen(
                [PROGRAM, "agent", "--images", "--cri-endpoint", f"unix://{node.cri_socket}", "--kubeconfig", cls.cluster.kubeconfig,
                 "--node-name", node.name, "--run-dir", str(place), "--metrics-listen", "127.0.0.1:0", "--images-interval", "500ms",
                 "--images-resend", "1s", "--publish", "crd,annotation,etcd", "--etcd-lease", "3s", *cls.etcd_flags()],
                stdout=log, stderr=log)
        cls.addClassCleanup(agent.wait)
        cls.addClassCleanup(agent.kill)
        return agent

    def setUp(self):
        super().setUp()
        self.api = self.cluster.api()
        self.addCleanup(self.api.close)
        self.namespace = self.cluster.namespace()
        self.pods = f"/api/v1/namespaces/{self.namespace}/pods"

    def create(self, name, image_, scheduler=None):
        spec = {"containers": [{"name": "main", "image": image_, "imagePullPolicy": "IfNotPresent"}], "terminationGracePeriodSeconds": 0}
        if scheduler:
            spec["schedulerName"] = scheduler
        self.api.post(self.pods, {"metadata": {"name": name}, "spec": spec})

    def node_of(self, name):
        return self.cluster.eventually(lambda: self.api.get(f"{self.pods}/{name}")["spec"].get("nodeName"), what=f"a node for {name}")

    def runs(self, name):
        return self.cluster.eventually(lambda: self.api.get(f"{self.pods}/{name}")["status"]["phase"] == "Running", 30, what=f"{name} to run")

    def start_scheduler(self):
        """Ours, with a profile for every source of inventories and one that scores as kube-scheduler does."""
        config = self.place / "scheduler.yaml"
        kubeconfig = self.cluster.pki.path("scheduler.kubeconfig")
        config.write_text(json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 1000, "burst": 1000},
            "profiles": [profile("compat", mode="Compat", tieBreak="First"),
                         *(profile(name, inventory=source) for name, source in PROFILES.items())]}))
        self.scheduler = Scheduler(self, kubeconfig, "--config", str(config), "--v=10", "--explain-full", *self.etcd_flags()).start()

    def explained(self, name):
        """Score and detail of each node."""
        done = subprocess.run([PROGRAM, "explain", "pod", f"{self.namespace}/{name}", "--kubeconfig", self.cluster.kubeconfig, "--scheduler",
                               self.scheduler.url, "--scheduler-ca", self.scheduler.authority, "-o", "json"], capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {row["node"]: (row["total"], row["scores"][0]["detail"]) for row in json.loads(done.stdout)["rows"]}

    def scores_in(self, log, name):
        """Of ImageLocality, by node, as -v=10 prints it."""
        found = re.findall(rf'"Plugin scored node for pod" pod="{self.namespace}/{name}" plugin="ImageLocality" node="(\S+)" score=(\d+)', log)
        return {node: int(score) for node, score in found}

    def known_to(self, source):
        """Whether all agents have told that place."""
        if source == "Annotation":
            return all("plimsoll.io/images-at" in node["metadata"]["annotations"] for node in self.api.get("/api/v1/nodes")["items"])
        return len(self.api.get("/apis/plimsoll.io/v1alpha1/nodeimageinventories")["items"]) == 3

    def test_small_images_and_sixth_names_count_with_an_agent_only(self):
        everything = {"node1": 0, "node2": 0, "node3": 0}
        names = self.cluster.eventually(lambda: len(found := self.api.get("/api/v1/nodes/node1")["status"]["images"]) == 50 and
                                        [one["names"] for one in found], 45, what="the kubelet's 50 images")
        self.assertNotIn(SMALL.format(0), sum(names, []))
        self.assertNotIn(NAMED, sum(names, []))
        (five,) = [one for one in names if any("mirror0" in name for name in one)]
        self.assertEqual(len(five), 5)
        self.start_scheduler()
        self.cluster.eventually(lambda: self.known_to("CRD"), what="the inventories")
        for number, image_ in enumerate((SMALL.format(0), NAMED)):
            # First where it counts: a pod that is somewhere brings its images there.
            self.create(f"by-crd-{number}", image_, "by-crd")
            self.assertEqual(self.node_of(f"by-crd-{number}"), "node1")
            self.assertEqual(self.scores_in(self.scheduler.log, f"by-crd-{number}"), {**everything, "node1": 100})
            for scheduler in ("compat", "stock"):
                self.create(f"{scheduler}-{number}", image_, scheduler)
            self.node_of(f"compat-{number}")
            self.assertEqual(self.scores_in(self.scheduler.log, f"compat-{number}"), everything)
            self.node_of(f"stock-{number}")
            self.assertEqual(self.cluster.eventually(lambda number=number: self.scores_in(
                self.cluster.scheduler.log.read_text(errors="replace"), f"stock-{number}"), what="its log"), everything)
            self.runs(f"by-crd-{number}")
        self.scheduler.stop()

    def test_every_source_is_read_and_its_age_is_told(self):
        self.start_scheduler()
        for number, (name, source) in enumerate(PROFILES.items(), 1):
            self.cluster.eventually(lambda source=source: self.known_to(source), what=f"what {source} tells")
            by = "CRD" if source == "Auto" else source

            def placed(number=number, name=name, by=by):
                """Once its first look at etcd is over, and all nodes are in it."""
                one = f"{name}-{placed.tries}"
                placed.tries += 1
                self.create(one, SMALL.format(number), name)
                self.node_of(one)
                told = self.explained(one)
                return ({node: score for node, (score, _) in told.items()} == {"node1": 100, "node2": 0, "node3": 0}
                        and all(re.search(rf", by {by} \d+s ago$", words) for _, words in told.values()))
            placed.tries = 0
            self.cluster.eventually(placed, every=0.5, what=f"the holder by {source}, with the age of what is known of all nodes")
        # Without its agent the node's key goes with its lease; what the kubelet tells is left.
        node = self.cluster.nodes[0]
        self.agents[node.name].kill()
        self.agents[node.name].wait()

        def gone():
            """By another name each time: where a pod is, its image is promised."""
            one = f"gone-{gone.tries}"
            gone.tries += 1
            self.create(one, ALIAS.format(gone.tries), "by-etcd")
            self.node_of(one)
            told = self.explained(one)
            return told[node.name] if told[node.name][0] == 0 else None
        gone.tries = 0
        told = self.cluster.eventually(gone, 25, every=1.5, what="the end of the lease")
        self.assertRegex(told[1], "^missing .*, by its status$")
        self.create("still", ALIAS.format(0), "by-crd")
        self.assertEqual(self.node_of("still"), node.name)  # the resource stays, and grows old
        self.scheduler.stop()
        shutil.rmtree(self.place / node.name)
        self.agents[node.name] = self.start_agent(node)

    def test_pods_land_where_the_layers_are_while_containerd_comes_and_goes(self):
        self.start_scheduler()
        self.cluster.eventually(lambda: self.known_to("CRD"), what="the inventories")
        for number in range(3):
            self.create(f"large-{number}", LARGE, "by-any")
        for number in range(3):
            self.assertEqual(self.node_of(f"large-{number}"), "node2")
            self.runs(f"large-{number}")
        scores = self.scores_in(self.scheduler.log, "large-0")
        self.assertEqual(scores["node2"], 100)
        # node3 lacks the last layer; node1 has the first, by busybox.
        self.assertTrue(0 < scores["node1"] < 50 < scores["node3"] < 100, scores)
        node = self.cluster.nodes[2]
        for _ in range(2):
            node.containerd.kill()
            node.containerd.start()
            self.cluster.eventually(node.runtime_answers, what="containerd")
        self.import_to(node, [image("registry.example/late:1", [busybox_layer(), padding(MIB, seed=3)], command=["sleep", "1000"])])

        def told():
            spec = self.api.get("/apis/plimsoll.io/v1alpha1/nodeimageinventories/node3")["spec"]
            return any("registry.example/late:1" in one["names"] for one in spec["images"])
        self.cluster.eventually(told, 15, what="the inventory after two restarts")
        self.create("late", "registry.example/late:1", "by-crd")
        self.assertEqual(self.node_of("late"), "node3")
        self.runs("late")
        self.scheduler.stop()

    def test_the_kubelet_runs_it_from_kubeadms_file_in_place_of_kube_scheduler(self):
        self.create("plain", "busybox")
        self.node_of("plain")
        lease = self.api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")
        self.assertTrue(lease["spec"]["holderIdentity"].startswith("node1_"), lease)

        def ready():
            mirror = self.api.get("/api/v1/namespaces/kube-system/pods/kube-scheduler-node1")
            return {one["type"]: one["status"] for one in mirror["status"].get("conditions", [])}.get("Ready") == "True"
        self.cluster.eventually(ready, 40, what="its probes")
        self.assertNotIn("forbidden", self.logs("kube-scheduler-node1"))

    def logs(self, *words):
        return self.cluster.kubectl("logs", "-n", "kube-system", "--tail=-1", *words).stdout.lower()

    def test_it_is_installed_beside_another_scheduler_with_its_own_rights(self):
        def plimsoll(*words):
            return subprocess.run([PROGRAM, *words, "--kubeconfig", self.cluster.kubeconfig], capture_output=True, text=True, timeout=60,
                                  check=True).stdout
        self.assertIn("deployment.apps/plimsoll-scheduler applied", plimsoll("install", "scheduler"))
        self.addCleanup(self.cluster.kubectl, "delete", "deployment", "plimsoll-scheduler", "-n", "kube-system", "--wait=false")
        # One node has the image.
        patch = {"spec": {"template": {"spec": {"nodeName": "node1"}}}}
        self.cluster.kubectl("patch", "deployment", "plimsoll-scheduler", "-n", "kube-system", "-p", json.dumps(patch))
        self.cluster.kubectl("rollout", "status", "deployment/plimsoll-scheduler", "-n", "kube-system", "--timeout=60s")
        self.create("small", SMALL.format(6), "plimsoll-scheduler")
        self.assertEqual(self.node_of("small"), "node1")  # by the inventories, which it may read
        self.runs("small")
        replicas = self.api.get("/api/v1/namespaces/kube-system/pods?labelSelector=app%3Dplimsoll-scheduler")["items"]
        ready = [one["metadata"]["name"] for one in replicas if any(status["ready"] for status in one["status"].get("containerStatuses", []))]
        self.assertEqual(len(ready), 2)
        for name in ready:
            self.assertNotIn("forbidden", self.logs(name))


if __name__ == "__main__":
    unittest.main()

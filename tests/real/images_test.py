#!/usr/bin/env python3
"""The inventory of images beside a real containerd: layers, restarts, every place it is published to, and nobody else's object."""
import base64
import contextlib
import hashlib
import json
import subprocess
import sys
import unittest

from node_daemon import NodeDaemon
from rig import PROGRAM, ROOT, RealClusterCase
from rig.images import busybox_archive, padding

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import KUBECTL, eventually  # noqa: E402

DEPLOY = ROOT / "deploy" / "images"
CRD = ROOT / "deploy" / "crds" / "nodeimageinventory.yaml"
MIB = 1 << 20


def documents(text):
    """JSON values one after the other, as kubectl prints them."""
    while text := text.strip():
        value, end = json.JSONDecoder().raw_decode(text)
        yield from value.get("items", [value])
        text = text[end:]


class ImagesOnRealNodes(NodeDaemon, RealClusterCase):
    options = {"nodes": 2}

    def setUp(self):
        super().setUp()
        self.make_place("plim-images.")
        self.cluster.kubectl("apply", "-f", str(CRD))
        self.cluster.kubectl("wait", "--for=condition=Established", "crd/nodeimageinventories.plimsoll.io", "--timeout=20s")

    def start(self, *words):
        self.launch("agent", "--images", "--cri-endpoint", f"unix://{self.node.cri_socket}", "--images-interval", "500ms", *words)

    def writes(self):
        return self.metric('plimsoll_images_reports_total{result="success"}')

    def inventory(self, node=None):
        with contextlib.suppress(AssertionError, subprocess.CalledProcessError):
            return self.cluster.get("nodeimageinventories", node or self.node.name)
        return None

    def image(self, name):
        spec = (self.inventory() or {}).get("spec", {})
        for one in spec.get("images", []):
            if name in one["names"]:
                return {**one, "layers": [spec["layers"][place] for place in one.get("layers", [])]}
        return None

    def import_image(self, name, *layers, node=None):
        (node or self.node).import_image(busybox_archive(self.place / "image.tar", name, layers))

    def test_the_inventory_is_right_and_stays_so_while_containerd_comes_and_goes(self):
        shared = padding(3 * MIB, seed=1)
        self.import_image("registry.example/team/one:1", shared)
        self.start("--images-resend", "1h")
        self.import_image("registry.example/team/two:1", shared, padding(MIB, seed=2))
        two = eventually(lambda: self.image("registry.example/team/two:1"), what="the new image")
        one = self.image("registry.example/team/one:1")
        # What they share is one layer in the table, of the size that the content store says.
        self.assertEqual(one["layers"], two["layers"][:2])
        stored = {line.split()[0]: line for line in self.node.ctr("content", "ls").splitlines()[1:]}
        for layer in two["layers"]:
            self.assertIn(layer["d"], stored)
        self.assertGreater(two["layers"][1]["n"], 3 * MIB)
        self.assertLess(sum(layer["n"] for layer in two["layers"]), two["size"])
        self.assertGreater(sum(layer["n"] for layer in two["layers"]), two["size"] - 20_000)  # manifest, configuration
        # Sizes and names are those of the kubelet, which asks the same runtime.
        spec = self.inventory()["spec"]
        self.assertTrue(spec["runtime"].startswith("containerd://"))
        (owner,) = self.inventory()["metadata"]["ownerReferences"]
        self.assertEqual(owner["uid"], self.cluster.get("node", self.node.name)["metadata"]["uid"])

        theirs = {name: image["sizeBytes"] for image in self.cluster.get("node", self.node.name)["status"]["images"]
                  for name in image["names"]}
        ours = {name: image["size"] for image in spec["images"] for name in image["names"]}
        self.assertIn("docker.io/library/busybox:latest", theirs)
        self.assertEqual({name: size for name, size in ours.items() if name in theirs}, theirs)

        # Away twice: nothing is written, since nothing changed; then a change is seen again.
        writes = self.writes()
        for _ in range(2):
            self.node.containerd.kill()
            eventually(lambda: self.metric("plimsoll_images_runtime_up") == 0, what="that it is away")
            self.node.containerd.start()
            eventually(lambda: self.metric("plimsoll_images_runtime_up") == 1, 15, what="that it is back")
        self.assertEqual(self.writes(), writes)
        self.node.ctr("images", "rm", "--sync", "registry.example/team/one:1")
        eventually(lambda: self.image("registry.example/team/one:1") is None, 15, what="the loss")
        self.assertEqual(self.writes(), writes + 1)

        # A second one on the same node does not start.
        second = subprocess.run([PROGRAM, "agent", "--images", "--kubeconfig", self.cluster.kubeconfig, "--node-name", self.node.name,
                                 "--run-dir", self.place],
                                capture_output=True, text=True, timeout=20)
        self.assertEqual(second.returncode, 1)
        self.assertIn(str(self.process.pid), second.stderr)

        # People see the same, and where no agent runs what the kubelet reports.
        other = self.cluster.nodes[1].name
        self.cluster.kubectl("delete", "nodeimageinventories", other, "--ignore-not-found")
        self.assertEqual(self.shown("--image", "busybox"), {(self.node.name, "inventory"), (other, "status")})
        self.assertEqual(self.shown("--image", "registry.example/team/two"), {(self.node.name, "inventory")})

    def test_a_pull_under_way_is_told(self):
        self.start("--images-resend", "1h")
        data = bytes(8 * MIB)
        digest = "sha256:" + hashlib.sha256(data).hexdigest()
        pull = subprocess.Popen(self.node.ctr_words("content", "ingest", "--expected-size", str(8 * MIB), f"layer-{digest}"),
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(pull.wait)
        self.addCleanup(pull.kill)
        pull.stdin.write(data[:4 * MIB])
        pull.stdin.flush()

        def told():
            return [one for one in (self.inventory() or {}).get("spec", {}).get("pulling", []) if one["offset"] >= 3 * MIB]
        (seen,) = eventually(told, 30, what="the pull")
        self.assertEqual((seen["ref"], seen["total"]), (digest, 8 * MIB))
        pull.stdin.write(data[4 * MIB:])
        pull.stdin.close()
        eventually(lambda: "pulling" not in self.inventory()["spec"], 15, what="its end")

    def shown(self, *words):
        done = subprocess.run([PROGRAM, "images", "--kubeconfig", self.cluster.kubeconfig, "-o", "json", *words],
                              capture_output=True, text=True, timeout=20, check=True)
        return {(one["node"], one["source"]) for one in json.loads(done.stdout)["items"]}

    def etcd_value(self, key):
        found = self.cluster.etcd_request("/v3/kv/range", {"key": base64.b64encode(key.encode()).decode()}).get("kvs")
        return base64.b64decode(found[0]["value"]) if found else None

    def test_it_is_told_to_etcd_and_by_an_annotation_too(self):
        pki = self.cluster.pki
        self.start("--publish", "etcd,annotation", "--images-resend", "1s", "--etcd-lease", "3s", "--etcd-cluster", "rig",
                   "--etcd-endpoints", f"https://{self.cluster.slot.address}:2379", "--etcd-cacert", str(pki.path("ca.crt")),
                   "--etcd-cert", str(pki.path("etcd-client.crt")), "--etcd-key", str(pki.path("etcd-client.key")))
        key = f"/plimsoll/images/v1/rig/{self.node.name}"
        spec = json.loads(eventually(lambda: self.etcd_value(key), what="the key"))
        self.assertIn("docker.io/library/busybox:latest", [name for image in spec["images"] for name in image["names"]])
        layer = spec["layers"][0]
        self.assertEqual(int(self.etcd_value(f"/plimsoll/layers/v1/{layer['d']}")), layer["n"])
        text = eventually(lambda: self.cluster.get("node", self.node.name)["metadata"]["annotations"].get("plimsoll.io/images"),
                          what="the annotation")
        self.assertEqual(base64.b64decode(text)[:4], b"\x28\xb5\x2f\xfd")  # zstd
        self.end()
        eventually(lambda: self.etcd_value(key) is None, 30, what="the end of the lease")

    def bound_token(self, pod):
        """As the kubelet gives it to that pod."""
        with contextlib.closing(self.cluster.api()) as api:
            return api.post("/api/v1/namespaces/kube-system/serviceaccounts/plimsoll-images/token", {
                "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"boundObjectRef": {
                    "kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}}})["status"]["token"]

    def test_the_files_of_deploy_tell_of_every_node_and_let_none_speak_for_another(self):
        for node in self.cluster.nodes:
            node.import_program()
        self.cluster.kubectl("delete", "nodeimageinventories", "--all")
        self.cluster.kubectl("create", "-f", str(DEPLOY / "rbac.yaml"))
        self.cluster.kubectl("create", "-k", str(DEPLOY.parent / "shared" / "own-node"))
        (daemons,) = documents(self.cluster.kubectl("create", "-f", str(DEPLOY / "daemonset.yaml"), "--dry-run=client", "-o", "json").stdout)
        spec = daemons["spec"]["template"]["spec"]
        (container,) = spec["containers"]
        # Of the host it gets the directory of the socket, and of root's powers none.
        self.assertEqual([volume["hostPath"] for volume in spec["volumes"]], [{"path": "/run/containerd", "type": "Directory"}])
        self.assertFalse({"hostPID", "hostIPC", "hostNetwork"} & spec.keys())
        self.assertNotIn("privileged", container["securityContext"])
        self.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})
        self.cluster.kubectl("create", "-f", str(DEPLOY / "daemonset.yaml"))
        # With its pods: another test would take what they write for what its own agent writes.
        self.addCleanup(self.cluster.kubectl, "delete", "daemonset", "plimsoll-images", "-n", "kube-system", "--cascade=foreground",
                        check=False)
        self.cluster.kubectl("rollout", "status", "daemonset/plimsoll-images", "-n", "kube-system", "--timeout=90s")
        for node in self.cluster.nodes:
            told = eventually(lambda node=node: self.inventory(node.name), 30, what="its inventory")
            self.assertEqual(told["metadata"]["ownerReferences"][0]["uid"], self.cluster.get("node", node.name)["metadata"]["uid"])
        logs = self.cluster.kubectl("logs", "-n", "kube-system", "-l", "name=plimsoll-images", "--tail=-1").stdout
        self.assertNotRegex(logs.lower(), "forbidden|denied|not known")

        pods = self.cluster.get("pods", "-n", "kube-system", "-l", "name=plimsoll-images")["items"]
        first = next(pod for pod in pods if pod["spec"]["nodeName"] == self.node.name)
        agent = self.cluster.pki.kubeconfig("agent", {"token": self.bound_token(first)})

        def write(node):
            object_ = self.inventory(node)
            object_["spec"]["images"] = []
            return subprocess.run([KUBECTL, "--kubeconfig", str(agent), "replace", "-f", "-"], input=json.dumps(object_),
                                  capture_output=True, text=True, timeout=20)
        other = self.cluster.nodes[1].name
        refused = eventually(lambda: (done := write(other)).returncode != 0 and done, what="the policy")
        self.assertIn(f"node {other} is described by a pod on it only; this one runs on {self.node.name}", refused.stderr)
        self.assertEqual(write(self.node.name).returncode, 0)


if __name__ == "__main__":
    unittest.main()

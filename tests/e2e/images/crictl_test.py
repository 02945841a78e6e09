#!/usr/bin/env python3
"""The program under the name crictl, and the CRI socket of a local node that it reads."""
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "local"))
from local_cluster import PROGRAM, LocalCluster, Place, eventually  # noqa: E402

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "locality"
CATALOG = """images:
  app:1: {layers: [{digest: 'sha256:base', size: 54M}], nodes: ["*"]}
  app:2: {layers: [{digest: 'sha256:two', size: 771k}], nodes: [n1]}
"""


class Crictl(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.place = Place(cls.shared)
        (cls.place.root / "catalog.yaml").write_text(CATALOG)
        cls.cluster = LocalCluster(cls.shared, "--nodes", "2", "--ephemeral", "--images", str(cls.place.root / "catalog.yaml"),
                                   place=cls.place)
        cls.link = cls.place.root / "crictl"
        cls.link.symlink_to(PROGRAM)
        cls.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "labels": {"app": "web"}}, "spec": {
            "nodeName": "n1", "containers": [{"name": "c", "image": "app:1", "command": ["sleep", "3600"]}]}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "done"}, "spec": {
                "nodeName": "n1", "restartPolicy": "Never", "containers": [{"name": "once", "image": "app:2", "command": ["true"]}]}})
        cls.cluster.kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=60s")
        eventually(lambda: cls.cluster.get("pod", "done")["status"]["phase"] == "Succeeded", what="the end of a pod")

    @classmethod
    def tearDownClass(cls):
        cls.cluster.kubectl("delete", "pods", "--all", "--grace-period=0", "--force", check=False)
        cls.shared.doCleanups()

    def socket(self, node="n1"):
        return self.place.run_directory("t") / node / "containerd" / "containerd.sock"

    def crictl(self, *words, code=0, env=None):
        done = subprocess.run([self.link, *words], env={**self.place.env, "CONTAINER_RUNTIME_ENDPOINT": f"unix://{self.socket()}", **(env or {})},
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code else done.stdout

    def test_images_have_the_columns_of_crictl(self):
        lines = self.crictl("images").splitlines()
        self.assertEqual(lines[0], "IMAGE                        TAG                 IMAGE ID            SIZE")
        self.assertRegex(lines[1], r"^docker.io/library/app        1                   [0-9a-f]{13}       54MB$")
        self.assertRegex(lines[2], r"^docker.io/library/app        2                   [0-9a-f]{13}       771kB$")
        self.assertEqual(len(self.crictl("images", "-q").split()), len(lines) - 1)
        self.assertEqual(self.crictl("img", "app:2", "--digests", "--no-trunc").splitlines()[0].split()[2], "DIGEST")
        self.assertEqual(len(self.crictl("images", "app:2").splitlines()), 2)
        self.assertEqual(self.crictl("images", "ls"), self.crictl("images"))
        found = json.loads(self.crictl("images", "-o", "json", "app:2"))["images"]
        self.assertEqual([(one["repoTags"], one["size"]) for one in found], [(["docker.io/library/app:2"], "771000")])
        self.assertIn("repoTags:\n  - docker.io/library/app:2", self.crictl("images", "--output=yaml", "app:2"))
        self.assertNotIn("app:2", self.crictl("-r", f"unix://{self.socket('n2')}", "images", "-o", "json"))

    def test_containers_and_pods(self):
        row = self.crictl("ps").splitlines()
        self.assertEqual(row[0].split("  ")[0], "CONTAINER")
        self.assertEqual(len(row), 2)
        self.assertRegex(row[1], r"^[0-9a-f]{13} +[0-9a-f]{13} +.* ago +Running +c +0 +[0-9a-f]{13} +web +default$")
        self.assertRegex(self.crictl("ps", "-r"), r" docker.io/library/app:1 ")
        self.assertRegex(self.crictl("ps", "-a", "--name", "^once$"), r"(?s) Exited +once .* done +default\n$")
        self.assertEqual(len(self.crictl("ps", "-aq").split()), 2)
        self.assertEqual(self.crictl("ps", "-q", "--image", "app:1"), self.crictl("ps", "-q"))
        self.assertEqual(self.crictl("ps", "-q", "--image", "app:2"), "")
        running = self.cluster.get("pod", "web")["status"]["containerStatuses"][0]["containerID"].split("//")[1]
        self.assertEqual(self.crictl("ps", "-q", "--no-trunc").strip(), running)
        self.assertRegex(self.crictl("pods", "--label", "app=web"), r"(?m)^[0-9a-f]{13} +.* ago +Ready +web +default +0 +\(default\)$")
        self.assertRegex(self.crictl("pods", "-s", "notready"), r"(?m) NotReady +done +default ")
        told = json.loads(self.crictl("info"))
        self.assertEqual([one["status"] for one in told["status"]["conditions"]], [True, True])
        self.assertIn("RuntimeName:  plimsoll\n", self.crictl("version"))

    def test_settings_come_from_flag_environment_and_file(self):
        config = self.place.root / "crictl.yaml"
        config.write_text(f"runtime-endpoint: unix://{self.socket('n2')}\ntimeout: 3\n")
        none = {"CONTAINER_RUNTIME_ENDPOINT": ""}
        self.assertNotIn(" 771kB", self.crictl("-c", str(config), "images", env=none))
        self.assertIn(" 771kB", self.crictl("-c", str(config), "images"))
        self.assertNotIn(" 771kB", self.crictl("-i", str(self.socket("n2")), "images"))
        config.write_text("endpoint: x\n")
        self.assertIn('"endpoint" is not an option of crictl.yaml', self.crictl("-c", str(config), "images", code=1))

    def test_mistakes_are_reported(self):
        self.assertIn("unknown flag --colour; usage: crictl images ", self.crictl("images", "--colour", code=1))
        self.assertIn('"pull" is not a command of this crictl', self.crictl("pull", "busybox", code=1))
        self.assertIn('unsupported output format "xml"', self.crictl("ps", "-o", "xml", code=1))
        self.assertIn("--state: ", self.crictl("ps", "--state", "asleep", code=1))
        self.assertIn("expected a unix socket", self.crictl("-r", "tcp://127.0.0.1:1", "ps", code=1))
        gone = self.crictl("-r", "unix:///nowhere/containerd.sock", "images", code=1)
        self.assertIn("cannot ask the runtime at unix:///nowhere/containerd.sock", gone)

    @unittest.skipIf(os.geteuid(), "needs root")
    def test_node_exec_runs_crictl_on_a_node(self):
        done = self.place.run("node", "exec", "n2", "--name", "t", "--", "crictl", "images")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("docker.io/library/app ", done.stdout)
        self.assertNotIn(" 771kB", done.stdout)

    def test_the_daemon_set_of_the_demo_lists_the_images_of_its_node(self):
        self.cluster.kubectl("apply", "-f", str(EXAMPLE / "crictl-daemonset.yaml"))
        self.addCleanup(self.cluster.kubectl, "delete", "-f", str(EXAMPLE / "crictl-daemonset.yaml"), "--wait=false")
        for node, size in (("n1", "771kB"), ("n2", "54MB")):
            def log():
                (name,) = [one["metadata"]["name"] for one in self.cluster.get("pods", "-l", "name=rancher-crictl")["items"]
                           if one["spec"]["nodeName"] == node] or [""]
                shown = self.cluster.kubectl("logs", name, "--limit-bytes=4000", check=False).stdout
                return size in shown and shown
            shown = eventually(log, 60, what=f"the images of {node}")
            self.assertTrue(shown.startswith("IMAGE  "), shown)
            self.assertNotIn("not found", shown)
            self.assertEqual("771kB" in shown, node == "n1")

    def test_a_stopped_node_has_no_socket(self):
        self.assertTrue(self.socket("n2").is_socket())
        self.place.run("node", "stop", "n2", "--name", "t")
        self.assertFalse(self.socket("n2").exists())
        self.place.run("node", "start", "n2", "--name", "t")
        eventually(lambda: self.socket("n2").is_socket(), what="the socket")


class Lag(unittest.TestCase):
    def test_an_image_is_shown_about_a_second_after_its_pull(self):
        """The agent's interval is ten seconds. Three changes in a row would rarely be shown in time by luck."""
        place = Place(self)
        cluster = LocalCluster(self, "--nodes", "1", "--roles", "images", "--ephemeral", place=place)
        eventually(lambda: "inventory" in place.run("images", "--kubeconfig", str(cluster.kubeconfig)).stdout, what="an inventory")
        for number in range(3):
            self.assertEqual(place.run("images", "load", f"new{number}", "--name", "t").returncode, 0)
            eventually(lambda: "inventory" in place.run("images", "--image", f"new{number}", "--kubeconfig", str(cluster.kubeconfig)).stdout,
                       5, what="the image")


if __name__ == "__main__":
    unittest.main()

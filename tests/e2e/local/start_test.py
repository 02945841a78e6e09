#!/usr/bin/env python3
"""Starting, stopping, showing and removing local clusters; what they leave behind; who may read their files."""
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
import unittest

from local_cluster import PROGRAM, Cluster, LocalCluster, Place, alive, eventually, only_local

BARE = ("--nodes", "0")


def quiet_port():
    """A free one below those that the kernel hands out."""
    while True:
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", random.randrange(20_000, 30_000)))
                return tried.getsockname()[1]
            except OSError:
                pass


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@only_local("starts, stops and inspects local clusters")
class Detached(unittest.TestCase):
    def test_up_is_ready_when_it_returns(self):
        cluster = LocalCluster(self, *BARE)
        kubeconfig = cluster.place.state("t") / "kubeconfig"
        self.assertEqual(cluster.started.stdout, f"export KUBECONFIG={kubeconfig}\n")
        self.assertRegex(cluster.started.stderr, r"(?m)^ +0\.\d{3} s  API server at https://127\.0\.0\.1:\d+$")
        self.assertRegex(cluster.started.stderr, r"(?m)^ +0\.\d{3} s  ready$")
        self.assertIn("namespace/default\n", cluster.raw("/api/v1/namespaces", "-o", "name").stdout)

    def test_status_says_where_it_is(self):
        cluster = LocalCluster(self, *BARE)
        status = cluster.status()
        self.assertEqual(status["status"], "Running")
        self.assertTrue(alive(status["pid"]))
        self.assertEqual(status["kubeconfig"], cluster.kubeconfig)
        self.assertIn(f"  {status['pid']}  ", cluster.place.run("status", "--name", "t").stdout)
        cluster.down()
        done = cluster.place.run("status", "--name", "t")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Stopped", done.stdout)
        self.assertEqual(cluster.place.run("status", "--name", "other").returncode, 4)

    def test_status_lists_every_cluster(self):
        cluster = LocalCluster(self, *BARE)
        self.assertEqual(cluster.place.run("up", "--detach", "--name", "b", *BARE).returncode, 0)
        self.addCleanup(cluster.place.run, "down", "--name", "b")
        self.assertEqual(cluster.place.run("status", "-o", "name").stdout, "b\nt\n")
        cluster.place.run("down", "--name", "b")
        rows = [line.split()[:2] for line in cluster.place.run("status", "--no-headers").stdout.splitlines()]
        self.assertEqual(rows, [["b", "Stopped"], ["t", "Running"]])
        listed = json.loads(cluster.place.run("status", "-o", "json").stdout)
        self.assertEqual(listed["items"][1]["kubeconfig"], cluster.kubeconfig)

    def test_a_second_up_names_the_first(self):
        cluster = LocalCluster(self, *BARE)
        pid = cluster.status()["pid"]
        for words in (("--detach",), ()):
            done = cluster.place.run("up", "--name", "t", *BARE, *words)
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"process {pid}", done.stderr)
        self.assertTrue(alive(pid))

    def test_a_failed_start_is_told_in_its_own_words(self):
        place = Place(self)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            done = place.run("up", "--detach", "--name", "t", *BARE, "--listen", f"127.0.0.1:{port}")
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"cannot listen on 127.0.0.1 port {port}: ", done.stderr)
        self.assertEqual(place.run("down", "--name", "t").returncode, 0)

    def test_down_leaves_no_process_and_no_socket(self):
        cluster = LocalCluster(self, *BARE)
        pid = cluster.status()["pid"]
        self.assertEqual(cluster.down().returncode, 0)
        self.assertFalse(alive(pid))
        left = [path for path in cluster.place.root.rglob("*") if path.is_socket()]
        self.assertEqual(left, [])
        again = cluster.down()
        self.assertEqual((again.returncode, again.stderr), (0, "cluster t is not running\n"))

    def test_reset_leaves_no_file(self):
        cluster = LocalCluster(self, *BARE)
        pid = cluster.status()["pid"]
        self.assertEqual(cluster.place.run("reset", "--name", "t").returncode, 0)
        self.assertFalse(alive(pid))
        left = [path for path in cluster.place.root.rglob("*") if not path.is_dir()]
        self.assertEqual(left, [])
        self.assertFalse(cluster.place.state("t").exists() or cluster.place.run_directory("t").exists())

    def test_reset_spares_what_is_not_ours(self):
        place = Place(self)
        directory = place.root / "mine"
        directory.mkdir(mode=0o700)
        (directory / "thesis.txt").write_text("years of work")
        self.assertEqual(place.run("up", "--detach", "--name", "t", *BARE, "--dir", str(directory)).returncode, 0)
        self.assertTrue((directory / "store").is_dir())
        self.assertEqual(place.run("reset", "--name", "t").returncode, 0)  # finds the directory by itself
        self.assertEqual(os.listdir(directory), ["thesis.txt"])


@only_local("starts, stops and inspects local clusters")
class Foreground(unittest.TestCase):
    def start(self, place, *flags):
        child = subprocess.Popen([PROGRAM, "up", "--name", "t", *BARE, *flags], env=place.env, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (child.kill(), child.wait(), child.stdout.close(), child.stderr.close()))
        return child

    def test_ctrl_c_stops_it_with_exit_0(self):
        place = Place(self)
        child = self.start(place)
        self.assertTrue(child.stdout.readline().startswith("export KUBECONFIG="))
        child.send_signal(signal.SIGINT)
        out, err = child.communicate(timeout=30)
        self.assertEqual((child.returncode, out), (0, ""))
        self.assertIn("stopped\n", err)
        self.assertEqual(place.run("reset", "--name", "t").returncode, 0)

    def test_sigterm_and_down_too(self):
        place = Place(self)
        child = self.start(place)
        child.stdout.readline()
        self.assertEqual(place.run("down", "--name", "t").returncode, 0)
        self.assertEqual(child.wait(10), 0)
        place.run("reset", "--name", "t")


@only_local("starts, stops and inspects local clusters")
class Remembering(unittest.TestCase):
    def test_objects_survive_a_stop_and_a_kill(self):
        cluster = LocalCluster(self, *BARE)
        cluster.raw("/api/v1/namespaces", "-d", "-", input='{"metadata": {"name": "kept"}}')
        uid = cluster.raw("/api/v1/namespaces/kept", "-o", "jsonpath={.metadata.uid}").stdout
        for stop in (cluster.down, cluster.kill):
            stop()
            cluster.up(self, *BARE)
            self.assertEqual(cluster.raw("/api/v1/namespaces/kept", "-o", "jsonpath={.metadata.uid}").stdout, uid)

    def test_a_rollout_whose_deadline_passed_meanwhile_is_taken_up(self):
        cluster = LocalCluster(self, "--nodes", "1")
        path = "/apis/apps/v1/namespaces/default/deployments"
        container = {"name": "c", "image": "plimsoll/tools", "command": ["sleep", "1000"]}
        labels = {"app": "web"}
        cluster.raw(path, "-d", "-", input=json.dumps({"metadata": {"name": "web"}, "spec": {
            "replicas": 2, "progressDeadlineSeconds": 1, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container], "terminationGracePeriodSeconds": 0}}}}))

        def available():
            status = json.loads(cluster.raw(f"{path}/web").stdout)["status"]
            conditions = {one["type"]: one["status"] for one in status.get("conditions", [])}
            return status.get("availableReplicas") == 2 and conditions.get("Available") == "True"

        eventually(available, what="the first rollout")
        self.assertEqual(cluster.down().returncode, 0)
        time.sleep(2.1)  # statuses tell whole seconds
        cluster.up(self, "--nodes", "1")
        cluster.raw("/api/v1/namespaces/default/pods", "-X", "DELETE")
        eventually(available, what="the Deployment after the start")
        asked = time.monotonic()
        self.assertEqual(cluster.down().returncode, 0)
        self.assertLess(time.monotonic() - asked, 10)

    def test_ephemeral_keeps_nothing(self):
        cluster = LocalCluster(self, *BARE, "--ephemeral")
        cluster.raw("/api/v1/namespaces", "-d", "-", input='{"metadata": {"name": "lost"}}')
        cluster.down()
        cluster.up(self, *BARE, "--ephemeral")
        self.assertEqual(cluster.raw("/api/v1/namespaces/lost", check=False).returncode, 4)

    def test_two_clusters_have_two_addresses(self):
        place = Place(self)
        one, two = LocalCluster(self, *BARE, place=place), LocalCluster(self, *BARE, place=place, name="u")
        self.assertNotEqual(one.status()["server"], two.status()["server"])

    def test_the_address_stays(self):
        """The first one is named, out of the way: any cluster that starts meanwhile may take one from the usual range."""
        cluster = LocalCluster(self, *BARE, "--listen", f"127.0.0.1:{quiet_port()}")
        first = cluster.status()["server"]
        cluster.down()
        cluster.up(self, *BARE)
        self.assertEqual(cluster.status()["server"], first)

    def test_secrets_are_hidden_in_dumps(self):
        cluster = LocalCluster(self, *BARE)
        secret = {"metadata": {"name": "s"}, "data": {"password": "aHVudGVyMg=="}}
        # `kubectl apply` keeps a copy of what it applied.
        secret["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(secret)}
        cluster.raw("/api/v1/namespaces/default/secrets", "-d", "-", input=json.dumps(secret))
        cluster.down()
        dump = cluster.place.run("store", "dump", "--name", "t").stdout
        self.assertIn("/secrets/default/s ", dump)
        self.assertNotIn("aHVudGVyMg==", dump)
        shown = cluster.place.run("store", "dump", "--name", "t", "--show-secrets", "/registry/core/secrets/").stdout
        self.assertIn("aHVudGVyMg==", shown)
        self.assertEqual(cluster.place.run("store", "verify", "--name", "t").returncode, 0)
        self.assertEqual(cluster.place.run("store", "compact", "--name", "t").returncode, 0)
        self.assertEqual(cluster.place.run("store", "dump", "--name", "t").stdout, dump)
        cluster.up(self, *BARE)
        self.assertEqual(cluster.place.run("store", "compact", "--name", "t").returncode, 3)


@only_local("starts, stops and inspects local clusters")
class Security(unittest.TestCase):
    def test_files_are_for_nobody_else(self):
        cluster = LocalCluster(self, *BARE)
        for directory in (cluster.place.state("t"), cluster.place.run_directory("t")):
            self.assertEqual(mode(directory), 0o700)
            for path in directory.rglob("*"):
                self.assertEqual(mode(path) & 0o077, 0, path)

    def test_a_state_directory_of_others_is_refused(self):
        place = Place(self)
        directory = place.root / "state"
        directory.mkdir()
        directory.chmod(0o770)
        done = place.run("up", "--detach", "--name", "t", *BARE, "--dir", str(directory))
        self.assertEqual(done.returncode, 1)
        self.assertIn("others may write", done.stderr)
        self.assertEqual(list(directory.iterdir()), [])

    def test_other_addresses_than_loopback_are_refused(self):
        done = Place(self).run("up", "--detach", "--name", "t", *BARE, "--listen", "0.0.0.0:0")
        self.assertEqual(done.returncode, 2)
        self.assertIn("loopback", done.stderr)

    def test_nobody_gets_in_without_credentials(self):
        cluster = LocalCluster(self, *BARE)
        server = cluster.status()["server"]
        done = cluster.place.run("raw", "/api/v1/secrets", "-s", server, "--kubeconfig", "/dev/null")
        self.assertNotEqual(done.returncode, 0)  # nor is its certificate trusted
        ca = cluster.place.state("t") / "pki/ca.crt"
        url = f"{server}/api/v1/namespaces/default/secrets"
        curl = subprocess.run(["curl", "-sS", "--cacert", ca, "-o", "/dev/null", "-w", "%{http_code}", url],
                              capture_output=True, text=True)
        self.assertIn(curl.stdout, ("401", "403"))
        token = (cluster.place.state("t") / "pki/admin.token").read_text()
        curl = subprocess.run(["curl", "-sS", "--cacert", ca, "-o", "/dev/null", "-w", "%{http_code}", "-H", "@-", url],
                              input=f"Authorization: Bearer {token}", capture_output=True, text=True)
        self.assertEqual(curl.stdout, "200")

    def test_the_users_kubeconfig_is_left_alone_unless_told(self):
        place = Place(self)
        config = place.root / "home/.kube/config"
        config.parent.mkdir()
        mine = "apiVersion: v1\nkind: Config\ncurrent-context: work\ncontexts: [{name: work, context: {cluster: w, user: u}}]\n"
        config.write_text(mine)
        cluster = LocalCluster(self, *BARE, place=place)
        self.assertEqual(config.read_text(), mine)
        cluster.down()
        refused = place.run("up", "--name", "t", *BARE, "--kubeconfig", str(config))
        self.assertEqual(refused.returncode, 2)
        self.assertEqual(config.read_text(), mine)
        cluster.up(self, *BARE, "--merge-kubeconfig")
        self.assertEqual(pathlib.Path(f"{config}.plimsoll-backup").read_text(), mine)
        self.assertIn("name: work", config.read_text())
        merged = Cluster(self, config, place)
        self.assertIn("namespace/default\n", merged.raw("/api/v1/namespaces", "-o", "name").stdout)
        place.run("reset", "--name", "t")
        self.assertIn("name: work", config.read_text())
        self.assertNotIn("plimsoll-t", config.read_text())

    def test_further_names_come_into_the_certificate(self):
        cluster = LocalCluster(self, *BARE, "--tls-san", "build.example,10.1.2.3")
        certificate = subprocess.run(["openssl", "x509", "-in", cluster.place.state("t") / "pki/server.crt", "-noout", "-ext",
                                      "subjectAltName"], capture_output=True, text=True, check=True).stdout
        for name in ("DNS:build.example", "IP Address:10.1.2.3", "IP Address:127.0.0.1", "DNS:kubernetes.default.svc"):
            self.assertIn(name, certificate)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Who our client is to a real API server, how fast it asks, and what it leaves behind for people to read."""
import json
import stat
import subprocess
import unittest

from probe import Probe
from rig import PROGRAM, RealClusterCase
from rig.requirements import default_kubernetes, kubernetes_version

REVIEW = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}


class Client(RealClusterCase):
    def ask(self, kubeconfig, *words, input=None):
        return subprocess.run([PROGRAM, *words, "--kubeconfig", str(kubeconfig)], env=self.cluster.env, input=input,
                              capture_output=True, text=True, timeout=60)

    def whoami(self, kubeconfig):
        done = self.ask(kubeconfig, "raw", "/apis/authentication.k8s.io/v1/selfsubjectreviews", "-d", "-",
                        input=json.dumps(REVIEW))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["status"]["userInfo"]

    def token(self, account):
        """By the API's TokenRequest."""
        self.cluster.kubectl("create", "serviceaccount", account)
        return self.cluster.kubectl("create", "token", account).stdout.strip()

    def plugin(self, name, script):
        path = self.cluster.slot.run / f"{name}-plugin"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return self.cluster.pki.kubeconfig(name, {"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": str(path), "interactiveMode": "Never",
            "provideClusterInfo": True}})

    def credential(self, **status):
        return json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status})

    def test_by_certificate(self):
        who = self.whoami(self.cluster.pki.user("sailor", "/O=crew/CN=sailor"))
        self.assertEqual(who["username"], "sailor")
        self.assertIn("crew", who["groups"])

    def test_by_the_token_of_a_service_account(self):
        token = self.token("robot")
        self.assertEqual(self.whoami(self.cluster.pki.kubeconfig("robot", {"token": token}))["username"],
                         "system:serviceaccount:default:robot")

    def test_by_a_token_from_a_file(self):
        path = self.cluster.slot.run / "token"
        path.write_text(self.token("filed") + "\n")
        who = self.whoami(self.cluster.pki.kubeconfig("filed", {"tokenFile": str(path)}))
        self.assertEqual(who["username"], "system:serviceaccount:default:filed")

    def test_by_a_token_from_a_plugin_that_knows_the_cluster(self):
        credential = self.credential(token=self.token("plugged"))
        kubeconfig = self.plugin("plugged", f"case $KUBERNETES_EXEC_INFO in *{self.cluster.server}*) echo '{credential}' ;; esac")
        self.assertEqual(self.whoami(kubeconfig)["username"], "system:serviceaccount:default:plugged")

    def test_by_a_certificate_from_a_plugin(self):
        self.cluster.pki.user("mate", "/O=crew/CN=mate")
        credential = self.credential(clientCertificateData=self.cluster.pki.path("mate.crt").read_text(),
                                     clientKeyData=self.cluster.pki.path("mate.key").read_text())
        answer = self.cluster.slot.run / "mate.json"
        answer.write_text(credential)
        self.assertEqual(self.whoami(self.plugin("mate", f"cat {answer}"))["username"], "mate")

    def test_a_refused_token_is_asked_for_once_more(self):
        seen = self.cluster.slot.run / "asked"
        good, bad = self.credential(token=self.token("renewed")), self.credential(token="stale")
        kubeconfig = self.plugin("renewed", f"if [ -e {seen} ]; then echo '{good}'; else touch {seen}; echo '{bad}'; fi")
        self.assertEqual(self.whoami(kubeconfig)["username"], "system:serviceaccount:default:renewed")

    def test_a_wrong_token_is_told_as_such(self):
        done = self.ask(self.cluster.pki.kubeconfig("nobody", {"token": "stale"}), "raw", "/api")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Unauthorized", done.stderr)

    def test_what_a_user_may_not_do_is_told_as_such(self):
        done = self.ask(self.cluster.pki.user("deckhand", "/CN=deckhand"), "raw", "/api/v1/nodes")
        self.assertEqual(done.returncode, 1)
        self.assertIn('User "deckhand" cannot list resource "nodes"', done.stderr)

    def test_the_version_we_say_was_tested_is_the_default_here(self):
        done = self.ask(self.cluster.kubeconfig, "version", "-o", "json")
        said = json.loads(done.stdout)
        self.assertEqual(said["server"], {"address": self.cluster.server, "version": kubernetes_version(), "supported": True})
        self.assertEqual(f"v{said['kubernetes']['tested']}", default_kubernetes())

    def test_asks_no_faster_than_allowed(self):
        probe = Probe(self, self.cluster, "ask", "20", "10", "50")
        probe.finish()
        done = probe.wait("asked")
        self.assertEqual((done["answered"], done["requests"], done["throttled"]), (50, 50, 40))
        took = done["at"] - probe.wait("asking")["at"]
        self.assertGreaterEqual(took, 40 / 20)
        self.assertLess(took, 40 / 20 + 2)

    def test_events_are_counted_and_shown_by_describe(self):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "barge"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
        self.cluster.apply(pod)
        uid = self.cluster.get("pod", "barge")["metadata"]["uid"]
        probe = Probe(self, self.cluster, "record", "default", "barge", uid, "3")
        probe.finish()
        self.assertEqual(probe.wait("recorded")["dropped"], 0)
        shown = self.cluster.kubectl("describe", "pod", "barge").stdout
        self.assertRegex(shown, r"Warning +Listing +\S+ \(x3 over \S+\) +plimsoll-probe +the cargo has shifted")


if __name__ == "__main__":
    unittest.main()

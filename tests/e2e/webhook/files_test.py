#!/usr/bin/env python3
"""The webhook's files, flags and names: what is reread while it runs, and what stops it from starting."""
import os
import pathlib
import ssl
import signal
import subprocess
import unittest

from webhook_server import ANNOTATION, POOLS, PROGRAM, Webhook, container, directory, eventually, make_certificate, patch_of, pod
from local_cluster import LocalCluster


def make_expired_certificate(where):
    """Only `openssl ca` takes dates of the past."""
    (where / "index").touch()
    (where / "ca.cnf").write_text(f"""
[ca]
default_ca = own
[own]
database = {where}/index
new_certs_dir = {where}
rand_serial = yes
default_md = sha256
policy = any
[any]
commonName = supplied
""")
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=hook", "-keyout",
                    where / "key.pem", "-out", where / "request"], check=True, capture_output=True)
    subprocess.run(["openssl", "ca", "-batch", "-selfsign", "-config", where / "ca.cnf", "-keyfile", where / "key.pem", "-in", where / "request",
                    "-startdate", "20200101000000Z", "-enddate", "20200201000000Z", "-notext", "-out", where / "cert.pem"],
                   check=True, capture_output=True)


class Files(unittest.TestCase):
    def subject(self, webhook):
        return ssl.get_server_certificate((webhook.host, webhook.port))

    def test_a_new_certificate_is_used_and_connections_stay(self):
        webhook = Webhook(self)
        before, connection = self.subject(webhook), webhook.connect()
        self.addCleanup(connection.close)
        self.assertEqual(webhook.post("{", connection=connection)[0], 400)
        socket = connection.sock
        make_certificate(webhook.files)
        eventually(lambda: self.subject(webhook) != before, what="the new certificate")
        after = self.subject(webhook)
        self.assertEqual(webhook.post("{", connection=connection)[0], 400)
        self.assertIs(connection.sock, socket)
        # Half of a pair is nothing to serve with.
        (webhook.files / "cert.pem").write_text("nonsense")
        eventually(lambda: "cannot load the new certificate" in webhook.log, what="an error")
        self.assertEqual(self.subject(webhook), after)

    def test_an_expired_certificate_is_told_of(self):
        cluster = LocalCluster(self, "--nodes", "0", "--ephemeral")
        files = directory(self)
        make_expired_certificate(files)
        webhook = Webhook(self, "--kubeconfig", cluster.kubeconfig, files=files)
        self.assertLess(webhook.metric("plimsoll_webhook_cert_expiry_seconds"), 0)
        self.assertIn("certificate expired at", webhook.log)
        events = eventually(lambda: cluster.get("events", "-n", "kube-system")["items"], what="the event")
        self.assertEqual([(one["reason"], one["type"], one["involvedObject"]["name"]) for one in events],
                         [("CertificateExpired", "Warning", "cpu-dev-pod-mutator-svc")])

    def test_a_secret_of_the_other_style_is_found(self):
        files = directory(self)
        make_certificate(files, style=("tls.crt", "tls.key"))
        webhook = Webhook(self, files=files)
        before = self.subject(webhook)
        make_certificate(files, style=("tls.crt", "tls.key"))
        eventually(lambda: self.subject(webhook) != before, what="the new certificate")

    def test_pools_are_reread_as_a_config_map_is_swapped(self):
        webhook = Webhook(self)

        def quota():
            return patch_of(webhook.review(pod([container(cpupool1=1, sharedpool=100)])))[0]["value"]
        self.assertEqual(quota(), "2000m")
        (webhook.pools / "poolconfig-big.yaml").write_text("nodeSelector: {size: big}\npools: {sharedpool: {cpus: 16-19}}\n")
        eventually(lambda: quota() == "5000m", what="the larger pool of another file")
        (webhook.pools / "poolconfig-big.yaml").write_text("pools: [")
        eventually(lambda: "cannot read the new pools" in webhook.log, what="an error")
        self.assertEqual(quota(), "5000m")
        (webhook.pools / "new").write_text(POOLS)
        os.replace(webhook.pools / "new", webhook.pools / "poolconfig.yaml")
        (webhook.pools / "poolconfig-big.yaml").unlink()
        eventually(lambda: quota() == "2000m", what="the pools as they were")

    def test_it_stops_by_a_signal_and_rereads_by_another(self):
        webhook = Webhook(self)
        webhook.child.send_signal(signal.SIGHUP)
        eventually(lambda: "certificate reread" in webhook.log and "pools reread" in webhook.log, what="both")
        self.assertEqual(webhook.stop(), 0, webhook.log)

    def test_the_name_and_the_flags_of_the_ancestor(self):
        files = directory(self)
        make_certificate(files)
        link = files / "cpu-device-webhook"
        link.symlink_to(PROGRAM)
        webhook = Webhook(self, "-process-starter-path=/opt/bin/other", "-cfs-quotas", "none", "-logtostderr", "-v=5", files=files, program=str(link), first=())
        patch = patch_of(webhook.review(pod([container(sharedpool=160)], ANNOTATION)))
        self.assertIn({"op": "add", "path": "/spec/containers/0/command", "value": ["/opt/bin/other"]}, patch)
        self.assertFalse([step for step in patch if "resources" in step["path"]])

    def test_several_directories(self):
        one = directory(self)
        (one / "poolconfig-x.yaml").write_text("nodeSelector: {a: b}\npools: {shared-x: {cpus: 20-22}}\n")
        webhook = Webhook(self, "--poolconfigs", str(one), "--unknown-pool", "reject")
        for pool in ("shared_x", "sharedpool"):
            self.assertTrue(webhook.review(pod([container(**{pool: 10})]))["allowed"])
        self.assertRegex(webhook.review(pod([container(shared_y=10)]))["status"]["message"], "^RES002: ")

    def test_what_it_cannot_start_with(self):
        files = directory(self)
        make_certificate(files)
        (files / "poolconfig.yaml").write_text("pools: {exclusive: {cpus: 5-1}}\n")
        good = ["--tls-cert-file", str(files / "cert.pem"), "--tls-private-key-file", str(files / "key.pem"), "--listen", "127.0.0.1:0"]
        for code, words in ((2, []), (2, [*good, "--cfs-quotas", "some"]), (2, [*good, "--smt-width", "0"]),
                            (2, [*good, "--process-starter-path", "bin/x"]), (1, [*good, "--poolconfigs", str(files)]),
                            (1, [*good, "--poolconfigs", str(files / "nowhere")]), (1, [*good, "--tls-cert-file", "/nowhere/x"]),
                            (1, [*good, "--tls-cert-file", str(files / "key.pem")]), (1, [*good, "--listen", "127.0.0.1:x"])):
            done = subprocess.run([PROGRAM, "webhook", *words], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn("error PLM-", done.stderr)


if __name__ == "__main__":
    unittest.main()

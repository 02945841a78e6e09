#!/usr/bin/env python3
"""Where messages go when nobody says where: nowhere, or with an account alone to the ancestor's address."""
import os
import pathlib
import socket
import ssl
import subprocess
import threading
import unittest

from jobs import Jobs
from receiver import Receiver
from servo import Servo, eventually

from local_cluster import ClusterCase

HOST = "us-central1-optune-saas-collect.cloudfunctions.net"


class Tunnels:
    """A proxy that takes every CONNECT to the same port of this machine, and notes what was asked for."""

    def __init__(self, test, port):
        self.port, self.asked = port, []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        test.addCleanup(self.listener.close)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.tunnel, args=(caller,), daemon=True).start()

    def tunnel(self, caller):
        with caller, socket.create_connection(("127.0.0.1", self.port)) as there:
            head = b""
            while b"\r\n\r\n" not in head and (piece := caller.recv(4096)):
                head += piece
            self.asked.append(head.split(b"\r\n")[0].decode())
            caller.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            back = threading.Thread(target=self.pump, args=(there, caller), daemon=True)
            back.start()
            self.pump(caller, there)
            back.join()

    @staticmethod
    def pump(source, target):
        try:
            while piece := source.recv(65536):
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def connected(pid):
    """The ends of its connections, as the kernel writes them: (its own, the other)."""
    own = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            own.add(os.readlink(f"/proc/{pid}/fd/{name}"))
        except OSError:
            pass  # closed meanwhile
    rows = [line.split() for file in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/{pid}/net/{file}").read_text().splitlines()[1:]]
    return {(row[1], row[2]) for row in rows if f"socket:[{row[9]}]" in own and not row[2].endswith(":0000")}


class Address(ClusterCase):
    flags = ("--nodes", "0")

    def setUp(self):
        super().setUp()
        self.receiver = Receiver(self)
        self.tunnels = Tunnels(self, self.receiver.port)
        self.jobs = Jobs(self, self.cluster.kubeconfig)

    def servo(self, **env):
        return Servo(self, self.cluster.kubeconfig, env={"HTTPS_PROXY": self.tunnels.url, "HTTP_PROXY": self.tunnels.url, **env})

    def certify(self, servo):
        """The receiver is the ancestor's service from now on, and the servo believes it."""
        key, certificate = servo.directory / "key.pem", servo.directory / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", "/CN=service", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.receiver.server.socket = context.wrap_socket(self.receiver.server.socket, server_side=True)
        servo.env["SSL_CERT_FILE"] = str(certificate)

    def test_an_account_alone_means_the_ancestors_address(self):
        servo = self.servo(OPTUNE_ACCOUNT="acme.example.com", OPTUNE_AUTH_TOKEN="s3cret")
        self.certify(servo)
        servo.start()
        self.jobs.run("known", "a1")
        (post,) = eventually(self.receiver.measurements)
        self.assertEqual(post.path, "/metrics/acme.example.com/a1/servo")
        self.assertEqual((post.headers["Host"], post.headers["Authorization"]), (HOST, "Bearer s3cret"))
        self.assertEqual({line.rpartition(" ")[0] for line in self.tunnels.asked}, {f"CONNECT {HOST}:443"})
        self.assertEqual(self.receiver.posts[0].path, "/metrics/acme.example.com/_global_/servo")
        self.jobs.delete("known")

    def test_without_any_setting_nothing_leaves_and_default_is_watched(self):
        other = self.cluster.namespace("other")
        servo = self.servo().start()
        Jobs(self, self.cluster.kubeconfig, other).run("elsewhere", "elsewhere")
        self.jobs.run("kept", "b1")
        run = eventually(lambda: [run for run in servo.runs() if run["app"] == "b1"])[0]
        self.assertEqual((run["namespace"], run["state"]), ("default", "kept"))
        self.assertEqual(servo.get("/readyz")[0], 200)
        self.assertEqual([run["app"] for run in servo.runs()].count("elsewhere"), 0)
        self.assertEqual(servo.log.count("not sending runs"), 1)
        self.assertEqual((self.tunnels.asked, self.receiver.posts), ([], []))
        api, listener = f":{self.jobs.api.address.port:04X}", f":{int(servo.url.rpartition(':')[2]):04X}"
        others = [pair for pair in connected(servo.child.pid) if not pair[1].endswith(api) and not pair[0].endswith(listener)]
        self.assertEqual(others, [], "it talks to the API server alone")


if __name__ == "__main__":
    unittest.main()

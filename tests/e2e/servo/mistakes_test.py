#!/usr/bin/env python3
"""Wrong settings and wrong requests: a clear word and the right exit code, never a crash."""
import pathlib
import socket
import subprocess
import unittest

from servo import Servo, eventually

from local_cluster import PROGRAM, ClusterCase, Place

# Variables, what the one line says.
SETTINGS = [
    ({"OPTUNE_URL": "http://h/{nope}"}, "OPTUNE_URL: column 10: unknown placeholder"),
    ({"OPTUNE_URL": "http://h/{app_id"}, "OPTUNE_URL: column 10"),
    ({"OPTUNE_URL": "ftp://h/"}, "OPTUNE_URL: column 1: expected http:// or https://"),
    ({"OPTUNE_URL": "http://h/{acct}"}, "OPTUNE_ACCOUNT is not set"),
    ({"OPTUNE_APP_ID": "a/["}, "OPTUNE_APP_ID: column 3"),
    ({"OPTUNE_APP_ID": "//"}, "OPTUNE_APP_ID: column 1: the path is empty"),
    ({"OPTUNE_AUTH_TOKEN": "s3cret\nX: y"}, "OPTUNE_AUTH_TOKEN: the token contains a line break"),
    ({"POD_NAMESPACES": "ok,Not_Ok"}, 'POD_NAMESPACES: "Not_Ok" is not a valid namespace name'),
    ({"SELF_IP": "somewhere"}, "SELF_IP"),
    ({"OPTUNE_URL": "http://h:99999/"}, "expected a port between 1 and 65535"),
    ({"OPTUNE_URL": "http://h/}"}, "OPTUNE_URL: column 10"),
    ({"OPTUNE_URL": "http://h/", "OPTUNE_AUTH_TOKEN_FILE": "/no/such/file"}, "OPTUNE_AUTH_TOKEN_FILE"),
    ({"PLIMSOLL_SERVO_CONTAINER": "-1"}, "PLIMSOLL_SERVO_CONTAINER"),
    ({"KUBECONFIG": "/no/such/file"}, "KUBECONFIG"),
    ({"PLIMSOLL_SERVO_STORE": "/proc/nowhere"}, "/proc/nowhere"),
    ({"PLIMSOLL_SERVO_LISTEN": "256.0.0.1:x"}, "256.0.0.1:x"),
    ({"SSL_CERT_FILE": "/no/such/file"}, "SSL_CERT_FILE"),
]


class Settings(ClusterCase):
    flags = ("--nodes", "0")

    def test_bad_settings_end_it_with_1_and_one_reason(self):
        place = Place(self)
        for env, says in SETTINGS:
            with self.subTest(env):
                base = {**place.env, "KUBECONFIG": self.cluster.kubeconfig, "PLIMSOLL_SERVO_LISTEN": "127.0.0.1:0",
                        "PLIMSOLL_SERVO_STORE": str(place.root / "store")}
                done = subprocess.run([PROGRAM, "servo"], env=base | env, capture_output=True, text=True, timeout=30)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn(says, done.stderr)
                self.assertNotIn("s3cret", done.stderr)
        self.assertEqual(subprocess.run([PROGRAM, "servo", "--nonsense"], capture_output=True, timeout=30).returncode, 2)
        self.assertEqual(subprocess.run([PROGRAM, "servo", "--sink", "x"], capture_output=True, timeout=30).returncode, 2)

    def test_a_second_servo_on_the_same_store_is_refused_with_the_firsts_pid(self):
        first = Servo(self, self.cluster.kubeconfig).start()
        second = Servo(self, self.cluster.kubeconfig, store=first.store).begin()
        self.assertEqual(second.child.wait(30), 1)
        self.assertIn(str(first.child.pid), second.log)
        second.child = None

    def test_requests_that_are_wrong_are_answered_and_do_no_harm(self):
        servo = Servo(self, self.cluster.kubeconfig).start()
        for path, status in (("/v1/runs?limit=0", 400), ("/v1/runs?limit=x", 400), ("/v1/runs?nope=1", 400),
                             ("/v1/runs?since=never", 400), ("/v1/runs?continue=x", 400), ("/v1/runs/no-such-uid", 404),
                             ("/nowhere", 404), ("/v1/runs?since=2h", 200), ("/healthz", 200)):
            self.assertEqual(servo.get(path)[0], status, path)
        port = int(servo.url.rpartition(":")[2])
        for request in (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n" + b"x" * 100_000,
                        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", b"\0\xff\r\n\r\n", b"GET " + b"a" * 200_000):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as caller:
                try:
                    caller.sendall(request)
                    caller.shutdown(socket.SHUT_WR)
                    caller.recv(1000)
                except OSError:
                    pass
        self.assertEqual(servo.get("/readyz")[0], 200)

    def test_runs_says_what_is_wrong(self):
        place = Place(self)
        for words, code, says in ((("--store", str(place.root / "nothing")), 4, "nothing"), (("--url", "http://127.0.0.1:1"), 1, "127.0.0.1:1"),
                                  (("--since", "never", "--store", str(place.root)), 2, "since"), (("--limit", "0", "--store", "."), 2, "limit")):
            done = place.run("runs", *words)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(says, done.stderr)

    def test_it_waits_for_an_api_server_that_is_not_there_yet(self):
        config = pathlib.Path(self.cluster.kubeconfig).read_text()
        address = config.split("server: ")[1].split()[0].strip('"')
        place = Place(self)
        other = place.root / "kubeconfig"
        other.write_text(config.replace(address, "https://127.0.0.1:1"))
        servo = Servo(self, other).begin()
        servo.wait_listening()
        self.assertEqual(servo.get("/healthz")[0], 200)
        self.assertEqual(servo.get("/readyz")[0], 503)
        eventually(lambda: "cannot list or watch" in servo.log)
        self.assertEqual(servo.stop()[0], 0)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What the servo sends, when, how often: pods with statuses of the test's own, a receiver that records."""
import json
import signal
import ssl
import subprocess
import threading
import time
import unittest

from jobs import Jobs
from receiver import Receiver
from servo import ServoCase, eventually

from local_cluster import ClusterCase


class Messages(ServoCase):
    def setUp(self):
        super().setUp()
        self.ns = self.watched_namespace("jobs")
        self.jobs = Jobs(self, self.cluster.kubeconfig, self.ns)
        self.receiver = Receiver(self)

    def servo(self, *flags, namespaces=None, url=None, **env):
        return self.new_servo("--optune-url", url or self.receiver.url, "--optune-account", "acme",
                              "--pod-namespaces", namespaces or self.ns, *flags, env=env)

    def apps(self):
        return sorted(post.path.split("/")[3] for post in self.receiver.measurements())

    def test_the_body_is_the_ancestors_and_the_token_optional(self):
        servo = self.servo().start()
        self.jobs.run("p", "a1")
        (post,) = eventually(self.receiver.measurements)
        self.assertEqual(post.path, "/metrics/acme/a1/servo")
        self.assertNotIn("Authorization", post.headers)
        metrics = {"duration": {"value": 42, "unit": "s"}, "perf": {"value": 1 / 42, "unit": "1/s"}}
        self.assertEqual(post.json["param"]["metrics"], metrics)
        self.assertEqual(set(post.json["param"]["annotations"]), {"resources", "exitcode"})
        self.assertEqual(json.loads(post.json["param"]["annotations"]["resources"])["limits"], {"memory": "64Mi"})
        self.assertEqual(post.json["param"]["annotations"]["exitcode"], 0)
        self.assertEqual(servo.metric("plimsoll_servo_runs_total"), 1)
        eventually(lambda: servo.metric('plimsoll_servo_posts_total{result="sent"}') == 1)

    def test_one_message_however_often_the_pod_is_seen(self):
        servo = self.servo().start()
        uid = self.jobs.run("p", "a1")
        eventually(self.receiver.measurements)
        for number in range(5):
            self.jobs.api.merge(f"{self.jobs.path}/p", {"metadata": {"labels": {"n": str(number)}}})
        servo.stop()
        servo.start()
        self.jobs.delete("p")
        servo.stop()
        servo.start()
        self.jobs.run("q", "a2")
        eventually(lambda: len(self.receiver.measurements()) == 2)
        self.assertEqual([post.key.split("/")[0] for post in self.receiver.measurements(accepted=False)][0], uid)
        self.assertEqual(len(self.receiver.measurements(accepted=False)), 2)

    def test_what_never_ran_and_what_ran_for_no_time(self):
        self.servo().start()
        self.jobs.run("never", "n", began="1970-01-01T00:00:00Z", code=128, reason="StartError", phase="Failed")
        self.jobs.run("null", "null", began=None, code=128, reason="ContainerCannotRun", phase="Failed")
        for number in range(10):
            self.jobs.run(f"zero{number}", "z", ended="2026-01-01T10:00:00Z")
        self.jobs.run("normal", "z")
        posts = eventually(lambda: len(self.receiver.measurements()) == 13 and self.receiver.measurements())
        for app, reason in (("n", "StartError"), ("null", "ContainerCannotRun")):
            failed = [post.json["param"] for post in posts if f"/{app}/" in post.path]
            self.assertEqual([sorted(param) for param in failed], [["message", "status"]])
            self.assertEqual(failed[0]["status"], "failed")
            self.assertIn(reason, failed[0]["message"])
        lengths = [post.json["param"]["metrics"] for post in posts if "/z/" in post.path]
        self.assertEqual([sorted(metrics) for metrics in lengths], [["duration"]] * 10 + [["duration", "perf"]])

    def test_the_receiver_fails_and_refuses(self):
        answers = {"busy": [503, 503, 200], "bad": [400]}
        self.receiver.answer = lambda post: (answers.get(post.path.split("/")[3]) or [200]).pop(0)
        servo = self.servo().start()
        for app in ("busy", "bad", "good"):
            self.jobs.run(app, app)
        eventually(lambda: self.apps() == ["busy", "good"], 20)
        self.assertEqual([post.path for post in self.receiver.measurements(accepted=False)].count("/metrics/acme/busy/servo"), 3)
        eventually(lambda: {run["app"]: run["state"] for run in servo.runs()} == {"busy": "sent", "bad": "dead", "good": "sent"})
        self.assertEqual(servo.metric("plimsoll_servo_unsent"), 0)

        def events():
            items = self.jobs.api.get(f"/api/v1/namespaces/{self.ns}/events")["items"]
            return [(event["reason"], event["involvedObject"]["name"]) for event in items if event["source"]["component"] == "plimsoll-servo"]
        self.assertEqual(eventually(events), [("MeasurementRefused", "bad")])

    def test_nobody_listens_and_the_servo_is_killed(self):
        port = self.receiver.port
        self.receiver.close()
        servo = self.servo(url=self.receiver.url).start()
        self.jobs.run("p", "a1")
        eventually(lambda: servo.metric('plimsoll_servo_posts_total{result="retry"}') >= 2, 20)
        servo.kill()
        servo.start()
        eventually(lambda: servo.metric('plimsoll_servo_posts_total{result="retry"}') >= 1, 20)
        again = Receiver(self, port=port)
        eventually(again.measurements, 30)
        eventually(lambda: servo.metric("plimsoll_servo_unsent") == 0)
        self.assertEqual(len(again.measurements(accepted=False)), 1)

    def test_jobs_that_ended_while_nobody_looked(self):
        for number in range(50):
            self.jobs.run(f"p{number}", f"a{number}")
        self.servo().start()
        eventually(lambda: len(self.receiver.measurements()) == 50)
        self.assertEqual(len({post.key for post in self.receiver.measurements()}), 50)

    def test_a_job_that_is_deleted_at_once(self):
        servo = self.servo().start()
        self.jobs.run("p", "a1")
        self.jobs.delete("p")
        self.jobs.create("q", "a2")
        self.jobs.delete("q")
        eventually(lambda: len(servo.runs()) == 2)
        eventually(lambda: self.apps() == ["a1"])
        self.assertEqual({run["app"]: (run["result"], run["state"]) for run in servo.runs()}["a2"], ("deleted", "kept"))

    def test_namespaces_are_a_list_with_blanks(self):
        other, third = self.watched_namespace("b"), self.cluster.namespace("c")
        self.servo(namespaces=f"{self.ns}, {other},,").start()
        for number, ns in enumerate((self.ns, other, third)):
            Jobs(self, self.cluster.kubeconfig, ns).run("p", f"app{number}")
        self.jobs.run("last", "last")
        eventually(lambda: len(self.receiver.measurements()) == 3)
        self.assertEqual(self.apps(), ["app0", "app1", "last"])

    def test_many_namespaces_are_watched_as_one(self):
        names = [self.ns] + [f"none{number}" for number in range(9)]
        outside = self.cluster.namespace("c")
        servo = self.servo(namespaces=",".join(names)).start()
        Jobs(self, self.cluster.kubeconfig, outside).run("p", "outside")
        self.jobs.run("p", "inside")
        eventually(self.receiver.measurements)
        self.assertEqual(self.apps(), ["inside"])
        self.assertEqual(len(servo.runs()), 1)

    def test_it_ends_in_time_while_the_receiver_hangs(self):
        hold = threading.Event()
        self.addCleanup(hold.set)
        self.receiver.answer = lambda post: 200 if post.event == "HELLO" else (hold.wait(60) and 200)
        servo = self.servo().start()
        self.jobs.run("p", "a1")
        eventually(lambda: servo.metric("plimsoll_servo_unsent") == 1)
        code, seconds = servo.stop(signal.SIGINT)
        self.assertEqual(code, 0, servo.log)
        self.assertLess(seconds, 6)
        hold.set()
        self.receiver.answer = lambda post: 200
        servo.start()
        eventually(lambda: servo.runs()[0]["state"] == "sent")

    def test_odd_receivers_do_no_harm(self):
        def endless(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(10 << 30))
            handler.end_headers()
            for _ in range(200):
                handler.wfile.write(b"x" * 65536)

        def drip(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            for _ in range(30):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(0.5)
        answers = {"html": (200, {"Content-Type": "text/html"}, b"<html>"), "endless": endless, "drip": drip,
                   "loop": (307, {"Location": "/metrics/acme/loop/servo"}, b""),
                   "away": (307, {"Location": "http://127.0.0.1:1/stolen"}, b"")}
        self.receiver.answer = lambda post: answers.get(post.path.split("/")[3], 200)
        servo = self.servo(OPTUNE_AUTH_TOKEN="s3cret").start()
        for app in ("html", "endless", "drip", "loop", "away", "plain"):
            self.jobs.run(app, app)
        want = {"html": "sent", "endless": "sent", "drip": "sent", "loop": "dead", "away": "dead", "plain": "sent"}
        eventually(lambda: {run["app"]: run["state"] for run in servo.runs()} == want, 30)
        self.assertEqual([post.path for post in self.receiver.posts].count("/metrics/acme/loop/servo"), 6)
        self.assertNotIn("s3cret", servo.log)

    def test_odd_pods_do_no_harm(self):
        servo = self.servo("--optune-app-id", "spec/containers/0/env/[JOBID]|metadata/annotations/id").start()
        for number, app in enumerate(("a/../b", "%2f", "\U0001f600 \u00fc", "x" * 256, "x" * 257, "bell\u0007", "a?b#c")):
            self.jobs.run(f"p{number}", app)
        self.jobs.create("annotated", "", annotations={"id": "y" * (1 << 17), "done-at": "1e30"})
        self.jobs.end("annotated")
        self.jobs.run("last", "last")
        eventually(lambda: "last" in self.apps())
        self.assertEqual(self.apps(), sorted(["a%2F..%2Fb", "%252f", "%F0%9F%98%80%20%C3%BC", "x" * 256, "a%3Fb%23c", "last"]))
        self.assertEqual(servo.metric('plimsoll_servo_appid_misses_total{reason="tooLong"}'), 2)
        self.assertEqual(servo.metric('plimsoll_servo_appid_misses_total{reason="control"}'), 1)

    def test_certificates_are_verified_against_the_file_of_authorities(self):
        servo = self.servo(url=self.receiver.url.replace("http:", "https:"))
        key, certificate = servo.directory / "key.pem", servo.directory / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", "/CN=receiver", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self.receiver.server.socket = context.wrap_socket(self.receiver.server.socket, server_side=True)
        servo.start()
        self.jobs.run("p", "a1")
        eventually(lambda: servo.metric('plimsoll_servo_posts_total{result="retry"}') >= 1, 20)
        self.assertIn("certificate", servo.log)
        self.assertEqual(self.receiver.posts, [])
        servo.stop()
        servo.env["SSL_CERT_FILE"] = str(certificate)
        servo.start()
        eventually(self.receiver.measurements, 20)

    def test_posts_go_through_the_proxy_of_the_environment(self):
        proxy = Receiver(self)  # a request through a proxy has the whole address in its first line
        self.servo(url="http://receiver.example/{acct}/{app_id}", HTTP_PROXY=f"http://127.0.0.1:{proxy.port}").start()
        self.jobs.run("p", "a1")
        (post,) = eventually(proxy.measurements)
        self.assertEqual(post.path, "http://receiver.example:80/acme/a1")

    def test_a_token_without_encryption_is_warned_of_once(self):
        warning = "the token is sent without encryption"
        proxy = Receiver(self)
        through = {"url": "http://receiver.example/{acct}/{app_id}", "HTTP_PROXY": f"http://127.0.0.1:{proxy.port}"}
        servo = self.servo(OPTUNE_AUTH_TOKEN="s3cret", **through).start()
        self.jobs.run("p", "a1")
        eventually(proxy.measurements)
        self.assertEqual(servo.log.count(warning), 1, servo.log)
        self.assertNotIn("s3cret", servo.log)
        servo.kill()
        self.assertNotIn(warning, self.servo(**through).start().log)
        self.assertNotIn(warning, self.servo(OPTUNE_AUTH_TOKEN="s3cret").start().log)

    def test_restart_policies_and_annotations_decide(self):
        self.servo("--extra").start()
        for name, policy, mark in (("never", "Never", None), ("onfailure", "OnFailure", None), ("always", "Always", None),
                                   ("marked", "Always", "true"), ("left", "Never", "false")):
            self.jobs.create(name, name, annotations={"plimsoll.io/job": mark} if mark else {}, restartPolicy=policy)
            self.jobs.end(name)
        self.jobs.create("estimated", "estimated", annotations={"done-at": "4102444800"})
        self.jobs.end("estimated")
        eventually(lambda: self.apps() == ["estimated", "marked", "never", "onfailure"])
        metrics = [post for post in self.receiver.measurements() if "/estimated/" in post.path][0].json["param"]["metrics"]
        self.assertEqual(metrics["attempts"], {"value": 1, "unit": "count"})
        self.assertGreater(metrics["est_duration"]["value"], 1_000_000)

    def test_the_token_is_shown_to_nobody_else(self):
        answers = {"refused": (400, {"X-You-Sent": "s3cret"}, b"not with s3cret"), "away": (307, {"Location": "http://127.0.0.1:1/s3cret"}, b"")}
        self.receiver.answer = lambda post: answers.get(post.path.split("/")[3], 200)
        servo = self.servo(OPTUNE_AUTH_TOKEN="s3cret", OPTUNE_DEBUG="5").start()
        for app in ("refused", "away", "good"):
            self.jobs.run(app, app)
        eventually(lambda: {run["app"]: run["state"] for run in servo.runs()} == {"refused": "dead", "away": "dead", "good": "sent"})
        events = eventually(lambda: (got := self.jobs.api.get(f"/api/v1/namespaces/{self.ns}/events")["items"]) and len(got) >= 2 and got)
        self.assertEqual({post.headers["Authorization"] for post in self.receiver.posts}, {"Bearer s3cret"})
        shown, metrics = servo.command("runs", "--url", servo.url, "-o", "json").stdout, servo.get("/metrics")[1]
        self.assertEqual(servo.stop()[0], 0)
        for name, text in {"log": servo.log, "events": json.dumps(events), "runs": shown, "metrics": metrics}.items():
            self.assertNotIn("s3cret", text, name)
        for file in servo.store.iterdir():
            self.assertNotIn(b"s3cret", file.read_bytes(), file)

    def test_the_token_file_is_read_again_when_it_changes(self):
        servo = self.servo()
        token = servo.directory / "token"
        token.write_text("one\n")
        servo.flags += ("--optune-auth-token-file", str(token))
        servo.start()
        self.jobs.run("p", "a1")
        eventually(self.receiver.measurements)
        (servo.directory / "new").write_text("two")
        (servo.directory / "new").rename(token)
        servo.child.send_signal(signal.SIGHUP)
        self.jobs.run("q", "a2")
        eventually(lambda: len(self.receiver.measurements()) == 2)
        self.assertEqual([post.headers["Authorization"] for post in self.receiver.measurements()], ["Bearer one", "Bearer two"])
        self.assertIsNone(servo.child.poll())


class LocalMessages(Messages, ClusterCase):
    flags = ("--nodes", "0")


if __name__ == "__main__":
    unittest.main()

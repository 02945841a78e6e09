#!/usr/bin/env python3
"""Watches that end in every way they can, between the servo and a real API server: no run is lost and none comes twice."""
import json
import tempfile
import unittest

from bad_proxy import BROKEN, GONE, BadProxy
from jobs import Jobs
from receiver import Receiver
from servo import ServoCase, eventually

from local_cluster import ClusterCase, LocalCluster


def line(kind, value):
    return json.dumps({"type": kind, "object": value}).encode() + b"\n"


HALF = b'{"type":"MODIFIED","object":{"kind":"Pod","metad'


def refuse_next(status):
    def do(proxy):
        proxy.refusals.append(status)
        proxy.end_watch()
    return do


# What happens to a watch, and how many lists that may cost.
WAYS = {
    "it ends regularly": (lambda proxy: proxy.end_watch(), 0),
    "the connection breaks": (lambda proxy: proxy.end_watch(politely=False), 0),
    "half a line is the last": (lambda proxy: proxy.end_watch(HALF, politely=False), 0),
    "half a line before the regular end": (lambda proxy: proxy.end_watch(HALF), 0),
    "the server is in trouble": (refuse_next(BROKEN), 0),
    "the version is gone, says the status": (refuse_next(GONE), 1),
    "the version is gone, says an event": (lambda proxy: proxy.end_watch(line("ERROR", GONE)), 1),
    "an event that is no JSON": (lambda proxy: proxy.end_watch(b"no JSON at all\n"), 0),
    "an event of a new type": (lambda proxy: proxy.end_watch(line("RENAMED", {"kind": "Pod", "metadata": {"uid": "x"}})), 0),
    "an event with broken metadata": (lambda proxy: proxy.end_watch(line("MODIFIED", {"kind": "Pod", "metadata": {"annotations": []}})), 0),
}


class Following:
    """A servo that follows one namespace through a proxy of its own, and what comes of it."""

    def __init__(self, test):
        self.test, self.expected = test, []
        self.ns = test.watched_namespace("watch")
        self.jobs = Jobs(test, test.cluster.kubeconfig, self.ns)
        self.receiver = Receiver(test)
        place = tempfile.TemporaryDirectory(prefix="plim.")
        test.addCleanup(place.cleanup)
        self.proxy = BadProxy(test, test.servo_kubeconfig, place.name)
        self.servo = test.new_servo("--optune-url", self.receiver.url, "--optune-account", "acme", "--pod-namespaces", self.ns,
                                    kubeconfig=self.proxy.kubeconfig).start()
        eventually(lambda: self.proxy.opened == 1)

    def run_job(self, name):
        self.jobs.run(name, name)
        self.expected.append(name)

    def arrived(self):
        return sorted(post.path.split("/")[3] for post in self.receiver.measurements(accepted=False))

    def wait(self):
        eventually(lambda: self.arrived() == sorted(self.expected), what=f"{self.expected}")


class BadWatches(ServoCase):
    def test_whatever_ends_a_watch_no_run_is_lost_and_none_comes_twice(self):
        all_ways = {name: Following(self) for name in WAYS}
        for name, one in all_ways.items():
            one.run_job("before")
            one.wait()
            break_it, relists = WAYS[name]
            break_it(one.proxy)
            one.run_job("meanwhile")
            if not relists:  # who lists anew cannot know what has come and gone
                one.run_job("gone")
                one.jobs.delete("gone")
        for name, one in all_ways.items():
            with self.subTest(name):
                eventually(lambda: one.proxy.opened >= 2, what="another watch")
                one.run_job("after")
                one.wait()
                self.assertEqual(one.proxy.lists, 1 + WAYS[name][1])
                self.assertEqual(len(one.servo.runs()), len(one.expected))

    def test_pods_as_no_server_should_send_them_are_left_out(self):
        one = Following(self)
        whole = {"kind": "Pod", "metadata": {"name": "odd", "namespace": one.ns, "uid": "u"},
                 "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "env": [{"name": "JOBID", "value": "odd"}]}]},
                 "status": {"phase": "Succeeded", "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated": {
                     "startedAt": "2026-01-01T10:00:00Z", "finishedAt": "2026-01-01T10:00:42Z", "exitCode": 0}}}]}}

        def changed(number, path, value):
            pod = json.loads(json.dumps(whole))
            pod["metadata"]["uid"] = f"u{number}"
            at = pod
            for key in path[:-1]:
                at = at[key]
            at[path[-1]] = value
            return pod
        container, status = ("spec", "containers", 0), ("status", "containerStatuses", 0)
        terminated = (*status, "state", "terminated")
        changes = [((*container, "env"), [{"value": "nameless"}]), ((*container, "env"), None), ((*container, "env"), "text"),
                   (("spec", "containers"), []), (("spec", "containers"), {}), (("spec",), None), (("spec",), []), (("status",), 7),
                   (("status", "containerStatuses"), "x"), ((*status, "name"), 3), ((*status, "state"), []), ((*status, "restartCount"), "many"),
                   ((*terminated, "exitCode"), "0"), ((*terminated, "exitCode"), 1e300), ((*terminated, "startedAt"), "yesterday"),
                   ((*terminated, "startedAt"), "2026-01-01T10:00:00.999999999+02:00"), ((*terminated, "finishedAt"), "9999-12-31T23:59:59Z"),
                   ((*terminated, "finishedAt"), "2026-01-01T09:59:00Z"), ((*terminated, "finishedAt"), 12), (("metadata",), None),
                   (("metadata", "uid"), 5), (("metadata", "annotations"), {"done-at": "-5"}), (("metadata", "annotations"), {"done-at": "1e30"}),
                   (("metadata", "creationTimestamp"), "0000-00-00T00:00:00Z"),
                   (("metadata", "annotations"), {"padding": "x" * (20 << 20)}),
                   ((*container, "env", 0, "value"), "x" * (1 << 20)), ((*container, "env", 0, "value"), "a\u0000b")]
        watch = one.proxy.live[-1]
        for number, (path, value) in enumerate(changes):
            watch.send(line("MODIFIED", changed(number, path, value)))
        watch.send(line("MODIFIED", whole) * 3)
        one.jobs.run("last", "last")
        eventually(lambda: "last" in one.arrived(), 30)
        eventually(lambda: one.servo.metric("plimsoll_servo_unsent") == 0, 30)
        self.assertEqual((one.proxy.lists, one.proxy.opened), (1, 1), "the watch went on")
        self.assertIsNone(one.servo.child.poll())
        runs = {run["uid"]: run for run in one.servo.runs()}

        def sent(index):
            return [post.json["param"] for post in one.receiver.measurements() if post.key.startswith(f"u{index}/")]

        def index(path, value):
            return changes.index((path, value))
        self.assertEqual(sent(index((*terminated, "startedAt"), "yesterday"))[0]["status"], "failed")
        stepped = sent(index((*terminated, "finishedAt"), "2026-01-01T09:59:00Z"))[0]
        self.assertEqual((stepped["metrics"], stepped["annotations"]["clock"]), ({"duration": {"value": 0, "unit": "s"}}, "stepped"))
        late = sent(index((*terminated, "startedAt"), "2026-01-01T10:00:00.999999999+02:00"))[0]
        self.assertEqual(late["metrics"]["duration"]["value"], 2 * 3600 + 42)
        # Nanoseconds in 64 bits end in the year 2262.
        self.assertIn("no valid finishedAt", sent(index((*terminated, "finishedAt"), "9999-12-31T23:59:59Z"))[0]["message"])
        self.assertEqual(sent(index((*container, "env", 0, "value"), "x" * (1 << 20))), [])
        self.assertEqual(len(sent(index(("metadata", "annotations"), {"padding": "x" * (20 << 20)}))), 1)
        self.assertEqual([post.key for post in one.receiver.measurements()].count("u/main/0"), 1, "three times the same uid is one run")
        self.assertNotIn("u0", runs)
        self.assertGreaterEqual(one.servo.metric("plimsoll_servo_undecodable_total"), 2)


class LocalBadWatches(BadWatches, ClusterCase):
    flags = ("--nodes", "0")


class ServerGone(ServoCase):
    """For a class that knows how the API server of its cluster dies and comes back (end_server), and how it loses its past (forget)."""

    def test_the_server_dies_and_comes_back_and_forgets(self):
        ns = self.watched_namespace("gone")
        receiver = Receiver(self)
        servo = self.new_servo("--optune-url", receiver.url, "--optune-account", "acme", "--pod-namespaces", ns).start()

        def run(name, where=ns):
            jobs = Jobs(self, self.cluster.kubeconfig, where)
            jobs.run(name, name)
            jobs.api.close()

        def arrived(*names):
            eventually(lambda: sorted(post.path.split("/")[3] for post in receiver.measurements(accepted=False)) == sorted(names), 60)
        run("a")
        arrived("a")
        self.end_server()
        run("b")
        arrived("a", "b")
        # What happened is cut off behind the servo's back, and with it something it never saw: to go on from where it was is refused.
        run("c")
        run("unseen", self.cluster.namespace("elsewhere"))
        self.forget()
        run("d")
        arrived("a", "b", "c", "d")
        self.assertGreaterEqual(servo.metric('plimsoll_servo_watch_restarts_total{reason="list"}'), 1)


class LocalServerGone(ServerGone, unittest.TestCase):
    def setUp(self):
        # A port that no other cluster looks at: while this one is down it must not become somebody else's.
        self.cluster = LocalCluster(self, "--nodes", "0", "--listen", "127.0.0.1:0")

    def end_server(self):
        self.cluster.kill()
        self.cluster.up(self, "--nodes", "0")

    def forget(self):
        self.cluster.down()
        self.assertEqual(self.cluster.place.run("store", "compact", "--name", self.cluster.name).returncode, 0)
        self.cluster.up(self, "--nodes", "0")


if __name__ == "__main__":
    unittest.main()

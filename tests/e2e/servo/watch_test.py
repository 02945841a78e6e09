#!/usr/bin/env python3
"""Watches that end in every way they can, between the servo and a real API server: no run is lost and none comes twice."""
import json
import tempfile
import unittest

from bad_proxy import BROKEN, GONE, BadProxy
from jobs import Jobs
from receiver import Receiver
from servo import Servo, eventually

from local_cluster import ClusterCase, LocalCluster, only_local


def line(kind, value):
    return json.dumps({"type": kind, "object": value}).encode() + b"\n"


class BadWatches(ClusterCase):
    flags = ("--nodes", "0")

    def setUp(self):
        super().setUp()
        self.ns = self.cluster.namespace("watch")
        self.jobs = Jobs(self, self.cluster.kubeconfig, self.ns)
        self.receiver = Receiver(self)
        place = tempfile.TemporaryDirectory(prefix="plim.")
        self.addCleanup(place.cleanup)
        self.proxy = BadProxy(self, self.cluster.kubeconfig, place.name)
        self.servo = Servo(self, self.proxy.kubeconfig, "--optune-url", self.receiver.url, "--optune-account", "acme",
                           "--pod-namespaces", self.ns).start()
        eventually(lambda: self.proxy.opened == 1)
        self.expected = []

    def run_job(self, name):
        self.jobs.run(name, name)
        self.expected.append(name)

    def arrived(self):
        return sorted(post.path.split("/")[3] for post in self.receiver.measurements(accepted=False))

    def check(self, break_it, relists):
        """A job before, one that ends while nobody watches, one that even goes meanwhile if that can be known, one afterwards."""
        self.run_job("before")
        eventually(lambda: self.arrived() == ["before"])
        break_it()
        self.run_job("meanwhile")
        if not relists:
            self.run_job("gone")
            self.jobs.delete("gone")
        eventually(lambda: self.proxy.opened >= 2, what="another watch")
        self.run_job("after")
        eventually(lambda: self.arrived() == sorted(self.expected))
        self.assertEqual(self.proxy.lists, 1 + relists)
        self.assertEqual(len(self.servo.runs()), len(self.expected))

    def refuse_next(self, status):
        self.proxy.refusals.append(status)
        self.proxy.end_watch()

    def test_8_it_ends_regularly(self):
        self.check(self.proxy.end_watch, relists=0)

    def test_8_the_connection_breaks(self):
        self.check(lambda: self.proxy.end_watch(politely=False), relists=0)

    def test_8_half_a_line_is_the_last(self):
        self.check(lambda: self.proxy.end_watch(b'{"type":"MODIFIED","object":{"kind":"Pod","metad', politely=False), relists=0)

    def test_8_half_a_line_before_the_regular_end(self):
        self.check(lambda: self.proxy.end_watch(b'{"type":"MODIFIED","object":{"kind":"Pod","metad'), relists=0)

    def test_8_the_version_is_gone_says_an_event(self):
        self.check(lambda: self.proxy.end_watch(line("ERROR", GONE)), relists=1)

    def test_8_the_version_is_gone_says_the_status(self):
        self.check(lambda: self.refuse_next(GONE), relists=1)

    def test_8_the_server_is_in_trouble(self):
        self.check(lambda: self.refuse_next(BROKEN), relists=0)

    def test_an_event_that_nobody_can_read_costs_a_list_and_nothing_else(self):
        self.check(lambda: self.proxy.end_watch(b"no JSON at all\n"), relists=1)

    def test_an_event_with_broken_metadata_costs_a_list_and_nothing_else(self):
        self.check(lambda: self.proxy.end_watch(line("MODIFIED", {"kind": "Pod", "metadata": {"annotations": []}})), relists=1)

    def test_an_event_of_a_new_type_costs_a_list_and_nothing_else(self):
        self.check(lambda: self.proxy.end_watch(line("RENAMED", {"kind": "Pod", "metadata": {"uid": "x"}})), relists=1)

    def test_pods_as_no_server_should_send_them_are_left_out(self):
        whole = {"kind": "Pod", "metadata": {"name": "odd", "namespace": self.ns, "uid": "u"},
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
        watch = self.proxy.live[-1]
        for number, (path, value) in enumerate(changes):
            watch.send(line("MODIFIED", changed(number, path, value)))
        watch.send(line("MODIFIED", whole) * 3)
        self.jobs.run("last", "last")
        eventually(lambda: "last" in self.arrived(), 30)
        eventually(lambda: self.servo.metric("plimsoll_servo_unsent") == 0, 30)
        self.assertEqual((self.proxy.lists, self.proxy.opened), (1, 1), "the watch went on")
        self.assertIsNone(self.servo.child.poll())
        runs = {run["uid"]: run for run in self.servo.runs()}

        def sent(index):
            return [post.json["param"] for post in self.receiver.measurements() if post.key.startswith(f"u{index}/")]

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
        self.assertEqual([post.key for post in self.receiver.measurements()].count("u/main/0"), 1, "three times the same uid is one run")
        self.assertNotIn("u0", runs)
        self.assertGreaterEqual(self.servo.metric("plimsoll_servo_undecodable_total"), 2)


@only_local("ends and restarts the API server")
class ServerGone(unittest.TestCase):
    def test_8_the_server_dies_and_comes_back_and_forgets(self):
        cluster = LocalCluster(self, "--nodes", "0")
        receiver = Receiver(self)
        Servo(self, cluster.kubeconfig, "--optune-url", receiver.url, "--optune-account", "acme").start()

        def run(name):
            jobs = Jobs(self, cluster.kubeconfig)
            jobs.run(name, name)
            jobs.api.close()

        def arrived(*names):
            eventually(lambda: sorted(post.path.split("/")[3] for post in receiver.measurements(accepted=False)) == sorted(names), 60)
        run("a")
        arrived("a")
        cluster.kill()
        cluster.up(self, "--nodes", "0")
        run("b")
        arrived("a", "b")
        # What happened is cut off behind the servo's back: to go on from where it was is refused.
        run("c")
        cluster.down()
        self.assertEqual(cluster.place.run("store", "compact", "--name", cluster.name).returncode, 0)
        cluster.up(self, "--nodes", "0")
        run("d")
        arrived("a", "b", "c", "d")


if __name__ == "__main__":
    unittest.main()

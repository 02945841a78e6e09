#!/usr/bin/env python3
"""A store on a disk that is full and has space again. Needs root, for a small file system of its own."""
import os
import tempfile
import unittest

from jobs import Jobs
from receiver import Receiver
from servo import Servo, eventually

from local_cluster import ClusterCase
from own_disk import HAS_LOOP_DEVICES, OwnDisk


class DiskCase(ClusterCase):
    """A servo whose store is on a file system of its own, and has sent one run."""
    flags = ("--nodes", "0")
    size, breakable = 1 << 20, False

    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory(prefix="plim.")
        self.addCleanup(directory.cleanup)
        self.disk = OwnDisk(self, directory.name, self.size, self.breakable)
        self.ns = self.cluster.namespace("disk")
        self.jobs = Jobs(self, self.cluster.kubeconfig, self.ns)
        self.receiver = Receiver(self)
        self.servo = Servo(self, self.cluster.kubeconfig, "--optune-url", self.receiver.url, "--optune-account", "acme",
                           "--pod-namespaces", self.ns, store=self.disk.seen / "store").start()
        self.jobs.run("before", "before")
        eventually(lambda: self.apps() == ["before"])
        eventually(lambda: self.servo.runs()[0]["state"] == "sent")

    def apps(self):
        return sorted(post.path.split("/")[3] for post in self.receiver.measurements(accepted=False))

    def run_until_full(self):
        """More runs than the rest of the last page holds; their names."""
        names = [f"p{number}" for number in range(30)]
        for name in names:
            self.jobs.run(name, name)
        eventually(lambda: self.servo.metric("plimsoll_servo_store_failing") == 1)
        return names

    def check_all(self, names):
        eventually(lambda: sorted(set(self.apps())) == sorted(["before", *names]), 60)
        eventually(lambda: self.servo.metric("plimsoll_servo_store_failing") == 0, 30)
        eventually(lambda: {run["state"] for run in self.servo.runs()} == {"sent"}, 30)
        self.assertEqual(len(self.servo.runs()), len(names) + 1, "LOST: runs that are not stored once")


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a file system")
class Disk(DiskCase):
    def setUp(self):
        super().setUp()
        self.disk.fill()

    def test_runs_wait_in_memory_until_there_is_room(self):
        names = self.run_until_full()
        self.assertEqual(self.servo.get("/healthz")[0], 200)
        self.assertLess(len(self.apps()), 31, "what is not stored is not sent")
        self.disk.filler.unlink()
        self.check_all(names)
        self.assertEqual(len(self.apps()), len(names) + 1)

    def test_killed_meanwhile_it_finds_them_in_their_pods(self):
        names = self.run_until_full()
        self.servo.kill()
        sent = len(self.apps())
        self.servo.start()  # with the disk still full
        eventually(lambda: self.servo.metric("plimsoll_servo_store_failing") == 1)
        self.disk.filler.unlink()
        self.check_all(names)
        # Only what had been sent, but could not be marked as such, comes again, and with the same key.
        self.assertLessEqual(len(self.apps()) - len(names) - 1, sent)
        self.assertEqual(len({post.key for post in self.receiver.measurements()}), len(names) + 1)

    def test_killed_on_a_full_disk_while_nobody_listens_it_loses_nothing(self):
        port, before = self.receiver.port, self.receiver.measurements()
        self.receiver.answer = lambda post: 503  # on the connection that is open
        self.receiver.close()
        names = self.run_until_full()
        for _ in range(2):  # the second time it has found the runs in their pods
            self.servo.kill()
            self.servo.start()
            eventually(lambda: self.servo.metric("plimsoll_servo_store_failing") == 1)
        self.servo.kill()
        self.disk.filler.unlink()
        self.receiver = Receiver(self, port=port)
        self.servo.start()
        eventually(lambda: set(self.apps()) >= set(names), 60)
        eventually(lambda: {run["state"] for run in self.servo.runs()} == {"sent"}, 30)
        self.assertEqual(sorted(run["app"] for run in self.servo.runs()), sorted(["before", *names]), "LOST: runs that are not stored once")
        # The first run may come again, with its key, if the disk was full before it was marked as sent.
        again = [post for post in self.receiver.measurements(accepted=False) if post.key != before[0].key]
        self.assertEqual(sorted(post.path.split("/")[3] for post in again), sorted(names), "LOST: runs that were not sent once")


@unittest.skipUnless(HAS_LOOP_DEVICES, "only root can mount a file, and only where there are loop devices")
class Broken(DiskCase):
    size, breakable = 16 << 20, True

    def test_read_only_while_it_runs(self):
        self.disk.break_it()
        names = self.run_until_full()
        self.assertEqual(self.servo.get("/healthz")[0], 200)
        self.assertEqual(self.apps(), ["before"], "what is not stored is not sent")
        self.assertEqual([run["app"] for run in self.servo.runs()], ["before"])  # reads go on
        self.servo.kill()
        self.disk.repair()
        self.servo.start()
        self.check_all(names)


if __name__ == "__main__":
    unittest.main()

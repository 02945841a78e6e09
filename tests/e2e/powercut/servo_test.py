#!/usr/bin/env python3
"""The power fails while the servo stores runs: each that was sent or shown is in its files afterwards.

PLIMSOLL_POWERCUTS and PLIMSOLL_POWERCUT_SEED: how many cuts, and others of them.
"""
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import shutil
import signal
import tempfile
import unittest

from recording import CUTS, Acknowledged, Recording

from jobs import Jobs
from local_cluster import ClusterCase, eventually
from receiver import Receiver
from servo import ServoCase

JOBS = 120
STARTS = 5  # cuts after which the servo starts


class ServoPowerCut(ServoCase, ClusterCase):
    flags = ("--nodes", "0", "--durability", "os")

    def setUp(self):
        super().setUp()
        self.maker = concurrent.futures.ThreadPoolExecutor(1)
        self.addCleanup(self.maker.shutdown)
        self.told, self.starts, self.checked = Acknowledged(), 0, 0
        self.namespace = self.watched_namespace("powercut")
        self.receiver = Receiver(self)
        self.files = pathlib.Path(tempfile.mkdtemp(prefix="plim.")).resolve()
        self.addCleanup(shutil.rmtree, self.files, ignore_errors=True)
        self.servo = self.new_servo("--optune-url", self.receiver.url, "--optune-account", "acme", "--pod-namespaces", self.namespace,
                                    store=self.files / "servo/store")

    def record(self, recording):
        """Two starts. The first servo is killed while it syncs, so what the second one finds is not on disk yet."""
        plain, self.servo.env = self.servo.env, {**self.servo.env, **recording.env}
        self.servo.start()
        child = self.servo.child
        first = self.make("first", lambda made: child.poll() is not None or len(made) == 2 * JOBS)
        while not first.done():
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                if len(self.look()) > JOBS / 4:
                    recording.kill_in_sync()
        self.assertEqual(child.poll(), -signal.SIGKILL, "LOST: runs are shown without a sync")
        self.servo.kill()
        recording.kill_in_sync(None)
        made = first.result()
        self.servo.start()
        second = self.make("second", lambda made: len(made) == JOBS)
        while not second.done():
            self.look()
        made |= second.result()
        eventually(lambda: self.look() >= made, what="all runs")
        eventually(lambda: {post.key.split("/")[0] for post in self.receiver.measurements()} >= made, what="all messages")
        self.servo.stop()
        self.servo.env = plain
        for post in self.receiver.measurements(accepted=False):
            self.told.add(post.key.split("/")[0], int(post.at * 1e9))

    def make(self, prefix, is_enough):
        """Jobs that end, made by a thread; the result is their UIDs."""
        def work():
            jobs, made = Jobs(self, self.cluster.kubeconfig, self.namespace), set()
            while not is_enough(made):
                made.add(jobs.run(f"{prefix}-{len(made)}", f"app{len(made) % 7}"))
            return made
        return self.maker.submit(work)

    def look(self):
        """What the API shows."""
        shown = {run["uid"] for run in self.servo.runs()}
        for uid in shown:
            self.told.add(uid)
        return shown

    def test_no_run_that_was_sent_or_shown_is_lost(self):
        recording = Recording(self, self.files)
        self.record(recording)
        recording.check_each(self.check)
        self.assertTrue(self.starts)

    def check(self, cut):
        told = set(self.told.before(cut))
        if not self.servo.store.exists():
            self.assertEqual(told, set(), "LOST: the whole store")
            return
        read = self.servo.command("runs", "--store", str(self.servo.store), "--limit", "10000", "-o", "json")
        self.assertEqual(read.returncode, 0, "LOST: the store cannot be read: " + read.stderr)
        self.assertEqual(told - {run["uid"] for run in json.loads(read.stdout)["items"]}, set(), "LOST: runs")
        self.checked += bool(told)
        if self.checked % (CUTS // STARTS) == 1:
            self.check_start(told)

    def check_start(self, told):
        self.starts += 1
        self.servo.start()
        self.assertEqual(told - {run["uid"] for run in self.servo.runs()}, set(), "LOST: runs")
        self.servo.kill()


if __name__ == "__main__":
    unittest.main()

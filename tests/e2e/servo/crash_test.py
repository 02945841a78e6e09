#!/usr/bin/env python3
"""kill -9 at any instant while jobs end and the receiver fails: every run arrives, none twice with another key.

PLIMSOLL_SERVO_JOBS: how many, 2000 in full; 300 without it.
"""
import collections
import os
import random
import threading
import time
import unittest

from jobs import Jobs
from receiver import Receiver
from servo import ServoCase, eventually

from local_cluster import ClusterCase

JOBS = int(os.environ.get("PLIMSOLL_SERVO_JOBS", "300"))
APPS = 50


class Crash(ServoCase):
    def test_nothing_is_lost_and_nothing_comes_twice(self):
        ns = self.watched_namespace("crash")
        randomly = random.Random(6)
        lock = threading.Lock()

        def answer(post):
            with lock:
                luck = randomly.random()
            return 503 if luck < 0.1 else 500 if luck < 0.15 else 200
        receiver = Receiver(self, answer)
        servo = self.new_servo("--optune-url", receiver.url, "--optune-account", "acme", "--pod-namespaces", ns)
        uids = {}

        def make():
            jobs = Jobs(self, self.cluster.kubeconfig, ns)
            for number in range(JOBS):
                uids[jobs.run(f"p{number}", f"app{number % APPS}")] = number

        maker = threading.Thread(target=make, daemon=True)
        maker.start()
        kills = 0
        while maker.is_alive() or kills < 10:
            servo.begin()
            time.sleep(randomly.uniform(0.0, 0.6))
            servo.kill()
            kills += 1
        self.assertEqual(len(uids), JOBS)
        servo.start()
        eventually(lambda: len({post.key for post in receiver.measurements()}) >= JOBS, 120, 0.1)
        eventually(lambda: servo.metric("plimsoll_servo_unsent") == 0, 60)
        keys = collections.Counter(post.key for post in receiver.measurements())
        self.assertEqual(set(keys), {f"{uid}/main/0" for uid in uids}, "LOST: runs that were never sent")
        stored = collections.Counter(run["uid"] for run in servo.runs())
        self.assertEqual(stored, collections.Counter(uids.keys()), "LOST: runs that are not stored once")
        repeated = sum(count - 1 for count in keys.values())
        # A repeat needs a kill between the answer and its mark on disk: eight posts are in flight, the marks of
        # eight more wait to be written together, and about as many are being written.
        self.assertLessEqual(repeated, 24 * kills)
        print(f"{JOBS} jobs, {kills} kills, {len(receiver.measurements(accepted=False))} attempts, {repeated} repeats")


class LocalCrash(Crash, ClusterCase):
    flags = ("--nodes", "0", "--durability", "os")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Runs whose workers and controllers are killed at random, stopped and continued.

PLIMSOLL_FLOW_FULL=1 takes the sizes of the specification: 10000 slices of 2 to 8 ms, 40 kills, three seeds, both sinks.
"""
import collections
import json
import random
import signal
import sys
import time
import unittest

from flow_runs import FULL, Place, eventually, kill, workers_of

SLICES = 10000 if FULL else 1000
RECORDS = 20  # of a slice
MILLISECONDS = 4  # that a slice takes
KILLS = 40 if FULL else 8
PAUSE = 0.3 if FULL else 0.12
WORKERS = 4
LOST = "LOST: records, or made twice"
IN_HAND = 2 * WORKERS  # slices that run or wait in workers at slices of this length
# In full a slice takes 2 to 8 ms, as a program beside the worker decides.
VARYING = """
import random, sys, time
for line in sys.stdin:
    if line.startswith('{"_b":"begin"'):
        time.sleep(random.uniform(0.002, 0.008))
    sys.stdout.write(line)
    if line.startswith('{"_b":"end"'):
        sys.stdout.flush()
"""


class Kills(unittest.TestCase):
    def job(self, place, **exporter):
        wait = {"_op": "exec", "command": sys.executable, "args": ["-c", VARYING]} if FULL else {"_op": "delay", "ms": MILLISECONDS}
        return place.job({"_op": "data_generator", "shape": "small", "size": SLICES * RECORDS, "slice_size": RECORDS}, wait,
                         {"_op": "file_exporter", "path": str(place.out), **exporter}, workers=WORKERS)

    def run_with_kills(self, place, job, seed):
        luck = random.Random(seed)
        run = place.start(job, "--state", place.state)
        kills = controllers = 0
        while kills < KILLS and run.poll() is None:
            time.sleep(PAUSE * luck.uniform(0.5, 1.5))
            workers = workers_of(run.pid)
            if luck.random() < 0.7:
                kills += bool(workers) and kill(luck.choice(workers))
                continue
            # A controller that has not begun its execution yet has nothing to resume.
            eventually(place.has_slices, what="a first slice")
            kill(run.pid)
            run.wait()
            kills, controllers = kills + 1, controllers + 1
            run = place.start("--resume", place.state)
        self.watch(place, run)
        self.assertEqual(run.wait(), 0, place.log()[-3000:])
        self.assertGreaterEqual(kills, KILLS if FULL else KILLS / 2, "it ended before it was tried")
        return kills, controllers

    def watch(self, place, run):
        """To its end, which comes nearer all the time."""
        done, since = -1, time.monotonic()
        while run.poll() is None:
            now = place.ledger("SELECT count(*) FROM slices WHERE state='completed'")[0][0] if place.has_slices() else 0
            if now != done:
                done, since = now, time.monotonic()
            self.assertLess(time.monotonic() - since, 15, "no progress\n" + place.log()[-3000:])
            time.sleep(0.1)

    def check_ledger(self, place, kills):
        self.assertEqual(place.ledger("SELECT status FROM ex"), [("completed",)])
        count, ids, first, last = place.ledger("SELECT count(*), count(DISTINCT slice_id), min(slicer_order), max(slicer_order) "
                                               "FROM slices WHERE state='completed'")[0]
        self.assertEqual((count, ids, first, last), (SLICES, SLICES, 1, SLICES), "LOST: slices, or made twice")
        again = place.ledger("SELECT sum(max(attempts - 1, 0)) FROM slices")[0][0]
        duplicates = place.ledger("SELECT duplicates FROM ex")[0][0]
        self.assertLessEqual(duplicates, again)
        self.assertLessEqual(again, kills * (WORKERS + IN_HAND))
        return again

    def test_exactly_once_whatever_is_killed(self):
        for seed in (1, 2, 3) if FULL else (1,):
            with self.subTest(seed=seed):
                place = Place(self)
                kills, controllers = self.run_with_kills(place, self.job(place, idempotent=True), seed)
                again = self.check_ledger(place, kills)
                self.assertEqual([json.loads(line)["id"] for line in place.exported()], list(range(SLICES * RECORDS)), LOST)
                print(f"seed {seed}: {kills} kills, {controllers} of controllers, {again} slices re-dispatched")

    def test_at_least_once_when_files_grow(self):
        for seed in (4, 5, 6) if FULL else (4,):
            with self.subTest(seed=seed):
                place = Place(self)
                kills, controllers = self.run_with_kills(place, self.job(place), seed)
                again = self.check_ledger(place, kills)
                seen = collections.Counter(json.loads(line)["id"] for line in place.exported())
                self.assertEqual(len(seen), SLICES * RECORDS, LOST)
                extra = sum(seen.values()) - len(seen)
                self.assertLessEqual(extra, RECORDS * again)
                print(f"seed {seed}: {kills} kills, {controllers} of controllers, {again} slices re-dispatched, {extra} records twice")

    def test_a_worker_that_sleeps_through_its_lease_does_no_harm(self):
        place = Place(self)
        run = place.start(self.job(place, idempotent=True), "--state", place.state, "--lease", "1s")
        sleeper = eventually(lambda: len(list(place.out.glob("*"))) > 20 and workers_of(run.pid), what="output")[0]
        kill(sleeper, signal.SIGSTOP)
        self.addCleanup(kill, sleeper, signal.SIGCONT)
        eventually(lambda: "does not respond" in place.log(), what="the lease's end")
        kill(sleeper, signal.SIGCONT)
        self.assertEqual(run.wait(120), 0, place.log())
        self.assertEqual([json.loads(line)["id"] for line in place.exported()], list(range(SLICES * RECORDS)), LOST)
        self.assertEqual(place.ledger("SELECT count(*) FROM slices WHERE state='completed'")[0][0], SLICES, LOST)

    def test_workers_end_with_their_controller(self):
        place = Place(self)
        run = place.start(self.job(place, idempotent=True), "--state", place.state)
        workers = eventually(lambda: len(workers_of(run.pid)) == WORKERS and workers_of(run.pid), what="workers")
        kill(run.pid)
        run.wait()
        eventually(lambda: not any(kill(worker, 0) for worker in workers), seconds=5, what="the workers' end")


if __name__ == "__main__":
    unittest.main()

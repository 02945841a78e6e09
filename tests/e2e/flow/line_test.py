#!/usr/bin/env python3
"""The line between the controller and a worker: cut, filled with nonsense, and silent for a while on either side."""
import ctypes
import json
import os
import pathlib
import signal
import socket
import time
import unittest

from flow_runs import FULL, Place, eventually, kill, workers_of

SLICES = 300
SILENCE = 3 if FULL else 1  # seconds; 3 with PLIMSOLL_FLOW_FULL
PIDFD_GETFD = 438


def line_of(worker):
    """The worker's own end of its line, as a socket of ours. The kernel wants the right to trace the worker."""
    pidfd = os.pidfd_open(worker)
    try:
        for name in os.listdir(f"/proc/{worker}/fd"):
            if not os.readlink(f"/proc/{worker}/fd/{name}").startswith("socket:"):
                continue
            fd = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_GETFD, pidfd, int(name), 0)
            if fd < 0:
                raise unittest.SkipTest(f"cannot take a descriptor of another process: {os.strerror(ctypes.get_errno())}")
            return socket.socket(fileno=fd)
    except OSError:
        pass  # it has left
    finally:
        os.close(pidfd)
    return None


class Line(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)

    def begin(self, *flags):
        """A run that has written something, and its workers."""
        place = self.place
        job = place.job({"_op": "data_generator", "shape": "small", "size": SLICES, "slice_size": 1}, {"_op": "delay", "ms": 10},
                        {"_op": "file_exporter", "path": str(place.out), "idempotent": True}, workers=2)
        run = place.start(job, "--state", place.state, *flags)
        eventually(lambda: place.out.exists() and len(list(place.out.iterdir())) > 10, what="output")
        return run, eventually(lambda: len(workers_of(run.pid)) == 2 and workers_of(run.pid), what="workers")

    def finish(self, run):
        self.assertEqual(run.wait(120), 0, self.place.log())
        self.assertEqual([json.loads(line)["id"] for line in self.place.exported()], list(range(SLICES)))
        self.assertEqual(self.place.ledger("SELECT count(*), count(DISTINCT slice_id) FROM slices WHERE state='completed'"),
                         [(SLICES, SLICES)])

    def redispatched(self):
        return self.place.ledger("SELECT coalesce(sum(max(attempts - 1, 0)), 0) FROM slices")[0][0]

    def test_a_worker_whose_line_is_cut_is_replaced_at_once(self):
        run, workers = self.begin()
        line = line_of(workers[0])
        start = time.monotonic()
        line.shutdown(socket.SHUT_RDWR)
        line.close()
        eventually(lambda: "another one takes its place" in self.place.log(), seconds=5, what="a replacement")
        self.assertLess(time.monotonic() - start, 5)
        eventually(lambda: not pathlib.Path(f"/proc/{workers[0]}").exists(), seconds=5, what="the end of the worker without a line")
        self.finish(run)
        self.assertGreater(self.redispatched(), 0)

    def test_nonsense_on_the_line_costs_a_worker_and_nothing_else(self):
        run, workers = self.begin()
        line = line_of(workers[0])
        line.send(b"\xff" * 64)
        line.close()
        eventually(lambda: "another one takes its place" in self.place.log(), seconds=5, what="a replacement")
        self.assertIn("invalid frame", self.place.log())
        self.finish(run)

    def test_nothing_is_given_to_others_while_a_line_is_silent_for_less_than_a_lease(self):
        run, workers = self.begin("--lease", f"{2 * SILENCE}s")
        for silent in (workers[0], run.pid):  # neither hears the other
            kill(silent, signal.SIGSTOP)
            self.addCleanup(kill, silent, signal.SIGCONT)
        time.sleep(SILENCE)
        for silent in (workers[0], run.pid):
            kill(silent, signal.SIGCONT)
        self.finish(run)
        self.assertEqual(self.redispatched(), 0)
        self.assertNotIn("does not respond", self.place.log())

    def test_a_controller_that_slept_past_every_lease_does_not_blame_its_workers(self):
        run, _ = self.begin("--lease", "2s")
        kill(run.pid, signal.SIGSTOP)
        self.addCleanup(kill, run.pid, signal.SIGCONT)
        time.sleep(3)
        kill(run.pid, signal.SIGCONT)
        self.finish(run)
        self.assertEqual(self.redispatched(), 0, self.place.log())


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The wall clock is set forward and back by an hour under a run: leases, progress and the order of executions do not care."""
import json
import struct
import subprocess
import unittest

from flow_runs import Place, eventually
from clock_test import HOUR, SHIM  # of tests/e2e/local

SLICES = 400


class ClockJumps(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)
        library, self.offset = self.place.root / "clock.so", self.place.root / "offset"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", library], input=SHIM, text=True, check=True)
        self.set_clock(0)
        self.place.env.update(LD_PRELOAD=str(library), CLOCK_OFFSET=str(self.offset))
        self.job = self.place.job({"_op": "data_generator", "shape": "small", "size": SLICES, "slice_size": 1},
                                  {"_op": "delay", "ms": 5}, {"_op": "file_exporter", "path": str(self.place.out), "idempotent": True})

    def set_clock(self, seconds):
        with open(self.offset, "r+b" if self.offset.exists() else "w+b") as file:
            file.write(struct.pack("q", seconds))

    def wait_for_output(self, files):
        eventually(lambda: self.place.out.exists() and len(list(self.place.out.iterdir())) > files, what=f"{files} files")

    def test_a_jump_of_an_hour_either_way_ends_no_lease(self):
        run = self.place.start(self.job, "--state", self.place.state, "--lease", "5s", "--workers", 2)
        self.wait_for_output(20)
        self.set_clock(HOUR)
        self.wait_for_output(150)
        self.set_clock(-HOUR)
        self.assertEqual(run.wait(120), 0, self.place.log())
        self.assertEqual([json.loads(line)["id"] for line in self.place.exported()], list(range(SLICES)), "LOST: records, or made twice")
        self.assertEqual(self.place.ledger("SELECT max(attempts) FROM slices"), [(1,)])
        self.assertNotIn("does not respond", self.place.log())
        first, last = self.place.ledger("SELECT min(updated), max(updated) FROM slices")[0]
        self.assertGreater(last - first, 1.9 * HOUR * 1e9, "the clock was not set at all")

    def test_the_execution_begun_last_is_resumed_though_the_clock_was_set_back(self):
        self.assertEqual(self.place.run("run", self.job, "--state", self.place.state, "--limit", 5).returncode, 0)
        self.set_clock(-HOUR)
        failing = self.place.job({"_op": "data_generator", "size": 1}, {"_op": "exec", "command": "false"}, max_retries=0)
        self.assertEqual(self.place.run("run", failing, "--state", self.place.state).returncode, 1)
        again = self.place.run("run", "--resume", self.place.state)
        self.assertEqual(again.returncode, 1, again.stderr)
        self.assertNotIn("already completed", again.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The ledger's disk is full for a while. Needs root, for a small file system of its own."""
import json
import os
import pathlib
import signal
import subprocess
import unittest

from flow_runs import PROGRAM, Place, eventually, kill
from own_disk import HAS_LOOP_DEVICES, OwnDisk

SLICES = 1500


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a file system")
class Disk(unittest.TestCase):
    def test_a_run_waits_for_room_and_goes_on(self):
        place = Place(self)
        place.state.mkdir()
        job = place.job({"_op": "data_generator", "shape": "small", "size": SLICES, "slice_size": 1}, {"_op": "delay", "ms": 2},
                        {"_op": "file_exporter", "path": str(place.out), "idempotent": True})
        # Seen by nobody but the run, and gone with it.
        script = f"mount -t tmpfs -o size=16m none {place.state} && exec {PROGRAM} flow run {job} --state {place.state}"
        with open(place.root / "log", "w") as log:
            run = subprocess.Popen(["unshare", "--mount", "sh", "-c", script], env=place.env, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log)
        self.addCleanup(kill, run.pid)
        eventually(lambda: place.out.exists() and len(list(place.out.iterdir())) > 20, what="output")
        filler = pathlib.Path(f"/proc/{run.pid}/root{place.state}/filler")
        fill(filler)
        eventually(lambda: "waiting for storage" in place.log(), what="a full disk")
        filler.unlink()
        self.assertEqual(run.wait(120), 0, place.log())
        self.assertIn("storage is back", place.log())
        self.assertEqual([json.loads(line)["id"] for line in place.exported()], list(range(SLICES)), "LOST: records that are not there once")


class DiskCase(unittest.TestCase):
    """Runs whose state is on a file system of its own."""
    breakable = False

    def setUp(self):
        self.place = place = Place(self)
        place.state.mkdir()
        self.disk = OwnDisk(self, place.state, 16 << 20, self.breakable)
        self.job = place.job({"_op": "data_generator", "shape": "small", "size": SLICES, "slice_size": 1}, {"_op": "delay", "ms": 2},
                             {"_op": "file_exporter", "path": str(place.out), "idempotent": True})

    def start(self, *words):
        with open(self.place.root / "log", "w") as log:
            run = subprocess.Popen(self.disk.inside(PROGRAM, "flow", "run", *words), env=self.place.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(lambda: run.poll() is None and (run.kill(), run.wait()))
        return run

    def has_output(self):
        return self.place.out.exists() and len(list(self.place.out.iterdir())) > 20

    def check_output(self):
        self.assertEqual([json.loads(line)["id"] for line in self.place.exported()], list(range(SLICES)), "LOST: records that are not there once")


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a file system")
class KilledOnAFullDisk(DiskCase):
    def test_a_killed_controller_goes_on_with_what_its_ledger_has(self):
        run = self.start(self.job, "--state", self.place.state)
        eventually(self.has_output, what="output")
        self.disk.fill()
        eventually(lambda: "waiting for storage" in self.place.log(), what="a full disk")
        run.kill()
        run.wait()
        self.assertEqual(self.start("--resume", self.place.state).wait(60), 1, "there is still no room")
        self.assertIn("disk is full", self.place.log())
        self.disk.filler.unlink()
        self.assertEqual(self.start("--resume", self.place.state).wait(120), 0, self.place.log())
        self.check_output()

    def test_a_first_start_without_room_says_so_and_the_next_one_works(self):
        self.disk.fill()
        self.assertEqual(self.start(self.job, "--state", self.place.state).wait(60), 1)
        self.assertIn("no space left on device", self.place.log())
        self.disk.filler.unlink()
        self.assertEqual(self.start(self.job, "--state", self.place.state).wait(120), 0, self.place.log())
        self.check_output()


@unittest.skipUnless(HAS_LOOP_DEVICES, "only root can mount a file, and only where there are loop devices")
class Broken(DiskCase):
    breakable = True

    def test_read_only_while_it_runs(self):
        run = self.start(self.job, "--state", self.place.state)
        eventually(self.has_output, what="output")
        self.disk.break_it()
        eventually(lambda: "waiting for storage" in self.place.log(), what="a disk that cannot be written")
        for said in ("stopping when", None):  # a second signal does not wait for slices that cannot be recorded
            run.send_signal(signal.SIGINT)
            eventually(lambda: said is None or said in self.place.log(), what="an answer to the signal")
        self.assertEqual(run.wait(5), 130, self.place.log())
        self.disk.repair()
        self.assertEqual(self.start("--resume", self.place.state).wait(120), 0, self.place.log())
        self.check_output()


@unittest.skipUnless(os.geteuid() == 0, "only root can mount a file system")
class FullOutput(unittest.TestCase):
    def test_slices_that_did_not_fit_are_written_once_there_is_room(self):
        place = Place(self)
        place.out.mkdir()
        job = place.job({"_op": "data_generator", "shape": "small", "size": 100000, "slice_size": 5000},
                        {"_op": "file_exporter", "path": str(place.out), "idempotent": True}, max_retries=0)
        flow = f"{PROGRAM} flow run"
        # Seen by nobody but this shell, which says what it saw.
        script = f"""
            mount -t tmpfs -o size=1m none {place.out}
            {flow} {job} --state {place.state}; echo first $?
            ls {place.out} | grep -c tmp; echo left
            mount -o remount,size=16m {place.out}
            {flow} --resume {place.state}; echo second $?
            cat {place.out}/* > {place.root}/all"""
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script], env=place.env, capture_output=True, text=True, timeout=120)
        self.assertIn("no space left on device", done.stderr.lower())
        self.assertEqual(done.stdout.split(), ["first", "1", "0", "left", "second", "0"], done.stderr)
        lines = (place.root / "all").read_text().splitlines()
        self.assertEqual([json.loads(line)["id"] for line in lines], list(range(100000)), "LOST: records that are not there once")


def fill(path):
    with open(path, "wb", buffering=0) as file:
        for size in (1 << 20, 4096):
            try:
                while file.write(b"x" * size) == size:
                    pass
            except OSError:
                pass


if __name__ == "__main__":
    unittest.main()

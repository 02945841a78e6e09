#!/usr/bin/env python3
"""The power fails while flow runs a job: the ledger and the files of its exporter agree afterwards, and a resumed run is complete.

PLIMSOLL_POWERCUTS and PLIMSOLL_POWERCUT_SEED: how many cuts, and others of them.
"""
import collections
import contextlib
import json
import shutil
import sqlite3
import unittest

from recording import CUTS, Acknowledged, Recording

from flow_runs import Place, eventually, kill

SLICES, RECORDS = 60, 10
STARTS = 6  # cuts after which the run continues


def ids_of(order):
    return list(range((order - 1) * RECORDS, order * RECORDS))


def ids_in(text):
    """Of a file that may end within a record."""
    found = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            found.append(json.loads(line)["id"])
    return found


class FlowPowerCut(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)
        self.disk = self.place.root / "disk"
        self.disk.mkdir()
        self.place.state, self.place.out = self.disk / "runs/state", self.disk / "data/out"
        self.ended, self.checked, self.starts = Acknowledged(), 0, 0

    def record(self, recording, **exporter):
        """The controller is killed in the middle, so the second one continues with what is not on disk yet."""
        self.job = self.place.job({"_op": "data_generator", "shape": "small", "size": SLICES * RECORDS, "slice_size": RECORDS},
                                  {"_op": "delay", "ms": 8}, {"_op": "file_exporter", "path": str(self.place.out), **exporter}, workers=2)
        plain, self.place.env = self.place.env, {**self.place.env, **recording.env}
        run = self.place.start(self.job, "--state", self.place.state)
        eventually(lambda: len(self.exported()) > SLICES * RECORDS / 4, what="a part of the output")
        kill(run.pid)
        run.wait()
        run = self.place.start("--resume", self.place.state)
        self.assertEqual(run.wait(60), 0, self.place.log())
        self.ended.add("completed")
        self.place.env = plain

    def exported(self):
        paths = sorted(self.place.out.iterdir()) if self.place.out.exists() else []
        return [number for path in paths if ".tmp-" not in path.name for number in ids_in(path.read_text())]

    def ledger(self):
        """Runs and their slices, read from a copy: to open the ledger changes it."""
        copy = self.place.root / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.place.state, copy)
        with contextlib.closing(sqlite3.connect(copy / "flow.db")) as ledger:
            try:
                runs = ledger.execute("SELECT ex_id, status FROM ex").fetchall()
                return runs, {(run, order): state for run, order, state in ledger.execute("SELECT ex_id, slicer_order, state FROM slices")}
            except sqlite3.OperationalError as problem:
                if "no such table" not in str(problem):
                    raise AssertionError(f"LOST: the ledger cannot be read: {problem}")
                return [], {}
            except sqlite3.DatabaseError as problem:
                raise AssertionError(f"LOST: the ledger cannot be read: {problem}")

    def check(self, cut):
        runs, slices = self.ledger() if (self.place.state / "flow.db").exists() else ([], {})
        self.assertLessEqual(set(self.ended.before(cut)), {status for _, status in runs}, "LOST: the end of the run")
        files = {path.name: path.read_text() for path in self.place.out.iterdir()} if self.place.out.exists() else {}
        self.check_files({name: text for name, text in files.items() if ".tmp-" not in name}, slices)
        self.checked += bool(files)
        if self.checked % (CUTS // STARTS) == 1:
            self.check_start(bool(runs))

    def check_start(self, known):
        self.starts += 1
        done = self.place.run("run", *(("--resume", self.place.state) if known else (self.job, "--state", self.place.state)))
        self.assertEqual(done.returncode, 0, "LOST: the run cannot continue: " + done.stderr[-2000:])
        self.check_output(self.exported())


class ExactlyOnce(FlowPowerCut):
    def test_every_completed_slice_has_its_file_and_every_file_its_slice(self):
        recording = Recording(self, self.disk)
        self.record(recording, idempotent=True)
        recording.check_each(self.check)
        self.assertTrue(self.starts)

    def check_files(self, files, slices):
        found = {}
        for name, text in files.items():
            run, _, order, _ = name.split(".")
            found[run, int(order)] = ids_in(text)
            self.assertEqual(found[run, int(order)], ids_of(int(order)), f"LOST: records of {name}, which has its name")
        self.assertLessEqual(found.keys(), slices.keys(), "LOST: slices whose files are there; another run would repeat them")
        done = {key for key, state in slices.items() if state == "completed"}
        self.assertLessEqual(done, found.keys(), "LOST: files of completed slices")

    def check_output(self, ids):
        self.assertEqual(ids, list(range(SLICES * RECORDS)), "LOST: records, or written twice")


class AtLeastOnce(FlowPowerCut):
    def test_the_records_of_every_completed_slice_are_in_the_files_that_grow(self):
        recording = Recording(self, self.disk)
        self.record(recording)
        recording.check_each(self.check)
        self.assertTrue(self.starts)

    def check_files(self, files, slices):
        found = collections.Counter(number for text in files.values() for number in ids_in(text))
        for (_, order), state in slices.items():
            if state == "completed":
                self.assertLessEqual(set(ids_of(order)), found.keys(), f"LOST: records of slice {order}, which is completed")

    def check_output(self, ids):
        self.assertEqual(sorted(set(ids)), list(range(SLICES * RECORDS)), "LOST: records")


del FlowPowerCut  # is no test itself


if __name__ == "__main__":
    unittest.main()

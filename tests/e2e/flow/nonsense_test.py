#!/usr/bin/env python3
"""Flags, job files and programs that make no sense, and people who lose patience."""
import json
import pathlib
import signal
import subprocess
import time
import unittest

from flow_runs import PROGRAM, Place, eventually, kill, workers_of

GENERATE = {"_op": "data_generator", "shape": "small", "size": 10, "slice_size": 2}
NOOP = {"_op": "noop"}


class Nonsense(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)

    def refused(self, *words, code=2):
        done = self.place.run("run", *words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual([path.name for path in self.place.root.glob("plimsoll-flow.*")], [], "state was left behind")
        return done.stderr

    def test_flags_out_of_range_start_nothing(self):
        job = self.place.job(GENERATE, NOOP)
        for value in (-1, 1001, 10**11):
            self.assertIn("--workers: expected a number from 0 to 1000", self.refused(job, "--workers", value))
        self.assertIn("--limit", self.refused(job, "--limit", -1))
        self.assertIn("--lease", self.refused(job, "--lease", "999ms"))
        self.assertIn("either JOB or --resume", self.refused(job, "--resume", "x"))
        self.assertIn("--dry-run cannot be combined with --resume", self.refused("--resume", "x", "--dry-run"))
        self.assertIn("--state cannot be combined with --resume", self.refused("--resume", "x", "--state", "y"))
        self.assertIn("has no ledger", self.refused("--resume", self.place.root / "mistyped", code=4))

    def test_a_missing_input_blocks_no_folder(self):
        source = self.place.root / "in"
        job = self.place.job({"_op": "file_reader", "path": str(source)}, NOOP)
        self.assertIn(f"{source} does not exist", self.refused(job, code=4))
        self.refused(job, "--state", self.place.state, code=4)
        source.write_text("{}\n")
        self.assertEqual(self.place.run("run", job, "--state", self.place.state).returncode, 0)

    def test_no_place_for_temporary_state(self):
        self.place.env["TMPDIR"] = str(self.place.root / "missing")
        self.assertIn("pass --state DIR", self.refused(self.place.job(GENERATE, NOOP), code=4))
        self.assertEqual(self.place.run("run", self.place.job(GENERATE, NOOP), "--state", self.place.state).returncode, 0)

    def test_files_that_are_no_jobs(self):
        texts = {"empty.json": "", "list.json": "[]", "word.yaml": "hello", "tab.yaml": "operations:\n\t- x", "deep.json": "[" * 100000,
                 "nul.json": "\0", "twice.yaml": "operations: []\noperations: []\n"}
        for name, text in texts.items():
            with self.subTest(name):
                (self.place.root / name).write_text(text)
                self.refused(self.place.root / name)
        self.refused(self.place.root)

    def test_a_folder_that_holds_something_else(self):
        self.place.state.mkdir()
        (self.place.state / "flow.db").write_text("no database" * 100)
        job = self.place.job(GENERATE, NOOP)
        self.assertIn("file is not a database", self.refused(job, "--state", self.place.state))
        self.assertIn("file is not a database", self.refused("--resume", self.place.state))

    def test_programs_of_jq_that_cannot_work(self):
        for program in (".a |", 'include "a"; .', "nosuch(.)"):
            with self.subTest(program):
                job = self.place.job(GENERATE, {"_op": "jq", "expr": program}, NOOP)
                self.assertIn("operations[1].expr: ", self.refused(job))
        job = self.place.job(GENERATE, {"_op": "jq", "mode": "flatmap", "expr": "halt"}, NOOP)
        done = self.place.run("run", job, "--state", self.place.state)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.place.ledger("SELECT DISTINCT error, retry_count FROM slices"),
                         [("jq: record 1 of the slice: the program halted", 0)])

    def test_a_program_that_hangs_fails_its_slice_in_time(self):
        job = self.place.job({**GENERATE, "size": 2}, {"_op": "exec", "command": "sleep", "args": ["1000"], "timeout": "200 ms"}, NOOP,
                             max_retries=1)
        done = self.place.run("run", job, "--state", self.place.state, timeout=20)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.place.ledger("SELECT error, retry_count FROM slices"), [("exec: sleep: no answer within 200 ms", 1)])

    def test_the_job_s_variables_reach_its_programs(self):
        operation = {"_op": "exec", "framing": "none", "command": "printenv", "args": ["COLOUR", "DEPTH"]}
        job = self.place.job({**GENERATE, "size": 1}, operation, {"_op": "stdout"}, env_vars={"COLOUR": "red", "DEPTH": 7})
        for threads in ([], ["--threads"]):
            self.assertEqual(self.place.run("run", job, "-q", *threads).stdout, "red\n7\n")

    def test_a_run_whose_output_nobody_reads_ends(self):
        job = self.place.job(GENERATE, {"_op": "delay", "ms": 1}, {"_op": "stdout"}, lifecycle="persistent", workers=1)
        run = subprocess.Popen([PROGRAM, "flow", "run", job, "--state", self.place.state], env=self.place.env, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        self.addCleanup(kill, run.pid)
        run.stdout.readline()
        run.stdout.close()
        self.assertEqual(run.wait(30), 1)
        self.assertEqual(self.place.ledger("SELECT status FROM ex"), [("stopped",)])

    def hang(self):
        """A run whose only slice does not end, and the program it waits for."""
        pid = self.place.root / "pid"
        command = {"_op": "exec", "command": "sh", "args": ["-c", f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 1000"]}
        run = self.place.start(self.place.job(GENERATE, command, NOOP, workers=1), "--state", self.place.state)
        program = int(eventually(lambda: pid.exists() and pid.read_text().strip(), what="the program"))
        self.addCleanup(kill, program)
        return run, program

    def is_gone(self, program):
        eventually(lambda: not pathlib.Path(f"/proc/{program}").exists(), seconds=5, what="the program's end")

    def test_a_second_ctrl_c_ends_at_once(self):
        run, program = self.hang()
        run.send_signal(signal.SIGINT)
        eventually(lambda: "a second signal stops immediately" in self.place.log(), what="the first answer")
        start = time.monotonic()
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(10), 130)
        self.assertLess(time.monotonic() - start, 5)
        self.is_gone(program)

    def test_programs_end_with_a_controller_that_is_killed(self):
        run, program = self.hang()
        self.assertEqual(len(workers_of(run.pid)), 1)
        run.kill()
        self.is_gone(program)


class Columns(unittest.TestCase):
    def test_csv_through_gzip_and_back(self):
        place = Place(self)
        rows = [{"a": str(i), "b": 'x,"y"' if i % 3 else "", "ü": "é"} for i in range(500)]
        source = place.root / "in.ldjson"
        source.write_text("".join(json.dumps(row) + "\n" for row in rows))
        exporter = {"_op": "file_exporter", "path": str(place.out), "format": "csv", "compression": "gzip", "include_header": True,
                    "fields": ["a", "b", "ü"], "idempotent": True}
        first = place.job({"_op": "file_reader", "path": str(source), "size": 2000}, exporter)
        self.assertEqual(place.run("run", first).returncode, 0)
        back = place.root / "back"
        second = place.job({"_op": "file_reader", "path": str(place.out), "format": "csv", "compression": "gzip", "ignore_empty": False},
                           {"_op": "file_exporter", "path": str(back), "idempotent": True})
        done = place.run("run", second)
        self.assertEqual(done.returncode, 0, done.stderr)
        place.out = back
        self.assertEqual([json.loads(line) for line in place.exported()], rows)


if __name__ == "__main__":
    unittest.main()

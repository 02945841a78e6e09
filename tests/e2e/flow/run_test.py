#!/usr/bin/env python3
"""`plimsoll flow run` as its users call it: job files, results, messages, exit codes."""
import collections
import gzip
import hashlib
import json
import random
import signal
import subprocess
import unittest

from flow_runs import PROGRAM, ROOT, Place, eventually

GENERATE = {"_op": "data_generator", "size": 100000}
NOOP = {"_op": "noop"}

# Answers every batch with its records, once it has died in the middle of the first one.
MORTAL = """
import json, os, sys
records = []
for line in sys.stdin:
    if not line.startswith('{"_b"'):
        records.append(line)
        if not os.path.exists(sys.argv[1]):
            open(sys.argv[1], "w").close()
            os.kill(os.getpid(), 9)
        continue
    frame = json.loads(line)
    if frame["_b"] == "begin":
        records = []
        continue
    sys.stdout.write(json.dumps({"_b": "begin", "id": frame["id"]}) + "\\n" + "".join(records))
    sys.stdout.write(json.dumps({"_b": "end", "id": frame["id"]}) + "\\n")
    sys.stdout.flush()
"""


def small(size, slice_size=1):
    return {"_op": "data_generator", "shape": "small", "size": size, "slice_size": slice_size}


class Runs(unittest.TestCase):
    def setUp(self):
        self.place = Place(self)

    def exporter(self, **more):
        return {"_op": "file_exporter", "path": str(self.place.out), "idempotent": True, **more}

    def test_generates_100000_records_without_any_configuration(self):
        done = self.place.run("run", self.place.job(GENERATE, NOOP))
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[-1], r"^completed: 100000 records in, 100000 out, 20 slices, 0 failed.* rss ")
        self.assertTrue(any("eta" in line and "rss" in line for line in lines[:-1]), done.stderr)
        self.assertEqual(list(self.place.root.glob("plimsoll-flow.*")), [], "temporary state was left behind")

    def test_an_invalid_job_says_everything_that_is_wrong_and_ends_with_2(self):
        job = self.place.job(GENERATE, {"_op": "delay", "ms": "soon"}, workers=0, colour="red")
        done = self.place.run("run", job)
        self.assertEqual(done.returncode, 2)
        self.assertIn("Validation failed for job config: test - 2 problems", done.stderr)
        self.assertIn("workers: must be valid integer greater than zero", done.stderr)
        self.assertIn("operations[1].ms: must be a positive integer or human readable string", done.stderr)
        self.assertIn("warning: colour: unknown property", done.stderr)
        (self.place.root / "broken.json").write_text("{")
        self.assertEqual(self.place.run("run", self.place.root / "broken.json").returncode, 2)
        self.assertEqual(self.place.run("run", self.place.root / "missing.json").returncode, 2)
        self.assertEqual(self.place.run("run").returncode, 2)

    def test_a_dry_run_shows_the_first_slices_and_writes_nothing(self):
        done = self.place.run("run", self.place.job(GENERATE, self.exporter()), "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("20 slices", done.stdout)
        self.assertEqual(done.stdout.count('"processed":'), 5)
        self.assertFalse(self.place.out.exists())

    def test_failed_slices_are_counted_recorded_and_run_again_alone(self):
        gate, hold = self.place.root / "fail", self.place.root / "hold"
        gate.touch()
        hold.touch()
        script = (f"read l; case $l in *:0,*|*[02468]0,*) test -e {gate} && exit 3;; "  # every 20th
                  f"*:199,*) while test -e {hold}; do sleep 0.05; done;; esac; echo $l")
        job = self.place.job(small(200), {"_op": "exec", "framing": "none", "command": "sh", "args": ["-c", script]},
                             self.exporter(), max_retries=1)
        run = self.place.start(job, "--state", self.place.state)
        eventually(lambda: self.place.has_slices() and self.place.ledger("SELECT count(*) FROM slices WHERE state='error'") == [(10,)],
                   what="all failures")
        self.assertEqual(self.place.ledger("SELECT status, failure FROM ex"), [("failing", "")])
        hold.unlink()
        self.assertEqual(run.wait(60), 1, self.place.log())
        self.assertRegex(self.place.log(), r"\nfailed: 190 records in, 190 out, 200 slices, 10 failed")
        self.assertIn("had 10 slice failures during processing", self.place.log())
        self.assertIn(f"--resume {self.place.state}", self.place.log())
        self.assertEqual(self.place.ledger("SELECT status FROM ex"), [("failed",)])
        self.assertTrue(self.place.ledger("SELECT failure FROM ex")[0][0].endswith("had 10 slice failures during processing"))
        self.assertEqual(self.place.ledger("SELECT state, count(*) FROM slices GROUP BY state ORDER BY state"),
                         [("completed", 190), ("error", 10)])
        self.assertEqual(self.place.ledger("SELECT DISTINCT retry_count FROM slices WHERE state='error'"), [(1,)])
        self.assertEqual(self.place.run("run", job, "--state", self.place.state).returncode, 3, "it is unfinished")
        gate.unlink()
        again = self.place.run("run", "--resume", self.place.state)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertEqual(self.place.ledger("SELECT count(*) FROM slices WHERE attempts > 1"), [(10,)])
        self.assertEqual([json.loads(line)["id"] for line in self.place.exported()], list(range(200)))
        self.assertIn("already completed", self.place.run("run", "--resume", self.place.state).stderr)

    def test_a_run_is_resumed_from_anywhere(self):
        root = self.place.root
        (root / "in").write_text('{"id":0}\n{"id":1}\n')
        (root / "gate").touch()
        job = self.place.job({"_op": "file_reader", "path": "in"},
                             {"_op": "exec", "framing": "none", "command": "sh", "args": ["-c", "test -e gate && exit 3; cat"]},
                             {"_op": "file_exporter", "path": "out", "idempotent": True}, max_retries=0)
        self.assertEqual(self.place.run("run", job, "--state", "state", cwd=root).returncode, 1)
        (root / "gate").unlink()
        elsewhere = root / "elsewhere"
        elsewhere.mkdir()
        done = self.place.run("run", "--resume", "../state", cwd=elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.place.exported()), 2)
        self.assertEqual(list(elsewhere.iterdir()), [])

    def test_a_run_whose_folder_is_gone_says_so(self):
        folder = self.place.root / "folder"
        folder.mkdir()
        job = self.place.job(small(1), {"_op": "exec", "framing": "none", "command": "sh", "args": ["-c", "exit 3"]}, NOOP, max_retries=0)
        self.place.run("run", job, "--state", self.place.state, cwd=folder)
        folder.rmdir()
        done = self.place.run("run", "--resume", self.place.state)
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn(f"cannot change to {folder}, where the run began", done.stderr)

    def test_ctrl_c_ends_with_130_and_resume_finishes(self):
        run = self.place.start(self.place.job(small(400), {"_op": "delay", "ms": 5}, self.exporter()), "--state", self.place.state)
        eventually(lambda: self.place.out.exists() and len(list(self.place.out.iterdir())) > 10, what="some output")
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(30), 130, self.place.log())
        self.assertEqual(self.place.ledger("SELECT status FROM ex"), [("stopped",)])
        done = self.place.run("run", "--resume", self.place.state)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([json.loads(line)["id"] for line in self.place.exported()], list(range(400)))

    def test_jq_and_exec_give_the_same_from_the_same(self):
        source = self.place.root / "in"
        source.write_text("".join(json.dumps({"id": i, "tag": "ab"[i % 2], "bytes": i * 7}) + "\n" for i in range(2000)))
        want = [i for i in range(2000) if i % 2 == 0 and i * 7 >= 100]
        died = self.place.root / "died"
        ways = {
            "jq": [{"_op": "jq", "mode": "filter", "expr": '.bytes>=100 and .tag=="a"'}],
            "libjq": [{"_op": "jq", "mode": "flatmap", "expr": 'select(.bytes>=100 and (.tag|test("a")))'}],
            "plain exec": [{"_op": "filter", "field": "bytes", "value": 100, "filter_by": "lt"},
                           {"_op": "exec", "framing": "none", "command": "grep", "args": ['"a"']}],
            "framed exec": [{"_op": "jq", "mode": "filter", "expr": '.bytes>=100 and .tag=="a"'},
                            {"_op": "exec", "command": "python3", "args": ["-c", MORTAL, str(died)], "mode": "map"}],
        }
        for way, operations in ways.items():
            with self.subTest(way):
                self.place.out = self.place.root / way.replace(" ", "-")
                reader = {"_op": "file_reader", "path": str(source), "size": 10000}
                done = self.place.run("run", self.place.job(reader, *operations, self.exporter()))
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([json.loads(line)["id"] for line in self.place.exported()], want)
        self.assertTrue(died.exists(), "the program did not die in between")

    def test_every_line_is_read_once_wherever_slices_end(self):
        luck = random.Random(7)
        # Some lines are longer than most slices.
        rows = [{"id": str(i), "pad": "x" * (luck.choice([0, 5, 80, 300]) if i % 500 else 150000)} for i in range(3000)]
        lines = [json.dumps(row) for row in rows]
        text = "\n".join(lines) + "\n"
        root = self.place.root
        (root / "in.ldjson").write_text(text)
        (root / "in.gz").write_bytes(gzip.compress(text.encode()))
        (root / "in.csv").write_text("id,pad\n" + "".join(f'{row["id"]},"{row["pad"]}"\n' for row in rows))
        few = lines[:1] + ["{}"] * 30
        (root / "few.ldjson").write_text("\n".join(few))
        cases = [({"path": "in.ldjson"}, size, lines) for size in (5000, 100000, 1000000, 2000000)]
        cases += [({"path": "few.ldjson"}, 1000, few), ({"path": "in.gz", "compression": "gzip"}, 1000, lines)]
        cases += [({"path": "in.csv", "format": "csv", "ignore_empty": False}, 1000000, lines)]
        for options, size, want in cases:
            with self.subTest(options=options, size=size):
                self.place.out = root / f"out-{options['path']}-{size}"
                reader = {"_op": "file_reader", **options, "path": str(root / options["path"]), "size": size}
                done = self.place.run("run", self.place.job(reader, self.exporter()), "--threads")
                self.assertEqual(done.returncode, 0, done.stderr)
                got = [json.dumps(json.loads(line)) for line in self.place.exported()]
                self.assertEqual(digest(got), digest(want))

    def test_records_on_standard_output_progress_elsewhere(self):
        done = self.place.run("run", self.place.job(small(50, 10), {"_op": "stdout"}), "-q")
        self.assertEqual(sorted(json.loads(line)["id"] for line in done.stdout.splitlines()), list(range(50)))
        events = [json.loads(line) for line in
                  self.place.run("run", self.place.job(small(50, 10), NOOP), "-o", "json").stdout.splitlines()]
        self.assertEqual(events[-1]["event"], "finished")
        self.assertEqual(events[-1]["records"], 50)
        self.assertEqual(events[-1]["status"], "completed")

    def test_limit_and_yaml(self):
        path = self.place.root / "job.yaml"
        path.write_text("operations:\n- {_op: data_generator, size: 100, slice_size: 10}\n- _op: noop\n")
        done = self.place.run("run", path, "--limit", 3, "--threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("completed: 30 records in", done.stderr)

    def test_validate_says_which_guarantee_and_why(self):
        once = self.place.run("validate", self.place.job(GENERATE, self.exporter()))
        self.assertEqual(once.returncode, 0)
        self.assertIn("exactly-once (file_exporter: one file per slice", once.stdout)
        append = self.place.run("validate", self.place.job(GENERATE, self.exporter(idempotent=False)))
        self.assertIn("at-least-once because of file_exporter: appends", append.stdout)
        self.assertEqual(self.place.run("validate", self.place.job(GENERATE)).returncode, 2)

    def test_operations_are_listed_and_explained(self):
        self.assertIn("file_exporter", self.place.run("ops").stdout)
        self.assertIn("line_delimiter", self.place.run("ops", "file_reader").stdout)
        self.assertEqual(self.place.run("ops", "file_raeder").returncode, 4)
        listed = json.loads(self.place.run("ops", "--json").stdout)
        self.assertEqual(collections.Counter(op["kind"] for op in listed)["reader"], 2)

    def test_the_example_survives_a_killed_worker(self):
        done = subprocess.run([ROOT / "examples/flow/survive"], env={**self.place.env, "PLIMSOLL": PROGRAM}, capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("in 100 files", done.stdout)
        self.assertIn("another one takes its place", done.stderr)
        self.assertIn("exactly-once", self.place.run("validate", ROOT / "examples/flow/copy.json").stdout)

    def test_a_worker_that_dies_of_a_slice_fails_the_slice_and_not_the_run(self):
        # The second record is the end of whoever looks at it.
        killer = self.place.root / "killer"
        killer.write_text('read l; case $l in *\'"id":1,\'*) kill -9 $(ps -o ppid= $$);; esac; echo $l')
        job = self.place.job(small(5), {"_op": "exec", "framing": "none", "command": "sh", "args": [str(killer)]}, self.exporter())
        done = self.place.run("run", job, "--state", self.place.state)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(self.place.ledger("SELECT slicer_order FROM slices WHERE state='error'"), [(2,)])
        self.assertIn("killed by signal 9", self.place.ledger("SELECT error FROM slices WHERE state='error'")[0][0])


def digest(lines):
    return len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()


if __name__ == "__main__":
    unittest.main()

"""Job files and runs of `plimsoll flow run` for tests. Not a test itself."""
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import PROGRAM, eventually  # noqa: E402,F401

# The sizes of the specification instead of those that take seconds.
FULL = os.environ.get("PLIMSOLL_FLOW_FULL") == "1"
# Everything is synced again and again; tests are not about the disk.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Place:
    """A folder of a test's own, for input, output and state."""

    def __init__(self, test):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="plim-flow.", dir=MEMORY))
        self.test = test
        test.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        kept = {name: value for name, value in os.environ.items()
                if name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
        self.env = {**kept, "HOME": str(self.root), "TMPDIR": str(self.root), "TERM": "dumb"}
        self.state = self.root / "state"
        self.out = self.root / "out"

    def job(self, *operations, file="job.json", **settings):
        path = self.root / file
        path.write_text(json.dumps({"name": "test", **settings, "operations": list(operations)}))
        return str(path)

    def run(self, *words, timeout=120, **options):
        done = subprocess.run([PROGRAM, "flow", *map(str, words)], env=self.env, capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, **options)
        assert done.returncode >= 0 and "Sanitizer" not in done.stderr, (words, done.returncode, done.stderr)
        return done

    def start(self, *words):
        with open(self.root / "log", "a") as log:
            run = subprocess.Popen([PROGRAM, "flow", "run", *map(str, words)], env=self.env, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
        self.test.addCleanup(lambda: run.poll() is None and (run.kill(), run.wait()))
        return run

    def log(self):
        return (self.root / "log").read_text()

    def ledger(self, query, *values):
        with sqlite3.connect(self.state / "flow.db", timeout=10) as ledger:
            return ledger.execute(query, values).fetchall()

    def has_slices(self):
        try:
            return (self.state / "flow.db").exists() and self.ledger("SELECT count(*) FROM slices")[0][0] > 0
        except sqlite3.OperationalError:
            return False  # the file is there, its tables are not yet

    def exported(self):
        """The lines of all files in the output folder, in order of their names."""
        lines = []
        for path in sorted(self.out.iterdir()):
            assert ".tmp-" not in path.name, f"{path} was left behind"
            lines += path.read_text().splitlines()
        return lines


def workers_of(pid):
    """Worker processes of a controller."""
    try:
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [int(child) for child in children]


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False

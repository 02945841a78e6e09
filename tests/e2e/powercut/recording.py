"""Programs whose changes of files are recorded, and the power cuts that this gives. Not a test itself."""
import copy
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
for part in ("local", "servo", "flow"):
    sys.path.insert(0, str(HERE.parent / part))

from disk import Disk, cuts, read_log  # noqa: E402

SEED = int(os.environ.get("PLIMSOLL_POWERCUT_SEED", "18"))
CUTS = int(os.environ.get("PLIMSOLL_POWERCUTS", "120"))  # of each recording


class Recording:
    """What programs do to the files below `root` while they have `env`."""

    def __init__(self, test, root, most=CUTS, seed=SEED):
        self.test, self.root, self.most, self.seed = test, pathlib.Path(root).resolve(), most, seed
        self.tools = pathlib.Path(tempfile.mkdtemp(prefix="plim."))
        test.addCleanup(shutil.rmtree, self.tools, ignore_errors=True)
        recorder, self.log = self.tools / "recorder.so", self.tools / "log"
        subprocess.run([shutil.which("clang-19") or "cc", "-O1", "-fPIC", "-shared", "-o", recorder, HERE / "recorder.c"], check=True)
        self.killer = self.tools / "kill"
        self.env = {"LD_PRELOAD": str(recorder), "POWERCUT_ROOT": str(self.root), "POWERCUT_LOG": str(self.log),
                    "POWERCUT_KILL": str(self.killer)}
        self.disk = Disk(self.root)

    def kill_in_sync(self, passed=0):
        """From now on a process dies in a sync, after it has done so many; None: no process dies any more."""
        if passed is None:
            self.killer.unlink(missing_ok=True)
            return
        self.killer.with_suffix(".new").write_text(str(passed))
        self.killer.with_suffix(".new").rename(self.killer)

    def check_each(self, check):
        """After the programs ended: `check(cut)` for each power cut, with what it leaves below the root."""
        changes = read_log(self.log) if self.log.exists() else []
        self.test.assertTrue(changes, "the recorder was not loaded")
        complete = copy.deepcopy(self.disk)
        for change in changes:
            complete.apply(change)
        self.test.assertEqual(complete.differences(), [], "the recorder misses changes of these files")
        lost, number = [], 0
        for number, (cut, left) in enumerate(cuts(self.disk, changes, self.seed, self.most), 1):
            self.disk.put(left)
            try:
                check(cut)
            except AssertionError as problem:
                lost.append(f"{cut}: {problem}")
        if lost:
            self.test.fail(f"LOST: {len(lost)} of {number} power cuts, seed {self.seed}\n" + "\n".join(lost[:5]))
        print(f"{number} power cuts in {len(changes)} changes of files")


class Acknowledged:
    """What was acknowledged, and when."""

    def __init__(self):
        self.facts = []

    def add(self, fact, at=None):
        self.facts.append((at or time.monotonic_ns(), fact))

    def before(self, cut):
        return [fact for at, fact in self.facts if at < cut.moment]

"""Local clusters for tests, and whatever cluster PLIMSOLL_TEST_KUBECONFIG names. Not a test itself.

Scripts that only use Cluster run against any Kubernetes: PLIMSOLL_TEST_KUBECONFIG=~/.kube/config tests/e2e/local/x_test.py
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("PLIMSOLL", str(ROOT / "build" / "dev" / "bin" / "plimsoll"))
LOAD = os.environ.get("PLIMSOLL_LOAD", str(pathlib.Path(PROGRAM).parent / "plimsoll-load"))
KUBECTL = os.environ.get("KUBECTL", "kubectl")
GOES_AFTERWARDS = "PLIMSOLL_TEST_GOES_AFTERWARDS" in os.environ  # the cluster that is named, so nobody need clear it up


def eventually(check, seconds=20, every=0.02, what="it"):
    """The first answer of `check` that is true; AssertionError when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        asked = time.monotonic()
        answer = check()
        if answer:
            return answer
        assert time.monotonic() < deadline, f"{what} did not come about in {seconds} s; last: {answer!r}"
        time.sleep(max(every, min(time.monotonic() - asked, 0.5)))  # whoever asks all the time keeps it from coming about


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        # Threads that are still ending hold the files, and with them the locks.
        return state != "Z" or len(os.listdir(f"/proc/{pid}/task")) > 1
    except (FileNotFoundError, ProcessLookupError):
        return False


def start_time(pid):
    """With the pid it names a process for good; None: there is none."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return None


class Place:
    """A home, state and run directories of a test's own. Nothing of the user's is seen or touched."""

    def __init__(self, test):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="plim."))
        test.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        for name in ("home", "run"):
            (self.root / name).mkdir(mode=0o700)
        kept = {name: value for name, value in os.environ.items()
                if name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
        # A test that is about roles names them.
        self.env = {**kept, "HOME": str(self.root / "home"), "XDG_RUNTIME_DIR": str(self.root / "run"), "TERM": "dumb",
                    "PLIMSOLL_UP_ROLES": "none"}

    def run(self, *words, timeout=60, **options):
        done = subprocess.run([PROGRAM, *words], env=self.env, capture_output=True, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, **options)
        assert done.returncode >= 0 and "Sanitizer" not in done.stderr, (words, done.returncode, done.stderr)
        return done

    def state(self, name):
        return self.root / "home/.local/state/plimsoll/local" / name

    def run_directory(self, name):
        return self.root / "run/plimsoll" / name


class Cluster:
    """One cluster that kubectl reaches by a kubeconfig."""
    program = KUBECTL

    def __init__(self, test, kubeconfig, place=None):
        self.test, self.kubeconfig = test, str(kubeconfig)
        home = str(place.root / "home") if place else tempfile.mkdtemp(prefix="plim.")
        if not place:
            test.addCleanup(shutil.rmtree, home, ignore_errors=True)
        self.env = {**os.environ, "HOME": home, "KUBECONFIG": self.kubeconfig}

    def kubectl(self, *words, input=None, check=True, timeout=120):
        done = subprocess.run([self.program, *words], env=self.env, input=input, capture_output=True, text=True, timeout=timeout)
        if check:
            self.test.assertEqual(done.returncode, 0, f"kubectl {' '.join(words)}\n{done.stdout}{done.stderr}")
        return done

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json").stdout)

    def apply(self, *objects):
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        return self.kubectl("apply", "-f", "-", input=json.dumps(items)).stdout

    def popen(self, *words):
        child = subprocess.Popen([self.program, *words], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)

        def end():
            child.kill()
            child.wait()
            child.stdout.close()
        self.test.addCleanup(end)
        return child

    def raw(self, path, *words, check=True, input=None):
        done = subprocess.run([PROGRAM, "raw", path, "--kubeconfig", self.kubeconfig, *words], env=self.env,
                              input=input, capture_output=True, text=True, timeout=60)
        if check:
            self.test.assertEqual(done.returncode, 0, f"raw {path}\n{done.stdout}{done.stderr}")
        return done

    def namespace(self, prefix="test"):
        """A new one, removed with everything in it when the test ends, unless the whole cluster will be."""
        name = f"{prefix}-{os.getpid()}-{time.monotonic_ns() % 1_000_000_000}"
        self.raw("/api/v1/namespaces", "-d", "-", input=json.dumps({"metadata": {"name": name}}))
        if not GOES_AFTERWARDS:
            self.test.addCleanup(self.raw, f"/api/v1/namespaces/{name}", "-X", "DELETE", check=False)
        return name


class LocalCluster(Cluster):
    """`plimsoll up`, stopped and removed when the test ends."""

    def __init__(self, test, *flags, place=None, name="t"):
        self.place, self.name = place or Place(test), name
        test.addCleanup(self.place.run, "reset", "--name", name, "--yes")
        self.started = self.up(test, *flags)
        super().__init__(test, self.place.state(name) / "kubeconfig", self.place)

    def up(self, test, *flags):
        done = self.place.run("up", "--detach", "--name", self.name, "--wait", "60s", *flags)
        test.assertEqual(done.returncode, 0, done.stderr)
        return done

    def down(self):
        return self.place.run("down", "--name", self.name)

    def status(self):
        return json.loads(self.place.run("status", "--name", self.name, "-o", "json").stdout)

    def kill(self):
        """As a power failure of this one process."""
        pid = self.status()["pid"]
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not alive(pid), what="the end of the process")


def only_local(reason):
    """Marks a class or a test that no other cluster can pass, and says why: runs against others leave it out."""
    def mark(what):
        what.only_local = reason
        return what
    return mark


def any_cluster(test, *flags):
    """The cluster under test: the one that is named, else a local one of its own."""
    named = os.environ.get("PLIMSOLL_TEST_KUBECONFIG")
    return Cluster(test, named) if named else LocalCluster(test, *flags)


class ClusterCase(unittest.TestCase):
    """Tests that share one cluster, of any kind unless they are marked. `flags` are for a local one."""
    needs = "api"  # objects and controllers; with "nodes" pods run as well; "forgetting": a past that can be cut off
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.cluster = any_cluster(cls.shared, *cls.flags)

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()

    def setUp(self):
        self.cluster.test = self

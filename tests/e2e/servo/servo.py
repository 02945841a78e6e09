"""`plimsoll servo` as a child of a test. Not a test itself."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import PROGRAM, eventually  # noqa: E402


class Servo:
    """One servo with a store of its own, started and stopped as often as a test likes."""

    def __init__(self, test, kubeconfig, *flags, store=None, env=None, program=(PROGRAM,)):
        self.test, self.kubeconfig, self.flags, self.program = test, str(kubeconfig), flags, program
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="plim."))
        test.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.store = store or self.directory / "store"
        kept = {name: value for name, value in os.environ.items()
                if name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
        self.env = {**kept, "HOME": str(self.directory), "KUBECONFIG": self.kubeconfig, **(env or {})}
        self.child, self.starts = None, 0
        test.addCleanup(self.kill)

    def begin(self):
        """Starts it without waiting for anything."""
        self.starts += 1
        self.log_path = self.directory / f"log{self.starts}"
        with open(self.log_path, "w") as log:
            self.child = subprocess.Popen([*self.program, "servo", "--listen", "127.0.0.1:0", "--store", str(self.store), *self.flags],
                                          env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def start(self):
        self.begin()
        self.wait_listening()
        eventually(lambda: self.get("/readyz")[0] == 200, 30, what="readiness")
        return self

    def wait_listening(self):
        def address():
            if self.child.poll() is not None:
                raise AssertionError(f"it ended with {self.child.returncode}\n{self.log}")
            return re.search(r"listening address=(\S+)", self.log)
        self.url = f"http://{eventually(address, 30, what='its listener')[1]}"

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    def runs(self, query=""):
        status, text = self.get("/v1/runs?limit=10000" + query)
        self.test.assertEqual(status, 200, text)
        return json.loads(text)["items"]

    def metric(self, name):
        """The sum of all samples whose name and labels begin so."""
        _, text = self.get("/metrics")
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name))

    def stop(self, number=signal.SIGTERM, timeout=15):
        """Asks it to end; its exit code and how long that took."""
        began = time.monotonic()
        self.child.send_signal(number)
        code = self.child.wait(timeout)
        self.test.assertNotIn("Sanitizer", self.log)
        self.child = None
        return code, time.monotonic() - began

    def kill(self):
        if self.child:
            self.child.kill()
            self.child.wait()
            self.child = None
        if self.starts:
            self.test.assertNotIn("Sanitizer", self.log)

    def command(self, *words, input=None, timeout=60):
        done = subprocess.run([PROGRAM, *words], env=self.env, input=input, capture_output=True, text=True, timeout=timeout)
        assert done.returncode >= 0 and "Sanitizer" not in done.stderr, (words, done.returncode, done.stderr)
        return done


class ServoCase:
    """For tests of any cluster: who the servo is there, and where it looks. tests/real has an account with few rights for it."""

    @property
    def servo_kubeconfig(self):
        return self.cluster.kubeconfig

    def new_servo(self, *flags, kubeconfig=None, **options):
        return Servo(self, kubeconfig or self.servo_kubeconfig, *flags, **options)

    def watched_namespace(self, prefix):
        return self.cluster.namespace(prefix)


def job_pod(name, app, *command, uid=None, namespace=None, **spec):
    """A pod that runs once."""
    container = {"name": "main", "image": "any", "command": list(command or ("true",)), "env": [{"name": "JOBID", "value": app}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **({"namespace": namespace} if namespace else {})},
            "spec": {"containers": [container], "restartPolicy": "Never", **spec}}

"""`plimsoll scheduler` as a child of a test. Not a test itself."""
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import PROGRAM, eventually  # noqa: E402

# A kube-scheduler to be run in place of ours: whatever is not marked @only_ours must be true of it as well.
STOCK = os.environ.get("PLIMSOLL_TEST_KUBE_SCHEDULER")
only_ours = unittest.skipIf(STOCK, "kube-scheduler cannot do that")

SEED = """apiVersion: kubescheduler.config.k8s.io/v1beta1
kind: KubeSchedulerConfiguration
clientConnection:
  kubeconfig: "%s"
percentageOfNodesToScore: 100
profiles:
  - schedulerName: default-scheduler
    plugins:
      score:
        disabled:
          - name: '*'
        enabled:
          - name: ImageLocality
            weight: 1000
"""


def directory(test):
    made = pathlib.Path(tempfile.mkdtemp(prefix="plim."))
    test.addCleanup(shutil.rmtree, made, ignore_errors=True)
    return made


def run(*words, timeout=30, env=None):
    done = subprocess.run([PROGRAM, "scheduler", *words], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          env=env)
    assert done.returncode >= 0 and "Sanitizer" not in done.stderr, (words, done.returncode, done.stderr)
    return done


def pod(name, image="busybox", cpu=None, scheduler=None, gates=(), **spec):
    requests = {"resources": {"requests": {"cpu": cpu}}} if cpu else {}
    made = {"containers": [{"name": "c", "image": image, **requests}], **spec}
    if gates:
        made["schedulingGates"] = [{"name": gate} for gate in gates]
    if scheduler:
        made["schedulerName"] = scheduler
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": made}


class Scheduler:
    """One process, started and stopped as often as a test likes."""

    def __init__(self, test, kubeconfig, *flags):
        self.test, self.kubeconfig, self.flags = test, str(kubeconfig), flags
        self.directory = directory(test)
        kept = {name: value for name, value in os.environ.items()
                if name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
        self.env = {**kept, "HOME": str(self.directory)}
        self.child, self.starts = None, 0
        test.addCleanup(self.kill)

    def begin(self):
        self.starts += 1
        self.log_path = self.directory / f"log{self.starts}"
        self.port = free_port()  # not 0, which means none: one that was free a moment ago
        program = [PROGRAM, "scheduler"]
        if STOCK:
            program = [STOCK, "--kube-api-content-type=application/json", f"--authentication-kubeconfig={self.kubeconfig}",
                       f"--authorization-kubeconfig={self.kubeconfig}"]
        with open(self.log_path, "w") as log:
            self.child = subprocess.Popen([*program, "--kubeconfig", self.kubeconfig, "--bind-address", "127.0.0.1", "--secure-port", str(self.port),
                                           "--cert-dir", str(self.directory), *self.flags], env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        return self

    def start(self):
        self.begin()

        def address():
            if self.child.poll() is not None:
                raise AssertionError(f"it ended with {self.child.returncode}\n{self.log}")
            return re.search(rf"started address=(\S+)|Serving securely on (127.0.0.1:{self.port})", self.log)
        found = eventually(address, 30, what='its listener')
        self.url = f"https://{found[1] or found[2]}"
        eventually(lambda: self.get("/readyz")[0] == 200, 30, what="readiness")
        return self

    @property
    def authority(self):
        """The file with which clients verify it."""
        return str(self.directory / "kube-scheduler.crt")

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    def get(self, path, token=None, method="GET", body=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        request = urllib.request.Request(self.url + path, body, headers, method=method)
        context = ssl._create_unverified_context()
        try:
            with urllib.request.urlopen(request, timeout=10, context=context) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def metric(self, name, token):
        """The sum of all lines of that name and labels."""
        status, text = self.get("/metrics", token)
        self.test.assertEqual(status, 200, text)
        return sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name))

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        code = self.child.wait(20)
        self.test.assertIn(code, (0, 1) if STOCK else (0,), self.log)  # kube-scheduler without a lease says that it finished by an error
        self.test.assertNotIn("Sanitizer", self.log)

    def kill(self):
        if self.child and self.child.poll() is None:
            self.child.kill()
            self.child.wait()


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]

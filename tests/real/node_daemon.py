"""A daemon of ours beside the kubelet of a real node, started by a test outside of any pod. Not a test itself."""
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

from rig import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import eventually  # noqa: E402


class NodeDaemon:
    """Mixed into tests that have `cluster`: `place` is its directory, one process runs at a time."""
    process = None

    def make_place(self, prefix):
        self.node = self.cluster.nodes[0]
        self.place = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.addCleanup(self.end)

    def launch(self, *words):
        with open(self.place / "log", "w") as log:
            self.process = subprocess.Popen(
                [PROGRAM, *words, "--kubeconfig", self.cluster.kubeconfig, "--node-name", self.node.name, "--run-dir", str(self.place),
                 "--metrics-listen", "127.0.0.1:0"], stdout=log, stderr=log)
        told = eventually(lambda: re.search(r"address=(\S+)", self.log()), what="its address")
        self.url = "http://" + told.group(1)
        eventually(lambda: self.get("/readyz") == "ok\n", what="readiness")

    def end(self, how=signal.SIGKILL):
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def log(self):
        return (self.place / "log").read_text()

    def get(self, path):
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    def metric(self, name):
        found = re.search("^" + re.escape(name) + r" (\S+)$", self.get("/metrics"), re.MULTILINE)
        return float(found.group(1)) if found else None

"""kube_real_probe, and what it tells. Not a test itself."""
import json
import os
import signal
import subprocess
import threading

from rig import ROOT

PROGRAM = os.environ.get("KUBE_REAL_PROBE", str(ROOT / "build" / "dev" / "bin" / "kube_real_probe"))


class Probe:
    def __init__(self, test, cluster, *words):
        self.cluster, self.told = cluster, []
        self.child = subprocess.Popen([PROGRAM, *words], env=cluster.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        test.addCleanup(self.end)

    def read(self):
        for line in self.child.stdout:
            self.told.append(json.loads(line))

    def all(self, what, **facts):
        return [one for one in list(self.told) if one["what"] == what and facts.items() <= one.items()]

    def wait(self, what, seconds=20, **facts):
        """The first that was told so."""
        return self.cluster.eventually(lambda: self.all(what, **facts), seconds, what=f"{what} {facts} after {self.told}")[0]

    def send(self, number):
        self.child.send_signal(number)

    def finish(self):
        """Waits until it ends by itself; all that it told."""
        self.child.wait(60)
        self.reader.join()
        return self.told

    def end(self, number=signal.SIGKILL):
        self.child.send_signal(number)
        self.child.wait(20)
        self.reader.join()
        self.child.stdout.close()

"""`plimsoll webhook` as a child of a test, and reviews for it. Not a test itself."""
import base64
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import PROGRAM, eventually  # noqa: E402,F401

POOLS = """
resourceBaseName: nokia.k8s.io
pools:
  cpupool1: {cpus: "4,5", pooltype: exclusive}
  cpupool2: {cpus: "2,3", pooltype: exclusive}
  exclusive-pool: {cpus: "8-15"}
  sharedpool: {cpus: "1", pooltype: shared}
  shared-two: {cpus: "6,7"}
"""
STARTER = "/opt/bin/process-starter"
ANNOTATION = [{"container": "cputestcontainer",
               "processes": [{"process": "/bin/sh", "args": ["-c", "/thread_busyloop -n \"Process 1\""], "cpus": 150, "pool": "sharedpool"},
                             {"process": "/bin/sh", "args": ["-c", "/thread_busyloop"], "cpus": 10, "pool": "sharedpool"}]}]


def directory(test):
    path = pathlib.Path(tempfile.mkdtemp(prefix="plim-webhook."))
    test.addCleanup(shutil.rmtree, path, ignore_errors=True)
    return path


def make_certificate(where, names="DNS:localhost,IP:127.0.0.1", style=("cert.pem", "key.pem"), common_name="hook"):
    """Signed by itself, so that it is its own authority."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    f"/CN={common_name}", "-addext", f"subjectAltName={names}", "-keyout", where / style[1], "-out", where / style[0]],
                   check=True, capture_output=True)


class Webhook:
    def __init__(self, test, *flags, files=None, pools=POOLS, program=PROGRAM, first=("webhook",), listen="127.0.0.1:0", env=None):
        self.test, self.files = test, files or directory(test)
        if not files:
            make_certificate(self.files)
        self.pools = self.files / "pools"
        if pools is not None:
            self.pools.mkdir(exist_ok=True)
            (self.pools / "poolconfig.yaml").write_text(pools)
            flags = ("--poolconfigs", str(self.pools), *flags)
        self.log_path = self.files / "log"
        with open(self.log_path, "w") as log:
            self.child = subprocess.Popen([program, *first, "--tls-cert-file", str(self.files / "cert.pem"), "--tls-private-key-file",
                                           str(self.files / "key.pem"), "--listen", listen, *flags],
                                          stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                          env={**os.environ, "HOME": str(self.files), **(env or {})})
        test.addCleanup(self.kill)
        found = eventually(self.address, 30, what="its listener")
        self.host, self.port = found[1], int(found[2])

    @property
    def log(self):
        return self.log_path.read_text(errors="replace")

    def address(self):
        if self.child.poll() is not None:
            raise AssertionError(f"it ended with {self.child.returncode}\n{self.log}")
        return re.search(r"listening address=(\S+):(\d+)", self.log)

    def connect(self):
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        return http.client.HTTPSConnection(self.host, self.port, context=tls, timeout=20)

    def post(self, body, path="/mutating-pods", kind="application/json", method="POST", connection=None):
        own = connection or self.connect()
        own.request(method, path, body=body, headers={"Content-Type": kind} if kind else {})
        answer = own.getresponse()
        text = answer.read()
        if not connection:
            own.close()
        return answer.status, text

    def review(self, pod, path="/mutating-pods", **more):
        """The response to the review of a pod."""
        sent = review(pod, **more)
        status, text = self.post(json.dumps(sent), path)
        self.test.assertEqual(status, 200, text)
        answer = json.loads(text)
        self.test.assertEqual((answer["apiVersion"], answer["kind"]), (sent["apiVersion"], "AdmissionReview"))
        self.test.assertEqual(answer["response"]["uid"], sent["request"]["uid"])
        return answer["response"]

    def metric(self, name):
        _, text = self.post(None, path="/metrics", method="GET", kind=None)
        return sum(float(line.rpartition(" ")[2]) for line in text.decode().splitlines() if line.startswith(name))

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        return self.child.wait(20)

    def kill(self):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()


def review(pod, version="v1", operation="CREATE", old=None, resource="pods", group="", **more):
    return {"apiVersion": f"admission.k8s.io/{version}", "kind": "AdmissionReview",
            "request": {"uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": {"group": group, "version": "v1", "kind": "Pod"},
                        "resource": {"group": group, "version": "v1", "resource": resource}, "namespace": "default",
                        "operation": operation, "userInfo": {"username": "admin"}, "object": pod, "oldObject": old, "dryRun": False, **more}}


def pod(containers, annotation=None, **spec):
    metadata = {"generateName": "cpu-"}
    if annotation is not None:
        metadata["annotations"] = {"nokia.k8s.io/cpus": annotation if isinstance(annotation, str) else json.dumps(annotation)}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": containers, **spec}}


def container(name="cputestcontainer", **limits):
    amounts = {f"nokia.k8s.io/{pool.replace('_', '-')}": str(amount) for pool, amount in limits.items()}
    return {"name": name, "image": "busyloop", "resources": {"requests": dict(amounts), "limits": dict(amounts)}}


def patch_of(response):
    return json.loads(base64.b64decode(response["patch"])) if "patch" in response else []

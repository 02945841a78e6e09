#!/usr/bin/env python3
"""The servo in a pod of real Kubernetes, with the files of deploy/servo and no more rights than they give."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from busybox import pod
from rig import PROGRAM, ROOT, RealClusterCase

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "servo"))
from receiver import Receiver  # noqa: E402
from servo import Servo  # noqa: E402

FILES = ROOT / "deploy" / "servo"
ACCOUNT = "system:serviceaccount:default:opsani-servo"


def documents(text):
    """JSON values one after the other, as kubectl prints them."""
    while text := text.strip():
        value, end = json.JSONDecoder().raw_decode(text)
        yield from value.get("items", [value])
        text = text[end:]


def job(name, app, *command, **spec):
    made = pod(name, *command, **{"restartPolicy": "Never", **spec})
    made["spec"]["containers"][0] |= {"env": [{"name": "JOBID", "value": app}],
                                      "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}
    made["spec"]["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    return made


class ServoOnRealKubernetes(RealClusterCase):
    options = {"nodes": 1}

    def deploy(self, receiver):
        with tempfile.TemporaryDirectory() as work:
            done = subprocess.run([ROOT / "tools" / "image", "--program", PROGRAM, "--output", pathlib.Path(work, "image.tar"),
                                   "--import", self.cluster.nodes[0].cri_socket],
                                  capture_output=True, text=True, timeout=300, env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.cluster.kubectl("create", "secret", "generic", "opsani-servo-token", "--from-literal=token=s3cret")
        # The ancestor's own walk: account, rights, then a deployment that was copied and edited.
        self.cluster.kubectl("create", "-f", str(FILES / "svc-acct.yaml"))
        self.cluster.kubectl("create", "-f", str(FILES / "svc-role.yaml"))
        shown = self.cluster.kubectl("create", "-f", str(FILES / "deployment.yaml"), "--dry-run=client", "-o", "json").stdout
        deployment, service = sorted(documents(shown), key=lambda item: item["kind"])
        # Nothing routes the addresses of Services in the rig: the pod is told where the API server itself is.
        host, port = self.cluster.server.removeprefix("https://").split(":")
        url = f"http://{self.cluster.slot.host_address}:{receiver.port}/metrics/{{acct}}/{{app_id}}/servo"
        edits = {"OPTUNE_URL": url, "OPTUNE_ACCOUNT": "acme"}
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        for variable in container["env"]:
            if variable["name"] in edits:
                variable["value"] = edits[variable["name"]]
        container["env"] += [{"name": "KUBERNETES_SERVICE_HOST", "value": host}, {"name": "KUBERNETES_SERVICE_PORT", "value": port}]
        self.cluster.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": [deployment, service]}))
        self.cluster.kubectl("rollout", "status", "deployment/servo-k8s-multijob", "--timeout=90s")

    def log(self):
        return self.cluster.kubectl("logs", "deployment/servo-k8s-multijob").stdout

    def test_it_reports_real_pods(self):
        receiver = Receiver(self, host=self.cluster.slot.host_address)
        self.deploy(receiver)
        self.cluster.apply(job("good", "good", "sleep", "2"), job("bad", "bad", "sh", "-c", "exit 3"),
                           job("absent", "absent", "/no/such/program"),
                           job("retried", "retried", "sh", "-c", "test -f /scratch/x || { touch /scratch/x; exit 1; }", restartPolicy="OnFailure"),
                           job("service", "service", "true", restartPolicy="Always"))
        posts = {}

        def arrived():
            posts.update({post.path.split("/")[3]: post for post in receiver.measurements()})
            return {"good", "bad", "absent", "retried"} <= set(posts)
        self.cluster.eventually(arrived, 90, what="the measurements")
        good = posts["good"].json["param"]
        self.assertIn(good["metrics"]["duration"]["value"], (2, 3))
        self.assertEqual(posts["good"].headers["Authorization"], "Bearer s3cret")
        self.assertEqual(json.loads(good["annotations"]["resources"])["requests"], {"cpu": "50m", "memory": "16Mi"})
        self.assertEqual(posts["bad"].json["param"]["annotations"]["exitcode"], 3)
        self.assertEqual(posts["absent"].json["param"]["status"], "failed", "containerd could not start it")
        self.assertTrue(posts["retried"].key.endswith("/main/1"), posts["retried"].key)
        self.assertNotIn("service", posts)
        self.assertEqual(len(receiver.measurements(accepted=False)), 4)

        # Through the API server's proxy of the Service, as a user would look.
        shown = subprocess.run([PROGRAM, "runs", "-o", "json"], env=self.cluster.env, capture_output=True, text=True, timeout=60)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        states = {run["app"]: run["state"] for run in json.loads(shown.stdout)["items"]}
        self.assertEqual({app: states.get(app) for app in ("good", "bad", "absent")}, dict.fromkeys(("good", "bad", "absent"), "sent"))

        log = self.log()
        self.assertNotIn("forbidden", log)
        self.assertNotIn("s3cret", log)
        self.cluster.kubectl("delete", "deployment/servo-k8s-multijob", "--wait", "--cascade=foreground", "--timeout=60s")
        self.assertEqual(receiver.events()[0], "HELLO")
        self.cluster.eventually(lambda: receiver.events()[-1] == "GOODBYE")

    def test_both_kustomizations_are_taken_by_the_server(self):
        for folder in ("servo", "servo-all-namespaces"):
            said = self.cluster.kubectl("apply", "-k", str(ROOT / "deploy" / folder), "--dry-run=server").stdout
            kind = "clusterrolebinding" if folder.endswith("namespaces") else "rolebinding"
            self.assertRegex(said, rf"(?m)^{kind}\.rbac\S+/opsani-servo-access ")

    def test_its_rights_are_those_and_no_more(self):
        for name in ("svc-acct.yaml", "svc-role.yaml"):
            self.cluster.kubectl("apply", "-f", str(FILES / name))

        def may(*words):
            return self.cluster.kubectl("auth", "can-i", *words, f"--as={ACCOUNT}", check=False).stdout.strip() == "yes"
        for words in (("list", "pods"), ("watch", "pods"), ("get", "pods"), ("create", "events"), ("patch", "events")):
            self.assertTrue(may(*words), words)
        for words in (("patch", "pods"), ("delete", "pods"), ("create", "pods"), ("list", "secrets"), ("list", "nodes"),
                      ("list", "pods", "-n", "kube-system"), ("update", "pods/status"), ("create", "pods/exec")):
            self.assertFalse(may(*words), words)
        # With the account's own token, as another process would have it; it may not look into kube-system.
        token = self.cluster.kubectl("create", "token", "opsani-servo").stdout.strip()
        config = json.loads(self.cluster.kubectl("config", "view", "--raw", "-o", "json").stdout)
        config["users"] = [{"name": config["users"][0]["name"], "user": {"token": token}}]
        file = tempfile.NamedTemporaryFile("w", suffix=".kubeconfig")
        self.addCleanup(file.close)
        file.write(json.dumps(config))
        file.flush()
        servo = Servo(self, file.name, "--pod-namespaces", "default,kube-system").begin()
        servo.wait_listening()
        self.cluster.apply(job("mine", "mine", "true"))
        self.cluster.eventually(lambda: [run for run in servo.runs() if run["app"] == "mine"], 60)
        status, why = servo.get("/readyz")
        self.assertEqual((status, why), (503, "pods of namespace kube-system are not listed yet\n"))
        self.assertRegex(servo.log, r'cannot follow.*pods is forbidden.*cannot list resource.*kube-system')


if __name__ == "__main__":
    unittest.main()

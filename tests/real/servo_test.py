#!/usr/bin/env python3
"""The servo in a pod of real Kubernetes, with the files of deploy/servo and no more rights than they give."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

from busybox import pod
from rig import PROGRAM, ROOT, RealClusterCase

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "servo"))
from crash_test import Crash  # noqa: E402
from jobs import Jobs  # noqa: E402
from messages_test import Messages  # noqa: E402
from paths_test import PathsOfPods  # noqa: E402
from receiver import Receiver  # noqa: E402
from servo import Servo  # noqa: E402
from watch_test import BadWatches, ServerGone  # noqa: E402

FILES = ROOT / "deploy" / "servo"
ACCOUNT = "system:serviceaccount:default:opsani-servo"
# Shows it a directory where a pod has its account, and nothing else that could say who it is.
IN_POD = """mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount &&
mount --bind "$0" /run/secrets/kubernetes.io/serviceaccount && exec "$@" """


def job(name, app, *command, **spec):
    made = pod(name, *command, **{"restartPolicy": "Never", **spec})
    made["spec"]["containers"][0] |= {"env": [{"name": "JOBID", "value": app}],
                                      "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}
    made["spec"]["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    return made


class ServoOnRealKubernetes(RealClusterCase):
    options = {"nodes": 1}

    def deploy(self, receiver):
        self.cluster.nodes[0].import_program()
        self.cluster.kubectl("create", "secret", "generic", "opsani-servo-token", "--from-literal=token=s3cret")
        # The ancestor's own walk: account, rights, then the deployment.
        self.cluster.kubectl("create", "-f", str(FILES / "svc-acct.yaml"))
        self.cluster.kubectl("create", "-f", str(FILES / "svc-role.yaml"))
        url = f"http://{self.cluster.slot.host_address}:{receiver.port}/metrics/{{acct}}/{{app_id}}/servo"
        self.cluster.kubectl("create", "-f", str(FILES / "deployment.yaml"))
        self.cluster.kubectl("set", "env", "deployment/servo-k8s-multijob", f"OPTUNE_URL={url}", "OPTUNE_ACCOUNT=acme")
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
        self.assertNotIn("s3cret", self.cluster.kubectl("describe", "deployments,replicasets,pods,services,events").stdout)
        self.cluster.kubectl("delete", "deployment/servo-k8s-multijob", "--wait", "--cascade=foreground", "--timeout=60s")
        self.assertEqual(receiver.events()[0], "HELLO")
        self.cluster.eventually(lambda: receiver.events()[-1] == "GOODBYE")

    def test_both_kustomizations_are_taken_by_the_server(self):
        for folder in ("servo", "servo-all-namespaces"):
            said = self.cluster.kubectl("apply", "-k", str(ROOT / "deploy" / folder), "--dry-run=server").stdout
            kind = "clusterrolebinding" if folder.endswith("namespaces") else "rolebinding"
            self.assertRegex(said, rf"(?m)^{kind}\.rbac\S+/opsani-servo-access ")
            self.assertRegex(said, r"(?m)^role\.rbac\S+/opsani-servo-webhook ", "its certificates are kept in one namespace")
            self.assertRegex(said, r"(?m)^mutatingwebhookconfiguration\S+/optune ")

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


class MonitorOnRealKubernetes(RealClusterCase):
    """Jobs are marked and get their monitor, with the webhook of deploy/servo in pods, by its own certificates and rights."""
    # No kube-proxy runs here: the API server goes to the pods behind a Service by itself.
    options = {"nodes": 1, "apiserver_flags": ("--enable-aggregator-routing=true",)}

    def serve(self, replicas):
        self.cluster.kubectl("scale", "deployment/opsani-servo-webhook", f"--replicas={replicas}")
        self.cluster.kubectl("rollout", "status", "deployment/opsani-servo-webhook", "--timeout=90s")

    def bundle(self):
        return self.cluster.get("mutatingwebhookconfiguration", "optune")["webhooks"][0]["clientConfig"].get("caBundle")

    def run_job(self, name, **spec):
        template = {"spec": job(name, name, "sleep", "1", **spec)["spec"]}
        self.cluster.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template}})
        self.cluster.kubectl("wait", "--for=condition=complete", f"job/{name}", "--timeout=60s")
        (pod,) = self.cluster.get("pods", "-l", f"job-name={name}")["items"]
        return pod

    def test_jobs_get_a_sidecar_and_complete(self):
        self.cluster.nodes[0].import_program()
        # Before the webhook is there: the order does not matter, and jobs are made without it.
        self.cluster.kubectl("create", "-f", str(FILES / "webhook-conf.yaml"))
        early = self.run_job("early")
        self.assertNotIn("initContainers", early["spec"])
        self.cluster.kubectl("create", "-k", str(FILES.parent / "shared" / "own-ca-bundle"))
        self.cluster.kubectl("create", "-f", str(FILES / "webhook-secret.yaml"))
        self.cluster.kubectl("create", "-f", str(FILES / "webhook-svc-depl.yaml"))
        self.cluster.kubectl("set", "env", "deployment/opsani-servo-webhook", "OPTUNE_SLEEPER_IMG=plimsoll.local/pause:1")
        self.serve(2)
        self.cluster.eventually(self.bundle, 30, what="the authority")

        made = self.run_job("once")
        self.assertEqual(made["metadata"]["annotations"]["plimsoll.io/servo"], "v1")
        (sidecar,) = made["spec"]["initContainers"]
        self.assertEqual((sidecar["name"], sidecar["restartPolicy"]), ("zzzzmonitor", "Always"))
        self.assertEqual(sidecar["env"][2], {"name": "REPORT_TARGET", "value": "servo-k8s-multijob.default.svc"})
        (status,) = made["status"]["initContainerStatuses"]
        self.assertEqual(list(status["state"]), ["terminated"], "the kubelet has stopped it")
        self.assertEqual(made["status"]["phase"], "Succeeded")

        self.cluster.apply(pod("service", "sleep", "1000"))
        self.assertNotIn("initContainers", self.cluster.get("pod", "service")["spec"])
        log = self.cluster.kubectl("logs", "-l", "app=opsani-servo-webhook", "--prefix").stdout
        self.assertNotIn("forbidden", log)
        # Nobody answers any more: jobs are made within the time that the configuration gives, as they are.
        self.serve(0)
        self.cluster.eventually(lambda: not self.cluster.get("pods", "-l", "app=opsani-servo-webhook")["items"], 60, what="the end of the webhook")
        began = time.monotonic()
        self.cluster.apply(job("late", "late", "true"))
        self.assertLess(time.monotonic() - began, 10)
        self.assertNotIn("initContainers", self.cluster.get("pod", "late")["spec"])

    def test_its_rights_are_those_and_no_more(self):
        self.cluster.nodes[0].import_program()
        self.cluster.kubectl("create", "-f", str(FILES / "webhook-svc-depl.yaml"))
        self.addCleanup(self.cluster.kubectl, "delete", "-f", str(FILES / "webhook-svc-depl.yaml"))
        account = "system:serviceaccount:default:opsani-servo-webhook"
        for verb, what in (("create", "secrets"), ("list", "secrets"), ("get", "secrets/other"), ("get", "pods"), ("patch", "pods"),
                           ("update", "mutatingwebhookconfigurations/other"), ("delete", "mutatingwebhookconfigurations/optune")):
            answer = self.cluster.kubectl("auth", "can-i", verb, what, "--as", account, check=False).stdout
            self.assertEqual(answer.strip(), "no", (verb, what))


class WithItsRights(Messages, BadWatches, ServerGone, PathsOfPods, Crash, RealClusterCase):
    """The tests of tests/e2e/servo, by an account that may do what deploy/servo says and no more."""
    options = {"nodes": 0}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cluster.kubectl("create", "-f", str(FILES / "svc-acct.yaml"))
        cls.account = cls.cluster.pki.user("servo", f"/CN={ACCOUNT}")

    @property
    def servo_kubeconfig(self):
        return self.account

    def watched_namespace(self, prefix):
        name = self.cluster.namespace(prefix)
        self.cluster.kubectl("create", "-f", str(FILES / "svc-role.yaml"), "-n", name)
        return name

    def new_servo(self, *flags, **options):
        servo = super().new_servo(*flags, **options)

        def look():
            for log in servo.directory.glob("log*"):  # one of each start
                self.assertNotIn("forbidden", log.read_text(errors="replace").lower(), log.name)
        if "server_dies" not in self._testMethodName:  # one that has just started knows nobody's rights yet
            self.addCleanup(look)
        return servo

    def end_server(self):
        self.cluster.restart_apiserver()

    def forget(self):
        self.cluster.compact()
        self.cluster.restart_apiserver()

    def test_many_namespaces_are_watched_as_one(self):
        folder = str(ROOT / "deploy" / "servo-all-namespaces")
        self.cluster.kubectl("apply", "-k", folder)
        try:
            super().test_many_namespaces_are_watched_as_one()
        finally:
            self.cluster.kubectl("delete", "clusterrolebinding/opsani-servo-access", "clusterrole/opsani-servo-role")

    def without(self, verb, resource):
        """A namespace where the Role lacks one right."""
        name = self.cluster.namespace("less")
        text = (FILES / "svc-role.yaml").read_text()
        less = re.sub(rf"(resources: \[{resource}\]\n    verbs: \[)(.*)\]",
                      lambda found: found[1] + ", ".join(set(found[2].split(", ")) - {verb}) + "]", text)
        self.assertNotEqual(less, text)
        self.cluster.kubectl("create", "-f", "-", "-n", name, input=less)
        return name

    def test_a_missing_right_is_named(self):
        for verb, how in (("list", "listed yet"), ("watch", "watched")):
            with self.subTest(verb):
                ns = self.without(verb, "pods")
                servo = Servo(self, self.account, "--pod-namespaces", f"{self.ns},{ns}").begin()
                servo.wait_listening()
                named = f'cannot {verb} resource "pods" in API group "" in the namespace "{ns}"'
                # Alone, once the other namespace is listed too.
                alone = re.compile(rf"pods of namespace {ns} are not {how}: pods is forbidden: [^;]*{re.escape(named)}[^;]*")
                self.cluster.eventually(lambda: alone.fullmatch(servo.get("/readyz")[1]), what="the missing right")
                self.assertEqual(servo.get("/readyz")[0], 503)
                self.assertIn(named, servo.log.replace('\\"', '"'))
                # The others are served, and what can be listed is seen.
                self.jobs.run(f"mine-{verb}", verb)
                self.cluster.eventually(lambda: [run for run in servo.runs() if run["app"] == verb])
                servo.kill()

    def test_a_missing_right_to_write_events_is_named(self):
        ns = self.without("create", "events")
        self.receiver.answer = lambda post: 400
        servo = Servo(self, self.account, "--optune-url", self.receiver.url, "--optune-account", "acme", "--pod-namespaces", ns).start()
        Jobs(self, self.cluster.kubeconfig, ns).run("p", "a1")
        self.cluster.eventually(lambda: 'cannot create resource "events"' in servo.log.replace('\\"', '"'))
        self.assertEqual([run["state"] for run in servo.runs()], ["dead"])


for name in [name for name in dir(WithItsRights) if name.startswith("test_")]:
    if not re.match(r"test_(\d|a_missing)", name):
        setattr(WithItsRights, name, None)  # not about the API server


class RotatedToken(RealClusterCase):
    options = {"nodes": 0}

    def setUp(self):
        super().setUp()
        for name in ("svc-acct.yaml", "svc-role.yaml"):
            self.cluster.kubectl("create", "-f", str(FILES / name))
        self.place = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.place.chmod(0o755)
        self.version = 0
        for name in ("token", "ca.crt", "namespace"):
            (self.place / name).symlink_to(f"..data/{name}")

    def grant(self):
        """A new token, as a kubelet brings it: beside the old one, then by the swap of a link. It is good until its Secret goes."""
        self.version += 1
        name = f"t{self.version}"
        self.cluster.kubectl("create", "secret", "generic", name)
        token = self.cluster.kubectl("create", "token", "opsani-servo", "--bound-object-kind=Secret", f"--bound-object-name={name}").stdout
        new = self.place / f"..{name}"
        new.mkdir()
        (new / "token").write_text(token.strip())
        (new / "namespace").write_text("default")
        (new / "ca.crt").write_bytes(self.cluster.pki.path("ca.crt").read_bytes())
        (self.place / "..new").symlink_to(new.name)
        (self.place / "..new").rename(self.place / "..data")
        return name

    def revoke(self, name):
        """From here on it is refused, also for watches that are open: the API server forgets whom it had believed."""
        self.cluster.kubectl("delete", "secret", name)
        self.cluster.restart_apiserver()

    def test_the_next_requests_use_the_new_one_and_no_run_is_lost(self):
        host, port = self.cluster.server.removeprefix("https://").split(":")
        receiver = Receiver(self)
        first = self.grant()
        servo = Servo(self, "", "--optune-url", receiver.url, "--optune-account", "acme",
                      env={"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port},
                      program=("unshare", "--mount", "sh", "-c", IN_POD, str(self.place), PROGRAM)).start()

        def run(name):
            jobs = Jobs(self, self.cluster.kubeconfig)
            jobs.run(name, name)

        def arrived(*names):
            self.cluster.eventually(lambda: sorted(post.path.split("/")[3] for post in receiver.measurements(accepted=False)) == sorted(names),
                                    60, what=f"{names}")
        run("a")
        arrived("a")
        second = self.grant()
        self.revoke(first)
        run("b")
        arrived("a", "b")
        self.assertNotIn("nauthorized", servo.log, "the old one was not tried again")
        # The other order: there is nothing better than the old one for a while.
        self.revoke(second)
        run("c")
        self.cluster.eventually(lambda: "nauthorized" in servo.get("/readyz")[1], 60, what="the refusal")
        self.grant()
        run("d")
        arrived("a", "b", "c", "d")
        self.cluster.eventually(lambda: servo.get("/readyz")[0] == 200, 60)
        self.assertIsNone(servo.child.poll())
        for number in range(1, self.version + 1):
            self.assertNotIn((self.place / f"..t{number}" / "token").read_text(), servo.log)


if __name__ == "__main__":
    unittest.main()

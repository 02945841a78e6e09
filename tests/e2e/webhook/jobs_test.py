#!/usr/bin/env python3
"""Jobs at their admission: marked, and given the monitor; nobody is ever refused."""
import copy
import json
import subprocess
import unittest

from admission_case import AdmissionCase, LocalApiServer
from webhook_server import PROGRAM, Webhook, eventually, patch_of
from local_cluster import LocalCluster, Place

ENV = {"OPTUNE_SLEEPER_IMG": "podmon:1", "SELF_IP": "servo-k8s-multijob.default.svc", "POD_NAMESPACES": "*"}
MARK = {"plimsoll.io/servo": "v1"}
VOLUME = {"name": "rsys", "hostPath": {"path": "/sys", "type": "Directory"}}
JOB = {"metadata": {"generateName": "j-"},
       "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i", "env": [{"name": "JOBID", "value": "a1"}]}]}}


def monitor(level="besteffort/"):
    return {"name": "zzzzmonitor", "image": "podmon:1", "restartPolicy": "Always",
            "env": [{"name": "OPTUNE_SELF_ID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.uid"}}},
                    {"name": "OPTUNE_CGROUP_PATH", "value": f"/kubepods/{level}pod$(OPTUNE_SELF_ID)"},
                    {"name": "REPORT_TARGET", "value": ENV["SELF_IP"]}],
            "volumeMounts": [{"name": "rsys", "mountPath": "/rsys", "readOnly": True}]}


class Reviews(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shared = unittest.TestCase()
        cls.webhook = Webhook(cls.shared, env=ENV, pools=None)

    @classmethod
    def tearDownClass(cls):
        cls.shared.doCleanups()

    def setUp(self):
        self.webhook.test = self

    def test_a_job_gets_exactly_this_patch(self):
        for version in ("v1", "v1beta1"):
            answer = self.webhook.review(JOB, "/mutating-jobs", version=version)
            self.assertEqual((answer["allowed"], answer["patchType"], answer.get("warnings")), (True, "JSONPatch", None))
            self.assertEqual(patch_of(answer), [{"op": "add", "path": "/spec/volumes", "value": [VOLUME]},
                                                {"op": "add", "path": "/spec/initContainers", "value": [monitor()]},
                                                {"op": "add", "path": "/metadata/annotations", "value": MARK}])
        self.assertEqual(patch_of(self.webhook.review(JOB, "/mutating-jobs", dryRun=True)), patch_of(answer), "there are no side effects")

    def test_bad_input_is_answered_and_nobody_is_refused(self):
        for expected, body in ((400, "{"), (400, ""), (400, "[]"), (400, '{"request": 1}'), (400, b"\xff"), (400, "[" * 100_000)):
            self.assertEqual(self.webhook.post(body, "/mutating-jobs")[0], expected, body[:20])
        self.assertEqual(self.webhook.post("{}", "/mutating-jobs", method="PUT")[0], 405)
        self.assertEqual(self.webhook.post("{}", "/mutating-jobs", kind="text/plain")[0], 415)
        for odd in (None, [], "pod", {"spec": None}, {"spec": {"containers": "x", "restartPolicy": "Never"}},
                    {**JOB, "metadata": None}, {**JOB, "spec": {**JOB["spec"], "volumes": {}, "initContainers": 7}}):
            answer = self.webhook.review(odd, "/mutating-jobs")
            self.assertTrue(answer["allowed"], odd)
        # Each path has a mutator of its own.
        self.assertNotIn("patch", self.webhook.review(JOB, "/mutating-pods"))

    def test_settings_that_cannot_be_meant_end_it(self):
        for env, said in (({"OPTUNE_APP_ID": "a/["}, "OPTUNE_APP_ID: column 3"), ({"SELF_IP": "http://x"}, "SELF_IP: "),
                          ({"POD_NAMESPACES": "No"}, "POD_NAMESPACES: "), ({"PLIMSOLL_SERVO_CONTAINER": "-"}, "PLIMSOLL_SERVO_CONTAINER: "),
                          ({"OPTUNE_SLEEPER_IMG": "a b"}, "OPTUNE_SLEEPER_IMG: ")):
            with self.subTest(env):
                with self.assertRaisesRegex(AssertionError, f"(?s)ended with 1\n.*{said.replace('[', '.')}"):
                    Webhook(self, env=env, pools=None)

    def test_flags_win_over_variables(self):
        webhook = Webhook(self, "--optune-sleeper-img", "other:2", "--pod-namespaces", "a,b", "--optune-app-id", "metadata/labels/app",
                          "--self-ip", "fd00::1", env=ENV, pools=None)
        labelled = {"metadata": {"labels": {"app": "x"}}, "spec": {"restartPolicy": "Never", "containers": [{"name": "c"}]}}
        self.assertEqual(patch_of(webhook.review(labelled, "/mutating-jobs")), [])
        added = patch_of(webhook.review(labelled, "/mutating-jobs", namespace="b"))[1]["value"][0]
        self.assertEqual((added["image"], added["env"][-1]["value"]), ("other:2", "[fd00::1]"))

    def test_a_monitor_without_a_place_to_report_to_is_warned_of(self):
        webhook = Webhook(self, env={"OPTUNE_SLEEPER_IMG": "pause"}, pools=None)
        self.assertIn("SELF_IP is missing", webhook.log)
        added = patch_of(webhook.review(JOB, "/mutating-jobs"))[1]["value"][0]
        self.assertNotIn("REPORT_TARGET", [one["name"] for one in added["env"]])


class JobAdmission(AdmissionCase):
    configuration = "servo/webhook-conf.yaml"
    path = "/mutating-jobs"
    webhook_options = {"env": ENV, "pools": None}

    def adapt(self, shipped):
        (one,) = shipped["webhooks"]
        one["namespaceSelector"]["matchExpressions"][0]["values"] = [self.ns]

    def make(self, wanted, **more):
        wanted = copy.deepcopy(wanted)
        wanted["spec"] |= more
        return self.api.post(self.pods, wanted)

    def asked(self):
        return self.webhook.metric("plimsoll_webhook_requests_total")

    def sidecars(self, made):
        return {one["name"]: one for one in made["spec"].get("initContainers", [])}

    def test_a_job_gets_the_monitor_and_the_mark(self):
        made = self.make(JOB)
        added = self.sidecars(made)["zzzzmonitor"]
        self.assertEqual({name: added[name] for name in ("image", "restartPolicy")}, {"image": "podmon:1", "restartPolicy": "Always"})
        self.assertEqual([one["name"] for one in added["env"]], ["OPTUNE_SELF_ID", "OPTUNE_CGROUP_PATH", "REPORT_TARGET"])
        self.assertIn(VOLUME, made["spec"]["volumes"])
        self.assertIn({"name": "rsys", "mountPath": "/rsys", "readOnly": True}, added["volumeMounts"])
        self.assertEqual(made["metadata"]["annotations"], MARK)
        self.assertEqual([one["name"] for one in made["spec"]["containers"]], ["main"])

    def test_it_keeps_its_class(self):
        for resources, level, qos in ((None, "besteffort/", "BestEffort"), ({"requests": {"cpu": "1m"}}, "burstable/", "Burstable"),
                                      ({"limits": {"cpu": "100m", "memory": "64Mi"}}, "", "Guaranteed")):
            container = {**JOB["spec"]["containers"][0], **({"resources": resources} if resources else {})}
            made = self.make(JOB, containers=[container])
            self.assertEqual(self.sidecars(made)["zzzzmonitor"]["env"][1]["value"], f"/kubepods/{level}pod$(OPTUNE_SELF_ID)")
            self.assertEqual(made["status"]["qosClass"], qos)

    def test_what_was_there_stays(self):
        made = self.make(JOB, initContainers=[{"name": "first", "image": "i"}], volumes=[{"name": "d", "emptyDir": {}}])
        self.assertEqual(list(self.sidecars(made)), ["first", "zzzzmonitor"])
        self.assertLessEqual({"d", "rsys"}, {one["name"] for one in made["spec"]["volumes"]})
        # Its own copy comes back unchanged, as from `kubectl get -o json`.
        before = self.asked()
        again = self.make({"metadata": {"generateName": "j-", "annotations": MARK}, "spec": made["spec"]})
        self.assertEqual(self.asked(), before + 1)
        self.assertEqual([one["name"] for one in again["spec"]["initContainers"]], ["first", "zzzzmonitor"])

    def test_other_pods_are_as_they_were(self):
        nameless = self.make(JOB, containers=[{"name": "main", "image": "i"}])
        self.assertEqual(self.asked(), 1, "it might have been one")
        service = self.make(JOB, restartPolicy="Always")
        self.assertEqual(self.asked(), 1, "a service is none, so nobody asks")
        for made in (nameless, service):
            self.assertNotIn("annotations", made["metadata"])
            self.assertNotIn("initContainers", made["spec"])
        elsewhere = self.api.post(f"/api/v1/namespaces/{self.cluster.namespace('others')}/pods", JOB)
        self.assertNotIn("initContainers", elsewhere["spec"])
        declared = copy.deepcopy(JOB)
        declared["metadata"]["annotations"] = {"plimsoll.io/job": "true"}
        self.assertIn("zzzzmonitor", self.sidecars(self.make(declared, restartPolicy="Always")))

    def test_without_the_webhook_jobs_are_made_unchanged(self):
        self.assertEqual(self.webhook.stop(), 0)
        made = self.make(JOB)
        self.assertNotIn("initContainers", made["spec"])
        self.assertNotIn("annotations", made["metadata"])


class BehindApiServer(JobAdmission, LocalApiServer):
    pass


class Role(unittest.TestCase):
    """The webhook as a role of `plimsoll up`, with the servo beside it."""

    def setUp(self):
        place = Place(self)
        place.env |= {"OPTUNE_SLEEPER_IMG": "podmon:1"}
        self.cluster = LocalCluster(self, "--nodes", "1", "--roles", "servo,webhook", "--ephemeral", place=place)

    def is_asked(self):
        """Until it answers, jobs are made unchanged; its authority is known before that."""
        pod = json.dumps({"apiVersion": "v1", "kind": "Pod"} | JOB)
        made = self.cluster.kubectl("create", "--dry-run=server", "-o", "json", "-f", "-", input=pod).stdout
        return "annotations" in json.loads(made)["metadata"]

    def test_a_job_with_a_monitor_completes(self):
        eventually(self.is_asked, 30, what="the webhook")
        template = {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "main", "image": "any", "command": ["sleep", "1"], "env": [{"name": "JOBID", "value": "nightly"}]}]}}
        self.cluster.apply({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": {"template": template}})
        self.cluster.kubectl("wait", "--for=condition=complete", "job/once", "--timeout=60s")
        (pod,) = self.cluster.get("pods", "-l", "job-name=once")["items"]
        self.assertEqual(pod["metadata"]["annotations"]["plimsoll.io/servo"], "v1")
        (ended,) = pod["status"]["initContainerStatuses"]
        self.assertEqual((ended["name"], list(ended["state"])), ("zzzzmonitor", ["terminated"]))

        def runs():
            done = subprocess.run([PROGRAM, "runs", "-o", "json"], capture_output=True, text=True, timeout=30,
                                  env=self.cluster.env | {"XDG_RUNTIME_DIR": self.cluster.place.env["XDG_RUNTIME_DIR"]})
            return json.loads(done.stdout)["items"] if done.returncode == 0 else []
        (run,) = eventually(runs, 30, what="the run")
        self.assertEqual((run["app"], run["exitCode"], run["container"]), ("nightly", 0, "main"))


if __name__ == "__main__":
    unittest.main()

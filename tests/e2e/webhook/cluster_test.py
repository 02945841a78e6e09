#!/usr/bin/env python3
"""The webhook behind an API server: pods are rewritten when they are made, and others need no webhook."""
import copy
import json
import unittest

from admission_case import AdmissionCase, LocalApiServer
from webhook_server import ANNOTATION, STARTER, container, pod
from http_api import Refused

PLAIN = {"name": "c", "image": "plimsoll/tools", "args": ["exit", "0"]}


class Admission(AdmissionCase):
    configuration = "pools/webhook-conf.yaml"
    path = "/mutating-pods"

    def make(self, wanted):
        wanted = copy.deepcopy(wanted)
        wanted["metadata"]["generateName"] = "p-"
        return self.api.post(self.pods, wanted)

    def test_a_pod_is_rewritten(self):
        made = self.make(pod([container(sharedpool=160), dict(PLAIN, name="beside")], ANNOTATION))
        pinned, beside = made["spec"]["containers"]
        self.assertEqual(pinned["command"], [STARTER])
        self.assertEqual(pinned["resources"]["limits"], {"cpu": "160m", "nokia.k8s.io/sharedpool": "160"})
        self.assertEqual(pinned["resources"]["requests"]["cpu"], "0")
        self.assertEqual({one["name"]: one["value"] for one in pinned["env"]},
                         {"CONTAINER_NAME": "cputestcontainer", "CPU_POOLS": "shared"})
        self.assertEqual({one["name"]: one["mountPath"] for one in pinned["volumeMounts"] if one["name"] in ("podinfo", "hostbin")},
                         {"podinfo": "/etc/podinfo", "hostbin": STARTER})
        self.assertLessEqual({"podinfo", "hostbin"}, {one["name"] for one in made["spec"]["volumes"]})
        self.assertNotIn("env", beside)
        self.assertEqual(self.webhook.metric("plimsoll_webhook_requests_total"), 1)

    def test_what_a_pod_does_not_have_is_made(self):
        """No volumes, mounts, variables or requests: the API server takes the patch as it is."""
        both = container(exclusive_pool=4, sharedpool=200)
        del both["resources"]["requests"]
        made = self.make(pod([{**both, "command": ["/bin/bash", "-c", "--"], "args": ["sleep 1"]}], automountServiceAccountToken=False))
        (pinned,) = made["spec"]["containers"]
        self.assertEqual((pinned["command"], pinned["args"]), ([STARTER], ["/bin/bash", "-c", "--", "sleep 1"]))
        self.assertEqual(pinned["resources"], {
            "limits": {"cpu": "5", "nokia.k8s.io/exclusive-pool": "4", "nokia.k8s.io/sharedpool": "200"},
            "requests": {"cpu": "0", "nokia.k8s.io/exclusive-pool": "4", "nokia.k8s.io/sharedpool": "200"}})
        self.assertEqual({one["name"]: one["value"] for one in pinned["env"]},
                         {"CONTAINER_NAME": "cputestcontainer", "CPU_POOLS": "exclusive&shared"})
        self.assertEqual([one["name"] for one in pinned["volumeMounts"]], [one["name"] for one in made["spec"]["volumes"]])
        self.assertEqual({one["name"] for one in made["spec"]["volumes"]}, {"podinfo", "hostbin"})

    def test_strings_of_a_command_arrive_as_they_are(self):
        words = ['say "hi"', "back\\slash", "two\nlines", "grün 船"]
        made = self.make(pod([{**container(cpupool1=2), "command": words[:2], "args": words[2:]}]))
        self.assertEqual(made["spec"]["containers"][0]["args"], words)

    def test_a_refusal_reaches_the_one_who_asked(self):
        with self.assertRaises(Refused) as refused:
            self.make(pod([container(sharedpool=170)], ANNOTATION))
        self.assertEqual((refused.exception.status, refused.exception.reason), (422, "Invalid"))
        self.assertIn('admission webhook "cpu-dev-mutator.nokia.k8s.io" denied the request: ANN011: ', refused.exception.body["message"])

    def test_the_annotation_of_a_pod_cannot_be_changed(self):
        made = self.make(pod([container(sharedpool=160)], ANNOTATION))
        path = f"{self.pods}/{made['metadata']['name']}"
        with self.assertRaisesRegex(Refused, "ANN015"):
            self.api.merge(path, {"metadata": {"annotations": {"nokia.k8s.io/cpus": "[]"}}})
        with self.assertRaisesRegex(Refused, "ANN015"):
            self.api.merge(path, {"metadata": {"annotations": {"nokia.k8s.io/cpus": None}}})
        self.api.merge(path, {"metadata": {"annotations": {"other": "x"}}})

    def test_other_changes_of_a_pod_need_no_webhook(self):
        pinned = [self.make(pod([container(sharedpool=160)], text)) for text in (ANNOTATION, None)]
        self.assertEqual(self.webhook.stop(), 0)
        for made in pinned:
            path = f"{self.pods}/{made['metadata']['name']}"
            changed = self.api.merge(path, {"metadata": {"labels": {"a": "b"}, "annotations": {"c": "d"}}})
            self.assertEqual(changed["metadata"]["labels"], {"a": "b"})
            for text in ("[]", json.dumps(ANNOTATION) + " "):
                with self.assertRaisesRegex(Refused, "failed calling webhook"):
                    self.api.merge(path, {"metadata": {"annotations": {"nokia.k8s.io/cpus": text}}})
        with self.assertRaisesRegex(Refused, "failed calling webhook"):
            self.api.merge(f"{self.pods}/{pinned[0]['metadata']['name']}", {"metadata": {"annotations": {"nokia.k8s.io/cpus": None}}})

    def test_pods_without_pools_need_no_webhook(self):
        self.make(pod([PLAIN]))
        self.assertEqual(self.webhook.metric("plimsoll_webhook_requests_total"), 0)
        self.assertEqual(self.webhook.stop(), 0)
        self.make(pod([PLAIN], initContainers=[dict(PLAIN, name="i")]))
        # Nor do those of the webhook's own namespace.
        own = self.api.post("/api/v1/namespaces/kube-system/pods", pod([container(sharedpool=160)], ANNOTATION))
        self.addCleanup(self.cluster.raw, f"/api/v1/namespaces/kube-system/pods/{own['metadata']['name']}", "-X", "DELETE", check=False)
        for wanted in (pod([container(sharedpool=160)]), pod([PLAIN], "[]"), pod([PLAIN], initContainers=[container("i", cpupool1=1)])):
            with self.assertRaises(Refused) as refused:
                self.make(wanted)
            self.assertEqual(refused.exception.status, 500)
            self.assertIn("failed calling webhook", refused.exception.body["message"])


class BehindApiServer(Admission, LocalApiServer):
    pass


if __name__ == "__main__":
    unittest.main()

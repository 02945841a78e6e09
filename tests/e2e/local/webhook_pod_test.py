#!/usr/bin/env python3
"""A mutating webhook that is itself a pod, reached by its Service."""
import base64
import subprocess
import unittest

from http_api import HttpApi, Refused
from local_cluster import ClusterCase, eventually, only_local

# Gives every pod a label and says on whose behalf it was asked.
SERVER = r"""
import base64, http.server, json, os, ssl

class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.reply(b"ready")

    def do_POST(self):
        review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        patch = []
        if "labels" not in review["request"]["object"]["metadata"]:
            patch.append({"op": "add", "path": "/metadata/labels", "value": {}})
        patch.append({"op": "add", "path": "/metadata/labels/seen-by", "value": os.environ["POD_NAME"]})
        answer = {"uid": review["request"]["uid"], "allowed": True, "patchType": "JSONPatch",
                  "patch": base64.b64encode(json.dumps(patch).encode()).decode()}
        self.reply(json.dumps({"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": answer}).encode())

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer((os.environ["POD_IP"], 8443), Answers)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(os.environ["CERTIFICATE"])
server.socket = tls.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


@only_local("its pod runs a program of this machine")
class WebhookPod(ClusterCase):
    flags = ("--nodes", "2")

    def setUp(self):
        super().setUp()
        self.ns = self.cluster.namespace("hooks")
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.files = self.cluster.place.root / self.ns
        self.files.mkdir()
        self.certificate = self.files / "pair.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                        "-subj", "/CN=hook", "-addext", f"subjectAltName=DNS:hook.{self.ns}.svc",
                        "-keyout", self.files / "key.pem", "-out", self.files / "crt.pem"], check=True, capture_output=True)
        self.certificate.write_text((self.files / "crt.pem").read_text() + (self.files / "key.pem").read_text())
        (self.files / "server.py").write_text(SERVER)

    def path(self, kind):
        return f"/api/v1/namespaces/{self.ns}/{kind}"

    def serve(self, replicas):
        """The names of the pods that serve. On a busy machine one of them may be found unready for a moment afterwards."""
        field = lambda name, path: {"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}}
        container = {"name": "hook", "image": "any", "command": ["python3", str(self.files / "server.py")],
                     "env": [field("POD_IP", "status.podIP"), field("POD_NAME", "metadata.name"),
                             {"name": "CERTIFICATE", "value": str(self.certificate)}],
                     "readinessProbe": {"httpGet": {"path": "/", "port": 8443, "scheme": "HTTPS"}, "periodSeconds": 1}}
        self.api.post(f"/apis/apps/v1/namespaces/{self.ns}/deployments",
                      {"metadata": {"name": "hook"},
                       "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "hook"}},
                                "template": {"metadata": {"labels": {"app": "hook"}},
                                             "spec": {"containers": [container], "terminationGracePeriodSeconds": 1}}}})
        self.api.post(self.path("services"), {"metadata": {"name": "hook"},
                                              "spec": {"selector": {"app": "hook"},
                                                       "ports": [{"port": 443, "targetPort": 8443}]}})
        return eventually(lambda: len(names := self.ready()) == replicas and set(names), seconds=30, what="the webhook's endpoints")

    def ready(self):
        return [address["targetRef"]["name"] for item in self.api.get(self.path("endpoints"))["items"] if item["metadata"]["name"] == "hook"
                for subset in item.get("subsets", []) for address in subset.get("addresses", [])]

    def configure(self, **more):
        bundle = base64.b64encode((self.files / "crt.pem").read_bytes()).decode()
        webhook = {"name": "label.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None", "timeoutSeconds": 5,
                   "clientConfig": {"caBundle": bundle, "service": {"namespace": self.ns, "name": "hook", "path": "/label"}},
                   "objectSelector": {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["hook"]}]},
                   "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": self.ns}},
                   "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}], **more}
        path = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
        self.api.post(path, {"metadata": {"name": self.ns}, "webhooks": [webhook]})
        self.addCleanup(self.cluster.raw, f"{path}/{self.ns}", "-X", "DELETE", check=False)

    def make_pod(self, name):
        return self.api.post(self.path("pods"), {"metadata": {"name": name},
                                                 "spec": {"containers": [{"name": "c", "image": "plimsoll/tools", "args": ["exit", "0"]}],
                                                          "restartPolicy": "Never"}})

    def test_pods_are_changed_by_a_pod(self):
        first = self.serve(2)
        self.configure()
        made = self.make_pod("a")
        self.assertIn(made["metadata"]["labels"]["seen-by"], first)
        eventually(lambda: self.api.get(f"{self.path('pods')}/a")["status"]["phase"] == "Succeeded", what="the end of the pod")
        # When its pods go the Service leads to the next ones, and to nobody in the end.
        self.api.delete(f"{self.path('pods')}/{made['metadata']['labels']['seen-by']}")
        second = eventually(lambda: len(names := set(self.ready())) == 2 and names != first and names, seconds=30, what="another pod for it")
        self.assertIn(self.make_pod("b")["metadata"]["labels"]["seen-by"], second)
        self.api.merge(f"/apis/apps/v1/namespaces/{self.ns}/deployments/hook", {"spec": {"replicas": 0}})
        eventually(lambda: not self.ready(), seconds=30, what="the end of the webhook")
        with self.assertRaises(Refused) as refused:
            self.make_pod("c")
        self.assertEqual(refused.exception.status, 500)
        self.assertIn("no endpoints available for service", refused.exception.body["message"])

    def test_a_certificate_for_another_name_is_not_believed(self):
        self.serve(1)
        self.configure(clientConfig={"caBundle": base64.b64encode((self.files / "crt.pem").read_bytes()).decode(),
                                     "service": {"namespace": self.ns, "name": "other"}})
        self.api.post(self.path("services"), {"metadata": {"name": "other"},
                                              "spec": {"selector": {"app": "hook"},
                                                       "ports": [{"port": 443, "targetPort": 8443}]}})
        eventually(lambda: [item for item in self.api.get(self.path("endpoints"))["items"]
                            if item["metadata"]["name"] == "other" and item.get("subsets")], what="its endpoints")
        with self.assertRaises(Refused) as refused:
            self.make_pod("a")
        self.assertEqual(refused.exception.status, 500)
        self.assertIn("certificate", refused.exception.body["message"])


if __name__ == "__main__":
    unittest.main()

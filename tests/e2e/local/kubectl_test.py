#!/usr/bin/env python3
"""kubectl as people use it, without nodes: create, apply, patch, label, delete, lists in pieces, watches."""
import concurrent.futures
import contextlib
import json
import re
import unittest

from http_api import HttpApi
from local_cluster import ClusterCase, eventually


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def deployment(name, replicas=1, image="plimsoll/tools", env=()):
    container = {"name": "c", "image": image, "args": ["sleep", "infinity"],
                 "env": [{"name": key, "value": value} for key, value in env]}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container]}}}}


class Kubectl(ClusterCase):
    flags = ("--nodes", "0", "--scheduler", "none")

    def setUp(self):
        super().setUp()
        self.ns = self.cluster.namespace()

    def kubectl(self, *words, **options):
        return self.cluster.kubectl("-n", self.ns, *words, **options)

    def get(self, *words):
        return json.loads(self.kubectl("get", *words, "-o", "json").stdout)

    def apply(self, *objects):
        return self.kubectl("apply", "-f", "-", input=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": list(objects)})).stdout

    def test_create_a_namespace(self):  # kubectl 1.20 sends it without a Content-Type
        name = f"{self.ns}-x"
        self.assertEqual(self.kubectl("create", "namespace", name).stdout, f"namespace/{name} created\n")
        self.assertEqual(self.kubectl("get", "ns", name, "-o", "jsonpath={.status.phase}").stdout, "Active")
        again = self.kubectl("create", "namespace", name, check=False)
        self.assertEqual(again.returncode, 1)
        self.assertIn("(AlreadyExists)", again.stderr)
        self.assertEqual(self.kubectl("delete", "namespace", name).stdout, f'namespace "{name}" deleted\n')

    def test_apply_twice_changes_nothing(self):
        self.assertEqual(self.apply(config_map("c", a="1")), "configmap/c created\n")
        before = self.get("cm", "c")["metadata"]["resourceVersion"]
        self.assertEqual(self.apply(config_map("c", a="1")), "configmap/c unchanged\n")
        self.assertEqual(self.get("cm", "c")["metadata"]["resourceVersion"], before)
        self.assertEqual(self.apply(config_map("c", b="2")), "configmap/c configured\n")
        self.assertEqual(self.get("cm", "c")["data"], {"b": "2"})

    def test_apply_changes_one_element_and_spares_others_labels(self):
        self.apply(deployment("d", env=(("A", "1"), ("B", "2"))))
        self.kubectl("label", "deployment", "d", "team=blue")
        self.kubectl("patch", "deployment", "d", "--type=json", "-p",
                     '[{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "X", "value": "other"}}]')
        self.apply(deployment("d", env=(("A", "1"), ("B", "3"))))
        now = self.get("deployment", "d")
        self.assertEqual(now["metadata"]["labels"], {"team": "blue"})
        env = {item["name"]: item["value"] for item in now["spec"]["template"]["spec"]["containers"][0]["env"]}
        self.assertEqual(env, {"A": "1", "B": "3", "X": "other"})
        self.assertEqual(now["metadata"]["generation"], 3)

    def test_server_side_apply_by_one_manager(self):
        text = json.dumps(config_map("s", a="1", b="2"))
        self.assertEqual(self.kubectl("apply", "--server-side", "-f", "-", input=text).stdout, "configmap/s serverside-applied\n")
        self.kubectl("apply", "--server-side", "-f", "-", input=json.dumps(config_map("s", b="3")))
        self.assertEqual(self.get("cm", "s")["data"], {"b": "3"})

    def test_strict_mistakes_are_refused(self):
        bad = deployment("bad")
        bad["spec"]["replicsa"] = 3
        path = f"/apis/apps/v1/namespaces/{self.ns}/deployments"  # what kubectl sends from 1.25 on; 1.20 cannot
        done = self.cluster.raw(f"{path}?fieldValidation=Strict", "-d", "-", input=json.dumps(bad), check=False)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn('unknown field "spec.replicsa"', done.stderr)
        self.assertEqual(self.get("deployments")["items"], [])
        self.kubectl("create", "--validate=false", "-f", "-", input=json.dumps(bad))  # without it the field is dropped
        self.assertNotIn("replicsa", self.get("deployment", "bad")["spec"])
        wrong = deployment("wrong")
        wrong["spec"]["selector"]["matchLabels"]["app"] = "other"
        done = self.kubectl("create", "-f", "-", "--validate=false", input=json.dumps(wrong), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("spec.template.metadata.labels: Invalid value", done.stderr)

    def test_scale_label_annotate_patch_and_rollout(self):
        self.apply(deployment("d"))
        self.assertEqual(self.kubectl("scale", "deployment/d", "--replicas=3").stdout, "deployment.apps/d scaled\n")
        self.assertEqual(self.get("deployment", "d")["spec"]["replicas"], 3)
        eventually(lambda: len(self.get("pods", "-l", "app=d")["items"]) == 3, what="three pods")
        self.assertEqual(self.kubectl("annotate", "deployment/d", "note=x").stdout, "deployment.apps/d annotated\n")
        self.assertEqual(self.kubectl("set", "image", "deployment/d", "c=plimsoll/tools:2").stdout,
                         "deployment.apps/d image updated\n")
        self.assertIn("REVISION", self.kubectl("rollout", "history", "deployment/d").stdout)
        self.assertEqual(self.kubectl("delete", "deployment", "d").stdout, 'deployment.apps "d" deleted\n')
        eventually(lambda: not self.get("pods", "-l", "app=d")["items"], what="the end of the pods")

    def test_tables(self):
        self.apply(deployment("d", replicas=2))
        eventually(lambda: len(self.get("pods")["items"]) == 2, what="two pods")
        lines = self.kubectl("get", "deployment").stdout.splitlines()
        self.assertEqual(lines[0].split(), ["NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE"])
        eventually(lambda: self.kubectl("get", "deployment").stdout.splitlines()[1].split()[:4] == ["d", "0/2", "2", "0"],
                   what="the numbers of the deployment")
        wide = self.kubectl("get", "pods", "-o", "wide").stdout.splitlines()
        self.assertEqual(wide[0].split()[:6], ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP"])
        self.assertEqual(wide[1].split()[1:4], ["0/1", "Pending", "0"])
        self.assertIn("replicaset.apps/d-", self.kubectl("get", "all").stdout)

    def test_a_watch_prints_its_header_once(self):
        watch = self.cluster.popen("-n", self.ns, "get", "pods", "-o", "wide", "-w")
        self.apply(deployment("d", replicas=2))
        eventually(lambda: len(self.get("pods")["items"]) == 2, what="two pods")
        self.kubectl("delete", "deployment", "d")
        eventually(lambda: not self.get("pods")["items"], what="the end of the pods")
        watch.terminate()
        out = watch.communicate(timeout=20)[0]
        self.assertEqual(out.count("NAME "), 1, out)
        self.assertGreaterEqual(len(out.splitlines()), 3, out)

    def test_lists_in_pieces_show_every_old_pod_once(self):
        path = f"/api/v1/namespaces/{self.ns}/pods"
        def add(*names):  # not by kubectl, which sends five requests in a second
            with contextlib.closing(HttpApi(self.cluster.kubeconfig)) as api:
                for name in names:
                    api.post(path, {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "x"}]}})
        add(*(f"p{i:03}" for i in range(100)))
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            adding = pool.submit(add, *(f"a{i:03}" for i in range(60)))
            for _ in range(5):
                names = self.kubectl("get", "pods", "-A", "--chunk-size=7", "-o", "name").stdout.split()
                old = [name for name in names if re.fullmatch(r"pod/p\d{3}", name)]
                self.assertEqual(old, [f"pod/p{i:03}" for i in range(100)])
            adding.result()
        with contextlib.closing(HttpApi(self.cluster.kubeconfig)) as api:
            api.delete(path, gracePeriodSeconds=0)

    def test_discovery_and_version(self):
        self.assertRegex(self.kubectl("version").stdout, r"Server Version.*v1\.3\d\.")
        resources = self.kubectl("api-resources").stdout
        for line in ("deployments", "leases", "resourceslices", "csinodes", "customresourcedefinitions"):
            self.assertIn(f"\n{line} ", resources)
        self.assertIn("batch/v1\n", self.kubectl("api-versions").stdout)
        self.assertIn("is running at", self.kubectl("cluster-info").stdout)

    def test_describe_and_events(self):
        self.apply(deployment("d"))
        eventually(lambda: "ScalingReplicaSet" in self.kubectl("describe", "deployment", "d").stdout, what="its event")
        self.assertIn("Namespace:", self.kubectl("describe", "deployment", "d").stdout)


if __name__ == "__main__":
    unittest.main()

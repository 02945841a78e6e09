#!/usr/bin/env python3
"""The manifests of deploy/ on a real API server: each file alone, and all by `plimsoll install`."""
import contextlib
import json
import re
import subprocess
import unittest

from rig import PROGRAM, ROOT, RealClusterCase
from http_api import HttpApi, Refused

DEPLOY = ROOT / "deploy"
# Those that a kustomization names without looking into the folder of another part.
ROLES = sorted(path.parent.name for path in DEPLOY.glob("*/kustomization.yaml") if not re.search(r"- \.\./(?!shared/)", path.read_text()))


class Install(RealClusterCase):
    def plimsoll(self, *words, ok=True):
        done = subprocess.run([PROGRAM, *words, "--kubeconfig", self.cluster.kubeconfig], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode == 0, ok, done.stderr)
        return done.stdout if ok else done.stderr

    def objects(self, text):
        """As names, with everything that their files say."""
        said = self.cluster.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", input=text).stdout
        decoder, found, at = json.JSONDecoder(), {}, 0
        while at < len(said):  # several documents, one behind the other
            one, end = decoder.raw_decode(said, at)
            found[one["kind"], one["metadata"]["name"]] = one
            at = end + len(said[end:]) - len(said[end:].lstrip())
        return found

    def test_every_file_can_be_made_alone_and_removed(self):
        self.cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "wca"}})
        files = [path for path in sorted([*DEPLOY.glob("*/*.yaml"), *DEPLOY.glob("shared/*/*.yaml")], reverse=True)
                 if path.name not in ("kustomization.yaml", "namespace.yaml")]
        self.assertGreater(len(files), 8)
        for path in files:
            with self.subTest(file=str(path.relative_to(DEPLOY))):
                self.cluster.kubectl("create", "-f", str(path))
                self.cluster.kubectl("delete", "-f", str(path), "--wait=false")

    def test_every_overlay_can_be_applied_and_removed(self):
        overlays = sorted(path.parent for path in DEPLOY.glob("overlays/*/kustomization.yaml"))
        self.assertEqual([path.name for path in overlays], ["plimsoll-system", "wca"])
        for overlay in overlays:
            with self.subTest(overlay=overlay.name):
                self.cluster.kubectl("apply", "-k", str(overlay))
                self.assertTrue(self.cluster.kubectl("get", "daemonsets", "-n", overlay.name, "-o", "name").stdout)
                built = self.cluster.kubectl("kustomize", str(overlay)).stdout.split("\n---\n")
                rest = [one for one in built if "\nkind: Namespace\n" not in one]  # which other tests are in, and which goes slowly
                self.cluster.kubectl("delete", "-f", "-", "--wait=false", input="\n---\n".join(rest))

    def test_install_applies_what_kustomize_would(self):
        self.assertLessEqual({"agent", "pools", "servo"}, set(ROLES))
        for role in ROLES:
            with self.subTest(role=role):
                ours = self.objects(self.plimsoll("install", role, "--dry-run"))
                theirs = self.objects(self.cluster.kubectl("kustomize", str(DEPLOY / role)).stdout)
                ours = {key: one for key, one in ours.items() if key[0] != "Namespace"}
                self.assertEqual(ours, theirs)

    def test_it_is_installed_changed_and_removed(self):
        applied = self.plimsoll("install").splitlines()
        self.assertIn("daemonset.apps/wca applied", applied)
        self.assertEqual(self.plimsoll("install").splitlines(), applied)  # again changes nothing
        image = self.cluster.kubectl("get", "daemonset", "wca", "-n", "wca", "-o", "jsonpath={..image}").stdout
        self.assertRegex(image, r"^plimsoll:\d")
        self.plimsoll("install", "agent", "--image", "registry.example.org/plimsoll:1")
        image = self.cluster.kubectl("get", "daemonset", "wca", "-n", "wca", "-o", "jsonpath={..image}").stdout
        self.assertEqual(image, "registry.example.org/plimsoll:1")
        before = self.cluster.kubectl("get", "daemonsets,clusterroles", "-A", "-o", "yaml").stdout
        checked = self.plimsoll("install", "--dry-run=server", "--image", "registry.example.org/plimsoll:2").splitlines()
        self.assertEqual([line.removesuffix(" (server dry run)") for line in checked], applied)
        listed = self.plimsoll("uninstall", "--dry-run").splitlines()
        self.assertEqual(self.cluster.kubectl("get", "daemonsets,clusterroles", "-A", "-o", "yaml").stdout, before)
        removed = self.plimsoll("uninstall").splitlines()
        self.assertEqual([line.removesuffix(" (dry run)") for line in listed], removed)
        self.assertEqual({line.removesuffix(" deleted") for line in removed},
                         {line.removesuffix(" applied") for line in applied} - {"namespace/wca"})
        self.assertEqual({line.rsplit("/")[0] for line in self.plimsoll("uninstall").splitlines()},
                         {line.rsplit("/")[0] for line in removed})
        self.assertNotIn("wca", self.cluster.kubectl("get", "daemonsets,clusterroles,clusterrolebindings", "-A", "-o", "name").stdout)

    def test_another_namespace_is_made_and_meant_everywhere(self):
        self.plimsoll("install", "agent", "--namespace", "elsewhere")
        bound = json.loads(self.cluster.kubectl("get", "clusterrolebinding", "wca", "-o", "json").stdout)
        self.assertEqual([subject["namespace"] for subject in bound["subjects"]], ["elsewhere"])
        self.assertIn("daemonset.apps/wca", self.cluster.kubectl("get", "daemonsets", "-n", "elsewhere", "-o", "name").stdout)
        self.plimsoll("uninstall", "agent", "--namespace", "elsewhere")
        self.assertEqual(self.cluster.kubectl("get", "daemonsets", "-A", "-o", "name").stdout, "")

    def test_agents_of_the_pools_report_only_their_own_node(self):
        definition = str(DEPLOY / "crds" / "nodereport.yaml")
        self.cluster.kubectl("create", "-f", definition)
        self.addCleanup(self.cluster.kubectl, "delete", "-f", definition)
        self.cluster.kubectl("apply", "-k", str(DEPLOY / "pools"))
        self.addCleanup(self.cluster.kubectl, "delete", "-k", str(DEPLOY / "pools"), "--wait=false", check=False)
        agent = self.enterContext(contextlib.closing(HttpApi(self.cluster.kubeconfig)))
        # As the token of a pod on the node "mine" says.
        agent.headers |= {"Impersonate-User": "system:serviceaccount:kube-system:cpu-pooler",
                          "Impersonate-Extra-authentication.kubernetes.io%2Fnode-name": "mine"}

        def report(node):
            """Why the API server refuses it; None if it does not."""
            try:
                agent.post("/apis/plimsoll.io/v1alpha1/nodereports?dryRun=All",
                           {"apiVersion": "plimsoll.io/v1alpha1", "kind": "NodeReport", "metadata": {"name": node}, "spec": {}})
            except Refused as refused:
                return str(refused)
            return None
        self.cluster.eventually(lambda: report("mine") is None, what="the resource")
        self.cluster.eventually(lambda: "node other is described by a pod on it only; this one runs on mine" in (report("other") or ""),
                                what="the policy")
        self.assertIsNone(report("mine"))

    def test_mistakes_are_told(self):
        self.assertIn('unknown role "nonsense"', self.plimsoll("install", "nonsense", ok=False))
        self.assertIn("Invalid value", self.plimsoll("install", "agent", "--namespace", "No!", ok=False))


if __name__ == "__main__":
    unittest.main()

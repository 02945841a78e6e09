#!/usr/bin/env python3
"""One DaemonSet with all modules of the agent: what deploy/overlays/plimsoll-system is made of, and that it works on a local cluster."""
import json
import os
import pathlib
import unittest

from agent_under_test import PROGRAM, ROOT
from local_cluster import LocalCluster, Place
from node_agent import OVERLAY, NodeAgentWalk

ROLES = ("agent/rbac.yaml", "pools/rbac.yaml", "images/rbac.yaml")


def rights(role):
    """One line for each thing that may be done."""
    return {(group, resource, verb) for rule in role["rules"] for group in rule["apiGroups"] for resource in rule["resources"]
            for verb in rule["verbs"]}


class Overlay(NodeAgentWalk, unittest.TestCase):
    def setUp(self):
        # The image's program is found where this machine would have it.
        place = Place(self)
        place.env["PATH"] = f"{pathlib.Path(PROGRAM).parent}:{place.env['PATH']}"
        self.cluster = LocalCluster(self, "--nodes", "0", "--ephemeral", place=place)

    def objects(self, text):
        said, found = self.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", "-", input=text).stdout, {}
        while said := said.strip():  # several documents, one behind the other
            one, end = json.JSONDecoder().raw_decode(said)
            found[one["kind"], one["metadata"]["name"]] = one
            said = said[end:]
        return found

    def test_it_has_the_rights_of_its_parts_and_no_more(self):
        built = self.objects(self.cluster.kubectl("kustomize", str(OVERLAY)).stdout)
        self.assertEqual({kind for kind, _ in built}, {"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding",
                                                       "ConfigMap", "DaemonSet", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"})
        parts = set()
        for file in ROLES:
            for (kind, _), one in self.objects((ROOT / "deploy" / file).read_text()).items():
                parts |= rights(one) if kind == "ClusterRole" else set()
        self.assertEqual(rights(built["ClusterRole", "plimsoll-agent"]), parts)
        role = built["Role", "plimsoll-agent-pools"]
        self.assertEqual((role["metadata"]["namespace"], [rule["resourceNames"] for rule in role["rules"]]),
                         ("kube-system", [["cpu-dp-configmap", "cpu-pooler-configmap"]]))
        spec = built["DaemonSet", "plimsoll-agent"]["spec"]["template"]["spec"]
        for container in spec["initContainers"] + spec["containers"]:
            security = container["securityContext"]
            self.assertFalse(security["allowPrivilegeEscalation"])
            self.assertTrue(security["readOnlyRootFilesystem"])
            self.assertNotIn("privileged", security)
            self.assertEqual(security["capabilities"]["drop"], ["ALL"])
        self.assertEqual(spec["containers"][0]["securityContext"]["capabilities"]["add"], ["SYS_PTRACE"])

    def address(self):
        return self.node["address"]

    def cgroup_root(self):
        return self.node["cgroups"]

    def starter(self):
        (found,) = self.cluster.place.state("t").glob(f"**/{self.node['name']}/host/opt/bin/process-starter")
        return found

    def test_one_daemon_does_it_all(self):
        # An address of its own: other clusters of this machine have the first ones, other walks those after 100 and 200.
        name = f"n{50 + os.getpid() % 50}"
        self.cluster.place.run("node", "add", "--name", "t", name)
        (self.node,) = json.loads(self.cluster.place.run("node", "ls", "--name", "t", "-o", "json").stdout)["items"]
        if not self.node["cgroups"].startswith("/") or not self.node["isolated"]:
            self.skipTest("nodes have no cgroups or containers no namespaces here")
        if self.node["kubeletPort"] != 10250:
            self.skipTest("another cluster has this address")
        self.walk()


if __name__ == "__main__":
    unittest.main()

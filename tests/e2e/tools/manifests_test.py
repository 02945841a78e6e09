#!/usr/bin/env python3
"""What containers of deploy/ may do: nothing beyond what this table names with its reason."""
import pathlib
import unittest

import yaml

DEPLOY = pathlib.Path(__file__).resolve().parents[3] / "deploy"
# Root owns what these use on their node. All others run as a user.
ROOTS = {
    ("cpudp", "install-starter"): "writes to /opt/bin of the host",
    ("cpudp", "cpudp"): "the kubelet's sockets and the cgroups",
    ("plimsoll-agent", "install-starter"): "writes to /opt/bin of the host",
    ("plimsoll-agent", "agent"): "the kubelet's sockets, the cgroups and the runtime's socket",
    ("plimsoll-images", "images"): "the runtime's socket",
    ("kube-scheduler", "kube-scheduler"): "kubeadm's kubeconfig",
}
# SYS_PTRACE: to read the environment of a new container.
CAPABILITIES = {("cpudp", "cpudp"): ["SYS_PTRACE"], ("plimsoll-agent", "agent"): ["SYS_PTRACE"]}
HOST_PID = {"cpudp", "plimsoll-agent"}
HOST_NETWORK = {"cpudp", "plimsoll-agent", "wca", "kube-scheduler"}
WRITABLE = {
    "cpudp": {"/var/lib/kubelet/device-plugins", "/var/lib/kubelet/pod-resources", "/sys/fs/cgroup", "/run/plimsoll", "/opt/bin"},
    "plimsoll-agent": {"/var/lib/kubelet/device-plugins", "/var/lib/kubelet/pod-resources", "/sys/fs/cgroup", "/run/plimsoll", "/opt/bin",
                       "/run/containerd"},
    "plimsoll-images": {"/run/containerd"},
}


def objects():
    for path in sorted(DEPLOY.rglob("*.yaml")):
        yield from yaml.safe_load_all(path.read_text())


def pods():
    """Name and spec of each pod, and of each template."""
    for made in objects():
        if made["kind"] == "Pod":
            yield made["metadata"]["name"], made["spec"]
        elif "template" in made.get("spec", {}):
            yield made["metadata"]["name"], made["spec"]["template"]["spec"]


def containers():
    """With the settings of the pod where the container has none."""
    for name, spec in pods():
        for container in spec.get("initContainers", []) + spec["containers"]:
            yield name, spec, container, {**spec.get("securityContext", {}), **container.get("securityContext", {})}


class Manifests(unittest.TestCase):
    def test_every_part_is_looked_at(self):
        names = {name for name, _ in pods()}
        self.assertEqual(names, {"cpudp", "cpu-dev-pod-mutator", "cpu-test", "kube-scheduler", "opsani-servo-webhook", "plimsoll-agent",
                                 "plimsoll-images", "plimsoll-scheduler", "servo-k8s-multijob", "wca"})

    def test_every_container_is_confined(self):
        for name, _, container, security in containers():
            with self.subTest(pod=name, container=container["name"]):
                self.assertEqual(security.get("seccompProfile"), {"type": "RuntimeDefault"})
                self.assertIs(security.get("allowPrivilegeEscalation"), False)
                self.assertIs(security.get("readOnlyRootFilesystem"), True)
                self.assertFalse(security.get("privileged", False))
                wanted = {"drop": ["ALL"]}
                if added := CAPABILITIES.get((name, container["name"])):
                    wanted["add"] = added
                self.assertEqual(security.get("capabilities"), wanted)

    def test_only_what_needs_it_runs_as_root(self):
        roots = set()
        for name, _, container, security in containers():
            if security.get("runAsUser") == 0:
                roots.add((name, container["name"]))
                continue
            with self.subTest(pod=name, container=container["name"]):
                self.assertIs(security.get("runAsNonRoot"), True)
                self.assertEqual(security.get("runAsUser"), 65532)
        self.assertEqual(roots, set(ROOTS))

    def test_only_node_agents_see_the_host(self):
        for name, spec in pods():
            with self.subTest(pod=name):
                self.assertEqual(spec.get("hostPID", False), name in HOST_PID)
                self.assertEqual(spec.get("hostNetwork", False), name in HOST_NETWORK)
                self.assertFalse(spec.get("hostIPC", False))

    def test_of_the_host_only_what_is_named_can_be_written(self):
        found = {}
        for name, spec, container, _ in containers():
            paths = {volume["name"]: volume["hostPath"]["path"] for volume in spec.get("volumes", []) if "hostPath" in volume}
            for mount in container.get("volumeMounts", []):
                if mount["name"] in paths and not mount.get("readOnly"):
                    found.setdefault(name, set()).add(paths[mount["name"]])
                elif paths.get(mount["name"]) in ("/proc", "/sys"):  # which have other file systems below
                    self.assertEqual(mount.get("recursiveReadOnly"), "IfPossible", name)
        self.assertEqual(found, WRITABLE)

    def test_network_policies_open_the_port_of_what_they_select(self):
        """On the host's network they have no effect."""
        listening = {}
        for made in objects():
            template = made.get("spec", {}).get("template", {})
            ports = {port["containerPort"] for container in template.get("spec", {}).get("containers", []) for port in container.get("ports", [])}
            if ports and not template["spec"].get("hostNetwork"):
                where = made["metadata"].get("namespace")
                listening[made["metadata"]["name"]] = where, template["metadata"]["labels"].items(), ports
        selected = set()
        for policy in (made for made in objects() if made["kind"] == "NetworkPolicy"):
            name, spec = policy["metadata"]["name"], policy["spec"]
            with self.subTest(policy=name):
                selected.add(name)
                where, labels, ports = listening[name]
                self.assertEqual(policy["metadata"].get("namespace"), where)
                self.assertLessEqual(spec["podSelector"]["matchLabels"].items(), labels)
                self.assertEqual(spec["policyTypes"], ["Ingress"])
                self.assertEqual([port["port"] for rule in spec["ingress"] for port in rule["ports"]], list(ports))
        # The scheduler authorizes every request itself.
        self.assertEqual(listening.keys() - selected, {"plimsoll-scheduler"})


if __name__ == "__main__":
    unittest.main()

"""A DaemonSet of deploy/ on one real node, with what the rig changes of it. Not a test itself."""
from rig import RealClusterCase


class DaemonSetCase(RealClusterCase):
    """Before the mixin in the bases, whose daemons() it overrides."""
    options = {"nodes": 1}

    def setUp(self):
        super().setUp()
        self.node = self.cluster.nodes[0]
        self.node.import_program()

    def daemons(self, made):
        (container,) = made["spec"]["template"]["spec"]["containers"]
        # No kube-proxy runs here, and the kubelets of the rig have a cgroup of their own each.
        container["env"] += [{"name": "KUBERNETES_SERVICE_HOST", "value": self.cluster.slot.address},
                             {"name": "KUBERNETES_SERVICE_PORT", "value": "6443"}]
        container["args"] += ["--cgroup-root", self.node.cgroup]
        return made

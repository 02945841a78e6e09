"""One real node: a kubelet and a containerd in namespaces and a cgroup of their own."""
import json
import os
import pathlib
import signal
import socket

from . import images
from .machine import Program, command
from .network import BRIDGE, batch, forward, inside
from .requirements import CNI, containerd, with_containerd
from .slot import cgroup_hierarchies

HERE = pathlib.Path(__file__).resolve().parent


def read_words(path):
    return path.read_text().split() if path.exists() else []


class NodeProgram(Program):
    """Runs inside the node: the child is nsenter, the program is its child."""

    def kill(self, number=signal.SIGKILL):
        if not self.child:
            return
        children = pathlib.Path(f"/proc/{self.pid}/task/{self.pid}/children")
        try:
            for child in children.read_text().split():
                os.kill(int(child), number)
        except (FileNotFoundError, ProcessLookupError):
            pass  # the node was ended before
        self.child.wait()
        self.child = None


class RealNode:
    """Reached from outside of its namespaces too: `kubelet_directory` with the sockets for device plugins and pod resources,
    `cri_socket`, and `cgroup`, below which the kubelet puts its pods in every hierarchy."""

    def __init__(self, slot, number):
        self.slot, self.number, self.name = slot, number, f"node{number}"
        self.address = str(slot.network[10 + number])
        self.pods = list(slot.pod_network.subnets(new_prefix=24))[number]
        self.namespace = f"{slot.name}-{self.name}"
        self.run, self.state = slot.run / self.name, slot.state / self.name
        self.cri_socket = self.run / "run/containerd/containerd.sock"
        self.kubelet_directory = self.state / "lib/kubelet"
        self.cgroup = f"/{slot.name}/{self.name}"
        self.init = self.containerd = self.kubelet = None  # its programs, once they were started

    def connect(self):
        command("ip", "netns", "add", self.namespace)
        batch(self.namespace, "link set lo up", f"link add eth0 type veth peer name {self.name} netns {self.slot.name}",
              f"addr add {self.address}/24 dev eth0", "link set eth0 up", f"route add default via {self.slot.address}")
        batch(self.slot.name, f"link set {self.name} master {BRIDGE} up", f"route add {self.pods} via {self.address}")
        forward(self.namespace)

    def prepare(self, pki, kubelet_configuration):
        for directory in (self.run / "run/containerd", self.run / "cni", self.state / "log/pods",
                          self.state / "log/containers", self.state / "lib/containerd", self.state / "lib/cni",
                          self.kubelet_directory / "device-plugins"):
            directory.mkdir(parents=True)
        (self.run / "cni/10-bridge.conflist").write_text(json.dumps(self.cni()))
        (self.run / "containerd.toml").write_text(self.containerd_configuration())
        (self.run / "kubelet.yaml").write_text(json.dumps({**self.kubelet_configuration(pki), **kubelet_configuration}))
        self.make_cgroups()

    def make_cgroups(self):
        """The kubelet expects its root to be there, in version 1 with CPUs and memory nodes, in version 2 with controllers."""
        for group in cgroup_hierarchies():
            for part in pathlib.Path(self.cgroup).parts[1:]:
                parent, group = group, group / part
                group.mkdir(exist_ok=True)
                for controller in read_words(parent / "cgroup.controllers"):
                    (parent / "cgroup.subtree_control").write_text(f"+{controller}")
                for setting in ("cpuset.cpus", "cpuset.mems"):
                    if (group / "cpuset.cpu_exclusive").exists() and not (group / setting).read_text().strip():
                        (group / setting).write_text((parent / setting).read_text())

    def cni(self):
        return {"cniVersion": "0.4.0", "name": "real", "plugins": [
            {"type": "bridge", "bridge": "cni0", "isGateway": True, "ipMasq": False, "hairpinMode": True,
             "ipam": {"type": "host-local", "ranges": [[{"subnet": str(self.pods)}]], "routes": [{"dst": "0.0.0.0/0"}]}},
            {"type": "portmap", "capabilities": {"portMappings": True}}]}

    def containerd_configuration(self):
        # restrict_oom_score_adj: without CAP_SYS_RESOURCE no sandbox could start otherwise.
        return f'''version = 3
root = "/var/lib/containerd"
state = "/run/containerd"
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "{images.PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{CNI}"]
    conf_dir = "{self.run}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
'''

    def kubelet_configuration(self, pki):
        return {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
            "address": self.address, "healthzBindAddress": "127.0.0.1", "readOnlyPort": 0,
            "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": True},
                               "x509": {"clientCAFile": str(pki.path("ca.crt"))}},
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(pki.path(f"{self.name}.crt")), "tlsPrivateKeyFile": str(pki.path(f"{self.name}.key")),
            "cgroupDriver": "cgroupfs", "cgroupRoot": self.cgroup, "failCgroupV1": False, "failSwapOn": False,
            "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
            "volumePluginDir": "/var/lib/kubelet/volume-plugins", "resolvConf": "",
            "clusterDNS": ["10.96.0.10"], "clusterDomain": "cluster.local",
            # All nodes see the disk of this machine: how full it is must not decide what a test sees.
            "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
            "syncFrequency": "10s", "nodeStatusMaxImages": -1, "logging": {"flushFrequency": "1s"}}

    # --- its programs

    def init_program(self, pause):
        return Program(self.name, [
            *inside(self.namespace), "unshare", "--mount", "--propagation", "slave", "--uts", "--pid", "--fork",
            "--kill-child=KILL", "--mount-proc", HERE / "node_init", self.name, self.slot.run, self.run, self.state, pause],
            self.run / "init.log")

    def is_set_up(self):
        return (self.run / "ready").exists()

    def enter(self):
        """Words in front of a command that is to run inside the node."""
        first = pathlib.Path(f"/proc/{self.init.pid}/task/{self.init.pid}/children").read_text().split()[0]
        return ("nsenter", f"--target={first}", "--mount", "--uts", "--pid", "--net")

    def run_inside(self, *words):
        """What the command says."""
        return command(*self.enter(), *words)

    def containerd_program(self):
        return NodeProgram(f"containerd of {self.name}", [
            *self.enter(), containerd() / "containerd", "--config", self.run / "containerd.toml"],
            self.run / "containerd.log", env=with_containerd())  # the shim is called by its name

    def runtime_answers(self):
        with socket.socket(socket.AF_UNIX) as caller:
            return caller.connect_ex(str(self.cri_socket)) == 0

    def import_image(self, archive):
        """See images.py for archives."""
        self.ctr("images", "import", archive)

    def ctr(self, *words):
        """What containerd's own client says about what Kubernetes has there."""
        return command(*self.ctr_words(*words))

    def ctr_words(self, *words):
        return (containerd() / "ctr", "--address", self.cri_socket, "--namespace", "k8s.io", *words)

    def import_program(self):
        """Our own image, as `./dev image` makes it, with the program under test."""
        self.import_image(images.program_archive())

    def kubelet_program(self, pki, programs, flags):
        return NodeProgram(f"kubelet of {self.name}", [
            *self.enter(), programs / "kubelet", f"--config={self.run}/kubelet.yaml",
            f"--kubeconfig={pki.path(f'{self.name}.kubeconfig')}", f"--hostname-override={self.name}",
            f"--node-ip={self.address}", "--v=2", *flags], self.run / "kubelet.log")

"""What a cluster leaves on the machine. Not a test itself."""
import os
import pathlib
import subprocess

from rig.machine import net_namespace_of

# What kubelets set for the whole machine when nobody stops them.
SETTINGS = ("vm/overcommit_memory", "vm/panic_on_oom", "kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys",
            "kernel/keys/root_maxbytes")
# Where a kubelet and a containerd keep things when they are not in a namespace of their own.
DIRECTORIES = ("/var/lib/kubelet", "/var/lib/containerd", "/run/containerd", "/var/lib/cni", "/etc/cni", "/var/log/pods",
               "/var/log/containers", "/usr/libexec/kubernetes")

NOTHING = {"directories": False, "namespaces": [], "cgroups": [], "link": False, "processes": [], "mounts": []}


def processes_in(namespaces):
    ours = {net_namespace_of(f"/run/netns/{name}") for name in namespaces} - {None}
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and net_namespace_of(f"/proc/{pid}/ns/net") in ours]


def traces(slot):
    """Everything that is there of a cluster; NOTHING when it is gone."""
    link = subprocess.run(["ip", "link", "show", slot.link], capture_output=True).returncode == 0
    mounts = pathlib.Path("/proc/self/mountinfo").read_text().splitlines()
    return {"directories": slot.is_used(), "namespaces": slot.namespaces(), "cgroups": slot.cgroups(), "link": link,
            "processes": processes_in(slot.namespaces()),
            "mounts": [line for line in mounts if slot.name in line or str(slot.run) + "/" in line]}


def machine():
    """What a cluster with nodes must not change."""
    return {setting: pathlib.Path("/proc/sys", setting).read_text() for setting in SETTINGS} | {
        directory: sorted(os.listdir(directory)) if os.path.isdir(directory) else None for directory in DIRECTORIES}

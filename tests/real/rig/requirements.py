"""What a machine needs for the rig, and where the Kubernetes programs are."""
import os
import pathlib
import shutil
import subprocess
import sys

from .machine import RigFailure

BUILD = pathlib.Path(__file__).resolve().parents[1] / "kubernetes" / "build"
PROGRAMS = ("etcd", "containerd", "runc", "ip", "nsenter", "unshare", "openssl", "busybox", "clang-19")
CNI = pathlib.Path("/usr/lib/cni")


def built():
    """The directory of the Kubernetes programs if they are there."""
    where = pathlib.Path(subprocess.run([BUILD, "--where"], check=True, capture_output=True, text=True).stdout.strip())
    return where if (where / "kube-apiserver").exists() else None


def missing():
    """Why no real cluster can run here; None if one can."""
    if os.geteuid() != 0:
        return "needs root"
    absent = [program for program in PROGRAMS if not shutil.which(program)]
    absent += [] if (CNI / "bridge").exists() else [str(CNI / "bridge")]
    if not built() and subprocess.run([BUILD.with_name("go"), "--possible"], capture_output=True).returncode:
        absent.append("a newer Go, to build Kubernetes")
    if absent:
        return f"needs {', '.join(absent)}"
    for space in ("net", "mount", "pid", "uts"):
        if subprocess.run(["unshare", f"--{space}", "--fork", "true"], capture_output=True).returncode:
            return f"needs {space} namespaces"
    return None


def kubernetes():
    """The directory of the Kubernetes programs, which are built first if they are not there."""
    where = built()
    if not where:
        print("Kubernetes is not built yet: building it, about ten minutes", flush=True)
        done = subprocess.run([BUILD], stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
        if done.returncode:
            raise RigFailure("Kubernetes cannot be built")
        where = pathlib.Path(done.stdout.strip())
    return where

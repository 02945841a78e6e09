"""What a machine needs for the rig, and where the programs are that tests/real/programs builds."""
import functools
import os
import pathlib
import shutil
import subprocess
import sys

from .machine import RigFailure

PROGRAMS = pathlib.Path(__file__).resolve().parents[1] / "programs"
BUILD = PROGRAMS / "build"
OF_THE_RIG = ("kubernetes", "etcd", "containerd")
OF_THE_MACHINE = ("runc", "ip", "nsenter", "unshare", "openssl", "busybox", "clang-19", "iptables")
CNI = pathlib.Path("/usr/lib/cni")


def ask_build(*words):
    done = subprocess.run([BUILD, *words], capture_output=True, text=True)
    if done.returncode:
        raise RigFailure(done.stderr.strip())
    return done.stdout.strip()


def built(name):
    """The directory of the programs of a folder of tests/real/programs if they are there."""
    where = pathlib.Path(ask_build("--where", name))
    return where if where.exists() else None


def missing():
    """Why no real cluster can run here; None if one can."""
    if os.geteuid() != 0:
        return "needs root"
    absent = [program for program in OF_THE_MACHINE if not shutil.which(program)]
    absent += [] if (CNI / "bridge").exists() else [str(CNI / "bridge")]
    to_build = [name for name in OF_THE_RIG if not built(name)]
    if to_build and subprocess.run([PROGRAMS / "go", "--possible"], capture_output=True).returncode:
        absent.append(f"a newer Go, to build {', '.join(to_build)}")
    if absent:
        return f"needs {', '.join(absent)}"
    for space in ("net", "mount", "pid", "uts"):
        if subprocess.run(["unshare", f"--{space}", "--fork", "true"], capture_output=True).returncode:
            return f"needs {space} namespaces"
    return None


def select_kubernetes(version):
    """From here on, also for the processes that we start: 1.35 or 1.35.4. RigFailure if tests/real/programs has no such version."""
    if version:
        os.environ["PLIMSOLL_KUBERNETES"] = version
        ask_build("--version", "kubernetes")


def kubernetes_version():
    """v1.37.1, or what PLIMSOLL_KUBERNETES selects."""
    return ask_build("--version", "kubernetes")


def default_kubernetes():
    """The version that CI runs and `plimsoll version` prints."""
    return ask_build("--versions").split()[0]


@functools.cache
def programs(name):
    """The directory of the programs of a folder of tests/real/programs, which are built first if they are not there."""
    where = built(name)
    if not where:
        print(f"{name} is not built yet: building it, some minutes", flush=True)
        done = subprocess.run([BUILD, name], stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
        if done.returncode:
            raise RigFailure(f"{name} cannot be built")
        where = pathlib.Path(done.stdout.strip())
    return where


def kubernetes():
    return programs("kubernetes")


def etcd():
    return programs("etcd") / "etcd"


def containerd():
    """The directory of containerd, its shim and ctr."""
    return programs("containerd")


def with_containerd():
    """Our environment, for what calls ctr by its name."""
    return {**os.environ, "PATH": f"{containerd()}:{os.environ['PATH']}"}


def crictl():
    """The real crictl, to compare ours with."""
    return programs("crictl") / "crictl"

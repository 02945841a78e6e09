"""Machines made of files for the pool commands, and the program. Not a test itself."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import PROGRAM, alive, eventually  # noqa: E402,F401


def directory(test):
    path = pathlib.Path(tempfile.mkdtemp(prefix="plim-pools."))
    test.addCleanup(shutil.rmtree, path, ignore_errors=True)
    return path


def run(*words, timeout=30):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL,
                          env={**os.environ, "NODE_NAME": ""})
    assert done.returncode >= 0 and "Sanitizer" not in done.stderr, (words, done.returncode, done.stderr)
    return done


class Machine:
    """sysfs of a machine; siblings are `cpus / threads` apart."""

    def __init__(self, test, cpus=8, threads=1, nodes=1):
        self.root, self.cpus = directory(test), cpus
        cores = cpus // threads
        self.write("sys/devices/system/cpu/present", f"0-{cpus - 1}\n")
        self.write("sys/devices/system/cpu/isolated", "\n")
        self.write("sys/devices/system/cpu/kernel_max", "8191\n")
        self.online(f"0-{cpus - 1}")
        for cpu in range(cpus):
            base = f"sys/devices/system/cpu/cpu{cpu}/"
            core = cpu % cores
            self.write(base + "topology/physical_package_id", f"{core * nodes // cores}\n")
            self.write(base + "topology/core_cpus_list", ",".join(str(core + i * cores) for i in range(threads)) + "\n")
            self.write(base + "cache/index3/id", f"{core * nodes // cores}\n")
        for node in range(nodes):
            mine = [str(cpu) for cpu in range(cpus) if cpu % cores * nodes // cores == node]
            self.write(f"sys/devices/system/node/node{node}/cpulist", ",".join(mine) + "\n")

    def online(self, cpus):
        self.write("sys/devices/system/cpu/online", cpus + "\n")

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def read(self, path):
        return (self.root / path).read_text().strip()

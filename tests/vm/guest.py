#!/usr/bin/env python3
"""A virtual machine with version 2 of cgroups, several CPUs and NUMA nodes, that runs one script of ours. Not a test itself.

Its only file system is its memory: busybox, the program with its libraries, the script. What it writes to its console is what a test sees.
Called by itself it tells why there can be no such machine here, if so.
"""
import os
import pathlib
import platform
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("PLIMSOLL", str(ROOT / "build" / "dev" / "bin" / "plimsoll"))
DIRECTORIES = ["bin", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sys", "tmp", "usr/bin", "usr/lib", "opt/bin"]
START = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev 2>/dev/null
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run; mount -t cgroup2 cgroup /sys/fs/cgroup
echo '+cpuset +cpu +memory +pids' > /sys/fs/cgroup/cgroup.subtree_control
ip link set lo up
export HOME=/root PATH=/usr/bin:/bin TERM=dumb
sh /script
echo "the script ended with $?"
poweroff -f
"""


def file_system(script):
    """As an archive of cpio."""
    files = {"init": (START.encode(), 0o755), "script": (script.encode(), 0o644), "bin/busybox": (pathlib.Path("/bin/busybox").read_bytes(), 0o755),
             "etc/passwd": (b"root:x:0:0:root:/root:/bin/sh\n", 0o644), "etc/group": (b"root:x:0:\n", 0o644)}
    stripped = strip(PROGRAM)
    files["usr/bin/plimsoll"] = (stripped, 0o755)
    files["usr/bin/plimsoll-starter"] = ((pathlib.Path(PROGRAM).parent / "plimsoll-starter").read_bytes(), 0o755)
    for path in re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", PROGRAM], check=True, capture_output=True, text=True).stdout):
        directory = "lib64" if path.startswith("/lib64/") else "usr/lib"  # the loader looks there without being told
        files[f"{directory}/{pathlib.Path(path).name}"] = (pathlib.Path(path).read_bytes(), 0o755)
    directories = set(DIRECTORIES) | {str(parent) for name in files for parent in pathlib.Path(name).parents if str(parent) != "."}
    directories |= {str(parent) for name in directories for parent in pathlib.Path(name).parents if str(parent) != "."}
    out = b"".join(entry(name, b"", 0o40755, 2) for name in sorted(directories))
    out += b"".join(entry(name, content, 0o100000 | mode, 1) for name, (content, mode) in files.items())
    return out + entry("TRAILER!!!", b"", 0, 1)


def strip(program):
    with tempfile.TemporaryDirectory() as place:
        out = pathlib.Path(place, "stripped")
        subprocess.run(["strip", "-o", out, program], check=True, capture_output=True)
        return out.read_bytes()


def entry(name, content, mode, links):
    encoded = name.encode() + b"\0"
    fields = [0, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(encoded), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return b"".join(part + b"\0" * (-len(part) % 4) for part in (head, content))


def missing():
    """Why there can be no such machine here; "": there can. The kernel is fetched the first time."""
    if platform.machine() != "x86_64":
        return f"the machine is an x86-64, and what was built here is for {platform.machine()}"
    if subprocess.run(["which", "qemu-system-x86_64", "strip", "busybox"], capture_output=True).returncode:
        return "needs qemu-system-x86, binutils and busybox-static"
    fetched = subprocess.run([ROOT / "tests/vm/kernel"], capture_output=True, text=True)
    return "" if fetched.returncode == 0 else "no kernel: " + "; ".join(fetched.stderr.splitlines())


def run(script, place, cpus=4, nodes=2, megabytes=1536, timeout=500):
    """What the machine's console showed until it was switched off."""
    archive = pathlib.Path(place) / "initramfs"
    archive.write_bytes(file_system(script))
    kernel = subprocess.run([ROOT / "tests/vm/kernel"], check=True, capture_output=True, text=True).stdout.strip()
    # Emulated: KVM inside a virtual machine need not work, though it is offered.
    words = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "Nehalem", "-m", str(megabytes), "-nographic", "-no-reboot",
             "-nodefaults", "-serial", "stdio", "-smp", f"{cpus},sockets={nodes},cores={cpus // nodes}", "-kernel", kernel, "-initrd", archive,
             "-append", "console=ttyS0 quiet panic=-1 rdinit=/init random.trust_cpu=on"]
    for node in range(nodes):
        first = node * (cpus // nodes)
        words += ["-object", f"memory-backend-ram,id=m{node},size={megabytes // nodes}M",
                  "-numa", f"node,nodeid={node},cpus={first}-{first + cpus // nodes - 1},memdev=m{node}"]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=timeout)
        return done.stdout.replace("\r", "") + done.stderr
    except subprocess.TimeoutExpired as late:
        raise AssertionError(f"no end after {timeout} s\n{(late.stdout or b'')[-6000:].decode(errors='replace')}") from None


if __name__ == "__main__":
    if reason := missing():
        print(reason)

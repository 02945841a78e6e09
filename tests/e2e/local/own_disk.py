"""A small file system of a test's own, full or broken when the test says so. Only root can mount it. Not a test itself."""
import os
import pathlib
import subprocess
import tempfile

from local_cluster import eventually

HAS_LOOP_DEVICES = os.geteuid() == 0 and os.path.exists("/dev/loop-control")


class OwnDisk:
    """Mounted at `path` for what is started by inside(), and gone with the last process that sees it. `seen` is the test's way to it."""

    def __init__(self, test, path, size, breakable=False):
        mount = f"mount -t tmpfs -o size={size},mode=0700 none {path}"
        if breakable:
            self.image = pathlib.Path(test.enterContext(tempfile.TemporaryDirectory(prefix="plim."))) / "image"
            mount = (f"truncate -s {size} {self.image} && mkfs.ext4 -q {self.image} && mount -o loop,errors=remount-ro {self.image} {path} && "
                     f"rmdir {path}/lost+found && chmod 700 {path}")
        self.path = path
        self.holder = subprocess.Popen(["unshare", "--mount", "sh", "-c", f"{mount} && echo mounted && exec cat"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        test.addCleanup(lambda: (self.holder.stdin.close(), self.holder.wait(), self.holder.stdout.close()))
        test.assertEqual(self.holder.stdout.readline(), b"mounted\n")
        self.seen = pathlib.Path(f"/proc/{self.holder.pid}/root{path}")
        self.filler = self.seen / "filler"

    def inside(self, *words):
        return ["nsenter", f"--mount=/proc/{self.holder.pid}/ns/mnt", *map(str, words)]

    def fill(self):
        with open(self.filler, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while file.write(b"x" * size):
                        pass
                except OSError:
                    pass

    def break_it(self):
        """As a kernel leaves a disk after an error: it may only be read, until somebody has repaired it."""
        (device,) = [line.split()[0] for line in pathlib.Path(f"/proc/{self.holder.pid}/mounts").read_text().splitlines()
                     if line.split()[1] == str(self.path)]
        (pathlib.Path("/sys/fs/ext4") / pathlib.Path(device).name / "trigger_fs_error").write_text("a test")

    def repair(self):
        """Once nobody uses it."""
        unmount = self.inside("umount", self.path)
        eventually(lambda: subprocess.run(unmount, stderr=subprocess.DEVNULL).returncode == 0, what="the end of those who use it")
        checked = subprocess.run(["fsck.ext4", "-fy", self.image], capture_output=True, text=True)
        assert checked.returncode < 4, checked.stdout + checked.stderr
        subprocess.run(self.inside("mount", "-o", "loop,errors=remount-ro", self.image, self.path), check=True)

#!/usr/bin/env python3
"""A disk that is full, has space again, or may only be read. Needs root, for a small file system of its own."""
import os
import secrets
import signal
import subprocess
import threading
import unittest

from http_api import HttpApi, Refused
from local_cluster import PROGRAM, Place, alive, eventually, only_local
from own_disk import HAS_LOOP_DEVICES, OwnDisk

MAPS = "/api/v1/namespaces/default/configmaps"
SIZE = 24 << 20
LOST = "LOST: an object that was acknowledged, or one came that was refused"


class DiskCase(unittest.TestCase):
    """A cluster whose state is on a file system of its own."""
    breakable = False

    def setUp(self):
        self.place = Place(self)
        self.state = self.place.root / "disk"
        self.state.mkdir(mode=0o700)
        self.disk = OwnDisk(self, self.state, SIZE, self.breakable)
        self.seen = self.disk.seen
        self.addCleanup(self.run_inside, "reset", "--name", "t", "--yes", "--dir", str(self.state))

    def run_inside(self, *words):
        done = subprocess.run(self.disk.inside(PROGRAM, *words), env=self.place.env, capture_output=True, text=True, timeout=60,
                              stdin=subprocess.DEVNULL)
        self.assertGreaterEqual(done.returncode, 0, done.stderr)
        return done

    def up(self, *flags):
        return self.run_inside("up", "--detach", "--name", "t", "--dir", str(self.state), *flags)

    def start(self, *flags):
        done = self.up(*flags)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.api = HttpApi(self.seen / "kubeconfig")
        self.addCleanup(self.api.close)

    def write(self, name, size=3000):
        """Whether it was acknowledged."""
        try:
            self.api.post(MAPS, {"metadata": {"name": name}, "data": {"filler": secrets.token_hex(size // 2)}})
            return True
        except Refused as refused:
            self.refused = refused
            return False

    def kill(self):
        status = self.run_inside("status", "--name", "t", "-o", "json").stdout
        pid = int(status.split('"pid":')[1].split(",")[0])
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not alive(pid), what="the end of the process")

    def names(self):
        return {item["metadata"]["name"] for item in self.api.get(MAPS)["items"]} - {"kube-root-ca.crt"}


@only_local("fills the disk of the server")
@unittest.skipUnless(os.geteuid() == 0, "only root can mount a file system")
class Disk(DiskCase):
    def test_full_and_then_not(self):
        self.start("--nodes", "0")
        written = {name for name in ("a", "b", "c") if self.write(name)}
        self.assertEqual(len(written), 3)
        seen = []
        version = self.api.get(MAPS)["metadata"]["resourceVersion"]
        watch = HttpApi(self.seen / "kubeconfig").watch(f"{MAPS}?resourceVersion={version}", 120)
        follower = threading.Thread(target=lambda: [seen.append(event["object"]["metadata"]["name"]) for event in watch], daemon=True)
        follower.start()
        self.disk.fill()
        refusals = 0
        for i in range(40):  # the last page of the log's file may still have room
            if self.write(f"full-{i}"):
                written.add(f"full-{i}")
            else:
                refusals += 1
                self.assertEqual((self.refused.status, self.refused.reason), (500, "InternalError"))
                self.assertIn("no space left on device", self.refused.body["message"])
        self.assertGreater(refusals, 30)
        self.assertEqual(self.names(), written, LOST)  # reads go on
        self.disk.filler.unlink()
        self.assertTrue(self.write("after"), "there is space again")
        written.add("after")
        self.api.delete(f"{MAPS}/a")
        written.remove("a")
        eventually(lambda: "after" in seen, what="the event of it")
        self.assertFalse([name for name in seen if name.startswith("full") and name not in written])
        self.kill()
        verified = self.run_inside("store", "verify", "--name", "t", "--dir", str(self.state))
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        self.start("--nodes", "0")
        self.assertEqual(self.names(), written, LOST)

    def test_snapshots_fail_alone(self):
        """Log and snapshots together want more than there is: what cannot be compacted yet is still all there."""
        self.start("--nodes", "0", "--durability", "os")
        written = {f"m{i}" for i in range(40) if self.write(f"m{i}", 900_000)}
        self.assertGreater(len(written), 8)
        self.assertLess(len(written), 40)
        for name in sorted(written)[:4]:
            try:
                self.api.delete(f"{MAPS}/{name}")
                written.remove(name)
            except Refused as refused:
                self.assertEqual(refused.status, 500)
        self.assertEqual(self.names(), written, LOST)
        self.kill()
        self.start("--nodes", "0", "--durability", "os")
        self.assertEqual(self.names(), written, LOST)

    def test_pods_on_a_full_disk_wait_and_run_when_there_is_space(self):
        self.start("--nodes", "1")
        self.disk.fill()
        rest = 0
        while self.write(f"rest-{rest}", 100):  # into the last page of the log
            rest += 1
        pods = "/api/v1/namespaces/default/pods"
        pod = {"metadata": {"name": "p"}, "spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "plimsoll/tools", "args": ["exit", "0"]}]}}
        with self.assertRaises(Refused) as full:
            self.api.post(pods, pod)
        self.assertEqual(full.exception.status, 500)
        self.assertIn("no space left on device", full.exception.body["message"])
        # A page at a time, until there is room for the pod in the log, but none for what it writes.
        self.disk.filler.rename(self.seen / "full")

        def accepted():
            os.truncate(self.seen / "full", os.path.getsize(self.seen / "full") - 4096)
            try:
                return self.api.post(pods, pod)
            except Refused as refused:
                self.assertEqual(refused.status, 500)
                return None
        eventually(accepted, what="room for a pod in the log")
        self.disk.fill()
        eventually(lambda: "no space left on device" in (self.seen / "plimsoll.log").read_text(), what="the reason in the log")
        self.assertEqual(self.api.get(f"{pods}/p")["status"]["phase"], "Pending")
        os.unlink(self.seen / "full")
        self.disk.filler.unlink()
        eventually(lambda: self.api.get(f"{pods}/p")["status"]["phase"] == "Succeeded", seconds=30, what="the end of the pod")

    def test_a_start_without_space_or_right_to_write_says_so(self):
        self.start("--nodes", "0")
        self.write("a")
        self.run_inside("down", "--name", "t")
        self.disk.fill()
        full = self.up("--nodes", "0")
        self.assertEqual(full.returncode, 1, full.stderr)
        self.assertIn("no space left on device", full.stderr)
        self.disk.filler.unlink()
        # What did not start may have its log open for another moment.
        eventually(lambda: subprocess.run(self.disk.inside("mount", "-o", "remount,ro", str(self.state)), stderr=subprocess.DEVNULL).returncode == 0,
                   what="the end of the last start")
        readonly = self.up("--nodes", "0")
        self.assertEqual(readonly.returncode, 1, readonly.stderr)
        self.assertIn("read-only file system", readonly.stderr)
        self.assertEqual(self.run_inside("store", "verify", "--name", "t", "--dir", str(self.state)).returncode, 0)
        subprocess.run(self.disk.inside("mount", "-o", "remount,rw", str(self.state)), check=True)
        self.start("--nodes", "0")
        self.assertEqual(self.names(), {"a"})

    def test_a_first_start_without_space_leaves_nothing_that_spoils_the_next(self):
        failed = []
        for room in (0, 4, 8, 12, 16, 24, 32, 48, 64, 512):  # KiB: for more and more of what a start writes
            self.disk.fill()
            os.truncate(self.disk.filler, os.path.getsize(self.disk.filler) - (room << 10))
            done = self.up("--nodes", "0")
            self.disk.filler.unlink()
            if done.returncode == 0:  # there was enough for a start
                self.run_inside("down", "--name", "t")
            else:
                failed.append(room)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("no space left on device", done.stderr)
            self.start("--nodes", "0")
            self.assertTrue(self.write("a"))
            self.run_inside("reset", "--name", "t", "--yes", "--dir", str(self.state))
            self.assertEqual(list(self.seen.iterdir()), [])
        self.assertGreaterEqual(len(failed), 3, "starts that found no space")
        self.assertLess(len(failed), 10, "and one that found enough")


@only_local("breaks the file system of the server")
@unittest.skipUnless(HAS_LOOP_DEVICES, "only root can mount a file, and only where there are loop devices")
class Broken(DiskCase):
    breakable = True

    def test_read_only_while_it_runs(self):
        self.start("--nodes", "0")
        written = {f"m{i}" for i in range(20) if self.write(f"m{i}")}
        self.assertEqual(len(written), 20)
        self.disk.break_it()
        for i in range(5):
            self.assertFalse(self.write(f"late{i}"), "nothing is acknowledged that cannot be kept")
            self.assertEqual((self.refused.status, self.refused.reason), (500, "InternalError"))
            self.assertIn("read-only file system", self.refused.body["message"])
        self.assertEqual(self.names(), written, LOST)  # reads go on
        stopped = self.run_inside("down", "--name", "t")
        self.assertEqual(stopped.returncode, 0, stopped.stderr)
        self.api.close()
        self.disk.repair()
        self.start("--nodes", "0")
        self.assertEqual(self.names(), written, LOST)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What users get wrong: each time one clear line and an exit code, never a trace, never a half-made cluster."""
import json
import os
import socket
import subprocess
import threading
import time
import unittest

from local_cluster import PROGRAM, LocalCluster, Place, alive, only_local

BARE = ("--nodes", "0")


@only_local("is about the command line")
class Words(unittest.TestCase):
    """Nonsense on the command line."""

    def check(self, words, code, text, **environment):
        place = Place(self)
        place.env.update(environment)
        place.env = {name: value for name, value in place.env.items() if value is not None}
        done = place.run(*words)
        if words[0] == "up" and done.returncode == 0:  # it should not have
            place.run("reset", "--yes")
        with self.subTest(words):
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertIn(text, done.stderr)
            self.assertEqual(done.stdout, "")
            self.assertLessEqual(len(done.stderr.splitlines()), 4)
            self.assertEqual([path for path in place.root.rglob("*") if path.is_file()], [])

    def test_of_up(self):
        for flags, text in ((("--nodes", "-1"), "--nodes: expected 0 to 100"),
                            (("--nodes", "three"), '--nodes: "three" cannot be used'),
                            (("--sim-nodes", "99999999999999999999"), "--sim-nodes"),
                            (("--name", "../x"), '"../x" cannot name a cluster'),
                            (("--name", ""), '"" cannot name a cluster'),
                            (("--name", "a" * 41), "cannot name a cluster"),
                            (("--wat",), "did you mean --wait?"),
                            (("surplus",), 'unexpected argument "surplus"'),
                            (("--listen", "here"), 'cannot listen on "here": expected an address'),
                            (("--listen", "127.0.0.1:99999"), "expected an address and a port"),
                            (("--controllers", "nonsense"), 'there is no controller "nonsense"'),
                            (("--images", "/etc/passwd"), "--images: /etc/passwd:1:1"),
                            (("--stages", "/etc/passwd"), "--stages: /etc/passwd:1:1"),
                            (("--node-cpus", "0-1"), "is not a node"),
                            (("--node-cpus", "n1=5000"), "this machine has CPUs"),
                            (("--pull-speedup", "-3"), "--pull-speedup: expected a number above 0"),
                            (("--max-images", "-7"), "--max-images: expected a number of images"),
                            (("--wait", "soon"), '--wait: "soon" cannot be used'),
                            (("--durability", "maybe"), "--durability")):
            self.check(("up", "--detach", *flags), 2, text)

    def test_of_others(self):
        for words, code, text in ((("status", "--name", "nosuch"), 4, "cluster nosuch does not exist"),
                                  (("down", "--name", "nosuch"), 0, "cluster nosuch is not running"),
                                  (("reset", "--name", "nosuch"), 0, "cluster nosuch does not exist"),
                                  (("reset", "--name", "", "--yes"), 2, '"" cannot name a cluster'),
                                  (("node", "ls", "--name", "nosuch"), 4, "cluster nosuch is not running"),
                                  (("node", "add", "--name", "nosuch"), 4, "cluster nosuch is not running"),
                                  (("node", "exec", "--name", "nosuch", "n1", "--", "true"), 4, "cluster nosuch is not running"),
                                  (("images", "load", "x", "--name", "nosuch"), 4, "cluster nosuch is not running"),
                                  (("store", "verify", "--name", "nosuch"), 4, "PLM-1401"),
                                  (("store", "dump", "--name", "nosuch"), 4, "PLM-1401"),
                                  (("store", "nonsense"), 2, 'unknown command "store nonsense"')):
            self.check(words, code, text)

    def test_without_a_home(self):
        for words in (("up", "--detach", *BARE), ("status", "--name", "t"), ("down",), ("reset",)):
            self.check(words, 2, "neither XDG_STATE_HOME nor HOME is set", HOME=None)
        self.check(("up", "--detach", *BARE), 1, "/dev/null/", HOME="/dev/null")


@only_local("starts, stops and inspects local clusters")
class Places(unittest.TestCase):
    """Files that are not what they should be."""

    def up(self, place, *flags):
        return place.run("up", "--detach", "--name", "t", *BARE, *flags)

    def test_a_file_where_the_state_should_be(self):
        place = Place(self)
        place.state("t").parent.mkdir(parents=True)
        place.state("t").write_text("mine")
        done = self.up(place)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"cannot use {place.state('t')}: not a directory", done.stderr)
        self.assertEqual(place.state("t").read_text(), "mine")

    def test_rubbish_in_its_files(self):
        cluster = LocalCluster(self, *BARE)
        for name in ("endpoints.json", "kubeconfig", "scheduler.kubeconfig", "pki/server.crt", "pki/admin.token"):
            cluster.down()
            (cluster.place.state("t") / name).write_text("rubbish")
            (cluster.place.run_directory("t") / "cluster.json").write_text("rubbish")
            with self.subTest(name):
                cluster.up(self, *BARE)
                self.assertEqual(cluster.status()["status"], "Running")
                self.assertIn("namespace/default", cluster.raw("/api/v1/namespaces", "-o", "name").stdout)

    def test_reset_removes_only_what_up_has_made(self):
        place = Place(self)
        state, victim = place.state("t"), place.root / "victim"
        for path in (state / "nodes", victim / "deep"):
            path.mkdir(parents=True)
        (victim / "deep/file").write_text("kept")
        (state / "endpoints.json").write_text(json.dumps({"kubeconfig": str(victim), "runDirectory": str(victim)}))
        state.chmod(0o777)  # somebody else may have written that
        for words in (("status",), ("down",), ("reset", "--yes")):
            done = place.run(*words, "--name", "t")
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(f"others may write to {state}; chmod go-w", done.stderr)
        self.assertTrue((state / "nodes").exists())
        state.chmod(0o700)
        self.assertEqual(place.run("reset", "--yes", "--name", "t").returncode, 0)
        self.assertFalse(state.exists())
        self.assertEqual((victim / "deep/file").read_text(), "kept")

    def test_damage_in_the_log_is_named_and_can_be_cut_off(self):
        cluster = LocalCluster(self, *BARE)
        cluster.raw("/api/v1/namespaces", "-d", "-", input='{"metadata": {"name": "kept"}}')
        written = sum(path.stat().st_size for path in (cluster.place.state("t") / "store").glob("journal-*"))
        cluster.raw("/api/v1/namespaces", "-d", "-", input='{"metadata": {"name": "lost"}}')
        cluster.raw("/api/v1/namespaces", "-d", "-", input='{"metadata": {"name": "behind"}}')
        cluster.kill()
        log, = (cluster.place.state("t") / "store").glob("journal-*")
        data = bytearray(log.read_bytes())
        data[written + 40] ^= 0xff
        log.write_bytes(data)
        done = self.up(cluster.place)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{log}, offset ", done.stderr)
        verified = cluster.place.run("store", "verify", "--name", "t", "-o", "json")
        self.assertEqual(verified.returncode, 1)
        place = json.loads(verified.stdout)["repairTo"]
        self.assertIn(f"--repair-to {place}", verified.stderr)
        for wrong in ("5", "x:y", "99:0"):
            self.assertNotEqual(cluster.place.run("store", "verify", "--name", "t", "--repair-to", wrong).returncode, 0, wrong)
        repaired = cluster.place.run("store", "verify", "--name", "t", "--repair-to", place)
        self.assertEqual(repaired.returncode, 0, repaired.stderr)
        cluster.up(self, *BARE)
        names = cluster.raw("/api/v1/namespaces", "-o", "name").stdout
        self.assertIn("namespace/kept\n", names)
        self.assertNotIn("namespace/lost\n", names)

    def test_a_kubeconfig_that_cannot_be_written(self):
        place = Place(self)
        directory = place.root / "home/.kube/config"
        directory.mkdir(parents=True)
        for flags, text in ((("--kubeconfig", "/proc/nope"), "/proc/nope"),
                            (("--kubeconfig", str(place.root)), "is a directory"),
                            (("--merge-kubeconfig",), f"{directory}: is a directory")):
            done = self.up(place, *flags)
            self.assertEqual(done.returncode, 1, flags)
            self.assertIn(text, done.stderr)
            self.assertEqual(place.run("status", "--name", "t").returncode, 4)  # nothing of it runs
        directory.rmdir()
        directory.write_text("rubbish: [")
        done = self.up(place, "--merge-kubeconfig")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{directory}:", done.stderr)
        self.assertEqual(directory.read_text(), "rubbish: [")
        place.run("reset", "--name", "t")


@only_local("starts, stops and inspects local clusters")
class Haste(unittest.TestCase):
    """Commands that do not wait for each other."""

    def test_of_two_starts_one_wins(self):
        place = Place(self)
        self.addCleanup(place.run, "reset", "--name", "t", "--yes")
        done = [None, None]

        def start(i):
            done[i] = place.run("up", "--detach", "--name", "t", *BARE)
        threads = [threading.Thread(target=start, args=(i,)) for i in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(one.returncode for one in done), [0, 3], [one.stderr for one in done])
        self.assertEqual(place.run("status", "--name", "t").returncode, 0)

    def test_down_and_reset_during_a_start(self):
        place = Place(self)
        self.addCleanup(place.run, "reset", "--name", "t", "--yes")
        for verb in ("down", "reset"):
            for delay in (0.02, 0.05, 0.1, 0.2):
                child = subprocess.Popen([PROGRAM, "up", "--name", "t", "--nodes", "1"], env=place.env, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                with child:
                    time.sleep(delay)
                    done = place.run(verb, "--name", "t", *(["--yes"] if verb == "reset" else []))
                    self.assertEqual(done.returncode, 0, done.stderr)
                    try:
                        child.wait(2)
                    except subprocess.TimeoutExpired:  # it took its place only afterwards
                        child.terminate()
                    err = child.communicate(timeout=30)[1]
                    # One whose files are taken away before it has taken its place says so.
                    self.assertIn(child.returncode, (0, 1) if verb == "reset" else (0,), (verb, delay, err))
        self.assertEqual(place.run("reset", "--name", "t").returncode, 0)

    def test_the_pid_of_a_dead_one_does_not_matter(self):
        cluster = LocalCluster(self, *BARE)
        cluster.kill()
        note = cluster.place.run_directory("t") / "cluster.json"
        note.write_text(json.dumps({**json.loads(note.read_text()), "pid": os.getpid()}))
        (cluster.place.run_directory("t") / "lock").write_text(f"{os.getpid()}\n")
        self.assertEqual(cluster.place.run("status", "--name", "t").returncode, 1)
        self.assertEqual(cluster.down().returncode, 0)
        self.assertTrue(alive(os.getpid()))
        cluster.up(self, *BARE)
        self.assertNotEqual(cluster.status()["pid"], os.getpid())

    def test_ports_that_are_taken_are_passed_over(self):
        cluster = LocalCluster(self, *BARE)
        first = int(cluster.status()["server"].rpartition(":")[2])
        cluster.down()
        taken = []
        for port in range(first, first + 5):
            try:
                taken.append(socket.create_server(("127.0.0.1", port)))
            except OSError:  # by somebody else
                pass
        cluster.up(self, *BARE)
        # Others' ports are not asked about: they may have become free meanwhile.
        self.assertNotIn(int(cluster.status()["server"].rpartition(":")[2]), [one.getsockname()[1] for one in taken])
        for one in taken:
            one.close()


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""plimsoll-starter as a container's entry point, with real processes on the CPUs of this machine."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

PROGRAM = pathlib.Path(os.environ["PLIMSOLL"]).parent / "plimsoll-starter"
MINE = sorted(os.sched_getaffinity(0))
LIST = ",".join(str(cpu) for cpu in MINE)
WHERE = "grep Cpus_allowed_list /proc/self/status"


def go_quoted(text):
    """As the downward API writes a value."""
    short = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v", '"': '\\"', "\\": "\\\\"}
    return '"' + "".join(short.get(c) or (c if c.isprintable() else f"\\x{ord(c):02x}") for c in text) + '"'


def shell(script, pool="exclusive", cpus=1, **more):
    return {"process": "sh", "args": ["-c", script], "pool": pool, "cpus": cpus, **more}


class Starter(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.place = pathlib.Path(temporary.name)

    def annotate(self, *processes, container="main", **element):
        value = json.dumps([{"container": container, "processes": processes, **element}], ensure_ascii=False)
        (self.place / "annotations").write_text(f'a="b"\nnokia.k8s.io/cpus={go_quoted(value)}\nz="y"\n')

    def environment(self, **more):
        return {"PATH": os.environ["PATH"], "CONTAINER_NAME": "main", "PLIMSOLL_PODINFO": str(self.place / "annotations"),
                "EXCLUSIVE_CPUS": LIST, "PLIMSOLL_CPUSET_WAIT": "0", **more}

    def run_it(self, *words, stdin=subprocess.DEVNULL, **more):
        return subprocess.run([PROGRAM, *words], env=self.environment(**more), stdin=stdin, capture_output=True, text=True, timeout=60)

    def begin(self, **more):
        child = subprocess.Popen([PROGRAM], env=self.environment(**more), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child


class Commands(Starter):
    def test_a_command_is_found_by_path_and_becomes_the_program(self):
        done = self.run_it("sh", "-c", "echo $PPID; exit 7")
        self.assertEqual((done.returncode, done.stdout), (7, f"{os.getpid()}\n"))
        self.assertEqual(self.run_it("--", "true").returncode, 0)

    def test_it_runs_on_all_cpus_of_the_container(self):
        for mine in ([MINE[0]], MINE):
            done = self.run_it("sh", "-c", WHERE, EXCLUSIVE_CPUS=str(mine[0]), SHARED_CPUS=",".join(map(str, mine)))
            self.assertEqual(cpus_in(done.stdout), [mine])

    def test_what_cannot_be_started_has_the_codes_of_a_shell(self):
        for words, code, text in ((["nosuch"], 127, "nosuch cannot be started: No such file"),
                                  ([str(self.place)], 126, "Permission denied"), ([], 125, "there is nothing to start")):
            done = self.run_it(*words)
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            self.assertIn(text, done.stderr)

    def test_broken_settings_are_refused_before_anything_starts(self):
        for more, text in (({"PLIMSOLL_CPUSET_WAIT": "soon"}, "PLIMSOLL_CPUSET_WAIT=soon is not a duration"),
                           ({"SHARED_CPUS": "all"}, "SHARED_CPUS=all is not a list of CPUs"),
                           ({"PLIMSOLL_PODINFO": str(self.place)}, "Is a directory")):
            done = self.run_it("echo", "started", **more)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn(text, done.stderr)


class Processes(Starter):
    def test_each_runs_on_cpus_of_its_own(self):
        self.assertGreaterEqual(len(MINE), 2, "two CPUs are needed")
        self.annotate(shell(f"{WHERE}; echo 1 $(PROCESS_CPUS)"), shell(f"sleep 0.2; {WHERE}"),
                      shell(f"sleep 0.4; {WHERE}", "shared-pool", 100))
        done = self.run_it(EXCLUSIVE_CPUS=f"{MINE[0]},{MINE[1]}", SHARED_CPUS=LIST)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(cpus_in(done.stdout), [[MINE[0]], [MINE[1]], MINE])
        self.assertIn(f"1 {MINE[0]}\n", done.stdout)
        self.assertEqual(done.stderr.count("plimsoll-starter: started sh as process"), 3)
        self.assertEqual(done.stderr.count(" (sh) ended with status 0"), 3)

    def test_one_process_takes_the_place_of_the_starter(self):
        self.annotate(shell("echo $PPID"))
        done = self.run_it("ignored", "--words")
        self.assertEqual((done.returncode, done.stdout), (0, f"{os.getpid()}\n"))

    def test_texts_of_the_annotation_arrive_as_they_are(self):
        text = 'tab\t quote" backslash\\ é \x01 \U0001f600 $x'
        self.annotate({"process": "printf", "args": ["%s", text], "pool": "exclusive", "cpus": 1})
        self.assertEqual(self.run_it().stdout, text)

    def test_environment_and_nice_are_those_of_the_process(self):
        self.annotate(shell("echo $A $B; nice", nice=5, env={"A": "own"}))
        self.assertEqual(self.run_it(A="pod", B="pod").stdout, "own pod\n5\n")

    def test_only_the_last_one_reads_the_input(self):
        self.annotate(shell("cat; echo first"), shell("sleep 0.2; cat"))
        (self.place / "input").write_text("line\n")
        with open(self.place / "input") as stdin:
            self.assertEqual(self.run_it(stdin=stdin).stdout, "first\nline\n")

    def test_too_few_cpus_start_nothing(self):
        self.annotate(shell("echo started"), shell("true", cpus=len(MINE)))
        done = self.run_it()
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(f"sh wants {len(MINE)} CPUs of pool exclusive, which has {len(MINE)} here, 1 of them taken", done.stderr)

    def test_one_that_cannot_start_stops_the_others(self):
        self.annotate(shell("exec sleep 600"), {"process": "nosuch", "args": [], "pool": "exclusive", "cpus": 1})
        began = time.monotonic()
        self.assertEqual(self.run_it(EXCLUSIVE_CPUS=LIST).returncode, 127)
        self.assertLess(time.monotonic() - began, 30)

    def test_a_broken_annotation_is_refused(self):
        (self.place / "annotations").write_text('nokia.k8s.io/cpus="[{"\n')
        done = self.run_it("echo", "started")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("the annotation is not JSON", done.stderr)

    def test_another_base_name_can_be_given(self):
        (self.place / "annotations").write_text('example.com/cpus="[{\\"container\\":\\"main\\",\\"processes\\":[{\\"process\\":'
                                                '\\"echo\\",\\"args\\":[\\"hi\\"],\\"pool\\":\\"exclusive\\",\\"cpus\\":1}]}]"\n')
        self.assertEqual(self.run_it(PLIMSOLL_BASE_NAME="example.com").stdout, "hi\n")


class Ends(Starter):
    def pair(self, first, second, **element):
        self.annotate(shell(first), shell(second), **element)
        return self.run_it(EXCLUSIVE_CPUS=f"{MINE[0]},{MINE[1]}")

    def test_a_failure_stops_the_rest_and_is_the_status(self):
        done = self.pair("sleep 0.3; exit 3", "trap 'echo told; exit 0' TERM; while :; do sleep 0.05; done")
        self.assertEqual((done.returncode, done.stdout), (3, "told\n"))
        # $$ becomes $, as in the command of a pod.
        self.assertEqual(self.pair("kill -9 $$$$", "exec sleep 600").returncode, 128 + signal.SIGKILL)
        self.assertEqual(self.pair("exit 0", "sleep 0.2; echo on").stdout, "on\n")

    def test_any_end_stops_the_rest(self):
        self.assertEqual(self.pair("exit 0", "exec sleep 600", onExit="any").returncode, 1)
        self.assertEqual(self.pair("exec sleep 600", "exit 4", onExit="any").returncode, 4)
        # The rest had to be stopped, even if it says 0 then.
        self.assertEqual(self.pair("exit 0", "trap 'exit 0' TERM; while :; do sleep 0.05; done", onExit="any").returncode, 1)

    def test_any_is_0_if_all_end_cleanly_by_themselves(self):
        self.assertEqual(self.pair("exit 0", "exit 0", onExit="any").returncode, 0)
        self.assertEqual(self.pair("sleep 0.2", "exit 0", onExit="any").returncode, 0)
        self.assertEqual(self.pair("exit 0", "sleep 0.1; exit 7", onExit="any").returncode, 7)

    def test_any_is_0_if_all_end_cleanly_when_told_to(self):
        self.annotate(*[shell("trap 'exit 0' TERM; echo ready; while :; do sleep 0.05; done")] * 2, onExit="any")
        child = self.begin(EXCLUSIVE_CPUS=f"{MINE[0]},{MINE[1]}")
        self.assertEqual([child.stdout.readline() for _ in range(2)], ["ready\n"] * 2)
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.wait(30), 0)

    def test_only_the_last_one_counts(self):
        done = self.pair("exit 3", "sleep 0.2; echo on; exit 5", onExit="last")
        self.assertEqual((done.returncode, done.stdout), (5, "on\n"))
        self.assertEqual(self.pair("exec sleep 600", "exit 0", onExit="last").returncode, 0)

    def test_signals_reach_all_and_who_ignores_them_is_killed(self):
        self.annotate(shell("trap 'echo usr1 first' USR1; trap 'echo term first; exit 0' TERM; echo ready; while :; do sleep 0.05; done"),
                      shell("trap '' TERM; trap 'echo usr1 second' USR1; echo ready; while :; do sleep 0.05; done"))
        child = self.begin(EXCLUSIVE_CPUS=f"{MINE[0]},{MINE[1]}", PLIMSOLL_STOP_GRACE="300ms")
        self.assertEqual([child.stdout.readline() for _ in range(2)], ["ready\n"] * 2)
        child.send_signal(signal.SIGUSR1)
        self.assertEqual({child.stdout.readline() for _ in range(2)}, {"usr1 first\n", "usr1 second\n"})
        began = time.monotonic()
        child.send_signal(signal.SIGTERM)
        self.assertEqual(child.stdout.readline(), "term first\n")
        self.assertEqual(child.wait(30), 128 + signal.SIGKILL)
        self.assertGreaterEqual(time.monotonic() - began, 0.3)

    def test_orphans_are_reaped(self):
        # Each round of the inner shell leaves an orphan, whose parent the starter becomes.
        self.annotate(shell("for i in $(seq 1000); do (true &) ; done; echo done; read x < ../go"), shell("exec sleep 600"))
        os.mkfifo(self.place / "go")
        (self.place / "here").mkdir()
        child = subprocess.Popen([PROGRAM], env=self.environment(EXCLUSIVE_CPUS=f"{MINE[0]},{MINE[1]}"), cwd=self.place / "here",
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        self.assertEqual(child.stdout.readline(), "done\n")
        deadline = time.monotonic() + 20
        while len(children_of(child.pid)) > 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual(len(children_of(child.pid)), 2)
        child.terminate()
        self.assertEqual(child.wait(30), 128 + signal.SIGTERM)


class Waiting(Starter):
    """For the cpuset, in trees like those of either version of cgroups."""

    def cgroups(self, version, cpus):
        path = self.place / ("cpuset.cpus.effective" if version == 2 else "cpuset/cpuset.cpus")
        path.parent.mkdir(exist_ok=True)
        path.write_text(cpus + "\n")
        return path

    def test_it_starts_when_the_cpuset_is_right(self):
        for version in (1, 2):
            path = self.cgroups(version, "4000-4001")
            child = subprocess.Popen([PROGRAM, "echo", "started"], env=self.environment(
                PLIMSOLL_CPUSET_WAIT="30s", PLIMSOLL_CGROUP_ROOT=str(self.place)), stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True)
            with self.assertRaises(subprocess.TimeoutExpired):
                child.wait(0.3)
            path.write_text(LIST + "\n")
            out, _ = child.communicate(timeout=30)
            self.assertEqual((child.returncode, out), (0, "started\n"))
            path.unlink()

    def test_it_gives_up_with_both_sets(self):
        for version in (1, 2):
            path = self.cgroups(version, "4000-4001")
            done = self.run_it("echo", "started", PLIMSOLL_CPUSET_WAIT="200ms", PLIMSOLL_CGROUP_ROOT=str(self.place))
            self.assertEqual((done.returncode, done.stdout), (124, ""))
            self.assertRegex(done.stderr, r"the container has CPUs 4000-4001 after 200 ms, not \d[\d,-]* as allocated")
            path.unlink()

    def test_cpus_that_are_offline_need_not_be_there(self):
        self.cgroups(2, LIST)
        done = self.run_it("echo", "started", EXCLUSIVE_CPUS=LIST + ",8000", PLIMSOLL_CPUSET_WAIT="5s",
                           PLIMSOLL_CGROUP_ROOT=str(self.place))
        self.assertEqual((done.returncode, done.stdout), (0, "started\n"), done.stderr)


    def test_of_a_shared_pool_it_takes_what_there_is(self):
        """A CPU of the pool may still drain elsewhere, and a kubelet tells a restarted container what the pool was."""
        self.assertGreaterEqual(len(MINE), 2, "two CPUs are needed")
        self.annotate(shell(WHERE), shell(WHERE, "shared-pool", 100), onExit="failfast")
        for exclusive, cpus, patience, want in (
                ("", f"{MINE[0]}", "30s", [[MINE[0]]]),  # of a pool of two
                ("", f"{MINE[1]},8000", "100ms", [[MINE[1]]]),  # and another has joined it
                ("", "8000", "100ms", [MINE]),  # all others
                (str(MINE[1]), LIST, "30s", [[MINE[1]], [MINE[0]]])):
            pool = LIST if not exclusive else f"{MINE[0]},8001"
            self.cgroups(2, cpus)
            done = self.run_it("sh", "-c", WHERE, SHARED_CPUS=pool, EXCLUSIVE_CPUS=exclusive, PLIMSOLL_CPUSET_WAIT=patience,
                               PLIMSOLL_CGROUP_ROOT=str(self.place), CONTAINER_NAME="main" if exclusive else "other")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(sorted(cpus_in(done.stdout)), sorted(want))
        # An exclusive one has to be there, and a set that nobody has written is not taken for another pool.
        online = pathlib.Path("/sys/devices/system/cpu/online").read_text().strip()
        for exclusive, cpus in ((f"{MINE[0]}", f"{MINE[1]},8000"), ("", online)):
            self.cgroups(2, cpus)
            done = self.run_it("true", SHARED_CPUS=f"{MINE[1]}", EXCLUSIVE_CPUS=exclusive, PLIMSOLL_CPUSET_WAIT="100ms",
                               PLIMSOLL_CGROUP_ROOT=str(self.place), CONTAINER_NAME="other")
            self.assertEqual(done.returncode, 124, done.stderr)


class Program(Starter):
    def test_the_large_program_runs_it(self):
        self.annotate(shell("echo annotated; exit 9"))
        for words in (["starter"], ["starter", "--", "echo", "ignored"]):
            done = subprocess.run([os.environ["PLIMSOLL"], *words], env=self.environment(), capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (9, "annotated\n"))
        link = self.place / "process-starter"
        link.symlink_to(os.environ["PLIMSOLL"])
        done = subprocess.run([link, "echo", "-n", "command"], env=self.environment(CONTAINER_NAME="other"), capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "command"))

    def test_it_is_installed_in_one_step(self):
        path = self.place / "opt" / "bin" / "process-starter"
        for _ in range(2):
            done = subprocess.run([os.environ["PLIMSOLL"], "pools", "install-starter", "--path", path], capture_output=True, text=True)
            own = path.with_name("plimsoll-starter")
            self.assertEqual((done.returncode, done.stdout), (0, f"installed {path}\ninstalled {own}\n"), done.stderr)
            self.assertEqual((path.read_bytes(), own.read_bytes()), (PROGRAM.read_bytes(), PROGRAM.read_bytes()))
            self.assertEqual(sorted(file.name for file in path.parent.iterdir()), ["plimsoll-starter", "process-starter"])
        self.assertEqual(subprocess.run([path, "true"], stderr=subprocess.DEVNULL).returncode, 0)
        done = subprocess.run([os.environ["PLIMSOLL"], "pools", "install-starter", "--path", "/proc/no/where"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("/proc/no", done.stderr)

    def test_a_newer_one_stays(self):
        version = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout
        self.assertRegex(version, r"^plimsoll-starter version \d+\.\d+\.\d+\n$")
        path = self.place / "process-starter"
        number = version.split()[-1].encode()
        for other, kept in ((b"99.0.0", True), (b"0.0.9", False), (number + b".1", True), (b"none of ours", False)):
            there = b"\x7fELF" + (b"plimsoll-starter version " if kept or other != b"none of ours" else b"") + other + b"\n\0rest"
            path.write_bytes(there)
            done = subprocess.run([os.environ["PLIMSOLL"], "pools", "install-starter", "--path", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(path.read_bytes() == there, kept, other)
            self.assertIn(f"kept {path}, which is newer" if kept else f"installed {path}", done.stdout)

    def test_killed_in_the_middle_it_leaves_no_partial_file(self):
        path = self.place / "process-starter"
        old = PROGRAM.read_bytes()[:5000]
        for delay in range(40):
            path.write_bytes(old)
            child = subprocess.Popen([os.environ["PLIMSOLL"], "pools", "install-starter", "--path", path], stdout=subprocess.DEVNULL)
            try:
                child.wait(delay * 0.002)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            self.assertIn(path.read_bytes(), (old, PROGRAM.read_bytes()))

    def test_it_runs_in_any_image(self):
        told = subprocess.run(["ldd", PROGRAM], capture_output=True, text=True)
        self.assertRegex(told.stdout + told.stderr, "statically linked|not a dynamic executable")
        self.assertLess(PROGRAM.stat().st_size, 200_000)
        if os.geteuid():
            self.skipTest("only root can change the root directory")
        root = self.place / "root"
        root.mkdir()
        shutil.copy(PROGRAM, root / "process-starter")
        shutil.copy(PROGRAM, root / "app")
        done = subprocess.run(["chroot", root, "/process-starter", "/app", "--version"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("plimsoll-starter version", done.stdout)


def cpus_in(output):
    return [expand(found) for found in re.findall(r"Cpus_allowed_list:\s*(\S+)", output)]


def expand(text):
    ranges = [item.split("-") for item in text.split(",")]
    return [cpu for ends in ranges for cpu in range(int(ends[0]), int(ends[-1]) + 1)]


def children_of(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


if __name__ == "__main__":
    unittest.main()

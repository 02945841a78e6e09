#!/usr/bin/env python3
"""What the agent reads of cgroups, real ones and trees of files."""
import contextlib
import fcntl
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import time
import unittest
import urllib.request

from agent_under_test import NO_LIMIT, PROGRAM, Agent, Scrape, Tree, directory, eventually

ALWAYS = ("task_up task_last_seen task_subcontainers task_cpu_usage_seconds task_mem_usage_bytes task_mem_max_usage_bytes "
          "task_mem_limit_bytes task_mem_soft_limit_bytes task_mem_numa_pages task_mem_page_faults").split()
MOUNTS = pathlib.Path("/sys/fs/cgroup")


def static_node(*tasks, **options):
    lines = [f"tasks: {json.dumps(tasks)}"] + [f"{key}: {value}" for key, value in options.items()]
    return "!StaticNode\n" + "\n".join("  " + line for line in lines)


class RealCgroups(unittest.TestCase):
    def setUp(self):
        v1 = all((MOUNTS / name).is_dir() for name in ("cpu", "cpuacct", "memory"))
        if os.geteuid() or not (v1 or (MOUNTS / "cgroup.controllers").exists()):
            self.skipTest("needs root and cgroups")
        self.mounts = [MOUNTS / name for name in ("cpu", "cpuacct", "memory")] if v1 else [MOUNTS]
        self.v1 = v1
        self.parent = f"plimsoll-agent-test-{os.getpid()}"
        for name in ("one", "two", "three"):
            for mount in self.mounts:
                (mount / self.parent / name).mkdir(parents=True, exist_ok=True)
        if not v1:
            (MOUNTS / self.parent / "cgroup.subtree_control").write_text("+cpu +memory")
        self.addCleanup(self.remove)
        self.names = [f"{self.parent}/{name}" for name in ("one", "two", "three")]

    def remove(self):
        for mount in self.mounts:
            for path in (*(mount / name for name in self.names), mount / self.parent):
                eventually(lambda path=path: not path.exists() or self.removed(path))

    @staticmethod
    def removed(path):
        try:
            path.rmdir()
            return True
        except OSError:
            return False

    def busy(self, name):
        """Spins in that cgroup. Also: the CPU time it had before it went in."""
        procs = [str(mount / name / "cgroup.procs") for mount in self.mounts]
        code = ("import sys, time\nfor path in sys.argv[1:]: open(path, 'w').write('0')\nprint(time.process_time(), flush=True)\n"
                "while True: pass")
        child = subprocess.Popen(["python3", "-c", code, *procs], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (child.kill(), child.wait(), child.stdout.close()))
        return child, float(child.stdout.readline())

    def file(self, name, controller, file):
        mount = MOUNTS / controller if self.v1 else MOUNTS
        return (mount / name / file).read_text()

    def test_all_metrics_equal_the_files(self):
        scrape = Agent(self, static_node(*self.names)).once()
        self.assertEqual(scrape.tasks(), sorted(self.names))
        names = [name for name in ALWAYS if self.v1 or name not in ("task_mem_soft_limit_bytes", "task_mem_max_usage_bytes")]
        for task in self.names:
            for name in names:
                with self.subTest(task=task, name=name):
                    wanted = {"numa_node": "0"} if name == "task_mem_numa_pages" else {}
                    self.assertIsNotNone(scrape.get(name, task_name=task, **wanted))
            self.assertEqual(scrape.get("task_mem_limit_bytes", task_name=task), NO_LIMIT)
            if self.v1:
                for metric, file in (("task_mem_usage_bytes", "usage"), ("task_mem_max_usage_bytes", "max_usage"),
                                     ("task_mem_soft_limit_bytes", "soft_limit")):
                    self.assertEqual(scrape.get(metric, task_name=task),
                                     int(self.file(task, "memory", f"memory.{file}_in_bytes")))

    def test_values_of_a_task_with_memory_equal_its_files(self):
        procs = [str(mount / self.names[0] / "cgroup.procs") for mount in self.mounts]
        code = ("import os, signal, sys\nfor path in sys.argv[1:]: open(path, 'w').write('0')\nkept = bytearray(os.urandom(1 << 20) * 8)\n"
                "print('there', flush=True)\nsignal.pause()")
        child = subprocess.Popen(["python3", "-c", code, *procs], stdout=subprocess.PIPE)
        self.addCleanup(lambda: (child.kill(), child.wait(), child.stdout.close()))
        child.stdout.readline()
        os.kill(child.pid, 19)
        agent = Agent(self, static_node(*self.names)).start()
        task = self.names[0]

        def look():
            """What the agent says and what the files say, if nothing moved meanwhile."""
            before = self.files_of(task)
            scrape = agent.next_scrape()
            found = {"cpu": scrape.get("task_cpu_usage_seconds", task_name=task), "usage": scrape.get("task_mem_usage_bytes", task_name=task),
                     "faults": scrape.get("task_mem_page_faults", task_name=task),
                     "pages": scrape.get("task_mem_numa_pages", task_name=task, numa_node="0")}
            return self.files_of(task) == before and (found, before)
        found, wanted = eventually(look)
        self.assertEqual(found, wanted)
        self.assertGreater(found["usage"], 8 << 20)

    def files_of(self, task):
        stat = dict(line.split() for line in self.file(task, "memory", "memory.stat").splitlines())
        numa = {line.split("=" if self.v1 else " ")[0]: dict(part.split("=") for part in line.split()[1:])
                for line in self.file(task, "memory", "memory.numa_stat").splitlines()}
        if self.v1:
            cpu = int(self.file(task, "cpuacct", "cpuacct.usage")) / 1e9
            pages = int(numa.get("hierarchical_total", numa["total"])["N0"])
        else:
            cpu = int(self.file(task, "cpu", "cpu.stat").split()[1]) / 1e6
            lists = ("inactive_anon", "active_anon", "inactive_file", "active_file", "unevictable")
            pages = sum(int(numa[one]["N0"]) for one in lists) // os.sysconf("SC_PAGESIZE")
        usage = int(self.file(task, "memory", "memory.usage_in_bytes" if self.v1 else "memory.current"))
        return {"cpu": cpu, "usage": usage, "faults": int(stat["pgfault"]), "pages": pages}

    def test_only_the_busy_task_grows(self):
        agent = Agent(self, static_node(*self.names)).start()
        child, before = self.busy(self.names[1])
        agent.next_scrape()
        eventually(lambda: self.cpu_of(child.pid) > 0.5, seconds=30)
        os.kill(child.pid, 19)  # SIGSTOP: nothing moves while both are read
        scrape = agent.next_scrape(3)
        measured, own = scrape.get("task_cpu_usage_seconds", task_name=self.names[1]), self.cpu_of(child.pid) - before
        os.kill(child.pid, 18)
        self.assertAlmostEqual(measured, own, delta=max(0.05 * own, 0.03))
        for quiet in (self.names[0], self.names[2]):
            self.assertEqual(scrape.get("task_cpu_usage_seconds", task_name=quiet), 0)

    @staticmethod
    def cpu_of(pid):
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_a_cgroup_that_goes_takes_only_itself_along(self):
        agent = Agent(self, static_node(*self.names)).start()
        for mount in self.mounts:
            self.removed(mount / self.names[0])
        scrape = agent.until(lambda s: s.tasks() == sorted(self.names[1:]))
        self.assertGreaterEqual(scrape.get("plimsoll_agent_task_read_errors_total", kind="vanished"), 1)
        for mount in self.mounts:
            (mount / self.names[0]).mkdir()
        agent.until(lambda s: s.tasks() == sorted(self.names))

    def test_few_descriptors_are_enough(self):
        names = [f"{self.parent}/many{i}" for i in range(250)]
        for name in names:
            for mount in self.mounts:
                (mount / name).mkdir()
        try:
            for limit in (64, 256):
                with self.subTest(limit=limit):
                    agent = Agent(self, static_node(*names))
                    agent.command = ["prlimit", f"--nofile={limit}:{limit}", *agent.command]
                    scrape = agent.once(3)
                    self.assertEqual(len(scrape.tasks()), 250)
                    self.assertEqual(len(scrape.labels("task_mem_page_faults")), 250)
                    self.assertEqual(agent.log_text.count("limit of open files is low"), 1)
                    self.assertLess(scrape.get("plimsoll_agent_open_fds"), limit)
        finally:
            for name in names:
                for mount in self.mounts:
                    self.removed(mount / name)


class Trees(unittest.TestCase):
    def test_version_2_is_exact(self):
        tree = Tree(self)
        tree.v2("a/b")
        scrape = Agent(self, static_node("a/b"), host_root=tree.root).once()
        for name, value in {"task_cpu_usage_seconds": 2.5, "task_mem_usage_bytes": 8192, "task_mem_max_usage_bytes": 24576,
                            "task_mem_limit_bytes": NO_LIMIT, "task_mem_soft_limit_bytes": 1024, "task_mem_page_faults": 88,
                            "task_mem_working_bytes": 8000, "task_oom_kills": 3, "task_cpu_periods": 5,
                            "task_cpu_throttled_periods": 1, "task_cpu_throttled_seconds": 1.5, "task_subcontainers": 0,
                            "task_up": 1}.items():
            self.assertEqual(scrape.get(name), value, name)
        pages = os.sysconf("SC_PAGESIZE")
        self.assertEqual(scrape.get("task_mem_numa_pages", numa_node="0"), 16384 // pages)
        self.assertEqual(scrape.get("task_mem_numa_pages", numa_node="1"), 12288 // pages)
        for which, some, full in (("cpu", 1, 0.5), ("memory", 2, 0.25), ("io", 3, 0.125)):
            self.assertEqual(scrape.get("task_pressure_seconds", resource=which, kind="some"), some)
            self.assertEqual(scrape.get("task_pressure_seconds", resource=which, kind="full"), full)

    def test_controllers_together_and_apart(self):
        for controllers in (("cpu,cpuacct", "memory"), ("cpu", "cpuacct", "memory")):
            with self.subTest(controllers):
                tree = Tree(self)
                tree.v1("t", controllers=controllers)
                scrape = Agent(self, static_node("t"), host_root=tree.root).once()
                for name, value in {"task_cpu_usage_seconds": 1, "task_mem_usage_bytes": 4096, "task_mem_page_faults": 77,
                                    "task_mem_working_bytes": 4000, "task_oom_kills": 1, "task_cpu_throttled_seconds": 3}.items():
                    self.assertEqual(scrape.get(name), value, name)
                self.assertEqual([scrape.get("task_mem_numa_pages", numa_node=str(node)) for node in (0, 1)], [3, 4])

    def test_hybrid_takes_pressure_from_version_2(self):
        tree = Tree(self)
        tree.v1("t")
        mounts = "".join(f"{20 + i} 1 0:{20 + i} / /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}\n"
                         for i, name in enumerate(("cpu", "cpuacct", "memory")))
        tree.write("proc/1/mountinfo", mounts + "30 1 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n")
        tree.write("sys/fs/cgroup/unified/cgroup.controllers", "\n")
        tree.write("sys/fs/cgroup/unified/t/cpu.pressure", "some avg10=0 avg60=0 avg300=0 total=1500000\n")
        scrape = Agent(self, static_node("t"), host_root=tree.root).once()
        self.assertEqual(scrape.get("task_cpu_usage_seconds"), 1)
        self.assertEqual(scrape.get("task_pressure_seconds", resource="cpu", kind="some"), 1.5)

    def test_a_value_that_cannot_be_read_is_left_out(self):
        tree = Tree(self)
        tree.v2("t")
        (tree.root / "sys/fs/cgroup/t/memory.peak").unlink()
        tree.write("sys/fs/cgroup/t/memory.low", "0\n")
        tree.write("sys/fs/cgroup/t/memory.numa_stat", "nonsense\n")
        scrape = Agent(self, static_node("t"), host_root=tree.root).once()
        for name in ("task_mem_max_usage_bytes", "task_mem_soft_limit_bytes", "task_mem_numa_pages"):
            self.assertIsNone(scrape.get(name), name)
        self.assertEqual(scrape.get("task_mem_usage_bytes"), 8192)

    def test_labels_and_their_order(self):
        tree = Tree(self)
        for name in ("t", "u", "v", "w"):
            tree.v1(name)
        node = ("!StaticNode\n  tasks: [t, u, v, w]\n  default_labels: {weird/key.x-y: 'a\"b\\c', 1st: one, __x: z, lines: \"a\\nb\"}\n"
                "  tasks_labels: {t: {rank: 10}, u: {rank: 9}, v: {rank: b}, w: {rank: a}}")
        more = "  extra_labels: {task_name: all}\n"
        agent = Agent(self, node, host_root=tree.root, more=more)
        scrape = agent.once()
        labels = scrape.labels("task_up")
        self.assertEqual([one["rank"] for one in labels], ["9", "10", "a", "b"])  # numbers first, as numbers
        self.assertEqual(labels[0]["weird__key_x_y"], 'a\\"b\\\\c')
        self.assertEqual((labels[0]["label_1st"], labels[0]["label___x"]), ("one", "z"))
        self.assertEqual(labels[0]["lines"], "a\\nb")
        self.assertEqual(labels[0]["task_name"], "all")  # of all metrics, wins over tasks
        text = agent.storage.read_text()
        self.assertEqual(text.count("\n\n# HELP"), text.count("# HELP") - 1)

    def test_label_generators(self):
        tree = Tree(self)
        tree.v1("job-7")
        more = ("  task_label_generators:\n"
                "    number: !TaskLabelRegexGenerator {pattern: '.*-(\\d+)', repl: 'n\\1'}\n"
                "    cpus: !TaskLabelResourceGenerator {resource_name: cpus}\n"
                "    gone: !TaskLabelRegexGenerator {pattern: a, repl: b, source: nothing}\n"
                "    disk: !TaskLabelResourceGenerator {resource_name: disk}\n")
        node = static_node("job-7", default_resources="{cpus: 1.5}")
        labels = Agent(self, node, host_root=tree.root, more=more).once().labels("task_up")[0]
        self.assertEqual((labels["number"], labels["cpus"], labels["disk"]), ("n7", "1.5", "unknown"))
        self.assertNotIn("gone", labels)

    def test_children_of_a_directory(self):
        tree = Tree(self)
        tree.v1("jobs/x")
        tree.v1("jobs/y")
        agent = Agent(self, static_node(directory="jobs"), host_root=tree.root).start()
        agent.until(lambda s: s.tasks() == ["jobs/x", "jobs/y"])
        tree.remove("jobs/y")
        tree.v1("jobs/z")
        agent.until(lambda s: s.tasks() == ["jobs/x", "jobs/z"])

    def test_no_cgroups_at_all_is_an_error(self):
        agent = Agent(self, static_node("t"), host_root=directory(self))
        done = subprocess.run(agent.command, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no cgroups", done.stderr)


class Outputs(unittest.TestCase):
    def setUp(self):
        self.tree = Tree(self)
        for name in "abc":
            self.tree.v1(name)

    def test_a_reader_never_sees_a_part(self):
        agent = Agent(self, static_node("a", "b", "c"), host_root=self.tree.root, interval=0).start()
        seen = 0
        while agent.scrape().get("plimsoll_agent_iterations_total") < 1000:
            text = agent.storage.read_text()
            self.assertTrue(text.endswith("\n"))
            self.assertEqual(Scrape(text).tasks(), ["a", "b", "c"])
            seen += 1
        self.assertGreater(seen, 10)

    def test_appended_batches_have_stamps_and_survive_rotation(self):
        agent = Agent(self, static_node("a"), host_root=self.tree.root)
        agent.config.write_text(agent.config.read_text().replace("overwrite: true", "overwrite: false"))
        agent.start()
        eventually(lambda: agent.storage.read_text().count("task_up{") > 2)
        batch = agent.storage.read_text().split("\n\n\n")[0]
        line = next(line for line in batch.splitlines() if line.startswith("task_up{"))
        self.assertAlmostEqual(int(line.split()[-1]) / 1000, time.time(), delta=60)
        agent.storage.rename(agent.place / "old")
        eventually(lambda: agent.storage.exists() and "task_up{" in agent.storage.read_text())

    def test_filters(self):
        agent = Agent(self, static_node("a", "b"), host_root=self.tree.root)
        filtered = agent.place / "filtered"
        agent.config.write_text(agent.config.read_text().split("  metrics_storage")[0] +
                                "  metrics_storage: !FilterStorage\n    filter: [task_up, task_mem_usage_bytes]\n    storages:\n"
                                f"      - !LogStorage {{output_filename: {agent.storage}, overwrite: true}}\n"
                                f"      - !LogStorage {{output_filename: {filtered}, overwrite: true, filter_labels: [host]}}\n")
        scrape = agent.once()
        self.assertEqual(sorted(scrape.types), ["task_mem_usage_bytes", "task_up"])
        only = Scrape(filtered.read_text())
        self.assertEqual([list(labels) for labels in only.labels("task_up")], [["host"]])
        self.assertIn("filter_labels", agent.log_text)

    def test_the_endpoint_shows_what_the_file_has(self):
        agent = Agent(self, static_node("a", "b"), "--metrics-listen", "127.0.0.1:0", host_root=self.tree.root).start()
        base, get = agent.url(), agent.get
        self.assertEqual((get("/healthz"), get("/readyz")), ("ok\n", "ok\n"))
        moving = ("_last_seen", "wca_up", "wca_duration", "wca_mem", "plimsoll_agent_iterations", "plimsoll_agent_overruns",
                  "plimsoll_agent_cpu", "plimsoll_agent_resident", "plimsoll_agent_open_fds")

        def steady(scrape):
            return {key: value for key, value in scrape.samples.items() if not any(part in key[0] for part in moving)}
        agent.next_scrape()
        served, stored = Scrape(get("/metrics")), agent.scrape()
        self.assertEqual(steady(served), steady(stored))
        self.assertEqual(served.types, stored.types)
        self.assertEqual(set(served.samples), set(stored.samples))
        packed = urllib.request.Request(base + "/metrics", headers={"Accept-Encoding": "gzip"})
        with urllib.request.urlopen(packed, timeout=10) as answer:
            self.assertEqual(answer.headers["Content-Encoding"], "gzip")
            self.assertEqual(steady(Scrape(gzip.decompress(answer.read()).decode())), steady(served))
        state = json.loads(get("/state"))
        self.assertEqual([task["name"] for task in state["tasks"]], ["a", "b"])
        top = subprocess.run([PROGRAM, "agent", "top", "--url", base, "--once"], capture_output=True, text=True, timeout=20)
        self.assertEqual(top.returncode, 0, top.stderr)
        self.assertEqual(top.stdout.split()[0], "TASK")
        self.assertIn("\na ", top.stdout)

    def test_top_measures_here_what_a_file_says(self):
        agent = Agent(self, static_node("a", "b", "missing"), host_root=self.tree.root)
        words = [PROGRAM, "agent", "top", "-c", agent.config, "--once", "--host-root", self.tree.root]
        refused = subprocess.run(words, capture_output=True, text=True, timeout=20)
        if os.geteuid() == 0:
            self.assertEqual(refused.returncode, 2, refused.stdout)  # as `agent run` does it
            self.assertIn("--root", refused.stderr)
        top = subprocess.run([*words, "--root"], capture_output=True, text=True, timeout=20)
        self.assertEqual(top.returncode, 0, top.stderr)
        head, *rows = [line.split() for line in top.stdout.splitlines()]
        self.assertEqual(head, ["TASK", "CPU", "MEMORY", "FAULTS/S", "THROTTLED", "PSI", "CONTAINERS"])
        self.assertEqual([(row[0], row[1], row[3]) for row in rows], [("a", "0.0%", "0"), ("b", "0.0%", "0")])  # two readings
        self.assertFalse(agent.storage.exists(), "it wrote metrics")
        agent.config.write_text("runner: [")
        self.assertEqual(subprocess.run([*words, "--root"], capture_output=True, timeout=20).returncode, 1)

    def test_a_storage_that_fails_stops_nothing(self):
        agent = Agent(self, static_node("a"), host_root=self.tree.root)
        place = agent.place / "sub"
        place.mkdir()
        agent.storage = place / "metrics.prom"
        text = agent.config.read_text()
        agent.config.write_text(text.replace("/metrics.prom", "/sub/metrics.prom"))
        agent.start()
        pid = agent.process.pid
        agent.storage.rename(agent.place / "kept")
        place.rmdir()
        eventually(lambda: "cannot store metrics" in agent.logged())
        place.mkdir()
        eventually(lambda: agent.storage.exists())
        scrape = agent.until(lambda s: s.get("plimsoll_agent_storage_errors_total", storage="LogStorage"))
        self.assertEqual(scrape.tasks(), ["a"])
        self.assertEqual((agent.process.pid, agent.process.poll()), (pid, None))
        self.assertEqual(agent.logged().count("cannot store metrics"), 1)

    def test_a_full_disk_cuts_no_file(self):
        agent = Agent(self, static_node("a", "b", "c"), host_root=self.tree.root)
        disk = agent.place / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "plimsoll", str(disk)], capture_output=True, text=True)
        if mounted.returncode:
            self.skipTest("cannot mount: " + mounted.stderr.strip())
        self.addCleanup(subprocess.run, ["umount", "-l", str(disk)], check=False)
        agent.storage = disk / "metrics.prom"
        agent.config.write_text(agent.config.read_text().replace("/metrics.prom", "/disk/metrics.prom"))
        agent.start()
        filler = disk / "filler"
        with contextlib.suppress(OSError):
            filler.write_bytes(b"x" * (256 << 10))
        eventually(lambda: "cannot store metrics" in agent.logged())
        before = agent.scrape()  # whole, though old
        self.assertEqual(before.tasks(), ["a", "b", "c"])
        filler.unlink()
        after = agent.until(lambda s: s.get("plimsoll_agent_storage_errors_total", storage="LogStorage"))
        self.assertGreater(after.get("plimsoll_agent_iterations_total"), before.get("plimsoll_agent_iterations_total"))
        self.assertEqual([path.name for path in disk.iterdir()], ["metrics.prom"])
        self.assertIsNone(agent.process.poll())

    def test_an_appended_file_on_a_full_disk_stops_nothing(self):
        agent = Agent(self, static_node("a"), "--metrics-listen", "127.0.0.1:0", host_root=self.tree.root)
        agent.config.write_text(agent.config.read_text().replace(str(agent.storage), "/dev/full").replace("overwrite: true", "overwrite: false"))
        agent.storage = agent.place / "log"
        agent.start()
        scrape = eventually(lambda: (s := Scrape(agent.get("/metrics"))).get("plimsoll_agent_storage_errors_total") and s)
        self.assertEqual(scrape.tasks(), ["a"])
        self.assertEqual(agent.logged().count("cannot store metrics"), 1)

    def test_a_reader_of_standard_error_that_hangs_stops_nothing(self):
        for blocking in (True, False):
            with self.subTest(blocking=blocking):
                reader, writer = os.pipe()
                self.addCleanup(os.close, reader)
                fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
                os.set_blocking(writer, blocking)
                agent = Agent(self, static_node("a"), "--metrics-listen", "127.0.0.1:0", host_root=self.tree.root)
                agent.config.write_text(agent.config.read_text().split("  metrics_storage")[0])
                agent.log = open(agent.place / "log", "w")
                agent.process = subprocess.Popen(agent.command, stdin=subprocess.DEVNULL, stdout=agent.log, stderr=writer)
                self.addCleanup(agent.end)
                os.close(writer)
                name = "plimsoll_agent_storage_errors_total"
                eventually(lambda: (Scrape(agent.get("/metrics")).get(name, storage="LogStorage") or 0) >= 2)
                self.assertIn("no process reads standard error", agent.logged())
                text = b""
                while text.count(b"\ntask_up{") < 3:
                    text += os.read(reader, 65536)
                self.assertNotRegex(text.decode(), r"[^\n]# (HELP|TYPE)")  # what was cut is a line of its own

    def test_a_changed_file_is_reread_and_a_broken_one_keeps_the_old(self):
        agent = Agent(self, static_node("a"), host_root=self.tree.root).start()
        good = agent.config.read_text()
        agent.config.write_text("runner: [")
        eventually(lambda: "the old one stays" in agent.logged())
        self.assertEqual(agent.next_scrape().tasks(), ["a"])
        agent.config.write_text(good.replace('["a"]', '["b", "c"]'))
        agent.until(lambda s: s.tasks() == ["b", "c"])
        agent.config.write_text(agent.config.read_text().replace("  interval:", "  rdt_enabled: true\n  interval:"))
        eventually(lambda: "the agent cannot run the new configuration and keeps the old one" in agent.logged())
        agent.storage.unlink()
        eventually(agent.storage.exists)
        self.assertEqual(agent.next_scrape().tasks(), ["b", "c"])
        before = agent.logged().count("configuration reread")
        agent.process.send_signal(1)
        eventually(lambda: agent.logged().count("configuration reread") > before)

    def test_a_swapped_config_map_is_reread(self):
        """As kubelets do it: the file is a link through a link, and only the latter is replaced."""
        agent = Agent(self, static_node("a"), host_root=self.tree.root)
        text = agent.config.read_text()
        mount = agent.place / "mount"
        for number, tasks in ((1, '["a"]'), (2, '["b", "c"]')):
            (mount / f"..{number}").mkdir(parents=True)
            (mount / f"..{number}/config.yaml").write_text(text.replace('["a"]', tasks).replace("interval:", "extra_labels: {edited: again}\n  interval:"))
        (mount / "..data").symlink_to("..1")
        (mount / "config.yaml").symlink_to("..data/config.yaml")
        agent.command[agent.command.index("-c") + 1] = str(mount / "config.yaml")
        agent.start()
        self.assertEqual(agent.next_scrape().tasks(), ["a"])
        (mount / "..new").symlink_to("..2")
        (mount / "..new").rename(mount / "..data")
        shutil.rmtree(mount / "..1")
        scrape = agent.until(lambda s: s.tasks() == ["b", "c"])
        self.assertEqual(scrape.labels("wca_up")[0]["edited"], "again")

    def test_sigterm_ends_it_at_once(self):
        agent = Agent(self, static_node("a"), host_root=self.tree.root, interval=60).start()
        began = time.monotonic()
        agent.process.terminate()
        self.assertEqual(agent.process.wait(5), 0)
        self.assertLess(time.monotonic() - began, 2)


if __name__ == "__main__":
    unittest.main()

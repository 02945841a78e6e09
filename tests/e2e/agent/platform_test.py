#!/usr/bin/env python3
"""What the agent says about the machine, about hardware that is not there, and about itself."""
import os
import pathlib
import subprocess
import unittest

from agent_under_test import Agent, FakeKubelet, Tree, directory, kubernetes_node, pod

NODE = "!StaticNode\n  tasks: [t]"
ZONES = """Node 0, zone      DMA
  per-node stats
      nr_inactive_anon 63
  pages free     3840
        min      14
        protection: (0, 3017)
  pagesets
    cpu: 0
              count:    0
Node 1, zone   Normal
  pages free     5
"""
STALLED = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={}\n"


def cpuinfo(*places):
    return "".join(f"processor\t: {cpu}\nmodel\t\t: 85\nmodel name\t: Fast One\nphysical id\t: {socket}\ncore id\t\t: {core}\n\n"
                   for cpu, (socket, core) in enumerate(places))


def machine(test):
    """A tree with two sockets of one core with two threads each, a NUMA node per socket."""
    tree = Tree(test)
    tree.v1("t")
    tree.write("proc/cpuinfo", cpuinfo((0, 0), (0, 0), (1, 0), (1, 0)))
    tree.write("proc/stat", "cpu  9 9 9 9 9 9 9 9 9 9\n" +
               "".join(f"cpu{cpu} 1 2 4 1000 2000 8 16 {32 + cpu} 64 128\n" for cpu in range(4)) + "intr 1 2\n")
    tree.write("proc/meminfo", "MemTotal:    1000 kB\nMemFree:    100 kB\nMemAvailable: 7 kB\nBuffers:    50 kB\nCached:    150 kB\n")
    tree.write("proc/vmstat", "nr_free_pages 11\nnuma_hint_faults 22\nnuma_hint_faults_local 21\nnuma_pages_migrated 5\n"
                              "pgmigrate_success 6\npgmigrate_fail 7\npgfault 33\npgfault_other 44\n")
    tree.write("proc/zoneinfo", ZONES)
    for node in (0, 1):
        base = f"sys/devices/system/node/node{node}"
        tree.write(f"{base}/meminfo", f"Node {node} MemTotal: 500 kB\nNode {node} MemFree:  {10 + node} kB\nNode {node} MemUsed: 2 kB\n")
        tree.write(f"{base}/vmstat", f"nr_free_pages {70 + node}\nnuma_hit 9\n")
    for number, resource in enumerate(("cpu", "memory", "io"), 1):
        tree.write(f"proc/pressure/{resource}", STALLED.format(number * 1_000_000, number * 250_000))
    return tree


class Machine(unittest.TestCase):
    def test_values_are_those_of_the_files(self):
        scrape = Agent(self, NODE, host_root=machine(self).root).once()
        for name, value in {"platform_topology_cpus": 4, "platform_topology_cores": 2, "platform_topology_sockets": 2,
                            "platform_mem_usage_bytes": 700 * 1024, "platform_vmstat_numa_hint_faults": 22,
                            "platform_vmstat_numa_hint_faults_local": 21, "platform_vmstat_numa_pages_migrated": 5,
                            "platform_vmstat_pgmigrate_success": 6, "platform_vmstat_pgmigrate_fail": 7,
                            "platform_vmstat_pgfaults": 33}.items():
            self.assertEqual(scrape.get(name), value, name)
        self.assertEqual([scrape.get("platform_cpu_usage", cpu=str(cpu)) for cpu in range(4)], [63, 64, 65, 66])
        self.assertEqual(scrape.get("platform_vmstat", key="pgfault_other"), 44)
        self.assertEqual(len(scrape.labels("platform_vmstat")), 8)
        for node in ("0", "1"):
            self.assertEqual(scrape.get("platform_mem_numa_free_bytes", numa_node=node), (10 + int(node)) * 1024)
            self.assertEqual(scrape.get("platform_mem_numa_used_bytes", numa_node=node), 2048)
            self.assertEqual(scrape.get("platform_node_vmstat", numa_node=node, key="nr_free_pages"), 70 + int(node))
        zones = {(one["numa_node"], one["zone"], one["key"]): scrape.get("platform_zoneinfo", **one)
                 for one in scrape.labels("platform_zoneinfo")}
        self.assertEqual(zones, {("0", "per-node-stats", "nr_inactive_anon"): 63, ("0", "DMA", "free"): 3840,
                                 ("0", "DMA", "min"): 14, ("1", "Normal", "free"): 5})
        self.assertEqual(scrape.get("platform_pressure_seconds", resource="io", kind="some"), 3)
        self.assertEqual(scrape.get("platform_pressure_seconds", resource="memory", kind="full"), 0.5)
        self.assertEqual(scrape.get("plimsoll_agent_source_up", source="psi"), 1)
        self.assertIsNotNone(scrape.get("wca_duration_seconds", function="collect_platform_information"))
        info, = scrape.labels("wca_information")
        self.assertEqual((info["cores"], info["cpus"], info["cpu_model"], info["cpu_model_number"]), ("2", "4", "Fast One", "85"))

    def test_patterns_choose_what_is_published(self):
        more = "  vmstat: 'pgmigrate'\n  zoneinfo: '\\s+(min)\\s+(\\d+)'\n  pressure: false\n"
        scrape = Agent(self, NODE, host_root=machine(self).root, more=more).once()
        self.assertEqual([one["key"] for one in scrape.labels("platform_vmstat")], ["pgmigrate_fail", "pgmigrate_success"])
        self.assertEqual(scrape.labels("platform_node_vmstat"), [])
        self.assertEqual([one["key"] for one in scrape.labels("platform_zoneinfo")], ["min"])
        self.assertNotIn("platform_pressure_seconds", scrape.types)
        none = Agent(self, NODE, host_root=machine(self).root, more="  vmstat: false\n  zoneinfo: false\n").once()
        self.assertFalse({"platform_vmstat", "platform_node_vmstat", "platform_zoneinfo"} & set(none.types))
        self.assertEqual(none.get("platform_vmstat_pgfaults"), 33)

    def test_files_that_are_not_there_leave_their_metrics_out(self):
        tree = Tree(self)
        tree.v1("t")
        tree.write("proc/meminfo", "MemTotal: nonsense\n")
        scrape = Agent(self, NODE, host_root=tree.root).once()
        self.assertEqual([name for name in scrape.types if name.startswith("platform_")], ["platform_last_seen"])
        self.assertEqual(scrape.tasks(), ["t"])

    def test_cores_where_cpuinfo_has_none(self):
        tree = machine(self)
        tree.write("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50\n\nprocessor\t: 1\nBogoMIPS\t: 50\n")
        for cpu in (0, 1, 2):
            tree.write(f"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id", "0\n")
            tree.write(f"sys/devices/system/cpu/cpu{cpu}/topology/core_id", f"{cpu}\n")
        scrape = Agent(self, NODE, host_root=tree.root).once()
        self.assertEqual([scrape.get(f"platform_topology_{what}") for what in ("cpus", "cores", "sockets")], [3, 3, 1])

    def test_a_cpu_goes_offline(self):
        tree = machine(self)
        agent = Agent(self, NODE, host_root=tree.root).start()
        tree.write("proc/cpuinfo", cpuinfo((0, 0), (0, 0)))
        tree.write("proc/stat", "cpu0 1 2 4\ncpu1 1 2 4\n")
        scrape = agent.until(lambda s: s.get("platform_topology_cpus") == 2)
        self.assertEqual(scrape.get("platform_topology_sockets"), 1)
        self.assertEqual(len(scrape.labels("platform_cpu_usage")), 2)
        self.assertEqual(len(scrape.labels("platform_node_vmstat")), 4)

    def test_this_machine(self):
        scrape = Agent(self, "!StaticNode {tasks: []}").once(3)
        online = pathlib.Path("/proc/cpuinfo").read_text().count("processor\t")
        self.assertEqual(scrape.get("platform_topology_cpus"), online)
        self.assertEqual(len(scrape.labels("platform_cpu_usage")), online)
        keys = len(pathlib.Path("/proc/vmstat").read_text().splitlines())
        self.assertEqual(len(scrape.labels("platform_vmstat")), keys)
        self.assertGreater(scrape.get("platform_mem_usage_bytes"), 1 << 20)


class MemoryModules(unittest.TestCase):
    TOOL = "#!/bin/sh\n[ \"$*\" = '--quiet -t memory' ] || exit 2\ncat <<'END'\n{}\nEND\nexit {}\n"
    MODULES = "Memory Device\n\tSize: 16 GB\n\tType: DDR4\n\tType Detail: Synchronous\n\tSpeed: 3200 MT/s\n"

    def run_agent(self, more, text=None, status=0):
        """With a dmidecode that says `text`; None: without one."""
        tools = directory(self)
        if text is not None:
            (tools / "dmidecode").write_text(self.TOOL.format(text, status))
            (tools / "dmidecode").chmod(0o755)
        agent = Agent(self, NODE, "--once", host_root=machine(self).root, more=more)
        path = f"{tools}:/usr/bin:/bin" if text is not None else str(tools)
        done = subprocess.run(agent.command, capture_output=True, text=True, timeout=20, env={**os.environ, "PATH": path})
        return done, agent

    def test_are_published_where_a_tool_tells_them(self):
        for more in ("", "  gather_hw_mm_topology: true\n"):
            done, agent = self.run_agent(more, self.MODULES)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            scrape = agent.scrape()
            self.assertEqual([scrape.get("platform_dimm_count", dimm_type=kind) for kind in ("ram", "nvm")], [1, 0])
            self.assertEqual(scrape.get("platform_dimm_total_size_bytes", dimm_type="ram"), 16 << 30)
            self.assertEqual(scrape.get("platform_dimm_speed_bytes_per_second"), 3200 * 8_000_000)

    def test_are_left_out_or_required_where_none_does(self):
        for text, status in ((None, 0), ("/dev/mem: Permission denied", 1), ("", 0)):
            done, agent = self.run_agent("", text, status)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertNotIn("platform_dimm_count", agent.scrape().types)
            done, agent = self.run_agent("  gather_hw_mm_topology: true\n", text, status)
            self.assertEqual(done.returncode, 1)
            self.assertIn("gather_hw_mm_topology is true, but", done.stderr)
            self.assertFalse(agent.storage.exists())

    def test_are_not_asked_for_when_switched_off(self):
        done, agent = self.run_agent("  gather_hw_mm_topology: false\n", self.MODULES)
        self.assertEqual(done.returncode, 0)
        self.assertNotIn("platform_dimm_count", agent.scrape().types)


class Hardware(unittest.TestCase):
    def setUp(self):
        self.tree = machine(self)

    def fails(self, more, *parts):
        agent = Agent(self, NODE, "--once", host_root=self.tree.root, more=more)
        done = subprocess.run(agent.command, capture_output=True, text=True, timeout=20)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertFalse(agent.storage.exists())
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_counters_that_cannot_count_are_named_once_and_the_rest_goes_on(self):
        more = "  event_names: [task_cycles, task_instructions]\n  enable_derived_metrics: true\n"
        agent = Agent(self, NODE, host_root=self.tree.root, more=more)
        scrape = agent.once(3)
        self.assertEqual(scrape.get("plimsoll_agent_source_up", source="perf"), 0)
        reason = next(one["reason"] for one in scrape.labels("plimsoll_agent_source_up") if one["source"] == "perf")
        self.assertIn(reason, ("no_pmu", "permission", "no_hierarchy", "not_supported"))
        self.assertFalse({"task_cycles", "task_ipc"} & set(scrape.types))
        self.assertEqual(scrape.get("task_cpu_usage_seconds"), 1)
        self.assertEqual(agent.log_text.count("event_names:"), 1)
        self.fails(more + "  perf_required: true\n", "perf_required is true, but")

    def test_nothing_is_said_about_counters_nobody_asked_for(self):
        sources = {one["source"] for one in Agent(self, NODE, host_root=self.tree.root).once().labels("plimsoll_agent_source_up")}
        self.assertEqual(sources, {"cgroup", "node", "psi", "resctrl"})

    def test_resctrl_by_its_option(self):
        def source(more=""):
            scrape = Agent(self, NODE, host_root=self.tree.root, more=more).once()
            return [one["reason"] for one in scrape.labels("plimsoll_agent_source_up") if one["source"] == "resctrl"]
        self.assertEqual(source(), ["not_mounted"])
        self.assertEqual(source("  rdt_enabled: false\n"), [])
        self.fails("  rdt_enabled: true\n", "rdt_enabled is true", "/sys/fs/resctrl")
        self.tree.write("sys/fs/resctrl/tasks", "1\n")
        self.assertEqual(source(), ["no_monitoring"])
        self.fails("  rdt_enabled: true\n", "no monitoring")

    def test_uncore_counters(self):
        scrape = Agent(self, NODE, host_root=self.tree.root, more="  uncore_event_names: [platform_cas_count_reads]\n").once()
        self.assertEqual(scrape.get("plimsoll_agent_source_up", source="uncore", reason="no_pmu"), 0)

    def test_events_have_known_names(self):
        self.fails("  event_names: [task_cycles, task_nothing]\n", "config.yaml:3:", 'unknown event "task_nothing"')
        self.fails("  event_names: [a__rD08]\n", "unknown event")


class Itself(unittest.TestCase):
    def test_warnings_and_errors_are_counted_by_module(self):
        tree = Tree(self)
        tree.v1("t")
        kubelet = FakeKubelet(self)
        kubelet.answer = (500, "")
        agent = Agent(self, kubernetes_node(kubelet.url), host_root=tree.root).start()
        agent.until(lambda s: s.get("wca_warning_count", module="node") == 1)
        self.assertNotIn("wca_error_count", agent.scrape().types)
        agent.config.write_text("runner: [")
        agent.until(lambda s: (s.get("wca_error_count", module="agent") or 0) >= 1)

    def test_containers_one_by_one(self):
        tree = Tree(self)
        base = "/kubepods/besteffort/podu1"
        for path in (base, f"{base}/a-u1", f"{base}/b-u1"):
            tree.v1(path)
        ids = {"a": "0123456789abcdef0123456789", "b": "fedcba9876543210fedcba9876"}
        for name, number in ids.items():
            tree.v1(f"{base}/{number}", cpu=2_000_000_000)

        def listed(*names):
            one = pod("p", "u1", containers=names)
            for status in one["status"]["containerStatuses"]:
                status["containerID"] = "containerd://" + ids[status["name"]]
            return [one]
        kubelet = FakeKubelet(self, listed("a", "b"))
        agent = Agent(self, kubernetes_node(kubelet.url, node_sync_interval=0.05), host_root=tree.root,
                      more="  container_metrics: true\n").start()
        scrape = agent.until(lambda s: len(s.labels("task_cpu_usage_seconds")) == 3)
        for name, number in ids.items():
            self.assertEqual(scrape.get("task_cpu_usage_seconds", container=name, container_id=number[:12], task_name="default/p"), 2)
        self.assertEqual(scrape.get("task_mem_numa_pages", container="a", numa_node="1"), 4)
        totals = [one for one in scrape.labels("task_cpu_usage_seconds") if "container" not in one]
        self.assertEqual(len(totals), 1)
        self.assertEqual(len(scrape.labels("task_up")), 1)
        kubelet.pods = listed("b")
        scrape = agent.until(lambda s: len(s.labels("task_cpu_usage_seconds")) == 2)
        self.assertIsNone(scrape.get("task_cpu_usage_seconds", container="a"))

    def test_labels_of_the_machine_on_every_metric(self):
        scrape = Agent(self, NODE, host_root=machine(self).root, more="  include_optional_labels: true\n").once()
        labels, = scrape.labels("task_up")
        self.assertEqual((labels["cpus"], labels["cores"], labels["sockets"], labels["cpu_model"]), ("4", "2", "2", "Fast One"))
        self.assertIn("wca_version", scrape.labels("platform_mem_usage_bytes")[0])

    def test_flags_that_other_modules_share(self):
        tree = Tree(self)
        tree.v1("t")
        place = directory(self)
        agent = Agent(self, NODE, "--dry-run", "--run-dir", str(place / "run"), "--kubelet-dir", "/nowhere", host_root=tree.root)
        self.assertEqual(agent.once().tasks(), ["t"])
        self.assertTrue((place / "run").is_dir())
        self.assertIn("dry run", agent.log_text)
        blocked = Agent(self, NODE, "--run-dir", "/dev/null/run", host_root=tree.root)
        self.assertEqual(blocked.once(3).tasks(), ["t"])
        self.assertEqual(blocked.log_text.count("the agent keeps no locks and records"), 1)


if __name__ == "__main__":
    unittest.main()

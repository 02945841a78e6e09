#!/usr/bin/env python3
"""Configuration files of the agent: what is accepted, what is refused and how."""
import pathlib
import subprocess
import unittest

import yaml

from agent_under_test import PROGRAM, ROOT, directory

NODE = "!StaticNode {tasks: [a]}"
DETECTION = f"""runner: !DetectionRunner
  measurement_runner: !MeasurementRunner
    node: {NODE}
  detector: !NOPAnomalyDetector
"""
ALLOCATION = f"""runner: !AllocationRunner
  measurement_runner: !MeasurementRunner
    node: {NODE}
  allocator: !NOPAllocator
"""
SEED = """runner: !MeasurementRunner
  node: !KubernetesNode
    cgroup_driver: !CgroupDriverType systemd
    kubelet_endpoint: 'https://127.0.0.1:10250'
    client_private_key: {key}
    client_cert: {cert}
    monitored_namespaces: ["default"]
"""


class Files(unittest.TestCase):
    def setUp(self):
        self.place = directory(self)

    def check(self, text, command="check", words=(), env=None, mode=0o644):
        path = self.place / "config.yaml"
        path.write_text(text)
        path.chmod(mode)
        return subprocess.run([PROGRAM, "agent", command, "-c", str(path), *words], capture_output=True, text=True,
                              timeout=20, env=env)

    def accepted(self, text, **options):
        done = self.check(text, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, text, *parts, **options):
        done = self.check(text, **options)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)
        return done

    def test_every_runner_is_accepted(self):
        for text in (f"runner: !MeasurementRunner\n  node: {NODE}\n", DETECTION, ALLOCATION):
            self.accepted(text)

    def test_the_layout_of_the_first_files_still_works(self):
        for runner, decider in (("Detection", "detector: !NOPAnomalyDetector"), ("Allocation", "allocator: !NOPAllocator")):
            done = self.accepted(f"runner: !{runner}Runner\n  node: {NODE}\n  action_delay: 2\n  {decider}\n")
            self.assertIn("deprecated", done.stderr)
            self.assertIn("interval: 2", done.stdout)

    def test_environment_anchors_and_empty_tags(self):
        text = ("runner: !DetectionRunner\n  measurement_runner: !MeasurementRunner\n    node: !KubernetesNode\n"
                "      kubelet_endpoint: !Env KUBELET\n    extra_labels: &labels {a: 1}\n"
                "    metrics_storage: &file !LogStorage {output_filename: /tmp/x}\n"
                "  anomalies_storage: *file\n  detector: !NOPAnomalyDetector\n")
        done = self.accepted(text, env={"KUBELET": "https://10.1.2.3:10250"})
        self.assertIn("https://10.1.2.3:10250", done.stdout)
        self.assertEqual(done.stdout.count("output_filename: /tmp/x"), 2)

    def test_the_environment_counts_wherever_a_scalar_stands(self):
        base = "runner: !MeasurementRunner\n  node: "
        node = "!KubernetesNode {kubeapi_host: api, node_ip: 10.0.0.1, kubeapi_port: !Env PORT, monitored_namespaces: [a, !Env NAME]}"
        shown = self.accepted(f"{base}{node}\n  extra_labels: {{zone: !Env NAME}}\n  vmstat: !Env NAME\nloggers: {{wca: !Env LEVEL}}\n",
                              env={"PORT": "6443", "NAME": "b", "LEVEL": "debug"}).stdout
        for line in ("kubeapi_port: 6443", "- b\n", "zone: b", "vmstat: b", "wca: debug"):
            self.assertIn(line, shown)
        shown = self.accepted(f"{base}!StaticNode {{tasks: [!Env NAME], default_labels: {{a: !Env NAME}}, tasks_labels: {{t: {{b: !Env NAME}}}}, "
                              "default_resources: {cpus: !Env CPUS}}\n", env={"NAME": "x", "CPUS": "1.5"}).stdout
        self.assertEqual((shown.count(": x\n"), shown.count("- x\n"), shown.count("cpus: 1.5")), (2, 1, 1), shown)

    def test_a_tag_that_nobody_knows_is_refused_wherever_it_stands(self):
        for options in ("tasks: [!Odd a]", "tasks: [], default_labels: {a: !Odd b}", "tasks: [], tasks_labels: {t: {a: !Odd b}}",
                        "tasks: [], default_resources: {cpus: !Odd 1}"):
            with self.subTest(options):
                self.refused(f"runner: !MeasurementRunner\n  node: !StaticNode {{{options}}}\n", "config.yaml:2:", "unknown tag !Odd", "!KubernetesNode")
        for option in ("kubeapi_port: !Odd 1", "ssl: !SSL {server_verify: !Odd true}"):
            self.refused(f"runner: !MeasurementRunner\n  node: !KubernetesNode {{{option}}}\n", "unknown tag !Odd")
        self.refused(f"runner: !MeasurementRunner\n  node: {NODE}\n  extra_labels: {{a: !SSL b}}\n", "config.yaml:3:", "!SSL is not allowed here")

    def test_ports_are_ports(self):
        node = "runner: !MeasurementRunner\n  node: !KubernetesNode {{kubeapi_host: h, node_ip: 10.0.0.1, kubeapi_port: {}}}\n"
        for good in ("6443", "'6443'", "1", "65535"):
            self.accepted(node.format(good))
        for bad in ("0", "65536", "-1", "https", "64.5", "[6443]"):
            self.refused(node.format(bad), "config.yaml:2:", "expected a port from 1 to 65535")

    def test_an_unset_variable_is_warned_about(self):
        done = self.check("runner: !MeasurementRunner\n  node: !KubernetesNode\n    node_ip: !Env NO_SUCH\n", env={})
        self.assertIn("NO_SUCH", done.stderr)

    def test_the_page_of_the_ancestor_runs_as_written(self):
        for name in ("key", "cert"):
            (self.place / name).write_text("")
        done = self.accepted(SEED.format(key=self.place / "key", cert=self.place / "cert"))
        self.assertIn("cgroup_driver: systemd", done.stdout)
        self.assertIn("client_cert", done.stderr)  # that nobody verifies the kubelet

    def test_defaults_are_those_of_the_page_and_shown(self):
        shown = self.accepted("runner: !MeasurementRunner\n  node: !KubernetesNode\n").stdout
        for line in ("kubelet_endpoint: https://127.0.0.1:10250", "client_private_key: null", "client_cert: null",
                     "monitored_namespaces:\n      - default\n"):
            self.assertIn(f"    {line}", shown)

    def test_what_check_prints_is_accepted_again(self):
        first = self.accepted(DETECTION).stdout
        self.assertEqual(self.accepted(first).stdout, first)

    def test_examples_are_accepted(self):
        for path in sorted((ROOT / "examples/agent").glob("*.yaml")):
            if path.read_text().startswith("runner:") or "\nrunner:" in path.read_text():
                with self.subTest(path.name):
                    self.accepted(path.read_text())

    def test_rules_of_the_example_are_a_list(self):
        rules = yaml.safe_load((ROOT / "examples/agent/rules.yaml").read_text())
        self.assertEqual([sorted(rule) for rule in rules], [["allocations", "name"], ["allocations", "labels", "name"]])

    def test_options_of_detectors_are_those_of_their_page(self):
        known = ("{signal: psi, sigma: 2, min_cpu_usage: 0.25, violations: 3, violation_window: 300, correlation_window: 600, "
                 "correlation_threshold: 0.35, max_suspects: 5, baseline_window: 3600, min_baseline_samples: 60, psi_threshold: 0.1, "
                 "group_by: app, cpi_specs: {web: {mean: 1, stddev: 0.1}}")
        self.accepted(DETECTION.replace("!NOPAnomalyDetector", f"!ContentionDetector {known}}}"))
        caps = f"{known}, cap_cpus: 0.1, cap_seconds: 300, victims: guaranteed, targets: besteffort, act: false}}"
        self.accepted(ALLOCATION.replace("!NOPAllocator", f"!ContentionAllocator {caps}"))
        for wrong in ("min_cpu", "sched_threshold", "cap_cpus"):
            self.refused(DETECTION.replace("!NOPAnomalyDetector", f"!ContentionDetector {{{wrong}: 1}}"), f'unknown key "{wrong}"', "min_cpu_usage")

    def test_mistakes_have_line_and_column(self):
        base = f"runner: !MeasurementRunner\n  node: {NODE}\n"
        for line, column, text, part in (
                (3, 3, base + "  colour: red\n", 'unknown key "colour"'),
                (3, 13, base + "  interval: 61\n", "from 0 to 60"),
                (3, 13, base + "  interval: fast\n", '"fast" given'),
                (3, 13, base + "  zoneinfo: '(a)'\n", "2 groups"),
                (3, 11, base + "  vmstat: '(('\n", "vmstat"),
                (2, 3, "runner: !MeasurementRunner\n  node: !Nothing {}\n", "unknown tag !Nothing"),
                (2, 3, "runner: !MeasurementRunner\n  node: !MesosNode {}\n", "Mesos is not supported"),
                (1, 1, "runner: !Walker {}\n", "unknown tag !Walker"),
                (3, 1, base + "extra: 1\n", 'unknown key "extra"'),
                (2, 3, "runner: !MeasurementRunner\n  node: [\n", "")):
            with self.subTest(text):
                done = self.refused(text, part)
                if part:
                    self.assertIn(f"config.yaml:{line}:{column}:", done.stderr)

    def test_mistakes_say_what_would_be_right(self):
        base = f"runner: !MeasurementRunner\n  node: {NODE}\n"
        self.refused("runner: !MeasurementRunner\n  node: !Nothing {}\n", "!KubernetesNode", "!StaticNode", "!LogStorage")
        self.refused(base + "  intervall: 1\n", "interval", "metrics_storage", "extra_labels")
        self.refused(base + f"  extra_labels: {{a: {'x' * 401}}}\n  metrics_storage: !LogStorage {{output_filename: /a/../b}}\n",
                     'path without ".."', 'extra_labels: "a": expected a text of at most 400 characters')
        done = self.accepted(base.replace(NODE, "!KubernetesNode nonsense"))
        self.assertIn("nonsense", done.stderr)  # ignored, with a warning

    def test_nothing_is_touched_by_a_file_with_mistakes(self):
        output = self.place / "out"
        for text in (DETECTION, ALLOCATION, f"runner: !MeasurementRunner\n  node: {NODE}\n"):
            wrong = text.replace(f"node: {NODE}\n", f"node: {NODE}\n    interval: 61\n" if "measurement_runner" in text else
                                 f"node: {NODE}\n  interval: 61\n")
            storage = f"metrics_storage: !LogStorage {{output_filename: {output}, overwrite: true}}\n"
            wrong = wrong.replace("interval: 61\n", f"interval: 61\n{'    ' if 'measurement_runner' in text else '  '}{storage}")
            done = self.refused(wrong, "from 0 to 60", command="run", words=["-0", "--once"])
            self.assertRegex(done.stderr, r"config\.yaml:\d+:\d+:")
            self.assertFalse(output.exists())

    def test_all_mistakes_are_told_at_once(self):
        done = self.refused(f"runner: !MeasurementRunner\n  node: {NODE}\n  interval: -1\n  rdt_enabled: 3\n  x: 1\n")
        self.assertEqual(done.stderr.count("config.yaml:"), 3, done.stderr)

    def test_kubernetes_node_checks_what_belongs_together(self):
        def node(options):
            return "runner: !MeasurementRunner\n  node: !KubernetesNode\n" + "".join(f"    {one}\n" for one in options)
        self.refused(node(["kubeapi_host: 10.0.0.1"]), "node_ip is needed")
        self.refused(node(["cgroup_driver: podman"]), "expected systemd")
        self.refused(node(["client_private_key: /nowhere/key"]), "a key without client_cert")
        self.refused(node(["ssl: !SSL {client_cert_path: /nowhere/crt}"]), "cannot be read")
        self.assertIn("without a client certificate", self.accepted(node(["client_cert: /nowhere/crt"])).stderr)
        self.refused(node(["kubelet_endpoint: nonsense"]), "URL with a host")
        self.refused(node(["timeout: 0"]), "from 1 to 60")

    def test_the_file_itself_must_be_safe(self):
        self.refused(DETECTION, "is writable by all users", mode=0o666)
        done = subprocess.run([PROGRAM, "agent", "check", "-c", "config.yaml"], capture_output=True, text=True,
                              cwd=self.place, timeout=20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("absolute", done.stderr)
        missing = subprocess.run([PROGRAM, "agent", "check", "-c", "/no/such.yaml"], capture_output=True, text=True, timeout=20)
        self.assertEqual(missing.returncode, 1)

    def test_root_must_be_meant(self):
        output = self.place / "out"
        text = (f"runner: !MeasurementRunner\n  node: !StaticNode {{tasks: []}}\n"
                f"  metrics_storage: !LogStorage {{output_filename: {output}, overwrite: true}}\n")
        done = self.check(text, command="run", words=["--once"])
        self.assertEqual(done.returncode, 2)
        self.assertFalse(output.exists())
        self.assertIn("CAP_PERFMON", done.stderr)
        done = self.check(text, command="run", words=["-0", "--once"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(output.exists())

    def test_the_ancestors_command_line(self):
        text = "runner: !MeasurementRunner\n  node: !StaticNode {tasks: []}\n"
        path = self.place / "config.yaml"
        path.write_text(text)
        for words in (["-c", path, "-0", "--once", "-l", "wca:DEBUG", "-l", "WARNING"],
                      ["--config", path, "--root", "--once", "--log=info"]):
            done = subprocess.run([PROGRAM, "agent", *words], capture_output=True, text=True, timeout=20)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("# TYPE wca_up counter", done.stderr)
        version = subprocess.run([PROGRAM, "agent", "-v"], capture_output=True, text=True, timeout=20)
        self.assertEqual((version.returncode, version.stdout.split()[0]), (0, "plimsoll"))
        refused = subprocess.run([PROGRAM, "agent", "-c", path, "-0", "-r", "my.module:Class"], capture_output=True,
                                 text=True, timeout=20)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("built-in components", refused.stderr)

    def test_what_cannot_run_yet_says_so(self):
        done = self.check(ALLOCATION.replace("!NOPAllocator", "!StaticAllocator {config: /x}"), command="run",
                          words=["-0", "--once"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("!StaticAllocator cannot run yet", done.stderr)


if __name__ == "__main__":
    unittest.main()

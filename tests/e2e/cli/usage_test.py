#!/usr/bin/env python3
"""Mistakes, pipes, closed streams, missing homes: what happens to people."""
import json
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import time
import unittest

from plimsoll import PROGRAM, environment, run


class Mistakes(unittest.TestCase):
    def one_line(self, words, code, *parts):
        done = run(*words)
        self.assertEqual(done.returncode, 2, words)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        for part in (code, *parts):
            self.assertIn(part, done.stderr)

    def test_unknown_words_are_one_line_with_a_suggestion(self):
        self.one_line(["verson"], "PLM-1001", 'did you mean "version"?')
        self.one_line(["explain", "errors"], "PLM-1001", 'did you mean "explain error"?')
        self.one_line(["version", "--clinet"], "PLM-1002", "did you mean --client?")
        self.one_line(["version", "-Z"], "PLM-1002")
        self.one_line(["version", "surplus"], "PLM-1003", "usage: plimsoll version")
        self.one_line(["completion"], "PLM-1003", "SHELL")
        self.one_line(["completion", "tcsh"], "PLM-1003", "bash, zsh, fish")
        self.one_line(["version", "-o", "xml"], "PLM-1004", "table, json, yaml")
        self.one_line(["version", "-o"], "PLM-1004", "needs a value")
        self.one_line(["version", "-v", "much"], "PLM-1004", "number")
        self.one_line(["raw", "version"], "PLM-1003", "/version")
        self.one_line(["scheduler", "--check-config", "--kube-api-qps", "NaN"], "PLM-1004", "--kube-api-qps")
        self.one_line(["flow", "validate", "/dev/null"], "PLM-1003", "JSON or YAML")
        self.one_line([""], "PLM-1001")
        self.one_line(["x" * 100_000], "PLM-1001")

    def test_commands_of_parts_to_come_are_unknown(self):
        for word in ("dash", "top"):
            self.one_line([word], "PLM-1001")
        everything = run("--help").stdout + run("completion", "bash").stdout
        self.assertNotIn(" dash", everything)

    def test_a_home_that_may_not_be_entered_has_no_settings(self):
        if os.geteuid():
            self.skipTest("needs root to become somebody else")

        def version(home):
            return subprocess.run([program, "version", "--client"], env=environment(home), capture_output=True, text=True, user=65534)
        with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as place:
            os.chmod(place, 0o755)  # the source tree may be closed to others
            program = shutil.copy(PROGRAM, place)
            self.assertEqual(version(home).returncode, 0)
            settings = pathlib.Path(home, ".config/plimsoll/config.yaml")
            settings.parent.mkdir(parents=True)
            settings.touch(mode=0o600)
            os.chmod(home, 0o755)
            self.assertEqual(version(home).returncode, 2)  # it is there, and cannot be read

    def test_nothing_shows_help_as_a_mistake(self):
        done = run()
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("Commands:", done.stderr)

    def test_help_goes_to_stdout_and_fits(self):
        for words in (["--help"], ["-h"], ["help"], ["doctor", "-h"], ["help", "explain", "error"], ["raw", "--help"],
                      ["explain", "--help"], ["options"], ["version", "--nonsense=1", "--help"][::2]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr), (0, ""), words)
            self.assertLessEqual(done.stdout.count("\n"), 24)

    def test_bad_templates_name_the_column(self):
        done = run("version", "--client", "-o", "jsonpath={.client[}")
        self.assertEqual(done.returncode, 2)
        self.assertIn("column 10", done.stderr)


class Streams(unittest.TestCase):
    def shell(self, script, **env):
        done = subprocess.run(["bash", "-c", script, "bash", PROGRAM], env=environment(**env), capture_output=True,
                              text=True, timeout=30)
        return done

    def test_a_reader_that_leaves_is_no_mistake(self):
        done = self.shell('"$1" completion bash | head -1; echo ${PIPESTATUS[0]}')
        self.assertEqual(done.stdout.splitlines()[-1], "0")
        self.assertEqual(done.stderr, "")
        done = self.shell('"$1" completion zsh | true; echo ${PIPESTATUS[0]}')
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def test_a_closed_or_full_stdout_is_one(self):
        for target in (">&-", ">/dev/full"):
            done = self.shell(f'"$1" version --client {target}; echo $? >&2')
            self.assertIn("PLM-1302", done.stderr)
            self.assertTrue(done.stderr.endswith("\n1\n"), done.stderr)

    def test_closed_stdin_and_stderr_do_no_harm(self):
        done = self.shell('"$1" version --client <&- 2>&-; "$1" nonsense 2>&-; echo $?')
        self.assertIn("Client:", done.stdout)
        self.assertTrue(done.stdout.endswith("2\n"))

    def test_colours_only_when_wanted(self):
        words = ("doctor", "--offline")
        self.assertNotIn("\x1b", run(*words).stdout)
        self.assertIn("\x1b", run(*words, "--color=always").stdout)
        self.assertIn("\x1b", run(*words, env=environment(CLICOLOR_FORCE="1")).stdout)
        self.assertNotIn("\x1b", run(*words, env=environment(CLICOLOR_FORCE="1", NO_COLOR="1")).stdout)
        self.assertNotIn("\x1b", run(*words, "--color=never", env=environment(CLICOLOR_FORCE="1")).stdout)

    def test_no_truncation_in_pipes(self):
        narrow = run("explain", "error", "-o", "wide", env=environment(COLUMNS="20")).stdout
        self.assertGreater(max(map(len, narrow.splitlines())), 100)


class Settings(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)
        self.file = pathlib.Path(self.home.name, ".config", "plimsoll", "config.yaml")
        self.file.parent.mkdir(parents=True)

    def output(self, *words, **env):
        return run("explain", "error", "PLM-1203", *words, env=environment(home=self.home.name, **env)).stdout

    def test_flag_environment_file_default(self):
        self.assertTrue(self.output().startswith("PLM-1203:"))
        self.file.write_text("explain: {error: {output: json}}\n")
        self.assertEqual(json.loads(self.output())["code"], "PLM-1203")
        self.assertTrue(self.output(PLIMSOLL_EXPLAIN_ERROR_OUTPUT="yaml").startswith("code: PLM-1203"))
        name = self.output("-o", "jsonpath={.code}", PLIMSOLL_EXPLAIN_ERROR_OUTPUT="yaml")
        self.assertEqual(name, "PLM-1203")

    def test_a_bad_file_names_line_and_column(self):
        self.file.write_text("context: dev\nnamspace: x\n")
        done = run("version", "--client", env=environment(home=self.home.name))
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"{self.file}:2:1", done.stderr)
        self.assertLessEqual(done.stderr.count("\n"), 3)
        self.assertEqual(run("--help", env=environment(home=self.home.name)).returncode, 0)

    def test_xdg_config_home_and_no_home(self):
        self.file.write_text("output: json\n")
        env = environment(XDG_CONFIG_HOME=str(self.file.parents[1]))
        self.assertTrue(run("explain", "error", env=env).stdout.startswith("{"))
        without = {name: value for name, value in environment().items() if name != "HOME"}
        self.assertEqual(run("version", "--client", env=without).returncode, 0)
        self.assertEqual(run("version", env=without).returncode, 0)

    def test_bad_variables_are_named(self):
        done = run("version", env=environment(PLIMSOLL_VERSION_TIMEOUT="soon"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("PLIMSOLL_VERSION_TIMEOUT", done.stderr)


class Roles(unittest.TestCase):
    def named(self, name, *words):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder, name)
            link.symlink_to(PROGRAM)
            return run(*words, program=str(link))

    def test_kube_scheduler_is_the_scheduler(self):
        done = self.named("kube-scheduler", "--check-config", "--leader-elect=true", "--bind-address=127.0.0.1", "--v=2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("NodeResourcesFit", done.stdout)

    def test_programs_of_the_ancestor_are_the_pools(self):
        for name in ("cpu-device-plugin", "cpusetter"):
            done = self.named(name, "-poolconfigs", "/nonexistent")
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("--node-name", done.stderr)

    def test_as_a_plugin_it_calls_itself_so(self):
        self.assertIn("kubectl plimsoll up", self.named("kubectl-plimsoll", "--help").stdout)
        self.assertIn("kubectl plimsoll explain", self.named("kubectl-plimsoll", "raw", "/x").stderr)

    def test_any_other_name_is_plimsoll(self):
        self.assertIn("Usage: plimsoll", self.named("other", "--help").stdout)


class Start(unittest.TestCase):
    def test_version_is_quick(self):
        if "san" in PROGRAM or "gcc" in PROGRAM:
            self.skipTest("a sanitizer's start is not ours")
        times = []
        for _ in range(10):
            before = time.monotonic()
            run("version", "--client")
            times.append(time.monotonic() - before)
        self.assertLess(min(times), 0.05, times)  # 15 ms on a quiet machine; Python's fork is in it


class Doctor(unittest.TestCase):
    def test_a_fake_host(self):
        with tempfile.TemporaryDirectory() as root:
            files = {"proc/sys/kernel/osrelease": "6.1.0\n", "sys/devices/system/cpu/online": "0-7\n",
                     "sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory pids\n",
                     "sys/fs/cgroup/cgroup.subtree_control": "", "proc/pressure/cpu": "some\n",
                     "var/lib/kubelet/cpu_manager_state": '{"policyName":"static"}'}
            for name, text in files.items():
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            done = run("doctor", "--offline", "--host-root", root, "-o", "json")
            self.assertEqual(done.returncode, 0)
            found = {item["check"]: item for item in json.loads(done.stdout)["items"]}
            self.assertEqual(found["kernel"]["found"], "Linux 6.1.0")
            self.assertEqual(found["kubelet"]["status"], "degraded")
            self.assertIn("cpuManagerPolicy", found["kubelet"]["remedy"])
            table = run("doctor", "--offline", "--host-root", root).stdout
            self.assertIn("improve:", table)
            names = run("doctor", "--offline", "--host-root", root, "--no-headers", "-o", "custom-columns=C:.check")
            self.assertEqual(names.stdout.split("\n")[0], "kernel")

    def test_an_empty_host_fails(self):
        with tempfile.TemporaryDirectory() as root:
            done = run("doctor", "--offline", "--host-root", root, "-o", "jsonpath={.ok}")
            self.assertEqual((done.returncode, done.stdout), (1, "false"))

    def test_this_machine(self):
        done = run("doctor", "--offline", "-o", "json")
        report = json.loads(done.stdout)
        found = {item["check"]: item for item in report["items"]}
        self.assertEqual(found["kernel"]["found"], f"{platform.system()} {platform.release()}")
        self.assertIn(f"{os.sysconf('SC_NPROCESSORS_ONLN')} online", found["cpus"]["found"])
        self.assertEqual(report["ok"], all(item["status"] != "failed" for item in report["items"]), report)
        self.assertEqual(done.returncode, 0 if report["ok"] else 1)
        for item in report["items"]:
            self.assertEqual("effect" in item, item["status"] != "ok", item)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Completion in the real shells and through kubectl."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

from plimsoll import PROGRAM, api_server, environment, home_with, run

BASH = r"""
source <("$PROGRAM" completion bash)
complete_line() {
  COMP_LINE=$1; COMP_POINT=${#1}; COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
  COMP_WORDS=(); local word
  # Cut as readline does: at blanks, and before and after '=' and ':'.
  for word in $(sed -e 's/[=:]/ & /g' <<<"$1"); do COMP_WORDS+=("$word"); done
  [[ $1 == *' ' ]] && COMP_WORDS+=("")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  _plimsoll
  printf '%s\n' "${COMPREPLY[@]}"
}
cd "$FOLDER"
complete_line "$LINE"
"""

ZSH = r"""
autoload -U compinit; compinit -u -D
source <("$PROGRAM" completion zsh)
# Report instead of showing.
compadd() { local -a rest; while (( $# )); do [[ $1 == -- ]] && { shift; rest=("$@"); break; }; shift; done; print -l -- $rest }
_describe() { local name=${@[-1]}; print -l -- ${${(P)name}%%:*} }
_files() { print files }
compset() { : }
words=(${(s: :)LINE}); [[ $LINE == *' ' ]] && words+=('')
CURRENT=$#words
_plimsoll
"""

FISH = r"""
source (eval $PROGRAM completion fish | psub)
complete -C "$LINE"
"""


def offered_in_time(test, word, ask):
    """The server has 200 ms, which on a busy machine may pass before the program has even asked: a person presses the key again."""
    deadline = time.monotonic() + 60
    while word not in (offered := ask()):
        test.assertLess(time.monotonic(), deadline, offered)


class Shells(unittest.TestCase):
    def setUp(self):
        server = api_server()
        self.url, _ = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        home = home_with(self.url)
        self.home = home.__enter__()
        self.addCleanup(home.__exit__, None, None, None)
        self.bin = tempfile.TemporaryDirectory()
        self.addCleanup(self.bin.cleanup)
        pathlib.Path(self.bin.name, "plimsoll").symlink_to(PROGRAM)
        pathlib.Path(self.bin.name, "data.json").write_text("{}")

    def ask(self, shell, script, line):
        env = environment(home=self.home, LINE=line, PROGRAM=PROGRAM, FOLDER=self.bin.name)
        env["PATH"] = f"{self.bin.name}:{env['PATH']}"
        done = subprocess.run([*shell, script], env=env, capture_output=True, text=True, timeout=120, cwd=self.bin.name)
        self.assertEqual(done.stderr, "", line)
        words = [word.split("\t")[0] for word in done.stdout.splitlines() if word]
        return [word.split("=", 1)[1] if word.startswith("--") and "=" in word and not word.endswith("=") else word
                for word in words]

    def check(self, shell, script):
        ask = lambda line: self.ask(shell, script, line)
        self.assertIn("version", ask("plimsoll "))
        self.assertNotIn("__complete", ask("plimsoll "))
        self.assertEqual(sorted(word for word in ask("plimsoll -n default explain ") if not word.startswith("-")), ["error", "pod"])
        self.assertIn("bash", ask("plimsoll completion "))
        self.assertIn("--client", ask("plimsoll version --c"))
        self.assertIn("yaml", ask("plimsoll version -o "))
        self.assertIn("PLM-1203", ask("plimsoll explain error "))
        self.assertIn("dev", ask("plimsoll raw --context "))
        offered_in_time(self, "kube-system", lambda: ask("plimsoll raw -n "))
        offered_in_time(self, "kube-system", lambda: ask("plimsoll raw --namespace="))

    def test_bash(self):
        shell = ["bash", "--norc", "-c"]
        self.check(shell, BASH)
        self.assertEqual(self.ask(shell, BASH, "plimsoll ver"), ["version"])
        self.assertEqual(self.ask(shell, BASH, "plimsoll version --output=js"), ["json", "jsonpath="])
        self.assertEqual(self.ask(shell, BASH, "plimsoll raw -d "), ["data.json", "plimsoll"])
        # A name with colons, of which bash wants only what comes after the last one.
        self.assertEqual(self.ask(shell, BASH, "plimsoll raw --context arn:aws:"), ["x/prod"])

    def test_bash_script_is_clean(self):
        if not shutil.which("shellcheck"):
            self.skipTest("shellcheck is not installed")
        script = run("completion", "bash").stdout
        done = subprocess.run(["shellcheck", "-s", "bash", "-"], input=script, capture_output=True, text=True)
        self.assertEqual(done.stdout, "")

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("zsh is not installed")
        self.check(["zsh", "-f", "-c"], ZSH)

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("fish is not installed")
        self.check(["fish", "--no-config", "-c"], FISH)

    def test_the_budget_holds_against_a_server_that_hangs(self):
        import socket
        with socket.socket() as listener:  # accepts by its backlog, never answers
            listener.bind(("127.0.0.1", 0))
            listener.listen()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            before = time.monotonic()
            done = run("__complete", "--", "raw", "-s", url, "-n", "")
            took = time.monotonic() - before
        self.assertEqual((done.returncode, done.stdout), (0, ":4\n"))
        self.assertLess(took, 3)  # 200 ms and what a busy machine adds; a command itself would wait for 30 s

    def test_broken_settings_do_not_break_the_prompt(self):
        folder = pathlib.Path(self.home, ".config", "plimsoll")
        folder.mkdir(parents=True)
        folder.joinpath("config.yaml").write_text("nonsense: [\n")
        done = run("__complete", "--", "ver", env=environment(home=self.home))
        self.assertEqual(done.stdout.splitlines()[0].split("\t")[0], "version")


class Kubectl(unittest.TestCase):
    def setUp(self):
        if not shutil.which("kubectl"):
            self.skipTest("kubectl is not installed")
        self.bin = tempfile.TemporaryDirectory()
        self.addCleanup(self.bin.cleanup)
        for name in ("kubectl-plimsoll", "kubectl_complete-plimsoll"):
            pathlib.Path(self.bin.name, name).symlink_to(PROGRAM)

    def kubectl(self, *words, home=None):
        env = environment(home=home or self.bin.name)  # where it keeps what it has learned of servers
        env["PATH"] = f"{self.bin.name}:{env['PATH']}"
        return subprocess.run(["kubectl", *words], env=env, capture_output=True, text=True, timeout=60)

    def test_runs_as_a_plugin(self):
        done = self.kubectl("plimsoll", "version", "--client", "-o", "jsonpath={.kubernetes.tested}")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^1\.37\.\d+$")
        self.assertEqual(self.kubectl("plimsoll", "nonsense").returncode, 2)

    def test_completes_as_a_plugin(self):
        done = self.kubectl("__complete", "plimsoll", "ver")
        self.assertIn("version", done.stdout, done.stderr)
        with api_server() as (url, _), home_with(url) as home:
            offered_in_time(self, "kube-system", lambda: self.kubectl("__complete", "plimsoll", "raw", "-n", "kube", home=home).stdout)


if __name__ == "__main__":
    unittest.main()

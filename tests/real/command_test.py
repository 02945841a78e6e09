#!/usr/bin/env python3
"""What ./dev real does for a person, and how Kubernetes and the other programs get into the cache."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from rig.requirements import BUILD, default_kubernetes
from rig.slot import every_slot

HERE = pathlib.Path(__file__).resolve().parent


def real(*words):
    return subprocess.run([HERE / "real", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


class Command(unittest.TestCase):
    def test_a_cluster_stays_until_it_is_taken_down(self):
        name = ("--name", f"t{os.getpid()}")
        self.addCleanup(real, "down", *name)
        started = real("up", *name, "--nodes", "0")
        self.assertRegex(started.stderr, r"(?m)^ +\d+\.\d{3} s  API server ready$")
        kubeconfig = pathlib.Path(started.stdout.removeprefix("export KUBECONFIG=").strip())
        self.assertTrue(kubeconfig.is_file(), started)
        (slot,) = [slot for slot in every_slot() if kubeconfig.is_relative_to(slot.run)]
        self.assertIn("default", real("kubectl", *name, "get", "serviceaccounts", "-o", "name").stdout)
        again = real("up", *name)
        self.assertEqual(again.returncode, 1)
        self.assertIn("runs already", again.stderr)
        real("clean")
        self.assertIn("kube-system", real("kubectl", *name, "get", "namespaces", "-o", "name").stdout)
        before = slot.kept()
        self.assertEqual(real("down", *name).returncode, 0)
        self.assertNotEqual(slot.kept(), before)
        self.assertIn("no cluster", real("kubectl", *name, "get", "nodes").stderr)

    def test_says_why_it_cannot(self):
        done = subprocess.run(["setpriv", "--reuid=65534", "--clear-groups", HERE / "real", "missing"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual((done.stdout, done.stderr), ("needs root", ""))


class Build(unittest.TestCase):
    """With a Go that only writes down how it was called."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        self.cache = self.place / "plimsoll/kubernetes"
        self.env = {**os.environ, "PATH": f"{self.place}:{os.environ['PATH']}", "XDG_CACHE_HOME": place.name}
        for name in ("GOFLAGS", "PLIMSOLL_KUBERNETES"):
            self.env.pop(name, None)

    def go(self, then, version="go1.26.9"):
        program = self.place / "go"
        program.write_text(f'#!/bin/sh\ncase "$1" in env) echo {version}; exit ;; list) echo package; exit ;; esac\n'
                           f'echo "$GOFLAGS $*" >>{self.place}/calls\nwhile [ "$1" != -o ]; do shift; done\nfor name in kube-apiserver kube-controller-manager kube-scheduler '
                           f'kubelet kubectl server; do echo >"$2$name"; chmod +x "$2$name"; done\n{then}\n')
        program.chmod(0o755)

    def calls(self):
        return (self.place / "calls").read_text().splitlines()

    def test_callers_at_the_same_time_get_one_build(self):
        self.go("sleep 0.3")
        running = [subprocess.Popen([BUILD, "kubernetes"], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(4)]
        answers = {child.communicate()[0].strip() for child in running}
        (where,) = answers
        self.assertEqual(sorted(os.listdir(where)), ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kubelet"])
        self.assertEqual(len(self.calls()), 1)
        self.assertIn("-mod=readonly -buildvcs=false build -v -trimpath", self.calls()[0])
        self.assertRegex(self.calls()[0], r"-X k8s.io/component-base/version.gitVersion=v1\.\d+\.\d+ ")

    def test_another_version_has_its_own_place(self):
        self.go("true")
        names = {}
        for asked in ("", "1.35", "v1.35.4"):
            done = subprocess.run([BUILD, "kubernetes"], env={**self.env, "PLIMSOLL_KUBERNETES": asked}, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            names[asked] = pathlib.Path(done.stdout.strip()).name
        self.assertEqual(names, {"": default_kubernetes(), "1.35": "v1.35.4", "v1.35.4": "v1.35.4"})
        self.assertEqual([re.findall(r"component-base/version.gitVersion=(\S+)", call) for call in self.calls()],
                         [[names[""]], ["v1.35.4"]])

    def test_an_unknown_version_is_refused_with_those_that_exist(self):
        for asked in ("1.3", "1.35.40", "latest"):
            done = subprocess.run([BUILD, "kubernetes"], env={**self.env, "PLIMSOLL_KUBERNETES": asked}, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, rf"^there is no Kubernetes {asked} in .*; choose one of {default_kubernetes()} ")
        refused = real("up", "--kubernetes", "1.3")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("there is no Kubernetes 1.3", refused.stderr)

    def test_etcd_has_its_name(self):
        self.go("true")
        done = subprocess.run([BUILD, "etcd"], env=self.env, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.access(pathlib.Path(done.stdout.strip(), "etcd"), os.X_OK))

    def test_half_a_build_is_never_seen(self):
        self.go("exit 1")
        self.assertEqual(subprocess.run([BUILD, "kubernetes"], env=self.env, capture_output=True).returncode, 1)
        self.assertEqual(os.listdir(self.cache), [".lock"])
        self.go("true")
        self.assertEqual(subprocess.run([BUILD, "kubernetes"], env=self.env, capture_output=True).returncode, 0)

    def old_go(self, sum):
        """Which can do no more than fetch a newer one, that of go()."""
        self.go("true")
        (self.place / "go").rename(self.place / "newer")
        (self.place / "go").write_text(f"""#!/bin/sh
[ "$1" = env ] && {{ echo go1.19.8; exit; }}
echo "$*" >>{self.place}/calls
mkdir -p "$GOMODCACHE/x/bin" "$GOMODCACHE/x/pkg/tool/linux"
cp {self.place}/newer "$GOMODCACHE/x/bin/go"
chmod -x "$GOMODCACHE/x/bin/go"
touch "$GOMODCACHE/x/pkg/tool/linux/link"
printf '{{\\n\\t"Dir": "%s",\\n\\t"Sum": "{sum}",\\n\\t"GoModSum": "h1:x"\\n}}\\n' "$GOMODCACHE/x"
""")
        (self.place / "go").chmod(0o755)

    def test_a_go_that_is_too_old_fetches_a_newer_one_once(self):
        (sum,) = re.findall(r"(?m)^sum=(.*)$", BUILD.with_name("go").read_text())
        self.old_go(sum)
        for _ in range(2):
            done = subprocess.run([BUILD, "kubernetes"], env=self.env, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            shutil.rmtree(done.stdout.strip())
        fetched, *builds = self.calls()
        self.assertRegex(fetched, r"^mod download -json golang\.org/toolchain@v0\.0\.1-go1\.26\.\d+\.linux-amd64$")
        self.assertEqual([" build -v -trimpath" in call for call in builds], [True, True])

    def test_a_toolchain_that_is_not_the_one_is_not_run(self):
        self.old_go("h1:other")
        done = subprocess.run([BUILD, "kubernetes"], env=self.env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("h1:other instead of h1:", done.stderr)
        self.assertEqual(os.listdir(self.place / "plimsoll/go"), [".lock"])
        self.assertEqual(len(self.calls()), 1)


if __name__ == "__main__":
    unittest.main()

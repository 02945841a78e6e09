#!/usr/bin/env python3
"""The tests of tests/e2e that any cluster can pass, on real Kubernetes: what they demand of ours, the real one gives.

Left out is what is marked @only_local; how much of it, and why, is printed. A test that is neither marked nor a ClusterCase is a
failure: nobody could tell what it needs. Each runs in a class and a namespace of its own, several at a time, all on one cluster:
first those that need only objects, while no scheduler runs, as `plimsoll up --nodes 0 --scheduler none` has none; then those whose
pods run; last, and alone, those that make the cluster forget its past.
"""
import concurrent.futures
import importlib.util
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
E2E = ROOT / "tests/e2e"
KUBECTL = subprocess.run([ROOT / "tools/debian-kubectl"], capture_output=True, text=True, check=True).stdout.splitlines()[-1]
os.environ |= {"KUBECTL": KUBECTL, "PLIMSOLL_TEST_GOES_AFTERWARDS": "1"}  # the former as in the tier e2e; read when the modules below are
sys.path[:0] = [str(E2E / "api"), str(E2E / "local")]
from local_cluster import PROGRAM, ClusterCase  # noqa: E402
from rig import RealCluster, images  # noqa: E402

TOOLS = "docker.io/plimsoll/tools:latest"
AT_A_TIME = 8
NEEDS = ("api", "nodes", "forgetting")


def tools_archive(path):
    """The image plimsoll/tools, which local nodes bring along: the program, and what it is linked with."""
    with tempfile.TemporaryDirectory(prefix="plim.") as directory:
        small = pathlib.Path(directory) / "plimsoll"
        subprocess.run(["strip", "-o", small, PROGRAM], check=True)
        files = {"plimsoll": small.read_bytes()}
    for line in subprocess.run(["ldd", PROGRAM], check=True, capture_output=True, text=True).stdout.splitlines():
        for word in line.split():
            if word.startswith("/"):
                files[word.lstrip("/")] = pathlib.Path(word).read_bytes()
    return images.write_archive(path, TOOLS, [images.layer(files)], entrypoint=["/plimsoll", "tools"])


def modules():
    for script in sorted([*(E2E / "local").glob("*_test.py"), *(E2E / "api").glob("*_test.py")]):
        spec = importlib.util.spec_from_file_location(script.stem, script)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def tests_in(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from tests_in(one)
        else:
            yield one


def sorted_out():
    """Tests by what they need, the reasons of those that only a local cluster can pass, and the names of those that say neither."""
    chosen, left, unclear = {need: [] for need in NEEDS}, {}, []
    for module in modules():
        for test in tests_in(unittest.defaultTestLoader.loadTestsFromModule(module)):
            reason = getattr(getattr(test, test._testMethodName), "only_local", None) or getattr(type(test), "only_local", None)
            if reason:
                left.setdefault(reason, []).append(test.id())
            elif isinstance(test, ClusterCase) and test.needs in chosen:
                chosen[test.needs].append(test)
            else:
                unclear.append(test.id())
    return chosen, left, unclear


CHOSEN, LEFT, UNCLEAR = sorted_out()


def problems_of(*tests, **more):
    """Runs tests of one class in a copy of it, so that others of the class can run at the same time; by test, what went wrong."""
    kind = type(tests[0])
    own = type(kind.__name__, (kind,), more)
    result = unittest.TestResult()
    unittest.TestSuite(own(test._testMethodName) for test in tests).run(result)
    wrong = [(of, text) for of, text in result.failures + result.errors] + [(of, f"skipped: {why}") for of, why in result.skipped]
    return {test.id(): [text for of, text in wrong if getattr(of, "_testMethodName", test._testMethodName) == test._testMethodName]
            for test in tests}  # what befell the class befell them all


class OnReal(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.problems, begun = {}, time.monotonic()

        def told(what):
            print(f"{time.monotonic() - begun:6.1f} s  {what}", flush=True)
        cluster = RealCluster(nodes=2)
        cls.addClassCleanup(cluster.close)
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, {"PLIMSOLL_TEST_KUBECONFIG": cluster.kubeconfig}))
        cluster.scheduler.kill()
        told("the cluster runs")
        with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
            tools = pool.submit(cls.bring_tools, cluster)
            cls.run_all(pool, "api")
            cluster.kubectl("delete", "deployments,pods", "--all", "--all-namespaces", "--grace-period=0", "--force")  # which would now run
            told("tests of objects")
            cluster.scheduler.start()
            tools.result()
            cls.run_all(pool, "nodes")
            told("tests of pods that run")

        def forget():
            cluster.compact()
            cluster.restart_apiserver()
        for _, tests in itertools.groupby(CHOSEN["forgetting"], type):
            cls.problems |= problems_of(*tests, forget=staticmethod(forget))
        told("tests of a past that is forgotten")

    @classmethod
    def run_all(cls, pool, need):
        for problems in pool.map(problems_of, CHOSEN[need]):
            cls.problems |= problems

    @staticmethod
    def bring_tools(cluster):
        with tempfile.TemporaryDirectory(prefix="plim.") as directory:
            archive = tools_archive(pathlib.Path(directory) / "tools.tar")
            for node in cluster.nodes:
                node.import_image(archive)

    def test_the_others_say_why_only_a_local_cluster_can_pass_them(self):
        self.assertEqual(UNCLEAR, [])
        print()
        for reason, names in LEFT.items():
            scripts = ", ".join(sorted({name.split(".")[0] for name in names}))
            print(f"note: {len(names)} of {scripts} only on a local cluster: {reason}")


def look_at(name):
    def test(self):
        self.assertFalse(self.problems[name], "\n".join(self.problems[name]))
    return test


for one in (test for need in NEEDS for test in CHOSEN[need]):
    setattr(OnReal, f"test_{one.id().replace('.', '_')}", look_at(one.id()))

if __name__ == "__main__":
    unittest.main()

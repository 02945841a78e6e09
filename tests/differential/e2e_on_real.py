#!/usr/bin/env python3
"""The tests of tests/e2e that any cluster can pass, on real Kubernetes: what they demand of ours, the real one gives.

Left out, with the reason, is what is marked @only_local. A test that is not marked and no ClusterCase is an error: it could not be told what it needs.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
E2E = ROOT / "tests/e2e"
for folder in ("tests/e2e/api", "tests/e2e/local", "tests/real"):
    sys.path.insert(0, str(ROOT / folder))
PROGRAM = os.environ.get("PLIMSOLL", str(ROOT / "build" / "dev" / "bin" / "plimsoll"))
TOOLS = "docker.io/plimsoll/tools:latest"
# What a cluster must have for a class of tests; real nodes run the image of our small programs.
CLUSTERS = {"api": {"nodes": 0, "controller_manager": True}, "nodes": {"nodes": 2}}


def tools_archive(path):
    """The image plimsoll/tools, which local nodes bring along: the program, and what it is linked with."""
    from rig import images
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
        spec = importlib.util.spec_from_file_location(f"{script.parent.name}_{script.stem}", script)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module


def tests_in(suite):
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from tests_in(one)
        else:
            yield one


def by_need():
    """Lists of tests by what they need, and the reasons of those that are left out."""
    from local_cluster import ClusterCase
    chosen, left = {need: [] for need in CLUSTERS}, {}
    for module in modules():
        for test in tests_in(unittest.defaultTestLoader.loadTestsFromModule(module)):
            reason = getattr(getattr(test, test._testMethodName), "only_local", None) or getattr(type(test), "only_local", None)
            if reason:
                left.setdefault(reason, []).append(test.id())
            else:
                assert isinstance(test, ClusterCase), f"{test.id()} says neither what it needs nor why only a local cluster has it"
                chosen[test.needs].append(test)
    return chosen, left


class OnRealCluster(unittest.TestSuite):
    """Tests with one need, which share a cluster that has it."""

    def __init__(self, need, tests):
        super().__init__(tests)
        self.need = need

    def run(self, result, debug=False):
        from rig import RealCluster
        with RealCluster(**CLUSTERS[self.need]) as cluster, tempfile.TemporaryDirectory(prefix="plim.") as directory:
            if cluster.nodes:
                archive = tools_archive(pathlib.Path(directory) / "tools.tar")
            for node in cluster.nodes:
                node.import_image(archive)
            os.environ["PLIMSOLL_TEST_KUBECONFIG"] = cluster.kubeconfig
            return super().run(result, debug)


def main():
    chosen, left = by_need()
    for reason, names in left.items():
        print(f"left out: {reason}: {', '.join(names)}")
    suite = unittest.TestSuite(OnRealCluster(need, tests) for need, tests in chosen.items())
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())

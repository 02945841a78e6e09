#!/usr/bin/env python3
"""Hundreds of pods that run once: each ends once, and the node's times of a run are those of the kernel.

PLIMSOLL_SHORT_PODS: how many, 500 in full.

Every duration is within 2 ms of the truth: the times at which the kernel reports that the process became the program and that
it ended. Node and test each ask the kernel. The programs write down what they saw from inside; that must lie within. If the
kernel reports nothing (no root, no CONFIG_PROC_EVENTS), the test checks only that.

The test prints how long all pods took; `bench/local` takes that figure from it, with the release build.
"""
import os
import pathlib
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

from http_api import HttpApi
from kernel_times import KernelTimes
from local_cluster import ClusterCase, eventually, only_local

COUNT = int(os.environ.get("PLIMSOLL_SHORT_PODS", "500"))
PER_SECOND = 20
# "once LEDGER NAME MICROSECONDS" takes that name, by which the kernel's times are found, and notes when it ran as it saw it.
PROGRAM = r"""
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}
int main(int argc, char** argv) {
  long long began = now();
  prctl(PR_SET_NAME, argv[2]);
  int file = open(argv[1], O_WRONLY | O_APPEND);
  usleep(atoi(argv[3]));
  char line[100];
  int size = snprintf(line, sizeof line, "%s %lld %lld\n", argv[2], began, now());
  return write(file, line, size) != size;
}
"""


def figures(errors):
    """One line of figures, for people."""
    errors = sorted(errors)
    return (f"durations off by {statistics.median(errors):.3f} ms (median), {errors[len(errors) * 99 // 100]:.3f} ms (p99), "
            f"{errors[-1]:.3f} ms (worst)")


@only_local("asks for exact times of runs, and runs a program of this machine")
class ShortPods(ClusterCase):
    flags = ("--nodes", "3")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        directory = tempfile.TemporaryDirectory(prefix="plim.")
        cls.shared.addCleanup(directory.cleanup)
        os.chmod(directory.name, 0o755)
        cls.program, cls.ledger = f"{directory.name}/once", f"{directory.name}/ledger"
        subprocess.run(["cc", "-O1", "-static", "-x", "c", "-", "-o", cls.program], input=PROGRAM, text=True, check=True)
        open(cls.ledger, "w").close()
        cls.api = HttpApi(cls.cluster.kubeconfig)
        cls.shared.addCleanup(cls.api.close)
        cls.ns, cls.seen = cls.cluster.namespace("short"), {}
        cls.path = f"/api/v1/namespaces/{cls.ns}/pods"
        cls.kernel = KernelTimes()
        cls.shared.addCleanup(cls.kernel.close)
        try:
            cls.run_all()
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def run_all(cls):
        """Both tests look at the same runs."""
        done = threading.Event()
        threading.Thread(target=cls.follow, args=(done,), daemon=True).start()
        began = time.monotonic()
        for i in range(COUNT):
            cls.api.post(cls.path, cls.pod(f"p{i}"))
            time.sleep(max(0, began + (i + 1) / PER_SECOND - time.monotonic()))
        assert done.wait(240), f"{len(cls.seen)} of {COUNT} have ended"
        cls.seconds = time.monotonic() - began

    @classmethod
    def pod(cls, name):
        container = {"name": "main", "image": "any", "command": [cls.program, cls.ledger, name, "2000"]}
        return {"metadata": {"name": name}, "spec": {"containers": [container], "restartPolicy": "Never"}}

    @classmethod
    def follow(cls, done):
        """Counts how often each pod comes to an end, as a watcher sees it."""
        phases = {}
        for event in HttpApi(cls.cluster.kubeconfig).watch(f"{cls.path}?resourceVersion=0", 300):
            name, phase = event["object"]["metadata"]["name"], event["object"].get("status", {}).get("phase")
            if event["type"] not in ("ADDED", "MODIFIED") or phase == phases.get(name):
                continue
            phases[name] = phase
            if phase in ("Succeeded", "Failed"):
                cls.seen.setdefault(name, []).append(phase)
            if len(cls.seen) == COUNT:
                return done.set()

    def test_each_succeeds_once(self):
        self.assertEqual(self.seen, {f"p{i}": ["Succeeded"] for i in range(COUNT)})
        for item in self.api.get(self.path)["items"]:
            status = item["status"]["containerStatuses"][0]
            ended = status["state"]["terminated"]
            self.assertLessEqual(ended["startedAt"], ended["finishedAt"])
            self.assertEqual((status["restartCount"], ended["exitCode"]), (0, 0))
        self.check_from_inside(self.runs())
        print(f"{COUNT} pods in {self.seconds:.1f} s")

    def test_times_are_the_kernels(self):
        runs = self.runs()
        told_of = lambda: {name: times for name, times in self.kernel.times().items() if name in runs}
        try:
            times = eventually(lambda: len(found := told_of()) == COUNT and found, seconds=10, what="the last of the kernel's times")
        except AssertionError:
            times = told_of()
            if not times:
                self.skipTest(self.kernel.why_not)
            self.assertTrue(self.kernel.dropped, f"the kernel told the times of {len(times)} only")
            print(f"\nnote: the kernel told the times of {len(times)} of {COUNT} only: too busy a machine")
        errors = [(abs(runs[name]["startedMonotonicNs"] - start) + abs(runs[name]["finishedMonotonicNs"] - end)) / 1e6
                  for name, (start, end) in times.items()]
        print(figures(errors))
        self.assertLess(max(errors), 2, f"{sum(ms >= 2 for ms in errors)} of {len(errors)} are further off")

    def runs(self):
        """The nodes' times of this test's runs, by pod."""
        nodes = [node["metadata"]["name"] for node in self.api.get("/api/v1/nodes")["items"]]
        found = [run for node in nodes for run in self.api.get(f"/api/v1/nodes/{node}/proxy/plimsoll/v1/runs")["runs"]
                 if run["namespace"] == self.ns]
        runs = {run["pod"]: run for run in found}
        self.assertEqual((len(found), sorted(runs)), (COUNT, sorted(f"p{i}" for i in range(COUNT))))
        return runs

    def check_from_inside(self, runs):
        lines = [line.split() for line in pathlib.Path(self.ledger).read_text().splitlines()]
        self.assertEqual(sorted(name for name, _, _ in lines), sorted(runs), "each once")
        for name, began, ended in lines:
            run = runs[name]
            self.assertLessEqual(run["startedMonotonicNs"], int(began))
            self.assertGreaterEqual(run["finishedMonotonicNs"], int(ended))
            self.assertLessEqual(run["startedWallNs"], run["finishedWallNs"])


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Hundreds of pods that run once: each ends once, and the node's times of a run hold what the process itself measured.

PLIMSOLL_SHORT_PODS: how many, 500 in full.

The promise is 500 pods in 30 s and durations within 2 ms of the truth. Of a process nobody outside knows the truth better than to
what it takes to become a program and to be seen dead: about 0.5 ms and 0.15 ms, and as long as the scheduler likes when there is
more to do than cores to do it. A bare vfork, exec and wait of the same program runs beside the pods and tells what this machine
can do at best. So it is the median that is held to 2 ms, as long as the pods are through in time; a machine too busy for that is
allowed more, and says so. Single runs cannot be held to it: with two cores a start may have to wait for another pod's and for the
cluster's own work. Measured on two cores: 1.3 ms (median) and 5 to 7 ms (p99) with two other processes at work, 1.3 to 1.9 ms and
20 ms with eight, where 500 pods take a minute.
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
from local_cluster import ClusterCase, only_local

COUNT = int(os.environ.get("PLIMSOLL_SHORT_PODS", "500"))
PER_SECOND = 20
# "once LEDGER NAME MICROSECONDS" notes when it began and ended, in one write, so that lines of many processes do not mix. "once LEDGER"
# runs itself again and again until its input ends, and notes for each by how many nanoseconds it was too early and too late.
PROGRAM = r"""
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}
static int bare(const char* program, const char* ledger) {
  struct pollfd input = {0, POLLIN, 0};
  char line[200] = {0};
  FILE* file = fopen(ledger, "r");
  do {
    volatile long long started = 0;
    pid_t child = vfork();
    if (child == 0) {
      started = now();
      execl(program, program, ledger, "bare", "2000", (char*)0);
      _exit(1);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 1;
    long long seen = now(), began = 0, ended = 0;
    if (!fgets(line, sizeof line, file) || sscanf(line, "%*s %lld %lld", &began, &ended) != 2) return 1;
    printf("%lld %lld\n", began - started, seen - ended);
  } while (poll(&input, 1, 100) == 0);
  return 0;
}
int main(int argc, char** argv) {
  long long began = now();
  if (argc != 4) return bare(argv[0], argv[1]);
  int file = open(argv[1], O_WRONLY | O_APPEND);
  usleep(atoi(argv[3]));
  char line[200];
  int size = snprintf(line, sizeof line, "%s %lld %lld\n", argv[2], began, now());
  _exit(write(file, line, size) != size);
}
"""


def median(values):
    return statistics.median(values)


def told(what, early, late):
    """One line of figures, for people."""
    both = sorted(start + end for start, end in zip(early, late))
    return (f"{what}: durations off by {median(both):.2f} ms (median; {median(early):.2f} at the start, {median(late):.2f} at the end), "
            f"{both[len(both) * 99 // 100]:.1f} ms (p99), {100 * sum(ms < 2 for ms in both) // len(both)} % by less than 2 ms")


@only_local("asks for exact times of runs, and runs a program of this machine")
class ShortPods(ClusterCase):
    flags = ("--nodes", "3")

    def setUp(self):
        super().setUp()
        self.ns = self.cluster.namespace("short")
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.path = f"/api/v1/namespaces/{self.ns}/pods"
        directory = tempfile.TemporaryDirectory(prefix="plim.")
        self.addCleanup(directory.cleanup)
        os.chmod(directory.name, 0o755)
        self.program, self.ledger = f"{directory.name}/once", f"{directory.name}/ledger"
        # Static: what a loader does before main() is part of a run, but this program's clock would not see it.
        subprocess.run(["cc", "-O1", "-static", "-x", "c", "-", "-o", self.program], input=PROGRAM, text=True, check=True)
        open(self.ledger, "w").close()

    def pod(self, name):
        container = {"name": "main", "image": "any", "command": [self.program, self.ledger, name, "2000"]}
        return {"metadata": {"name": name}, "spec": {"containers": [container], "restartPolicy": "Never"}}

    def follow(self, seen, done):
        """Counts how often each pod comes to an end, as a watcher sees it."""
        phases = {}
        for event in HttpApi(self.cluster.kubeconfig).watch(f"{self.path}?resourceVersion=0", 300):
            name, phase = event["object"]["metadata"]["name"], event["object"].get("status", {}).get("phase")
            if event["type"] not in ("ADDED", "MODIFIED") or phase == phases.get(name):
                continue
            phases[name] = phase
            if phase in ("Succeeded", "Failed"):
                seen.setdefault(name, []).append(phase)
            if len(seen) == COUNT:
                return done.set()

    def test_each_succeeds_once_and_its_times_hold(self):
        seen, done = {}, threading.Event()
        threading.Thread(target=self.follow, args=(seen, done), daemon=True).start()
        bare = self.run_bare()
        began = time.monotonic()
        for i in range(COUNT):
            self.api.post(self.path, self.pod(f"p{i}"))
            time.sleep(max(0, began + (i + 1) / PER_SECOND - time.monotonic()))
        self.assertTrue(done.wait(240), f"{len(seen)} of {COUNT} have ended")
        seconds = time.monotonic() - began
        self.assertEqual(seen, {f"p{i}": ["Succeeded"] for i in range(COUNT)})
        for item in self.api.get(self.path)["items"]:
            status = item["status"]["containerStatuses"][0]
            ended = status["state"]["terminated"]
            self.assertLessEqual(ended["startedAt"], ended["finishedAt"])
            self.assertEqual((status["restartCount"], ended["exitCode"]), (0, 0))
        bare_early, bare_late = self.times_of_bare(bare)
        early, late = self.compare_times()
        off = median([start + end for start, end in zip(early, late)])
        in_time = seconds <= 30 * COUNT / 500
        print(f"{'' if in_time else 'note: too busy a machine; '}{COUNT} pods in {seconds:.1f} s; {told('runs', early, late)}; "
              f"{told('bare', bare_early, bare_late)}")
        self.assertLess(off, 2 if in_time else 10)
        self.assertLess(seconds, 200)

    def run_bare(self):
        ledger = self.ledger + ".bare"
        open(ledger, "w").close()
        child = subprocess.Popen([self.program, ledger], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdin.close)
        return child

    def times_of_bare(self, child):
        lines = child.communicate()[0].splitlines()
        self.assertEqual(child.returncode, 0)
        pairs = [[int(word) / 1e6 for word in line.split()] for line in lines]
        return zip(*pairs)

    def compare_times(self):
        """By how many milliseconds runs begin before and end after what their processes say."""
        own = {}
        for line in pathlib.Path(self.ledger).read_text().splitlines():
            name, start, end = line.split()
            self.assertNotIn(name, own, "it ran twice")
            own[name] = int(start), int(end)
        self.assertEqual(len(own), COUNT)
        runs = [run for node in self.api.get("/api/v1/nodes")["items"]
                for run in self.api.get(f"/api/v1/nodes/{node['metadata']['name']}/proxy/plimsoll/v1/runs")["runs"]
                if run["namespace"] == self.ns]
        self.assertEqual(len(runs), COUNT)
        early, late = [], []
        for run in runs:
            start, end = own[run["pod"]]
            self.assertLessEqual(run["startedMonotonicNs"], start)
            self.assertLessEqual(end, run["finishedMonotonicNs"])
            self.assertLessEqual(run["startedWallNs"], run["finishedWallNs"])
            early.append((start - run["startedMonotonicNs"]) / 1e6)
            late.append((run["finishedMonotonicNs"] - end) / 1e6)
        return early, late


if __name__ == "__main__":
    unittest.main()

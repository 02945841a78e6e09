#!/usr/bin/env python3
"""The wall clock is set back by an hour, and forward, under a running cluster: only timestamps may tell."""
import datetime
import struct
import subprocess
import time
import unittest

from http_api import HttpApi
from local_cluster import LocalCluster, Place, eventually, only_local

# Moves what a program takes for the time of day by the seconds that a file holds.
SHIM = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile long long* offset(void) {
  static volatile long long* found;
  if (!found) {
    const char* path = getenv("CLOCK_OFFSET");
    int file = path ? open(path, O_RDONLY) : -1;
    void* at = mmap(0, 8, PROT_READ, file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    found = at;
  }
  return found;
}
int clock_gettime(clockid_t clock, struct timespec* out) {
  int done = syscall(SYS_clock_gettime, clock, out);
  if (done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) out->tv_sec += *offset();
  return done;
}
time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}
int gettimeofday(struct timeval* restrict out, void* restrict zone) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}
"""
HOUR = 3600


def pod(name, *args, **spec):
    container = {"name": "c", "image": "plimsoll/tools", "args": list(args), **spec.pop("container", {})}
    return {"metadata": {"name": name}, "spec": {"containers": [container], "restartPolicy": "Never", **spec}}


@only_local("sets the clock of the server")
class ClockSteps(unittest.TestCase):
    def setUp(self):
        place = Place(self)
        library, self.offset = place.root / "clock.so", place.root / "offset"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", library], input=SHIM, text=True, check=True)
        self.set_clock(0)
        place.env.update(LD_PRELOAD=str(library), CLOCK_OFFSET=str(self.offset))
        self.cluster = LocalCluster(self, "--nodes", "1", place=place)
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.pods = "/api/v1/namespaces/default/pods"

    def set_clock(self, seconds):
        with open(self.offset, "r+b" if self.offset.exists() else "w+b") as file:
            file.write(struct.pack("q", seconds))

    def phase(self, name):
        return self.api.get(f"{self.pods}/{name}")["status"]["phase"]

    def takes(self, what, check, at_least=0.0, at_most=10.0):
        began = time.monotonic()
        eventually(check, seconds=at_most, what=what)
        self.assertGreaterEqual(time.monotonic() - began, at_least, what)

    def gone(self, name):
        return name not in [item["metadata"]["name"] for item in self.api.get(self.pods)["items"]]

    def check_life_goes_on(self, mark):
        made = self.api.post(self.pods, pod(f"{mark}-short", "exit", "0"))
        shown = datetime.datetime.fromisoformat(made["metadata"]["creationTimestamp"])
        real = datetime.datetime.now(datetime.timezone.utc)
        moved = struct.unpack("q", self.offset.read_bytes())[0]
        self.assertLess(abs((shown - real).total_seconds() - moved), 5)
        self.takes("a short pod", lambda: self.phase(f"{mark}-short") == "Succeeded")
        self.api.post(self.pods, pod(f"{mark}-stubborn", "sleep", "infinity"))
        self.takes("a pod", lambda: self.phase(f"{mark}-stubborn") == "Running")
        self.api.delete(f"{self.pods}/{mark}-stubborn", gracePeriodSeconds=1)
        self.takes("the end of a pod", lambda: self.gone(f"{mark}-stubborn"), at_most=5)
        apps = "/apis/apps/v1/namespaces/default/deployments"
        template = {"metadata": {"labels": {"app": mark}}, "spec": {**pod("", "sleep", "infinity")["spec"], "restartPolicy": "Always",
                                                                    "terminationGracePeriodSeconds": 0}}
        self.api.post(apps, {"metadata": {"name": mark}, "spec": {"selector": {"matchLabels": {"app": mark}}, "template": template,
                                                                   "minReadySeconds": 1}})
        self.takes("a deployment", lambda: self.api.get(f"{apps}/{mark}")["status"].get("availableReplicas") == 1)
        job = {"metadata": {"name": mark}, "spec": {"completions": 2, "template": {"spec": pod("", "exit", "0")["spec"]}}}
        self.api.post("/apis/batch/v1/namespaces/default/jobs", job)
        self.takes("a job", lambda: self.api.get(f"/apis/batch/v1/namespaces/default/jobs/{mark}")["status"].get("succeeded") == 2)
        node = self.api.get("/api/v1/nodes/n1")
        self.assertEqual([item["status"] for item in node["status"]["conditions"] if item["type"] == "Ready"], ["True"])
        self.assertFalse(node["spec"].get("taints"))

    def test_steps_are_seen_in_timestamps_only(self):
        self.api.post(self.pods, pod("before", "sleep", "infinity", activeDeadlineSeconds=HOUR + 300))
        # Half of its time has passed when the clock goes back, or so it seems to be when it goes forward.
        self.api.post(self.pods, pod("limited", "sleep", "infinity", activeDeadlineSeconds=8))
        eventually(lambda: self.phase("before") == self.phase("limited") == "Running", what="pods before the step")
        self.api.post(self.pods, pod("leaving", "sleep", "infinity", terminationGracePeriodSeconds=2))
        eventually(lambda: self.phase("leaving") == "Running", what="a pod that will leave")
        self.set_clock(-HOUR)
        self.check_life_goes_on("back")
        self.takes("the deadline of a pod", lambda: self.phase("limited") == "Failed", at_most=20)
        self.set_clock(HOUR)
        self.check_life_goes_on("forward")
        self.assertEqual((self.phase("before"), self.phase("leaving")), ("Running", "Running"))
        # And a start afterwards: the keys of an hour ago are good, the pods are still its own.
        self.set_clock(-HOUR)
        self.cluster.kill()
        self.api.close()
        self.cluster.up(self, "--nodes", "1")
        eventually(lambda: self.phase("before") == self.phase("leaving") == "Running", what="pods after a restart")
        self.assertEqual(self.api.get(f"{self.pods}/before")["status"]["containerStatuses"][0]["restartCount"], 0)


if __name__ == "__main__":
    unittest.main()

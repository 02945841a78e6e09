#!/usr/bin/env python3
"""Thousands of pods and a stream of events: every run is sent, at full size within a second, and nothing is kept of what is gone.

PLIMSOLL_SERVO_LOAD_PODS and PLIMSOLL_SERVO_LOAD_SECONDS: 5000 and 600 in full; 500 and 5 without them.
"""
import json
import os
import pathlib
import subprocess
import time
import unittest

from receiver import Receiver
from servo import Servo, eventually

from local_cluster import LOAD, LocalCluster

PODS = int(os.environ.get("PLIMSOLL_SERVO_LOAD_PODS", "500"))
SECONDS = int(os.environ.get("PLIMSOLL_SERVO_LOAD_SECONDS", "5"))
EVENTS = 200  # each second: a pod is made, ends, is changed once more and is deleted
IS_FULL = "PLIMSOLL_SERVO_LOAD_SECONDS" in os.environ


def resident(pid):
    return int(next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
                    if line.startswith("VmRSS")).split()[1]) / 1024


class Load(unittest.TestCase):
    def test_every_run_is_sent_and_nothing_stays(self):
        cluster = LocalCluster(self, "--nodes", "0", "--durability", "os")
        receiver = Receiver(self)
        servo = Servo(self, cluster.kubeconfig, "--optune-url", receiver.url, "--optune-account", "acme",
                      "--pod-namespaces", "plimsoll-load").start()
        ledger = servo.directory / "ledger"
        load = subprocess.Popen([LOAD, "jobs", "--kubeconfig", cluster.kubeconfig, "--pods", str(PODS), "--rate", str(EVENTS), "--seconds",
                                 str(SECONDS), "--pid", str(servo.child.pid), "--ledger", ledger, "--keep", "-o", "json"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.addCleanup(load.kill)
        eventually(ledger.exists, 120, what="the pods that stay")
        memory = []  # of every tenth of the time
        while load.poll() is None:
            memory.append(resident(servo.child.pid))
            time.sleep(SECONDS / 10)
        self.assertEqual(load.returncode, 0)
        numbers = json.loads(load.communicate()[0])
        ended = {uid: int(at) / 1e9 for uid, at in (line.split() for line in ledger.read_text().splitlines())}
        self.assertEqual(len(ended), SECONDS * EVENTS // 4)
        eventually(lambda: len(receiver.measurements()) >= len(ended), 30, 0.1)
        now = resident(servo.child.pid)
        arrived = {post.key.split("/")[0]: post.at for post in receiver.measurements()}
        self.assertEqual(set(arrived), set(ended), "LOST: runs that were never sent")
        self.assertEqual(len(receiver.measurements(accepted=False)), len(ended))
        waits = sorted(arrived[uid] - at for uid, at in ended.items())
        p50, p99 = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
        early = memory[len(memory) // 3]
        print(f"{PODS} pods, {len(ended)} runs in {SECONDS} s ({numbers['events_per_second']:.0f} events/s); from before the end was written "
              f"to the post {p50 * 1000:.1f} ms (median), {p99 * 1000:.1f} ms (p99), {waits[-1] * 1000:.1f} ms (most); RSS {memory[0]:.1f} at "
              f"the beginning, {early:.1f} after a third, {now:.1f} MiB at the end; {numbers['cpu_ms_per_1000_events']:.0f} ms of CPU per "
              "1000 events")
        # Nothing is kept of pods that are gone, and nothing waits.
        eventually(lambda: servo.metric("plimsoll_servo_jobs") == PODS, 30, what="the pods that stay, and no other")
        eventually(lambda: servo.metric("plimsoll_servo_unsent") == 0, 30, what="the end of the last post")
        # With so few runs, memory is the heap's noise, and on a machine that runs all tests at once, the waits are the scheduler's.
        if IS_FULL:
            self.assertGreater(numbers["events_per_second"], EVENTS * 0.95)
            self.assertLess(p99, 1)
            # Keys are remembered: a few hundred bytes for each run.
            self.assertLess(now - early, 4 + len(ended) * 0.0005)


if __name__ == "__main__":
    unittest.main()

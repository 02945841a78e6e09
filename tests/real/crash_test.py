#!/usr/bin/env python3
"""kill -9 of a test in the midst of its work: what the next one finds."""
import os
import subprocess
import sys
import unittest

from leftovers import NOTHING, machine, processes_in, traces
from rig import RealCluster
from rig.slot import TESTS_OF_THE_RIG, Slot, alone, clear_leftovers

A_TEST = """
import sys
from busybox import pod
from rig import RealCluster
from rig.slot import TESTS_OF_THE_RIG
cluster = RealCluster(nodes=1, numbers=TESTS_OF_THE_RIG)
cluster.apply(pod("busy", "sleep", "1000"))
cluster.kubectl("wait", "--for=condition=Ready", "pod/busy", "--timeout=60s")
print(cluster.slot.number, flush=True)
sys.stdin.read()
"""


class Crash(unittest.TestCase):
    def test_what_a_killed_run_left_is_removed_by_the_next_and_others_stay(self):
        before = machine()
        child = subprocess.Popen([sys.executable, "-c", A_TEST], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 cwd=os.path.dirname(os.path.abspath(__file__)))
        self.addCleanup(child.kill)
        left = Slot(int(child.stdout.readline()))
        self.assertTrue(processes_in(left.namespaces()))
        self.assertTrue(left.cgroups())
        with RealCluster(numbers=TESTS_OF_THE_RIG) as beside:
            self.assertNotEqual(left.number, beside.slot.number)
            self.assertTrue(processes_in(left.namespaces()))
            child.kill()
            child.communicate()
            with alone():
                clear_leftovers()
            self.assertEqual(traces(left), NOTHING)
            self.assertEqual(machine(), before)
            beside.kubectl("get", "namespaces")
            slot = beside.slot
        self.assertEqual(traces(slot), NOTHING)


if __name__ == "__main__":
    unittest.main()

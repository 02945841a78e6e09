#!/usr/bin/env python3
"""Two processes and one Lease on a real API server: one leads, never both."""
import signal
import time
import unittest

from probe import Probe
from rig import RealClusterCase

LEASE, RETRY = 3, 1  # of the probe


class Election(RealClusterCase):
    def contend(self, lease, identity):
        return Probe(self, self.cluster, "lead", "default", lease, identity)

    def test_the_other_takes_over_from_a_leader_that_was_killed_but_not_before_its_lease_ends(self):
        first = self.contend("killed", "a")
        first.wait("started")
        second = self.contend("killed", "b")
        second.wait("leader", identity="a")
        killed = time.monotonic()
        first.end(signal.SIGKILL)
        taken = second.wait("started")["at"]
        self.assertGreater(taken - killed, LEASE - RETRY - 0.2)
        self.assertLess(taken - killed, LEASE + 2 * RETRY + 2)
        self.assertEqual(self.cluster.get("lease", "killed")["spec"]["leaseTransitions"], 1)

    def test_a_leader_that_ends_properly_hands_over_at_once(self):
        first = self.contend("released", "a")
        first.wait("started")
        second = self.contend("released", "b")
        second.wait("leader", identity="a")
        first.end(signal.SIGTERM)
        stopped = first.wait("stopped")["at"]
        started = second.wait("started")["at"]
        self.assertLess(stopped, started)
        self.assertLess(started - stopped, LEASE - 0.5)

    def test_a_leader_that_was_frozen_knows_at_once_that_it_leads_no_more(self):
        first = self.contend("frozen", "a")
        first.wait("started")
        second = self.contend("frozen", "b")
        second.wait("leader", identity="a")
        first.send(signal.SIGSTOP)
        second.wait("started")
        thawed = time.monotonic()
        first.send(signal.SIGCONT)
        self.assertLess(first.wait("stopped")["at"] - thawed, 1)
        first.wait("leader", identity="b")
        self.assertEqual(len(first.all("started")), 1)
        self.assertEqual(second.all("stopped"), [])


if __name__ == "__main__":
    unittest.main()

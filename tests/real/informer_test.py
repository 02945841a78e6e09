#!/usr/bin/env python3
"""Our informer on a real API server that goes away, comes back, and has forgotten."""
import json
import signal
import unittest
from operator import itemgetter

from probe import Probe
from rig import RealClusterCase


class Informer(RealClusterCase):
    def follow(self):
        ns = self.cluster.namespace("informed")
        self.maps = f"/api/v1/namespaces/{ns}/configmaps"
        self.api = self.cluster.api()
        self.addCleanup(self.api.close)
        self.write("first")
        probe = Probe(self, self.cluster, "inform", ns)
        probe.wait("add", name="first")
        probe.wait("synced")
        return probe

    def write(self, name, value="1"):
        return self.api.post(self.maps, {"metadata": {"name": name, "labels": {"value": value}}})

    def change(self, name, value):
        self.api.merge(f"{self.maps}/{name}", {"metadata": {"labels": {"value": value}}})

    def remove(self, name):
        self.api.delete(f"{self.maps}/{name}")

    def restart(self, *flags):
        self.api.close()
        self.cluster.restart_apiserver(*flags)

    def test_goes_on_after_a_restart_of_the_api_server_and_tells_nothing_twice(self):
        probe = self.follow()
        self.restart()
        for number in range(50):
            self.write(f"later-{number}")
        self.change("first", "2")
        self.remove("later-0")
        probe.wait("update", name="first", value="2", seconds=40)
        probe.wait("delete", name="later-0")
        for number in range(50):
            self.assertEqual(len(probe.all("add", name=f"later-{number}")), 1)
        self.assertEqual(len(probe.all("add", name="first")), 1)
        self.assertEqual(len(probe.all("synced")), 1)

    def test_finds_out_what_it_missed_when_the_server_has_forgotten_it(self):
        probe = self.follow()
        seen, lists = itemgetter("version", "lists")(probe.wait("add", name="first"))
        probe.send(signal.SIGSTOP)
        self.restart()  # nothing of what follows waits in its connection
        self.remove("first")
        self.write("second")
        self.change("second", "2")
        self.cluster.compact()
        self.restart()
        # What it last saw is gone from etcd, and the new server never had it.
        expired = self.cluster.raw(f"{self.maps}?watch=1&resourceVersion={seen}&timeoutSeconds=1")
        self.assertEqual(json.loads(expired.stdout)["object"]["code"], 410)
        probe.send(signal.SIGCONT)
        probe.wait("delete", name="first", seconds=40)
        told = probe.wait("add", name="second")
        self.assertEqual(told["value"], "2")
        self.assertGreater(told["lists"], lists)
        self.write("third")
        probe.wait("add", name="third")
        self.assertEqual(len(probe.all("add")), 3)

    def test_a_server_without_a_watch_cache_is_followed_through_a_compaction(self):
        uncached = "--watch-cache=false"
        self.cluster.restart_apiserver(uncached)
        probe = self.follow()
        lists = probe.wait("add", name="first")["lists"]
        for number in range(20):
            self.change("first", str(number))
        self.cluster.compact()
        self.write("second")
        probe.wait("add", name="second")
        probe.wait("update", name="first", value="19")
        self.assertEqual(probe.all("add", name="second")[0]["lists"], lists)
        probe.send(signal.SIGSTOP)
        self.restart(uncached)
        self.remove("second")
        self.cluster.compact()
        probe.send(signal.SIGCONT)
        self.assertEqual(probe.wait("delete", name="second", seconds=40)["lists"], lists + 1)


if __name__ == "__main__":
    unittest.main()

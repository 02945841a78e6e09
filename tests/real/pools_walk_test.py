#!/usr/bin/env python3
"""The page docs/from-cpu-pooler.md on a real API server, kubelet and containerd, with the image and the files of deploy/pools."""
import pathlib
import re
import sys
import unittest

from daemon_set_case import DaemonSetCase
from rig import ROOT

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "pools"))
from pools_walk import PoolsWalk  # noqa: E402


class Walk(DaemonSetCase, PoolsWalk):
    # No kube-proxy runs here: the API server goes to the webhook's pods directly.
    options = {**DaemonSetCase.options, "apiserver_flags": ("--enable-aggregator-routing=true",)}

    def agent_mounts(self):
        """By where they are in the agent's container: the options of the one on top."""
        (pod,) = self.cluster.get("pods", "-n", "kube-system", "-l", "name=cpudp")["items"]
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if pod["metadata"]["uid"] in (process / "cgroup").read_text() and "\0pools\0agent\0" in (process / "cmdline").read_text():
                    fields = [line.split() for line in (process / "mountinfo").read_text().splitlines()]
                    return {field[4]: field[5].split(",") for field in fields}
            except OSError:
                continue
        raise AssertionError("the agent does not run")

    def test_the_page_ends_with_processes_on_their_cpus(self):
        self.walk()
        mounts = self.agent_mounts()
        self.assertIn("/host/sys/fs/cgroup", mounts)
        kernel = {place: options for place, options in mounts.items()
                  if re.match(r"/host/(proc|sys)(/|$)", place) and not re.match(r"/host/sys/fs/cgroup(/|$)", place)}
        self.assertLessEqual({"/host/proc", "/host/sys"}, kernel.keys())
        self.assertEqual([place for place, options in kernel.items() if "ro" not in options], [])


if __name__ == "__main__":
    unittest.main()

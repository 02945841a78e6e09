#!/usr/bin/env python3
"""The tour that ./dev up ends with, on a cluster of its own, twice."""
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/e2e/local"))
from local_cluster import KUBECTL, PROGRAM, LocalCluster, only_local  # noqa: E402


def changes():
    """What git would report in this clone; what .gitignore names is not among it."""
    return subprocess.run(["git", "status", "--porcelain", "--ignored=no", "--untracked-files=all"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout


@only_local("is a tour of the local cluster")
class Tour(unittest.TestCase):
    def tour(self, cluster):
        tools = cluster.place.root / "tools"  # where kubectl has that name
        tools.mkdir(exist_ok=True)
        if not (tools / "kubectl").exists():
            (tools / "kubectl").symlink_to(pathlib.Path(KUBECTL).resolve())
        env = {**cluster.place.env, "KUBECONFIG": str(cluster.kubeconfig), "PLIMSOLL": PROGRAM,
               "PATH": f"{tools}:{os.environ['PATH']}"}
        done = subprocess.run([ROOT / "tools/tour"], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_it_shows_every_part_and_leaves_the_clone_as_it_was(self):
        cluster = LocalCluster(self, "--nodes", "2", "--roles", "all")
        before = changes()
        for _ in range(2):
            told = self.tour(cluster)
            self.assertRegex(told, r"default/web-\S+ +n[12] +[0-9.]+%")
            self.assertEqual(len(re.findall(r"nightly-report +default +report-\w+ +completed +0 +[234]s", told)), 3, told)
            self.assertIn("killing worker process", told)
            written, different = map(int, re.search(r"(\d+) records written, (\d+) of them different", told).groups())
            self.assertTrue(written == different > 1000, told)
        self.assertEqual(changes(), before, "the tour wrote into the clone")


if __name__ == "__main__":
    unittest.main()

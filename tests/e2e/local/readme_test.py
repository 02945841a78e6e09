#!/usr/bin/env python3
"""The lines README.md shows to a new user, run as they stand and in their order."""
import json
import os
import pathlib
import subprocess
import unittest

from local_cluster import KUBECTL, PROGRAM, ROOT, LocalCluster, only_local

BEGIN = "<!-- run by tests/e2e/local/readme_test.py -->"


@only_local("README.md is about the local cluster")
class Readme(unittest.TestCase):
    def test_its_lines_work(self):
        blocks = [part.split("```")[1] for part in (ROOT / "README.md").read_text().split(BEGIN)[1:]]
        lines = [line[2:].split("#")[0].strip() for block in blocks for line in block.splitlines() if line.startswith("$ ")]
        for program, least in (("kubectl", 8), ("plimsoll", 10)):
            self.assertGreaterEqual(sum(line.startswith(program) for line in lines), least, "README.md lost its first steps")
        cluster = LocalCluster(self, "--roles", "all", name="default")
        nodes = json.loads(cluster.place.run("node", "ls", "-o", "json").stdout)["items"]
        has_agents = all(node["cgroups"].startswith("/") for node in nodes)
        tools = cluster.place.root / "tools"  # as the PATH that ./dev up tells to set
        tools.mkdir()
        (tools / "kubectl").symlink_to(pathlib.Path(KUBECTL).resolve())
        (tools / "plimsoll").symlink_to(pathlib.Path(PROGRAM).resolve())
        here = cluster.place.root / "clone"  # one that may be written into
        here.mkdir()
        (here / "examples").symlink_to(ROOT / "examples")
        env = {**cluster.place.env, "KUBECONFIG": cluster.kubeconfig, "PATH": f"{tools}:{os.environ['PATH']}"}
        for line in lines:
            if line.startswith("plimsoll agent") and not has_agents:
                continue
            with self.subTest(line):
                done = subprocess.run(["bash", "-c", line], env=env, cwd=here, capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

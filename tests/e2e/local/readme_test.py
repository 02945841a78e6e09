#!/usr/bin/env python3
"""The lines README.md shows to a new user, run as they stand."""
import re
import subprocess
import unittest

from local_cluster import KUBECTL, PROGRAM, ROOT, LocalCluster, only_local

BEGIN = "<!-- run by tests/e2e/local/readme_test.py -->"


@only_local("README.md is about the local cluster")
class Readme(unittest.TestCase):
    def test_its_lines_work(self):
        text = (ROOT / "README.md").read_text()
        block = text[text.index(BEGIN):].split("```")[1]
        lines = [line[2:].split("#")[0].strip() for line in block.splitlines() if line.startswith("$ kubectl")]
        self.assertGreaterEqual(len(lines), 8, "README.md lost its first steps")
        cluster = LocalCluster(self)
        for line in lines:
            with self.subTest(line):
                command = line.replace("kubectl", KUBECTL, 1)
                done = subprocess.run(["bash", "-c", command], env=cluster.env, cwd=ROOT, capture_output=True, text=True, timeout=120)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The container image on a real kubelet, with all rights taken away."""
import pathlib
import re
import subprocess
import tempfile
import unittest

from rig import PROGRAM, ROOT, RealClusterCase
from rig.requirements import kubernetes_version, with_containerd


class Image(RealClusterCase):
    options = {"nodes": 1}

    def test_a_job_says_its_version_and_the_clusters(self):
        with tempfile.TemporaryDirectory() as work:
            done = subprocess.run([ROOT / "tools" / "image", "--program", PROGRAM, "--output", pathlib.Path(work, "image.tar"),
                                   "--import", self.cluster.nodes[0].cri_socket],
                                  capture_output=True, text=True, timeout=300, env={**with_containerd(), "SOURCE_DATE_EPOCH": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)

        example = ROOT / "examples" / "cluster" / "version.yaml"
        self.cluster.kubectl("create", "-f", str(example))
        self.cluster.kubectl("wait", "--for=condition=Complete", "job/plimsoll-version", "--timeout=60s")
        said = self.cluster.kubectl("logs", "job/plimsoll-version").stdout
        client = subprocess.run([PROGRAM, "version", "--client"], capture_output=True, text=True).stdout
        self.assertTrue(said.startswith(client), said)
        self.assertRegex(said, rf"(?m)^Server: +{re.escape(kubernetes_version())} ")


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""A small form of bench/watches: watches whose server is killed go on where they were."""
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = pathlib.Path(os.environ.get("PLIMSOLL", ROOT / "build/dev/bin/plimsoll"))


class WatchSoak(unittest.TestCase):
    def test_every_watch_resumes_without_a_gap(self):
        done = subprocess.run([PROGRAM.with_name("watch_soak"), "500", "5"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        lines = dict(line.rsplit(None, 1) for line in done.stdout.splitlines())
        # Times and memory are the benchmark's: a busy machine may be slow, a debug build is large.
        kept = {line: verdict for line, verdict in lines.items() if not line.startswith(("slowest event", "server killed", "server: "))}
        self.assertEqual(set(kept.values()), {"ok"}, done.stdout + done.stderr)
        self.assertIn("watches broken meanwhile: 0", kept)
        self.assertIn("events missing or twice: 0", kept)
        self.assertNotIn(">10000", done.stdout)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Configuration files of the scheduler as a user meets them (scheduler.md 2.1 to 2.6, scenarios 1 and 14)."""
import unittest

from scheduler import SEED, directory, run

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


class Configuration(unittest.TestCase):
    def setUp(self):
        self.place = directory(self)

    def check(self, text, *flags):
        file = self.place / "s.conf"
        file.write_text(text)
        return run("--config", str(file), "--check-config", *flags)

    def line(self, done, point):
        self.assertEqual(done.returncode, 0, done.stderr)
        return next(line for line in done.stdout.splitlines() if f" {point} " in line).split(point, 1)[1].split()

    def test_the_seeds_file_means_image_locality_only(self):
        done = self.check(SEED % "/etc/kubernetes/scheduler.conf")
        self.assertIn("v1beta1", done.stderr)
        self.assertEqual(self.line(done, "score"), ["ImageLocality(1000)[mode", "Bytes]"])
        self.assertIn("NodeResourcesFit", self.line(done, "preScore"))
        without = "\n".join(SEED.splitlines()[1:]) % "x"
        done = self.check(without)
        self.assertIn("apiVersion is missing", done.stderr)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.check(without, "--strict-config").returncode, 1)

    def test_flags_decide_the_mode(self):
        done = self.check(SEED % "x", "--image-locality-mode=compat")
        self.assertEqual(self.line(done, "score"), ["ImageLocality(1000)[mode", "Compat]"])

    def test_one_score_more_keeps_the_others(self):
        done = self.check(V1 + "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 5}]}}}]")
        self.assertEqual(len(self.line(done, "score")), 9, done.stdout)
        self.assertIn("ImageLocality(5)[mode", self.line(done, "score"))

    def test_mistakes_are_told_with_their_places(self):
        for text, field in (
                ("podInitialBackoffSeconds: 3\npodMaxBackoffSeconds: 2", ":4:23: podMaxBackoffSeconds"),
                ("profiles: [{plugins: {score: {enabled: [{name: Nonsense}]}}}]", "profiles[0].plugins.score.enabled[0].name"),
                ("profiles: [{plugins: {multiPoint: {disabled: [{name: PrioritySort}]}}}]", "queueSort"),
                ("nonsense: 1", ':3:1: unknown field "nonsense"'),
                ("parallelism: [", "s.conf:4:1")):
            done = self.check(V1 + text)
            self.assertEqual(done.returncode, 1, text)
            self.assertIn(field, done.stderr)
            self.assertIn("PLM-1701", done.stderr)

    def test_a_policy_is_refused_with_the_plugins_name(self):
        done = self.check('{"kind": "Policy", "priorities": [{"name": "ImageLocalityPriority", "weight": 1}]}')
        self.assertEqual(done.returncode, 1)
        self.assertIn("ImageLocalityPriority is now the plugin ImageLocality", done.stderr)

    def test_what_is_written_means_the_same(self):
        first = self.check(SEED % "/k").stdout
        out = self.place / "v1.yaml"
        done = run("--config", str(self.place / "s.conf"), "--write-config-to", str(out))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("apiVersion: kubescheduler.config.k8s.io/v1\n", out.read_text())
        again = self.check(out.read_text())
        self.assertEqual((again.stdout, again.stderr), (first, ""))

    def test_a_file_that_is_not_there(self):
        done = run("--config", str(self.place / "none"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("none", done.stderr)


if __name__ == "__main__":
    unittest.main()

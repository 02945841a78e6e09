#!/usr/bin/env python3
"""Configuration files of the scheduler as a user meets them."""
import unittest

from scheduler import SEED, directory, run

V1 = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
# Every flag of kube-scheduler 1.37 that does not name a file of its own, with a value it takes.
FLAGS = """allow-metric-labels=a,b=c allow-metric-labels-manifest=/f authentication-skip-lookup=true authentication-token-webhook-cache-ttl=10s
authentication-tolerate-lookup-failure=true authorization-always-allow-paths=/healthz authorization-webhook-cache-authorized-ttl=10s
authorization-webhook-cache-unauthorized-ttl=10s bind-address=127.0.0.1 cert-dir=/d contention-profiling=true disable-http2-serving=true
disabled-metrics=m emulated-version=1.34 feature-gates=A=true http2-max-streams-per-connection=9 kube-api-burst=100
kube-api-content-type=application/json kube-api-qps=50 leader-elect=true leader-elect-lease-duration=15s leader-elect-renew-deadline=10s
leader-elect-resource-lock=leases leader-elect-resource-name=n leader-elect-resource-namespace=n leader-elect-retry-period=2s
log-flush-frequency=5s log-json-info-buffer-size=0 log-json-split-stream=true log-text-info-buffer-size=0 log-text-split-stream=true
logging-format=text master=http://m min-compatibility-version=1.36 permit-address-sharing=true permit-port-sharing=true pod-max-in-unschedulable-pods-duration=5m profiling=true
requestheader-allowed-names=n requestheader-client-ca-file=/f requestheader-extra-headers-prefix=x requestheader-group-headers=x
requestheader-uid-headers=x requestheader-username-headers=x secure-port=10259 show-hidden-metrics-for-version=1.33 tls-cipher-suites=c
tls-curve-preferences=23,24 tls-min-version=VersionTLS12 tls-sni-cert-key=c,k v=2 vmodule=f=2""".split()


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

    def test_every_flag_of_kube_scheduler_is_taken(self):
        done = run("--check-config", *(f"--{flag}" for flag in FLAGS))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(run("--version").stdout, r"^plimsoll \S+\n$")

    def test_flags_of_the_election_are_looked_at_too(self):
        done = run("--check-config", "--leader-elect-renew-deadline=20s")
        self.assertIn("leaseDuration must be longer than renewDeadline", done.stderr)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(run("--check-config", "--leader-elect-renew-deadline=20s", "--leader-elect=false").returncode, 0)

    def test_flags_decide_the_mode(self):
        done = self.check(SEED % "x", "--image-locality-mode=compat")
        self.assertEqual(self.line(done, "score"), ["ImageLocality(1000)[mode", "Compat]"])

    def test_one_score_more_keeps_the_others(self):
        done = self.check(V1 + "profiles: [{plugins: {score: {enabled: [{name: ImageLocality, weight: 5}]}}}]")
        self.assertEqual(len(self.line(done, "score")), 10, done.stdout)
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

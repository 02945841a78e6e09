#!/usr/bin/env python3
"""Commands that talk to a cluster: versions, raw requests, watches, refusals, unreachable servers."""
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

from plimsoll import PROGRAM, api_server, environment, home_with, run


class Cluster(unittest.TestCase):
    def setUp(self):
        server = api_server()
        self.url, self.requests = server.__enter__()
        self.addCleanup(server.__exit__, None, None, None)
        home = home_with(self.url)
        self.env = environment(home=home.__enter__())
        self.addCleanup(home.__exit__, None, None, None)

    def run_here(self, *words, **options):
        return run(*words, env=self.env, **options)

    def test_version_asks_the_server(self):
        done = self.run_here("version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"Server: +v1\.36\.2 at http://127\.0\.0\.1")
        value = json.loads(self.run_here("version", "-o", "json").stdout)
        self.assertEqual(value["server"]["version"], "v1.36.2")
        self.assertRegex(value["kubernetes"].pop("tested"), r"^1\.37\.\d+$")
        self.assertEqual(value["kubernetes"], {"oldest": "1.35", "newest": "1.37"})
        self.assertTrue(value["server"]["supported"])
        self.assertNotIn("server", json.loads(self.run_here("version", "--client", "--json").stdout))
        self.assertEqual(self.requests[0][2]["Authorization"], "Bearer secret-token")

    def test_version_warns_outside_of_the_range(self):
        for minor, warns in (("34", True), ("35", False), ("37", False), ("38+", True)):
            with api_server(minor) as (url, _):
                done = run("version", "-s", url)
                self.assertEqual(done.returncode, 0)
                self.assertEqual("outside of the supported range" in done.stderr, warns, minor)

    def test_version_without_a_server_is_no_failure(self):
        done = run("version", "-s", "http://127.0.0.1:1")
        self.assertEqual(done.returncode, 0)
        self.assertIn("Server:       none", done.stdout)

    def test_raw_prints_the_body_as_it_is(self):
        self.assertEqual(self.run_here("raw", "/text").stdout, "ok")
        self.assertEqual(self.run_here("raw", "/api/v1/nodes?limit=5", "-o", "name").stdout, "node/node-1\nnode/node-2\n")
        self.assertEqual(self.requests[-1][1], "/api/v1/nodes?limit=5")
        path = self.run_here("raw", "/api/v1/nodes", "-o", "jsonpath={.items[1].metadata.name}")
        self.assertEqual(path.stdout, "node-2")
        self.assertTrue(self.run_here("raw", "/version", "-o", "yaml").stdout.startswith("major: "))

    def test_raw_sends_files_and_stdin(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"kind": "Pod"}')
            file.flush()
            self.assertEqual(self.run_here("raw", "-d", file.name, "/pods", "-o", "name").stdout, "pod/made\n")
        method, path, headers, body = self.requests[-1]
        self.assertEqual((method, path, body), ("POST", "/pods", '{"kind": "Pod"}'))
        self.assertEqual(headers["Content-Type"], "application/json")
        self.run_here("raw", "-X", "PATCH", "-d", "-", "/pods/x", stdin='[{"op":"add"}]')
        self.assertEqual(self.requests[-1][2]["Content-Type"], "application/json-patch+json")
        self.run_here("raw", "-X", "PATCH", "-d-", "--content-type=a/b", "/pods/x", stdin="x: 1")
        self.assertEqual((self.requests[-1][2]["Content-Type"], self.requests[-1][3]), ("a/b", "x: 1"))
        missing = self.run_here("raw", "-d", "/dev/no-such-file", "/pods")
        self.assertEqual(missing.returncode, 4)
        self.assertIn("PLM-1301", missing.stderr)

    def test_raw_streams_a_watch(self):
        done = self.run_here("raw", "/api/v1/nodes", "--watch", "-o", "jsonpath={.type} {.object.metadata.name}")
        self.assertEqual(done.stdout, "ADDED node-1\nADDED node-2\n")
        lines = self.run_here("raw", "-w", "/api/v1/nodes?timeoutSeconds=5").stdout.splitlines()
        self.assertEqual([json.loads(line)["type"] for line in lines], ["ADDED", "ADDED"])
        self.assertEqual(self.requests[-1][1], "/api/v1/nodes?timeoutSeconds=5&watch=true")
        head = subprocess.run(["bash", "-c", f"'{PROGRAM}' raw -w /api/v1/nodes | head -1; echo ${{PIPESTATUS[0]}}"],
                              env=self.env, capture_output=True, text=True, timeout=20)
        self.assertTrue(head.stdout.endswith("\n0\n"), head)

    def test_refusals_have_three_lines_a_code_and_an_exit_code(self):
        cases = [(["raw", "/nothing"], 4, "PLM-1205", "/nothing not found"),
                 (["raw", "-w", "/nothing"], 4, "PLM-1205", "/nothing not found"),
                 (["raw", "/page"], 4, "PLM-1205", "that the address is a Kubernetes API server"),
                 (["raw", "-d", "-", "/pods"], 3, "PLM-1206", "already exists"),
                 (["raw", "/html"], 1, "PLM-", "502"),
                 (["raw", "/text", "-o", "json"], 1, "PLM-1211", ""),
                 (["raw", "/slow", "--timeout", "200ms"], 5, "PLM-1202", ""),
                 (["raw", "/version", "--context", "arn:aws:x/prod"], 1, "PLM-1201", "refused"),
                 (["raw", "/version", "-s", self.url.replace("http:", "https:")], 1, "PLM-1201", "the peer does not speak TLS"),
                 (["raw", "/version", "-s", "nonsense"], 2, "PLM-1004", '--server: URL "nonsense": expected'),
                 (["raw", "/version", "--context", "nope"], None, "PLM-110", "nope"),
                 (["raw", "/version", "--kubeconfig", "/dev/no-such-file"], 4, "PLM-1101", "/dev/no-such-file")]
        for words, code, plm, part in cases:
            done = self.run_here(*words, stdin="exists")
            self.assertIn(plm, done.stderr, words)
            self.assertIn(part, done.stderr, words)
            self.assertEqual(done.stdout, "", words)
            self.assertLessEqual(done.stderr.count("\n"), 3, done.stderr)
            if code is not None:
                self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertNotIn("secret-token", done.stderr)
            known = re.search(r"PLM-\d+", done.stderr).group()
            self.assertEqual(run("explain", "error", known).returncode, 0)

    def test_bad_credentials_and_kubeconfigs(self):
        with home_with(self.url, token="expired") as home:
            done = run("raw", "/version", env=environment(home=home))
            self.assertEqual(done.returncode, 1)
            self.assertIn("PLM-1203", done.stderr)
            broken = pathlib.Path(home, "broken")
            broken.write_text("clusters: [\n")
            done = run("raw", "/version", env=environment(KUBECONFIG=str(broken)))
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"PLM-1102")
            self.assertRegex(done.stderr, r"broken:\d+:\d+")
            config = pathlib.Path(home, ".kube", "config")
            config.write_text(config.read_text().replace("token: expired", "client-certificate: gone.crt, client-key: gone.key"))
            done = run("raw", "/version", env=environment(home=home))
            self.assertIn("PLM-1102", done.stderr)
            self.assertIn("gone.", done.stderr)
            config.write_text(config.read_text().replace(self.url, self.url.replace("//", "/")))
            done = run("raw", "/version", env=environment(home=home))
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"PLM-1102: ~/\.kube/config:5:\d+: clusters\[0\]\.cluster\.server: ")
        done = run("raw", "/version")
        self.assertEqual(done.returncode, 4)
        self.assertIn("PLM-1101", done.stderr)

    def test_credentials_that_cannot_be_had_are_no_missing_object(self):
        plugin = "exec: {apiVersion: client.authentication.k8s.io/v1, command: ./no-login, interactiveMode: Never, installHint: get it}"
        for user, part in (("tokenFile: no-token", "no-token"), (plugin, "no-login: not found get it")):
            with home_with(self.url) as home:
                config = pathlib.Path(home, ".kube", "config")
                config.write_text(config.read_text().replace("token: secret-token", user))
                done = run("raw", "/version", env=environment(home=home))
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("PLM-1203", done.stderr)
                self.assertIn(part, done.stderr)
                self.assertIn("choose other credentials", done.stderr)

    def test_a_certificate_that_is_not_trusted_is_not_taken_for_a_dead_cluster(self):
        with tempfile.TemporaryDirectory() as where:
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                            "-subj", "/CN=api", "-addext", "subjectAltName=DNS:api", "-keyout", f"{where}/key", "-out", f"{where}/certificate"],
                           check=True, capture_output=True)
            with api_server(certificate=(f"{where}/certificate", f"{where}/key")) as (url, _), home_with(url) as home:
                env, config = environment(home=home), pathlib.Path(home, ".kube", "config")
                unknown = run("raw", "/version", env=env)
                config.write_text(config.read_text().replace(f'server: "{url}"', f'server: "{url}", certificate-authority: {where}/certificate'))
                misnamed = run("raw", "/version", env=env)
                for done in unknown, misnamed:
                    self.assertEqual(done.returncode, 1)
                    self.assertRegex(done.stderr, r"PLM-1201: .*certificate of 127\.0\.0\.1 not accepted: ")
                    self.assertRegex(done.stderr, "next: .*certificate-authority.*tls-server-name")
                config.write_text(config.read_text().replace(f'server: "{url}"', f'server: "{url}", tls-server-name: api'))
                self.assertEqual(run("raw", "/version", env=env).returncode, 0)

    def test_daemons_say_that_somebody_has_their_address(self):
        taken = self.url.partition("//")[2]
        with tempfile.TemporaryDirectory() as store:
            port = taken.rpartition(":")[2]
            for words in (["servo", "--listen", taken, "--store", store], ["pools", "agent", "--node-name", "n", "--metrics-listen", taken,
                                                                           "--run-dir", store, "--poolconfigs", store, "--dry-run"],
                          ["scheduler", "--leader-elect=false", "--bind-address", "127.0.0.1", "--secure-port", port]):
                done = self.run_here(*words)
                self.assertEqual(done.returncode, 1, (words, done.stderr))
                self.assertRegex(done.stderr, f"error PLM-1303: .*{taken}.*address already in use")

    def test_doctor_looks_at_the_cluster(self):
        done = self.run_here("doctor", "-o", "json")
        found = {item["check"]: item for item in json.loads(done.stdout)["items"]}
        self.assertEqual(found["cluster"]["status"], "ok")
        self.assertRegex(found["cluster"]["found"], r"^v1\.36\.2 at .*; supported are 1\.35 to 1\.37$")
        self.assertEqual(found["credentials"]["status"], "ok")
        with api_server("34") as (url, _):
            old = {item["check"]: item for item in json.loads(run("doctor", "-s", url, "-o", "json").stdout)["items"]}["cluster"]
        self.assertEqual((old["status"], old["remedy"]), ("degraded", "use Kubernetes 1.35 to 1.37"))
        done = run("doctor", "-s", "http://127.0.0.1:1", "-o", "json")
        self.assertEqual(done.returncode, 1)
        found = {item["check"]: item for item in json.loads(done.stdout)["items"]}
        self.assertEqual(found["cluster"]["status"], "failed")

    def test_interrupted_requests_end_with_130(self):
        for words, first in ((["/slow"], b""), (["/api/v1/pods", "--watch"], b'"ADDED"')):
            # A shell that runs the tests in the background has them ignore SIGINT, which children inherit.
            process = subprocess.Popen([PROGRAM, "raw", *words], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            if first:
                self.assertIn(first, process.stdout.readline())
            deadline = time.monotonic() + 10
            while not any(path.startswith(words[0]) for _, path, *_ in self.requests) and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=10)
            self.assertEqual((process.returncode, *said), (130, b"", b""), words)


if __name__ == "__main__":
    unittest.main()

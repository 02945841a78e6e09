#!/usr/bin/env python3
"""The seed's annotation on a real API server, kubelet and containerd: two processes, each on the CPU of its pool."""
import base64
import json
import pathlib
import sys
import unittest

import pools_test
from busybox import pod
from rig import PROGRAM, ROOT

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "webhook"))
from webhook_server import Webhook, directory, eventually, make_certificate  # noqa: E402

# In one write: the starter and its other process write to the same log.
SHOW = 'echo "{} `grep Cpus_allowed_list /proc/self/status`"; exec sleep 10000'


class Annotation(pools_test.PoolsOnARealNode):
    def setUp(self):
        super().setUp()
        host, files = self.cluster.slot.host_address, directory(self)
        make_certificate(files, f"IP:{host}")
        webhook = Webhook(self, "--process-starter-path", str(pathlib.Path(PROGRAM).parent / "plimsoll-starter"), files=files,
                          pools=(self.place / "poolconfig.yaml").read_text(), listen=f"{host}:0")
        shipped = str(ROOT / "deploy" / "pools" / "webhook-conf.yaml")
        configuration = json.loads(self.cluster.kubectl("create", "--dry-run=client", "-o", "json", "-f", shipped).stdout)
        configuration["webhooks"][0]["clientConfig"] = {"url": f"https://{host}:{webhook.port}/mutating-pods",
                                                        "caBundle": base64.b64encode((files / "cert.pem").read_bytes()).decode()}
        self.cluster.apply(configuration)
        self.addCleanup(self.cluster.kubectl, "delete", "-f", shipped, check=False)
        self.start()
        eventually(lambda: self.allocatable(pools_test.EXCLUSIVE) == "1" and self.allocatable(pools_test.SHARED) in ("1k", "1000"), 60,
                   what="the resources")

    def logs(self, made, limits, lines):
        name = made["metadata"]["name"]
        made["spec"]["containers"][0]["resources"] = {"limits": limits}
        self.cluster.apply(made)
        self.addCleanup(self.cluster.kubectl, "delete", "pod", name, check=False)

        def said():
            text = self.cluster.kubectl("logs", name, check=False).stdout
            return text.count("Cpus_allowed_list") == lines and text
        return eventually(said, 60, what="what its processes say")

    def test_processes_run_on_their_cpus(self):
        made = pod("annotated", "unused")
        name = made["spec"]["containers"][0]["name"]
        made["metadata"]["annotations"] = {"nokia.k8s.io/cpus": json.dumps([{"container": name, "processes": [
            {"process": "sh", "args": ["-c", SHOW.format("one")], "pool": "exclusive-pool", "cpus": 1},
            {"process": "/bin/sh", "args": ["-c", SHOW.format("two")], "pool": "shared-pool", "cpus": 100}]}])}
        text = self.logs(made, {pools_test.EXCLUSIVE: "1", pools_test.SHARED: "100"}, 2)
        self.assertRegex(text, rf"one Cpus_allowed_list:\t{self.last}\n")
        self.assertRegex(text, rf"two Cpus_allowed_list:\t{self.first}\n")

    def test_a_command_keeps_its_words(self):
        made = pod("wrapped", "sh", "-c", 'printf "<%s>" "$@"; echo; ' + SHOW.format("three"), "-", 'say "hi"', "back\\slash", "grün 船")
        text = self.logs(made, {pools_test.EXCLUSIVE: "1"}, 1)
        self.assertIn('<say "hi"><back\\slash><grün 船>\n', text)
        self.assertIn(f"three Cpus_allowed_list:\t{self.last}\n", text)


# Only the place is shared.
for inherited in dir(pools_test.PoolsOnARealNode):
    if inherited.startswith("test_"):
        setattr(Annotation, inherited, None)


if __name__ == "__main__":
    unittest.main()

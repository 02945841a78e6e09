#!/usr/bin/env python3
"""What the server fills in: minimal manifests and what they become."""
import json
import re
import unittest

from server_under_test import ApiCase, check_all, load, look

MASKS = ((r"kube-api-access-[a-z0-9]{5}", "kube-api-access-*"), (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
         (r'"creationTimestamp": null(, )?', ""), (r'"clusterIP": "\d[^"]*"', '"clusterIP": "IP"'),
         (r'"clusterIPs": \["\d[^"]*"\]', '"clusterIPs": ["IP"]'), (r'"nodePort": \d+', '"nodePort": 1'))


def masked(value):
    text = json.dumps(value, sort_keys=True)
    for pattern, replacement in MASKS:
        text = re.sub(pattern, replacement, text)
    return json.loads(text)


class Defaults(ApiCase):
    def test_minimal_manifests(self):
        data = load("defaults.yaml")

        def differences(case):
            path = self.fill(data["paths"][case["kind"]])
            answer = self.api.request("POST", path + "?dryRun=All", self.fill(case["object"]))
            if answer.code != 201:
                return {"code": f"code {answer.code}: {answer.text}"}
            found = {}
            for where, want in self.fill(case["want"]).items():
                got = masked(look(answer.json, where))
                if got != want:
                    found[where] = f"{where}\n    got  {json.dumps(got)}\n    want {json.dumps(want, sort_keys=True)}"
            return found

        check_all(self, data["cases"], data["known_differences"], differences)
        self.assertGreaterEqual(len(data["cases"]), 60)


if __name__ == "__main__":
    unittest.main()

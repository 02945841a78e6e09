#!/usr/bin/env python3
"""What the server refuses, and in which words: requests, and manifests with one thing wrong."""
import re
import unittest

from server_under_test import ApiCase, changed, check_all, load


def mismatch(want, answer):
    """What of code, reason, details, causes and message differs; message is exact, message_has a pattern."""
    try:
        got = answer.json
    except ValueError:
        got = {"message": answer.text.decode(errors="replace")}
    if answer.code != want["code"]:
        return {"code": f"code {answer.code}, want {want['code']}: {got.get('message') or got}"[:300]}
    found = {}

    def compare(part, one, other, same=None):
        if not (one == other if same is None else same):
            found[part] = f"{part}\n    got  {one!r}\n    want {other!r}"

    for part in want.keys() & {"reason", "message"}:
        compare(part, got.get(part), want[part])
    if "message_has" in want:
        compare("message", got.get("message"), want["message_has"], re.search(want["message_has"], got.get("message", "")))
    details = dict(got.get("details") or {})
    if "causes" in want:
        compare_causes(compare, want["causes"], details.pop("causes", []))
    if "details" in want:
        compare("details", details, want["details"])
    return found


def compare_causes(compare, want, got):
    """A cause is written `Required spec.containers` or, with its words, `Required spec.containers: Required value`."""
    heads = [f"{cause.get('reason', '').removeprefix('FieldValue')} {cause.get('field', '')}" for cause in got]
    texts = [f"{head}: {cause.get('message', '')}" for head, cause in zip(heads, got)]
    compare("causes", texts, want, heads == [line.split(": ")[0] for line in want])
    words = [text for text, line in zip(texts, want) if ": " in line]
    compare("message", words, [line for line in want if ": " in line])


class Requests(ApiCase):
    def test_requests(self):
        data = load("errors.yaml")
        self.set_up(data["setup"])

        def differences(case):
            method, path = self.fill(case["request"]).split(" ", 1)
            body = self.fill(case.get("body"))
            if "big" in case:
                body = changed(body, {case["big"]["at"]: "x" * case["big"]["bytes"]})
            if case.get("as") == "anonymous":
                answer = self.api.anonymous(path, **case.get("headers", {}))
            else:
                answer = self.api.request(method, path, body, case.get("type"), case.get("headers", {}))
            return mismatch(self.fill(case["want"]), answer)

        check_all(self, data["cases"], data["known_differences"], differences)
        self.assertGreaterEqual(len(data["cases"]), 80)

    def set_up(self, objects):
        for item in objects:
            method, path = self.fill(item["request"]).split(" ", 1)
            self.api.must(method, path, self.fill(item.get("body")))


class Manifests(ApiCase):
    def test_created(self):
        data = load("validation.yaml")

        def differences(case):
            base = data["bases"][case["base"]]
            body = changed(base["object"], case["set"])
            answer = self.api.request("POST", self.fill(base["path"]) + "?dryRun=All", self.fill(body))
            return mismatch({"code": 422, "reason": "Invalid", **self.fill(case)}, answer)

        for name, base in data["bases"].items():
            answer = self.api.request("POST", self.fill(base["path"]) + "?dryRun=All", self.fill(base["object"]))
            self.assertEqual(answer.code, 201, f"{name}: {answer.text}")
        check_all(self, data["created"], data["known_differences"], differences)

    def test_updated(self):
        data = load("validation.yaml")
        for name in {case["base"] for case in data["updated"]}:
            base = data["bases"][name]
            self.api.must("POST", self.fill(base["path"]), self.fill(base["object"]))

        def differences(case):
            base = data["bases"][case["base"]]
            path = self.fill(f"{base['path']}/{base['object']['metadata']['name']}")
            body = changed(self.api.must("GET", path), self.fill(case["set"]))
            answer = self.api.request("PUT", path + "?dryRun=All", body)
            return mismatch({"code": 422, "reason": "Invalid", **self.fill(case)}, answer)

        check_all(self, data["updated"], data["known_updated"], differences)


if __name__ == "__main__":
    unittest.main()

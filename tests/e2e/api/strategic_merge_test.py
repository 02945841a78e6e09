#!/usr/bin/env python3
"""Strategic merge patches: every merge key, every directive, and what stays one value."""
import json
import unittest

from server_under_test import ApiCase, check_all, load, look, steps


def nested(path, patch):
    """The patch below a path; an element of a list is named by index 0, whose name is always `a`."""
    for step in reversed(steps(path)):
        patch = [{"name": "a", **patch}] if step == 0 else {step: patch}
    return patch


class StrategicMerge(ApiCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = load("strategic_merge.yaml")
        cls.paths = {}
        for name, item in cls.data["objects"].items():
            item = cls.fill(item)
            cls.paths[name] = f"{item['path']}/{item['object']['metadata']['name']}"
            made = cls.api.must("POST", item["path"], item["object"])
            if "status" in item:
                cls.api.must("PUT", f"{cls.paths[name]}/status", {**made, "status": item["status"]})

    def patched(self, name, patch):
        name, _, subresource = name.partition("/")
        path = self.paths[name] + (f"/{subresource}" if subresource else "")
        return self.api.patch("strategic", path + "?dryRun=All", patch)

    def compare(self, answer, wants):
        if answer.code != 200:
            return {"code": f"code {answer.code}: {answer.json.get('message')}"}
        return {where: f"{where}\n    got  {json.dumps(got)}\n    want {json.dumps(want)}"
                for where, got, want in wants(answer.json) if got != want}

    def test_lists_by_key(self):
        def differences(case):
            which = self.data["lists"][case["list"]]
            answer = self.patched(which["object"], nested(which["parent"], case["patch"]))

            def wants(body):
                got = look(body, ".".join(filter(None, (which["parent"], which["field"])))) or []
                yield "list", [{k: e[k] for k in which["show"] if k in e} for e in got], case["want"]
            return self.compare(answer, wants)
        check_all(self, self.data["list_cases"], [], differences)

    def test_everything_else(self):
        def differences(case):
            answer = self.patched(case["object"], case["patch"])
            return self.compare(answer, lambda body: ((w, look(body, w), v) for w, v in case["want"].items()))
        check_all(self, self.data["cases"], self.data["known_differences"], differences)


if __name__ == "__main__":
    unittest.main()

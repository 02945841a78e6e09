#!/usr/bin/env python3
"""The published schema of the annotation says what the webhook says, on annotations of all kinds (C4)."""
import json
import random
import subprocess
import sys
import unittest

sys.path.append("/usr/lib/python3/dist-packages")  # where Debian's Python has it, whichever Python runs this
import jsonschema  # noqa: E402

from webhook_server import PROGRAM, ROOT, Webhook, container, directory, pod, review  # noqa: E402

# What can be seen without the pod.
OF_THE_SCHEMA = {"ANN001", "ANN002", "ANN003", "ANN004", "ANN005", "ANN006", "ANN013", "ANN014"}
ODD = [None, True, 0, -1, 1.5, "", "x", "a\0b", [], [1], ["x", None], {}, {"A": "x"}, {"A=B": "x"}, {"": "x"}, {"A": 1}, "last", "failfast",
       "never", "fifo:1", "fifo:99", "fifo:100", "rr:0", "rr", "batch", "idle", 19, 20, -20, -21, 999_999_999, 1_000_000_000, 10**30, "grün 船"]


def changed(value, luck):
    """The same with one place somewhere in it made different."""
    if isinstance(value, (dict, list)) and value and luck.random() < 0.85:
        out = dict(value) if isinstance(value, dict) else list(value)
        key = luck.choice(list(out) if isinstance(out, dict) else range(len(out)))
        chance = luck.random()
        if chance < 0.12:
            del out[key]
        elif chance < 0.2 and isinstance(out, dict):
            out[luck.choice(["onExit", "env", "nice", "sched", "args", "unknown"])] = luck.choice(ODD)
        else:
            out[key] = changed(out[key], luck)
        return out
    return luck.choice(ODD)


def annotations(count):
    luck = random.Random(6)
    process = {"process": "/bin/sh", "args": ["-c", "true"], "cpus": 150, "pool": "sharedpool"}
    full = {**process, "cpus": 10, "env": {"A": "b"}, "nice": -5, "sched": "rr:7"}
    start = [{"container": "cputestcontainer", "processes": [process, full], "onExit": "any"}, {"container": "other", "processes": [process]}]
    out = [start, [], [{}], [{"container": "a", "processes": []}], {}, 7, None, "x", [{**start[1], "container": str(i)} for i in range(65)], [{**start[1], "processes": [process] * 257}]]
    while len(out) < count:
        made = start
        for _ in range(luck.choice([1, 1, 1, 2, 3])):
            made = changed(made, luck)
        out.append(made)
    return out


class Schema(unittest.TestCase):
    def test_it_is_what_the_program_prints(self):
        done = subprocess.run([PROGRAM, "pools", "schema"], capture_output=True, text=True, cwd=directory(self))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, (ROOT / "docs/schema/cpus-annotation.json").read_text())

    def test_it_judges_as_the_webhook_does(self):
        schema = json.loads((ROOT / "docs/schema/cpus-annotation.json").read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        validator = jsonschema.Draft7Validator(schema)
        webhook = Webhook(self)
        connection = webhook.connect()
        self.addCleanup(connection.close)
        verdicts = {True: 0, False: 0}
        for annotation in annotations(600):
            made = pod([container(sharedpool=160), container("other", sharedpool=150)], annotation if annotation is not None else "null")
            if isinstance(annotation, str):
                made["metadata"]["annotations"]["nokia.k8s.io/cpus"] = json.dumps(annotation)
            status, text = webhook.post(json.dumps(review(made)), connection=connection)
            self.assertEqual(status, 200)
            response = json.loads(text)["response"]
            code = "" if response["allowed"] else response["status"]["message"].partition(":")[0]
            if code == "ANN008":  # told before what is wrong further on
                continue
            refused = code in OF_THE_SCHEMA
            self.assertEqual(not validator.is_valid(annotation), refused, (json.dumps(annotation)[:400], response))
            verdicts[refused] += 1
        self.assertGreater(min(verdicts.values()), 50, verdicts)


if __name__ == "__main__":
    unittest.main()

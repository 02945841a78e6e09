"""Two answers to one request: masked, compared, and held against the list of known differences. Not a test itself."""
import json
import pathlib
import re

import yaml

KNOWN = pathlib.Path(__file__).with_name("differences.yaml")
# Of api_test.py, objects_test.py and clusters_test.py; differences can be listed of no others.
SUITES = {"errors", "created", "updated", "resized", "defaults", "merge", "versions", "pods", "tables", "custom", "webhooks",
          "deletions", "lives", "kubectl-1.20", "kubectl-1.37", "running-1.20", "running-1.37"}
# What no two servers can have in common, wherever it stands in a text.
MASKED_TEXTS = tuple((re.compile(pattern), mask) for pattern, mask in (
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID"),
    (r"\b20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "TIME"),
    (r"\bkube-api-access-[a-z0-9]{5}\b", "kube-api-access-*"),
    (r"resource version: \d+, current: \d+", "resource version: N, current: N"),
    (r"in record \(\d+\)", "in record (N)"),
    (r' in scheme "[^"]+"', ""),  # a line of Kubernetes' source
))
# And by the name of the field that holds it.
MASKED_FIELDS = {"resourceVersion": r"\d+", "continue": ".+", "clusterIP": r"[\d.]+", "clusterIPs": r"[\d.]+", "nodePort": r"\d+"}
UNCOMPARED_FIELDS = {"managedFields"}


def masked(value, field=""):
    if isinstance(value, dict):
        return {name: masked(part, name) for name, part in value.items() if name not in UNCOMPARED_FIELDS}
    if isinstance(value, list):
        return [masked(part, field) for part in value]
    if field in MASKED_FIELDS and re.fullmatch(MASKED_FIELDS[field], str(value)):
        return "*"
    if isinstance(value, str):
        for pattern, mask in MASKED_TEXTS:
            value = pattern.sub(mask, value)
    return value


def events(text):
    return {"events": [json.loads(line) for line in text.splitlines()]}


def read(answer):
    """The code, the warnings and the body: an object, the events of a watch, or text."""
    text = answer.text.decode(errors="replace")
    for parse in (json.loads, events):
        try:
            body = parse(text)
            break
        except ValueError:
            body = {"text": text}
    if "object" in body:  # a watch of one event
        body = {"events": [body]}
    whole = {"code": answer.code, **body}
    warnings = answer.headers.get_all("Warning") or []
    return masked({**whole, "warnings": warnings} if warnings else whole)


def differences(ours, real):
    """By path, the two values that differ. Where the code does, nothing else is worth comparing."""
    if ours["code"] != real["code"]:
        return {"code": (f"{ours['code']} {ours.get('message', '')}".strip(), f"{real['code']} {real.get('message', '')}".strip())}
    return dict(compared("", ours, real))


def compared(path, ours, real):
    if isinstance(ours, dict) and isinstance(real, dict):
        for name in sorted(ours.keys() | real.keys()):
            if ours.get(name) != real.get(name) or (name in ours) != (name in real):
                yield from compared(f"{path}.{name}".lstrip("."), ours.get(name), real.get(name))
    elif isinstance(ours, list) and isinstance(real, list) and len(ours) == len(real):
        for index, (one, other) in enumerate(zip(ours, real)):
            yield from compared(f"{path}[{index}]", one, other)
    elif ours != real:
        yield path, (ours, real)


def covers(listed, path):
    return path == listed or path.startswith((f"{listed}.", f"{listed}["))


def means(listed, suite):
    """`kubectl` is every suite kubectl-…"""
    return suite == listed or suite.startswith(f"{listed}-")


def listed_of(suite, groups):
    """By case, the paths that may differ. `groups` are {why, differs: [path…], cases: {suite: [name…]}}; a path covers what lies below it."""
    out = {}
    for group in groups:
        for of, names in group["cases"].items():
            assert any(means(of, one) for one in SUITES), f"no such suite: {of}"
            for name in names if means(of, suite) else ():
                out.setdefault(name, []).extend(group["differs"])
    return out


def mistakes(listed, found):
    """`found` are the differences of each case by name: those that are not listed, and those listed that have gone."""
    wrong = [f"{name}: no such case, but its differences are listed" for name in listed.keys() - found.keys()]
    for name, paths in found.items():
        new = {path: both for path, both in paths.items() if not any(covers(l, path) for l in listed.get(name, ()))}
        gone = [l for l in listed.get(name, ()) if not any(covers(l, path) for path in paths)]
        for path, (ours, real) in new.items():
            wrong.append(f"{name}: {path}\n    ours {json.dumps(ours)}\n    real {json.dumps(real)}")
        if gone:
            wrong.append(f"{name}: no longer differs in {', '.join(gone)}")
    return wrong


def judge(test, suite, found):
    wrong = mistakes(listed_of(suite, yaml.safe_load(KNOWN.read_text())), found)
    if wrong:
        test.fail(f"{len(wrong)} in {len(found)} cases\n" + "\n".join(wrong))

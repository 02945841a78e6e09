"""The requests of tests/data/api: each suite is what must be there first, and the requests that are compared. Not a test itself."""
import dataclasses
import functools
import json
import re

import yaml

from pair import PATCH_TYPES, ROOT

DRY = "?dryRun=All"


def load(name):
    path = ROOT / "tests" / "data" / "api" / name
    return yaml.load(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def steps(path):
    """spec.containers[0].image -> spec, containers, 0, image; a step with dots stands in quotes."""
    found = re.findall(r'"([^"]+)"|\[(\d+)\]|([^.\["]+)', path)
    return [int(index) if index else quoted or plain for quoted, index, plain in found]


def changed(value, changes):
    """A copy with the value at each path replaced; null removes it."""
    value = json.loads(json.dumps(value))
    for path, new in changes.items():
        *way, last = steps(path)
        holder = value
        for step in way:
            holder = holder.setdefault(step, {}) if isinstance(holder, dict) else holder[step]
        if new is None:
            del holder[last]
        elif isinstance(holder, list) and last == len(holder):
            holder.append(new)
        else:
            holder[last] = new
    return value


@dataclasses.dataclass
class Request:
    name: str
    method: str
    path: str
    body: object = None
    type: str = None
    headers: dict = dataclasses.field(default_factory=dict)
    anonymous: bool = False
    changes: dict = None  # the body is what is at the path, changed so
    refresh: str = None  # a collection to write to first: the cache of the real server then knows the newest version

    def send(self, api):
        if self.refresh:
            api.must("POST", self.refresh, {"metadata": {"generateName": "refresh-"}})
        if self.anonymous:
            return api.anonymous(self.path, **self.headers)
        body = self.body
        if self.changes is not None:
            body = changed(api.must("GET", self.path.partition("?")[0]), self.changes)
        return api.request(self.method, self.path, body, self.type, self.headers)


def filled(value, names):
    """Puts $NS and other names into a case."""
    if isinstance(value, dict):
        return {filled(k, names): filled(v, names) for k, v in value.items()}
    if isinstance(value, list):
        return [filled(item, names) for item in value]
    if isinstance(value, str):
        return functools.reduce(lambda text, name: text.replace(f"${name}", str(names[name])), names, value)
    return value


def place(item):
    return f"{item['path']}/{item['object']['metadata']['name']}"


def errors(names):
    data = filled(load("errors.yaml"), names)

    def request(case):
        method, path = case["request"].split(" ", 1)
        body = case.get("body")
        if "big" in case:
            body = changed(body, {case["big"]["at"]: "x" * case["big"]["bytes"]})
        return Request(case.get("name"), method, path, body, case.get("type"), case.get("headers", {}), case.get("as") == "anonymous")
    return [request(item) for item in data["setup"]], [request(case) for case in data["cases"]]


def created(names):
    data = filled(load("validation.yaml"), names)
    plain = [Request(f"nothing wrong with {name}", "POST", item["path"] + DRY, item["object"]) for name, item in data["objects"].items()]

    def request(case):
        item = data["objects"][case["of"]]
        return Request(case["name"], "POST", item["path"] + DRY, changed(item["object"], case["set"]))
    return [], plain + [request(case) for case in data["created"]]


def updated(names):
    data = filled(load("validation.yaml"), names)
    objects = {case["of"]: data["objects"][case["of"]] for case in data["updated"]}
    setup = [Request(None, "POST", item["path"], item["object"]) for item in objects.values()]
    return setup, [Request(case["name"], "PUT", place(objects[case["of"]]) + DRY, changes=case["set"]) for case in data["updated"]]


def resized(names):
    data = filled(load("validation.yaml"), names)
    objects = {case["of"]: data["objects"][case["of"]] for case in data["resized"]}
    setup = [Request(None, "POST", item["path"], item["object"]) for item in (data["objects"]["small node"], *objects.values())]
    return setup, [Request(case["name"], "PUT", place(objects[case["of"]]) + "/resize" + DRY, changes=case["set"]) for case in data["resized"]]


def defaults(names):
    data = filled(load("defaults.yaml"), names)
    return [], [Request(case["name"], "POST", data["paths"][case["kind"]] + DRY, case["object"]) for case in data["cases"]]


def strategic_merge(names):
    data = filled(load("strategic_merge.yaml"), names)
    setup = []
    for item in data["objects"].values():
        setup.append(Request(None, "POST", item["path"], item["object"]))
        if "status" in item:
            setup.append(Request(None, "PUT", place(item) + "/status", changes={"status": item["status"]}))

    def patch(name, which, body):
        which, _, subresource = which.partition("/")
        path = place(data["objects"][which]) + (f"/{subresource}" if subresource else "") + DRY
        return Request(name, "PATCH", path, body, PATCH_TYPES["strategic"])
    lists = [patch(f"{name}: {what}", one["object"], body) for name, one in data["lists"].items() for what, body in list_patches(one)]
    return setup, lists + [patch(case["name"], case["object"], case["patch"]) for case in data["cases"]]


def list_patches(one):
    """Every directive, tried on a list of two elements that merges by a key."""
    *way, field = steps(one["at"])
    key, change, new = one["key"], one["change"], one["new"]
    first, second, third = ({key: one["first"]}, {key: one["second"]}, {key: new[key]})

    def patch(elements=(), order=None):
        body = {} if elements == () else {field: elements}
        if order:
            body[f"$setElementOrder/{field}"] = order
        for step in reversed(way):  # an element of a list is named by index 0, whose name is always `a`
            body = [{"name": "a", **body}] if step == 0 else {step: body}
        return body

    gone = {"$patch": "delete"}
    yield "changes the first", patch([{**first, **change}])
    yield "changes the second", patch([{**second, **change}])
    yield "changes and adds", patch([{**first, **change}, new])
    yield "changes in an order", patch([{**first, **change}], [second, first])
    if "drop" in one:
        yield "takes a field away", patch([{**first, one["drop"]: None}])
    yield "adds", patch([new])
    yield "adds at the end", patch([new], [first, second, third])
    yield "adds in the middle", patch([new], [first, third, second])
    yield "orders", patch(order=[second, first])
    yield "orders only one", patch(order=[second])
    yield "deletes nothing", patch([{**third, **gone}])
    yield "names two in another order", patch([second, first])
    yield "is empty", patch([])
    yield "deletes the first", patch([{**first, **gone}])
    yield "replaces all", patch([new, {"$patch": "replace"}])
    yield "deletes and adds", patch([{**second, **gone}, new], [first, third])
    yield "is null", patch(None)


def prepare_versions(api, namespace):
    """Five config maps and as many secrets, of which one goes while they are read in pages."""
    maps, secrets = (f"/api/v1/namespaces/{namespace}/{name}" for name in ("configmaps", "secrets"))

    def version():
        return api.must("GET", maps)["metadata"]["resourceVersion"]

    def token(path):
        return api.must("GET", path)["metadata"]["continue"]
    names = {"OLD": version()}
    for i in range(5):
        for path in (maps, secrets):
            api.must("POST", path, {"metadata": {"name": f"x{i}"}})
    names |= {"NOW": version(), "FUTURE": int(version()) + 1_000_000, "TOKEN": token(f"{maps}?limit=2"), "SECOND": token(f"{secrets}?limit=2")}
    api.must("DELETE", f"{secrets}/x3")
    return {**names, "THIRD": token(f"{secrets}?limit=2&continue={names['SECOND']}")}


def versions(names):
    data = filled(load("versions.yaml"), names)
    path = f"/api/v1/namespaces/{names['NS']}/"

    def request(case):
        collection = case.get("list", "configmaps")
        return Request(case["name"], "GET", f"{path}{collection}?{case['query']}", refresh=f"/api/v1/namespaces/default/{collection}")
    return [], [request(case) for case in data["cases"]]

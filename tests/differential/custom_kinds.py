"""Custom resources: one schema per case, what is created, changed and refused with it, and the columns of its table."""
from answers import masked, read
from local_cluster import eventually
from tables import rows_of

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STRING, INTEGER, NUMBER, BOOLEAN = ({"type": name} for name in ("string", "integer", "number", "boolean"))
KEEP = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def object_of(**properties):
    return {"type": "object", "properties": properties}


def listed(items, **more):
    return {"type": "array", "items": items, **more}


def spec(**properties):
    return object_of(spec=object_of(**properties))


def post(query="", name="x", **body):
    return "POST", query, {"metadata": {"name": name}, **body}, None


def change(form, body, query="", what="x"):
    return "PATCH", f"/{what}{query}", body, form


def get(what="x"):
    return "GET", f"/{what}", None, None


def made(**fields):
    return post(spec=fields)


def tried(*bodies, query=""):
    """Each as the spec of an object of its own."""
    return [post(query, f"x{number}", spec=body) for number, body in enumerate(bodies)]


def apply(name="x", manager="m", **body):
    def fill(group):
        return {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": name}, **body}
    return "PATCH", f"/{name}?fieldManager={manager}", fill, "apply"


COLUMNS = [{"name": "Text", "type": "string", "jsonPath": ".spec.text"}, {"name": "Count", "type": "integer", "jsonPath": ".spec.count"},
           {"name": "Share", "type": "number", "jsonPath": ".spec.share"}, {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
           {"name": "Since", "type": "date", "jsonPath": ".spec.since"}, {"name": "Wide", "type": "string", "priority": 1, "jsonPath": ".spec.inner.text"},
           {"name": "First", "type": "string", "jsonPath": ".spec.items[0].name"}, {"name": "Ready", "type": "string", "jsonPath": ".spec.items[?(@.name==\"b\")].value"},
           {"name": "All", "type": "string", "jsonPath": ".spec.items[*].name"}, {"name": "Whole", "type": "string", "jsonPath": ".spec.inner"},
           {"name": "Label", "type": "string", "jsonPath": ".metadata.labels.a"}, {"name": "Small", "type": "integer", "format": "int32", "jsonPath": ".spec.count"}]

# name: (schema, what else the version has, what else the spec has, requests)
CASES = {
    "types": (spec(s=STRING, i=INTEGER, n=NUMBER, b=BOOLEAN, o=object_of(a=STRING), l=listed(STRING)), {}, {}, tried(
        {"s": "a", "i": 1, "n": 1.5, "b": True, "o": {"a": "x"}, "l": ["a"]}, {"s": 1}, {"i": "1"}, {"i": 1.5}, {"i": 1.0}, {"n": "1"}, {"n": 3}, {"b": "true"}, {"o": []}, {"o": "x"},
        {"l": {}}, {"l": [1]}, {"l": ["a", 2, None]}, {"s": None}, {"o": None, "l": None}, "text", None, {"i": 9007199254740993}, {"n": 1e300})),
    "required": ({**spec(a=STRING, b={**object_of(c=STRING, d=STRING), "required": ["c", "d"]}), "required": ["spec"]}, {}, {}, [
        post(), *tried({}, {"b": {}}, {"b": {"c": "x"}}, {"b": {"c": "x", "d": "y"}}, None)]),
    "enum": (spec(e={"type": "string", "enum": ["a", "b"]}, n={"type": "integer", "enum": [1, 2]}), {}, {}, tried({"e": "a", "n": 1}, {"e": "c"}, {"n": 3}, {"e": ""}, {"e": 1})),
    "numbers": (spec(i={"type": "integer", "minimum": 1, "maximum": 5}, x={"type": "number", "minimum": 0, "exclusiveMinimum": True, "maximum": 1, "exclusiveMaximum": True},
                     m={"type": "number", "multipleOf": 0.5}), {}, {}, tried({"i": 1}, {"i": 0}, {"i": 6}, {"x": 0}, {"x": 1}, {"x": 0.5}, {"m": 1.5}, {"m": 1.3})),
    "strings": (spec(l={"type": "string", "minLength": 2, "maxLength": 4}, p={"type": "string", "pattern": "^[a-z]+(-[0-9]{2})?$"}), {}, {}, tried(
        {"l": "ab", "p": "abc-12"}, {"l": "a"}, {"l": "abcde"}, {"l": "äöü"}, {"p": "A"}, {"p": "abc-1"}, {"p": ""})),
    "formats": (spec(t={"type": "string", "format": "date-time"}, d={"type": "string", "format": "date"}, i={"type": "integer", "format": "int32"}, j={"type": "integer", "format": "int64"},
                     b={"type": "string", "format": "byte"}, u={"type": "string", "format": "made-up"}), {}, {}, tried(
                         {"t": "2024-02-03T04:05:06Z"}, {"t": "2024-02-03T04:05:06.5+01:00"}, {"t": "yesterday"}, {"t": "2024-02-30T00:00:00Z"}, {"d": "2024-02-03"}, {"d": "x"},
                         {"i": 2147483647}, {"i": 2147483648}, {"j": 2147483648}, {"b": "eA=="}, {"b": "%"}, {"u": "anything"})),
    "lists": (spec(l=listed(INTEGER, minItems=1, maxItems=3), o=listed({**object_of(a=STRING), "required": ["a"]})), {}, {}, tried(
        {"l": [1]}, {"l": []}, {"l": [1, 2, 3, 4]}, {"l": [1, "b"]}, {"o": [{"a": "x"}, {}]}, {"o": [{"a": "x", "b": "pruned"}]}, {"o": [None]})),
    "maps": (spec(m={"type": "object", "additionalProperties": INTEGER}, o={"type": "object", "additionalProperties": object_of(a=STRING)}, l={"type": "object", "minProperties": 1, "maxProperties": 2,
                  "additionalProperties": STRING}), {}, {}, tried({"m": {"a": 1}}, {"m": {"a": "x"}}, {"o": {"k": {"a": "x", "b": 1}}}, {"l": {}}, {"l": {"a": "1", "b": "2", "c": "3"}}, {"m": {"a": None}})),
    "defaults": (object_of(spec={**object_of(a={"type": "string", "default": "A"}, n={"type": "integer", "default": 3}, o={**object_of(b={"type": "boolean", "default": True}), "default": {}},
                                             l=listed(object_of(p={"type": "integer", "default": 80}, q=STRING)), deep=object_of(x={"type": "string", "default": "y"}),
                                             m={"type": "object", "additionalProperties": object_of(d={"type": "string", "default": "D"})}), "default": {}}), {}, {}, [
        post(), *tried({}, {"a": "mine", "o": {"b": False}}, {"l": [{}, {"q": "z"}]}, {"deep": {}}, {"m": {"k": {}}}, {"a": None, "o": None}), change("merge", {"spec": {"a": None}}),
        change("merge", {"spec": {"l": [{"q": "1"}]}}), get()]),
    "nullable": (spec(n={"type": "string", "nullable": True}, d={"type": "string", "nullable": True, "default": "D"}, s=STRING, e={"type": "string", "default": "E"},
                      o={"type": "object", "nullable": True, "properties": {"a": STRING}}), {}, {}, tried({"n": None}, {"d": None}, {"s": None}, {"e": None}, {"o": None}, {"n": "x", "o": {"a": None}})),
    "kept": ({"type": "object", "x-kubernetes-preserve-unknown-fields": True, "properties": {"spec": object_of(a=STRING)}}, {}, {}, [
        post(spec={"a": "x", "gone": 1}, other={"kept": [1, {"deep": None}]}), change("merge", {"other": {"kept": None, "more": 1}}), change("json", [{"op": "add", "path": "/extra", "value": {"a": 1}}])]),
    "kept below": (spec(k={**KEEP, "properties": {"known": object_of(a=STRING)}}, p=object_of(a=STRING)), {}, {}, tried(
        {"k": {"x": 1, "known": {"a": "b", "pruned": 1}}, "p": {"a": "b", "pruned": 1}, "pruned": 1}, {"k": {"known": {"a": 1}}})),
    "pruned": (spec(a=STRING, o=object_of(b=STRING)), {}, {}, [
        post(spec={"a": "x", "b": 1, "o": {"c": 1}}, top=1), post("?fieldValidation=Strict", "y", spec={"a": "x", "b": 1, "o": {"c": 1}}, top=1), post("?fieldValidation=Warn", "z", spec={"b": 1}),
        post("?fieldValidation=Ignore", "w", spec={"b": 1}), change("merge", {"spec": {"b": 1}}), change("merge", {"spec": {"b": 1}}, "?fieldValidation=Strict"),
        change("json", [{"op": "add", "path": "/spec/b", "value": 1}]), change("strategic", {"spec": {"a": "y"}}), change("json", [{"op": "test", "path": "/spec/a", "value": "no"}]), get()]),
    "either": (spec(p={"x-kubernetes-int-or-string": True}, r={"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}), {}, {}, tried(
        {"p": 1}, {"p": "50%"}, {"p": True}, {"p": {}}, {"p": 1.5}, {"r": "x"}, {"p": None})),
    "embedded": (spec(t={"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True},
                      u={"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"spec": object_of(a=STRING)}}), {}, {}, tried(
        {"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}, "x": 1}}, {"t": {"kind": "Pod"}}, {"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "Bad_Name"}}},
        {"u": {"apiVersion": "v1", "kind": "Pod", "spec": {"a": "x", "b": 1}, "y": 1}}, {"t": {"apiVersion": "v1", "kind": "Pod", "metadata": {"nonsense": 1}}}, {"t": 1})),
    "list kinds": (spec(m=listed({**object_of(name=STRING, v=STRING), "required": ["name"]}, **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}),
                        s=listed(STRING, **{"x-kubernetes-list-type": "set"}), a=listed(STRING, **{"x-kubernetes-list-type": "atomic"})), {}, {}, [
        *tried({"m": [{"name": "a"}, {"name": "a"}]}, {"s": ["x", "x"]}, {"a": ["x", "x"]}), apply(spec={"m": [{"name": "a", "v": "1"}], "s": ["x"], "a": ["p"]}),
        apply(manager="n", spec={"m": [{"name": "b", "v": "2"}], "s": ["y"]}), apply(spec={"m": [], "s": ["x", "z"]}), apply(manager="n", spec={"a": ["q"]}), get()]),
    "status": (object_of(spec=object_of(a=STRING), status=object_of(s=STRING, n=INTEGER)), {"subresources": {"status": {}}}, {}, [
        post(spec={"a": "1"}, status={"s": "dropped"}), change("merge", {"status": {"s": "dropped"}}), change("merge", {"status": {"s": "ok"}, "spec": {"a": "dropped"}}, what="x/status"),
        change("merge", {"spec": {"a": "2"}}), change("merge", {"metadata": {"labels": {"l": "1"}}}), change("merge", {"metadata": {"labels": {"l": "2"}}}, what="x/status"), change("merge", {"status": {"n": "bad"}}, what="x/status"),
        ("GET", "/x/status", None, None), ("GET", "/x/scale", None, None), get()]),
    "no status": (object_of(spec=object_of(a=STRING), status=object_of(s=STRING)), {}, {}, [
        post(spec={"a": "1"}, status={"s": "kept"}), change("merge", {"status": {"s": "changed"}}), change("merge", {"status": {"s": "no"}}, what="x/status"), change("merge", {"spec": {"a": "2"}}),
        change("merge", {"metadata": {"labels": {"l": "1"}}}), get()]),
    "scale": (object_of(spec=object_of(n=INTEGER), status=object_of(n=INTEGER, sel=STRING)), {"subresources": {"status": {}, "scale": {
        "specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.sel"}}}, {}, [
            post(spec={"n": 2}), ("GET", "/x/scale", None, None), change("merge", {"status": {"n": 1, "sel": "a=b"}}, what="x/status"), ("GET", "/x/scale", None, None),
            change("merge", {"spec": {"replicas": 5}}, what="x/scale"), change("merge", {"spec": {"replicas": -1}}, what="x/scale"), get(),
            post(name="y"), ("GET", "/y/scale", None, None), ("PUT", "/y/scale", {"metadata": {"name": "y"}, "spec": {"replicas": 3}}, None)]),
    "columns": (spec(text=STRING, count=INTEGER, share=NUMBER, on=BOOLEAN, since={"type": "string", "format": "date-time"}, inner=object_of(text=STRING, n=INTEGER),
                     items=listed(object_of(name=STRING, value=STRING))), {"additionalPrinterColumns": COLUMNS}, {}, [
        post(), post(name="y", spec={"text": "t", "count": 7, "share": 0.5, "on": True, "since": "2020-01-01T00:00:00Z", "inner": {"text": "i", "n": 1}, "items": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]}),
        post(name="z", spec={"on": False, "count": 0, "text": "", "items": []})]),
    "age column": (spec(), {"additionalPrinterColumns": [{"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}]}, {}, [post()]),
    "no columns": (spec(), {}, {}, [post()]),
    "bare": (KEEP, {}, {}, [post(anything={"a": [1]}), change("merge", {"anything": {"b": 1}}), change("merge", {"kind": "Other"}), change("merge", {"metadata": {"name": "y"}}), post(), post(name="Bad_Name"),
                            post(name=None), ("DELETE", "/x", None, None), get()]),
    "named": (object_of(metadata=object_of(name={"type": "string", "maxLength": 3, "pattern": "^x"})), {}, {}, [post(), post(name="xlong"), post(name="abc")]),
    "whole cluster": (spec(a=STRING), {}, {"scope": "Cluster"}, [post(spec={"a": "1"}), get()]),
    "names": (spec(a=STRING), {}, {"names": {"shortNames": ["th", "thg"], "categories": ["all", "mine"], "singular": "thingy", "listKind": "ThingCollection"}}, [post()]),
    "fields": (spec(color=STRING, size=INTEGER), {"selectableFields": [{"jsonPath": ".spec.color"}, {"jsonPath": ".spec.size"}]}, {}, [
        *tried({"color": "red", "size": 1}, {"color": "blue", "size": 2}, {}), ("GET", "?fieldSelector=spec.color%3Dred", None, None), ("GET", "?fieldSelector=spec.size%3D2", None, None),
        ("GET", "?fieldSelector=spec.color%21%3Dred", None, None), ("GET", "?fieldSelector=spec.other%3Dx", None, None), ("GET", "?fieldSelector=metadata.name%3Dx1", None, None)]),
    "many": (spec(a=STRING), {}, {}, [post(name="a"), post(name="b"), post(name="c"), ("GET", "?limit=2", None, None), ("DELETE", "?fieldSelector=metadata.name%3Db", None, None), ("GET", "", None, None),
                                      post("?dryRun=All", "d"), ("GET", "/d", None, None), ("PUT", "/a", {"metadata": {"name": "a"}, "spec": {"a": "put"}}, None),
                                      ("PUT", "/a", {"metadata": {"name": "a", "resourceVersion": "1"}, "spec": {"a": "put"}}, None), ("PUT", "/nobody", {"metadata": {"name": "nobody"}}, None)]),
}


def definition(group, schema, version=(), rest=(), versions=None):
    rest = dict(rest)
    names = {"plural": "things", "kind": "Thing", **rest.pop("names", {})}
    versions = versions or [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}, **dict(version)}]
    return {"metadata": {"name": f"things.{group}"}, "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": versions, **rest}}


def version(name="v1", served=True, storage=True, **more):
    return {"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": KEEP}, **more}


def schema(**properties):
    return [version(schema={"openAPIV3Schema": spec(**properties)})]


# Definitions that are refused, or accepted with a remark.
DEFINITIONS = {
    "plain": {}, "no versions": {"versions": []}, "nothing stored": {"versions": [version(storage=False)]}, "stored twice": {"versions": [version(), version("v2")]},
    "same version twice": {"versions": [version(), version(storage=False)]}, "bad version": {"versions": [version("V1")]}, "no scope": {"scope": None}, "unknown scope": {"scope": "Everywhere"},
    "no kind": {"names": {"plural": "things"}}, "upper case plural": {"names": {"plural": "Things", "kind": "Thing"}}, "lower case kind": {"names": {"plural": "things", "kind": "thing"}},
    "bad short name": {"names": {"plural": "things", "kind": "Thing", "shortNames": ["No_Good"]}}, "no schema": {"versions": [{"name": "v1", "served": True, "storage": True}]},
    "not structural": {"versions": [version(schema={"openAPIV3Schema": {"type": "object", "properties": {"a": {}}}})]}, "root is no object": {"versions": [version(schema={"openAPIV3Schema": STRING})]},
    "items missing": {"versions": schema(a={"type": "array"})}, "unique items": {"versions": schema(a=listed(STRING, uniqueItems=True))}, "unknown type": {"versions": schema(a={"type": "text"})},
    "properties and more": {"versions": schema(a={"type": "object", "properties": {"b": STRING}, "additionalProperties": STRING})}, "bad default": {"versions": schema(a={"type": "integer", "default": "x"})},
    "default with unknown fields": {"versions": schema(a={**object_of(b=STRING), "default": {"c": 1}})}, "bad pattern": {"versions": schema(a={"type": "string", "pattern": "("})},
    "map without keys": {"versions": schema(a=listed(object_of(b=STRING), **{"x-kubernetes-list-type": "map"}))}, "unknown list type": {"versions": schema(a=listed(STRING, **{"x-kubernetes-list-type": "bag"}))},
    "key not required": {"versions": schema(a=listed(object_of(b=STRING), **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["b"]}))},
    "reference": {"versions": schema(a={"$ref": "#/x"})}, "bad column": {"versions": [version(additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": "a"}])]},
    "column of unknown type": {"versions": [version(additionalPrinterColumns=[{"name": "A", "type": "text", "jsonPath": ".a"}])]}, "column without path": {"versions": [version(additionalPrinterColumns=[{"name": "A", "type": "string"}])]},
    "unknown format of a column": {"versions": [version(additionalPrinterColumns=[{"name": "A", "type": "string", "format": "name", "jsonPath": ".a"}])]}, "scale without paths": {"versions": [version(subresources={"scale": {}})]}, "scale outside of spec": {"versions": [version(subresources={"scale": {"specReplicasPath": ".n", "statusReplicasPath": ".status.n"}})]},
    "webhook without a client": {"conversion": {"strategy": "Webhook"}}, "unknown conversion": {"conversion": {"strategy": "Magic"}}, "kept everywhere": {"preserveUnknownFields": True},
    "metadata restricted": {"versions": [version(schema={"openAPIV3Schema": object_of(metadata=object_of(labels=object_of(a=STRING)))})]}, "group of another name": {"group": "other.example.com"},
    "protected group": {"group": "things.k8s.io"}, "bad group": {"group": "No_Good"}, "old version": {"versions": [version(deprecated=True, deprecationWarning="use v2")]}, "warning without age": {"versions": [version(deprecationWarning="x")]},
    "selectable of nothing": {"versions": [version(selectableFields=[{"jsonPath": ".spec.nothing"}])]},
}


class Kind:
    def __init__(self, api, namespace, name, scope="Namespaced", version="v1"):
        self.api, self.name = api, name
        self.group = f"{name.replace(' ', '-')}.{namespace}.example.com"
        where = f"/namespaces/{namespace}" if scope == "Namespaced" else ""
        self.path = f"/apis/{self.group}/{version}{where}/things"

    def send(self, request):
        method, suffix, body, form = request
        if callable(body):
            body = body(self.group)
        if isinstance(body, dict) and method in ("POST", "PUT"):
            scale = suffix.endswith("/scale")
            body = {"apiVersion": "autoscaling/v1" if scale else self.path.split("/")[2] + "/" + self.path.split("/")[3], "kind": "Scale" if scale else "Thing", **body}
        path = self.path + suffix
        return read(self.api.patch(form, path, body) if method == "PATCH" else self.api.request(method, path, body))


def make(api, body):
    api.must("POST", CRDS, body)


def established(api, body):
    name = body["metadata"]["name"]

    def is_served():
        conditions = {one["type"]: one["status"] for one in api.must("GET", f"{CRDS}/{name}").get("status", {}).get("conditions", [])}
        first = next(one["name"] for one in body["spec"]["versions"] if one["served"])
        path = f"/apis/{body['spec']['group']}/{first}"
        return conditions.get("Established") == "True" and any(item["name"] == "things" for item in (api.get(path).json.get("resources", []) if api.get(path).code == 200 else [])) \
            and api.get(f"{path}/things").code == 200
    eventually(is_served, seconds=20, every=0.05, what=f"{name} being served")


def observe(api, namespace):
    bodies = []
    try:
        kinds = {}
        for name, (schema_of, version_of, rest, _) in CASES.items():
            kinds[name] = Kind(api, namespace, name, dict(rest).get("scope", "Namespaced"))
            bodies.append(definition(kinds[name].group, schema_of, version_of, rest))
        versioned = Kind(api, namespace, "versions")
        bodies.append(definition(versioned.group, KEEP, versions=[
            version(), version("v1beta1", storage=False, deprecated=True), version("v2", storage=False, deprecated=True, deprecationWarning="use another"), version("v1alpha1", served=False, storage=False)]))
        for body in bodies:
            make(api, body)
        yield from definitions(api, namespace)
        for body, name in zip(bodies, [*CASES, "versions"]):
            established(api, body)
            yield f"{name}: definition", masked(api.must("GET", f"{CRDS}/{body['metadata']['name']}"))
            yield f"{name}: discovery", without_hashes(api.must("GET", f"/apis/{body['spec']['group']}/{body['spec']['versions'][0]['name']}"))
        for name, (_, _, _, requests) in CASES.items():
            for number, request in enumerate(requests, 1):
                yield f"{name}: answer {number}", kinds[name].send(request)
            yield f"{name}: list", masked(api.must("GET", kinds[name].path))
            columns, rows, _ = rows_of(api, kinds[name].path)
            yield f"{name}: columns", columns
            for row, cells in rows.items():
                yield f"{name}: row {row}", cells
        yield from several_versions(api, namespace, versioned)
        yield from changed_definition(api, kinds["pruned"])
    finally:
        for body in bodies:
            api.request("DELETE", f"{CRDS}/{body['metadata']['name']}")
    eventually(lambda: api.get(kinds["types"].path).code == 404, seconds=20, what="the end of a kind")
    yield "deleted: its objects", read(api.get(f"{kinds['types'].path}/x0"))


def definitions(api, namespace):
    for name, changes in DEFINITIONS.items():
        group = f"d.{namespace}.example.com"
        body = definition(group, KEEP)
        body["spec"] = {key: value for key, value in {**body["spec"], **changes}.items() if value is not None}
        yield f"definition: {name}", read(api.request("POST", f"{CRDS}?dryRun=All", body))


def several_versions(api, namespace, kind):
    yield "versions: created", kind.send(post(spec={"a": 1}))
    for name in ("v1beta1", "v2", "v1alpha1"):
        other = Kind(api, namespace, "versions", version=name)
        yield f"versions: read as {name}", other.send(get())
    other = Kind(api, namespace, "versions", version="v1beta1")
    yield "versions: changed as v1beta1", other.send(change("merge", {"spec": {"a": 2}}))
    yield "versions: created as v1beta1", other.send(post(name="y"))
    yield "versions: group", masked(api.must("GET", f"/apis/{kind.group}"))
    yield "versions: table", rows_of(api, other.path)[0]


def changed_definition(api, kind):
    """A new schema holds for what is there."""
    path = f"{CRDS}/things.{kind.group}"
    change_to = {"spec": {"versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": spec(a=STRING, late={"type": "string", "default": "L"})}}]}}
    yield "changed: answer", read(api.patch("merge", path, change_to))
    eventually(lambda: "late" in kind.send(post("?dryRun=All", "new", spec={})).get("spec", {}), what="the new schema")
    yield "changed: object", masked(api.must("GET", f"{kind.path}/x"))
    for field, value in {"group": "other.example.com", "scope": "Cluster", "names": {"plural": "others", "kind": "Thing"}}.items():
        yield f"changed: {field}", read(api.patch("merge", path + "?dryRun=All", {"spec": {field: value}}))
    yield "changed: no version", read(api.patch("merge", path + "?dryRun=All", {"spec": {"versions": [version("v2")]}}))


def without_hashes(found):
    for item in found["resources"]:
        item.pop("storageVersionHash", None)
    return found

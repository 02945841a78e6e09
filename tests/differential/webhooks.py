"""Admission webhooks: which are called with what, and what becomes of the request. All are registered at once, each for the objects of its case."""
import copy
import json
import re

from answers import masked, read
from local_cluster import eventually
from webhook_server import Raw, WebhookServer, address_towards, allow, deny, patch, review_of, warn

CREATE, UPDATE, DELETE = ["CREATE"], ["UPDATE"], ["DELETE"]
MAPS = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"]}
PODS = {**MAPS, "resources": ["pods"]}
POD = {"containers": [{"name": "c", "image": "x:1"}], "schedulerName": "nobody", "serviceAccountName": "default", "automountServiceAccountToken": False}
LABEL = {"op": "add", "path": "/metadata/labels/patched", "value": "yes"}
GENERATED = re.compile(r"\bx-[bcdfghjklmnpqrstvwxz2456789]{5}\b(?!-)")
UNREACHABLE = "https://127.0.0.1:1/"


def rule(operations=CREATE, kind=MAPS, **more):
    return {**kind, "operations": operations, **more}


def mutating(answer=allow, rules=(rule(),), config="", **fields):
    return "mutating", answer, list(rules), config, fields


def validating(answer=allow, rules=(rule(),), config="", **fields):
    return "validating", answer, list(rules), config, fields


def create(kind="configmaps", labels=(), query="", name="x", **body):
    """POST of an object of the case."""
    meta = {"name": name} if name else {"generateName": "x-"}
    return lambda case: case.request("POST", case.path(kind) + query, {"metadata": {**meta, "labels": {"case": case.label, **dict(labels)}}, **body})


def change(what, body, form="merge", query=""):
    return lambda case: case.request("PATCH", case.path(what) + query, body, form)


def remove(what, query=""):
    return lambda case: case.request("DELETE", case.path(what) + query)


def one(**fields):
    """A pod with a label more, from the first webhook of two."""
    return {"op": "add", "path": "/metadata/labels/" + fields["label"], "value": "1"}


def add_once(label):
    """Adds a label if it is not there, so that a second call changes nothing."""
    def answer(request):
        if label in request["object"]["metadata"].get("labels", {}):
            return {"allowed": True}
        return patch(one(label=label))(request)
    return answer


CASES = {
    # --- what a webhook is told
    "told of a create": ([mutating(), validating()], [create(data={"a": "1"})]),
    "told of a pod": ([mutating(rules=[rule(kind=PODS)]), validating(rules=[rule(kind=PODS)])], [create("pods", spec=POD)]),
    "no name yet": ([mutating(rules=[rule(kind=PODS)]), validating(rules=[rule(kind=PODS)])], [create("pods", name=None, spec=POD)]),
    "told of an update": ([mutating(rules=[rule(UPDATE)]), validating(rules=[rule(UPDATE)])], [create(), change("configmaps/x", {"data": {"b": "2"}})]),
    "an update that changes nothing": ([validating(rules=[rule(UPDATE)])], [create(), change("configmaps/x", {})]),
    "told of a deletion": ([mutating(rules=[rule(DELETE)]), validating(rules=[rule(DELETE)])], [create(), remove("configmaps/x")]),
    "deletion of a pod": ([validating(rules=[rule(DELETE, PODS)])], [create("pods", spec={**POD, "nodeName": "away"}), remove("pods/x"),
                                                                     remove("pods/x", "?gracePeriodSeconds=0")]),
    "deletion of many": ([validating(rules=[rule(DELETE)])], [create(name="x"), create(name="y"), remove("configmaps", "?labelSelector=case%3D$CASE")]),
    "deletion refused": ([validating(deny("stay"), [rule(DELETE)])], [create(), remove("configmaps/x")]),
    "deletion not mutated": ([mutating(patch(LABEL), [rule(DELETE)])], [create(), remove("configmaps/x")]),
    "status only": ([validating(rules=[rule(UPDATE, {**PODS, "resources": ["pods/status"]})])],
                    [create("pods", spec=POD), change("pods/x", {"metadata": {"labels": {"n": "1"}}}), change("pods/x/status", {"status": {"phase": "Failed"}})]),
    "every subresource": ([validating(rules=[rule(["*"], {**PODS, "resources": ["pods/*"]})])],
                          [create("pods", spec=POD), change("pods/x/status", {"status": {"message": "m"}}), change("pods/x", {"metadata": {"labels": {"n": "1"}}})]),
    "binding": ([validating(rules=[rule(kind={**PODS, "resources": ["pods/binding"]})])],
                [create("pods", spec=POD), lambda case: case.request("POST", case.path("pods/x/binding"), {"metadata": {"name": "x", "labels": {"case": case.label}}, "target": {"kind": "Node", "name": "n"}})]),
    "eviction": ([validating(rules=[rule(kind={**PODS, "resources": ["pods/eviction"]})])],
                 [create("pods", spec=POD), lambda case: case.request("POST", case.path("pods/x/eviction"), {
                     "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "x", "labels": {"case": case.label}}})]),
    "scale": ([validating(rules=[rule(["*"], {"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments/scale"]}, )], objectSelector={})],
              [create("deployments", spec={"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": POD["containers"]}}}),
               change("deployments/x/scale", {"spec": {"replicas": 1}})]),
    "applied": ([mutating(patch(LABEL), [rule(["CREATE", "UPDATE"])]), validating(rules=[rule(["CREATE", "UPDATE"])])],
                [change("configmaps/x", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"case": "$CASE"}}, "data": {"a": "1"}}, "apply", "?fieldManager=m"),
                 change("configmaps/x", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "labels": {"case": "$CASE"}}, "data": {"a": "2"}}, "apply", "?fieldManager=m")]),

    # --- refusals
    "refused": ([validating(deny("no"))], [create()]),
    "refused by a mutating one": ([mutating(deny("no"))], [create()]),
    "refused without words": ([validating(lambda request: {"allowed": False})], [create()]),
    "refused with an empty status": ([validating(deny())], [create()]),
    "refused with a code": ([validating(deny("no", code=403))], [create()]),
    "refused with a reason": ([validating(deny(None, reason="Because", code=422))], [create()]),
    "refused with a good code": ([validating(deny("no", code=200))], [create()]),
    "refused with causes": ([validating(deny("no", code=409, reason="Conflict", details={"name": "n", "causes": [{"reason": "R", "message": "m", "field": "f"}]}))], [create()]),
    "refused though ignored": ([validating(deny("no"), failurePolicy="Ignore")], [create()]),
    "refused with a status of success": ([validating(deny("no", status="Success"))], [create()]),

    # --- answers that are none
    "another uid": ([validating(Raw(review=lambda request: review_of("other", {"allowed": True})))], [create()]),
    "another uid to a mutating one": ([mutating(Raw(review=lambda request: review_of("other", {"allowed": True})))], [create()]),
    "another uid ignored": ([validating(Raw(review=lambda request: review_of("other", {"allowed": True})), failurePolicy="Ignore")], [create()]),
    "no uid": ([validating(Raw(review=lambda request: review_of("", {"allowed": True})))], [create()]),
    "another kind": ([validating(Raw(review=lambda request: review_of(request["uid"], {"allowed": True}, kind="Review")))], [create()]),
    "another version": ([validating(Raw(review=lambda request: review_of(request["uid"], {"allowed": True}, "admission.k8s.io/v1beta1")))], [create()]),
    "no kind": ([validating(Raw(review=lambda request: {"response": {"uid": request["uid"], "allowed": True}}))], [create()]),
    "no response": ([validating(Raw(review=lambda request: {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}))], [create()]),
    "no JSON": ([validating(Raw(body=b"hello"))], [create()]),
    "nothing": ([validating(Raw(body=b""))], [create()]),
    "code 500": ([validating(Raw(500, b"oh"))], [create()]),
    "code 500 ignored": ([mutating(Raw(500, b"oh"), failurePolicy="Ignore"), validating(Raw(500, b"oh"), failurePolicy="Ignore")], [create()]),
    "code 404": ([validating(Raw(404, b"where"))], [create()]),
    "elsewhere": ([validating(Raw(302, b"", {"Location": "https://127.0.0.1:1/"}))], [create()]),
    "too late": ([validating(Raw(delay=2), timeoutSeconds=1)], [create()]),
    "too late ignored": ([mutating(Raw(delay=2), timeoutSeconds=1, failurePolicy="Ignore")], [create()]),
    "nobody there": ([validating(clientConfig={"url": UNREACHABLE})], [create()]),
    "nobody there ignored": ([validating(clientConfig={"url": UNREACHABLE}, failurePolicy="Ignore")], [create()]),
    "nobody there for a mutating one": ([mutating(clientConfig={"url": UNREACHABLE})], [create()]),
    "not trusted": ([validating(clientConfig={"url": "$URL/not-trusted"})], [create()]),
    "no such service": ([validating(clientConfig={"service": {"namespace": "$NS", "name": "nobody", "path": "/p"}})], [create()]),
    "no such service ignored": ([validating(clientConfig={"service": {"namespace": "$NS", "name": "nobody"}}, failurePolicy="Ignore")], [create()]),

    # --- patches
    "patched": ([mutating(patch(LABEL))], [create()]),
    "patched pod has defaults": ([mutating(patch({"op": "add", "path": "/spec/containers/-", "value": {"name": "d", "image": "y"}}), [rule(kind=PODS)])], [create("pods", spec=POD)]),
    "patched and seen": ([mutating(patch(LABEL)), validating()], [create()]),
    "patch of a missing path": ([mutating(patch({"op": "remove", "path": "/data/none"}))], [create()]),
    "patch whose test fails": ([mutating(patch({"op": "test", "path": "/metadata/name", "value": "other"}, LABEL))], [create()]),
    "patch that fails ignored": ([mutating(patch({"op": "remove", "path": "/data/none"}), failurePolicy="Ignore")], [create()]),
    "patch without a type": ([mutating(patch(LABEL, kind=None))], [create()]),
    "patch of another type": ([mutating(patch(LABEL, kind="MergePatch"))], [create()]),
    "patch not encoded": ([mutating(patch(LABEL, encode=False))], [create()]),
    "type without a patch": ([mutating(lambda request: {"allowed": True, "patchType": "JSONPatch"})], [create()]),
    "patch from a validating one": ([validating(patch(LABEL))], [create()]),
    "patched to be invalid": ([mutating(patch({"op": "replace", "path": "/spec/containers/0/image", "value": ""}), [rule(kind=PODS)])], [create("pods", spec=POD)]),
    "patched with an unknown field": ([mutating(patch({"op": "add", "path": "/nonsense", "value": 1}))], [create()]),
    "patched to a wrong type": ([mutating(patch({"op": "add", "path": "/data", "value": 1}))], [create()]),
    "patched name": ([mutating(patch({"op": "replace", "path": "/metadata/name", "value": "y"}))], [create()]),
    "patched kind": ([mutating(patch({"op": "replace", "path": "/kind", "value": "Secret"}))], [create()]),
    "patched namespace": ([mutating(patch({"op": "replace", "path": "/metadata/namespace", "value": "default"}))], [create()]),
    "patch that changes nothing": ([mutating(patch({"op": "replace", "path": "/metadata/name", "value": "x"}))], [create()]),
    "empty patch": ([mutating(patch())], [create()]),
    "patched update": ([mutating(patch(LABEL), [rule(UPDATE)])], [create(), change("configmaps/x", {"data": {"b": "2"}}), change("configmaps/x", {"data": {"b": "2"}})]),

    # --- order and repetition
    "one after the other": ([mutating(patch(one(label="a")), config="b"), mutating(patch(one(label="b")), config="a"), mutating(patch(one(label="c")), config="a")], [create()]),
    "asked again": ([mutating(add_once("a"), reinvocationPolicy="IfNeeded"), mutating(add_once("b"))], [create()]),
    "never asked again": ([mutating(add_once("a")), mutating(add_once("b"))], [create()]),
    "nothing to ask again": ([mutating(add_once("a"), reinvocationPolicy="IfNeeded"), mutating()], [create()]),
    "the last is not asked again": ([mutating(), mutating(add_once("b"), reinvocationPolicy="IfNeeded")], [create()]),
    "both asked again": ([mutating(add_once("a"), reinvocationPolicy="IfNeeded"), mutating(add_once("b"), reinvocationPolicy="IfNeeded")], [create()]),
    "asked again and refused": ([mutating(lambda request: {"allowed": "b" not in request["object"]["metadata"]["labels"]}, reinvocationPolicy="IfNeeded"), mutating(add_once("b"))], [create()]),
    "refused before the others": ([mutating(deny("no"), config="a"), mutating(config="b"), validating()], [create()]),

    # --- dry runs and warnings
    "dry run": ([mutating(patch(LABEL), sideEffects="NoneOnDryRun"), validating()], [create(query="?dryRun=All")]),
    "warning": ([validating(warn("mind the gap"))], [create()]),
    "warnings of both": ([mutating(warn("one", "two")), validating(warn("two", "three"))], [create()]),
    "warning with a refusal": ([validating(warn("careful", allowed=False))], [create()]),
    "odd warnings": ([validating(warn("", "quote \" and \\", "line\nbreak", "ümlaut"))], [create()]),
    "long warning": ([validating(warn("x" * 300))], [create()]),

    # --- selectors
    "label that came": ([validating(rules=[rule(UPDATE)], objectSelector={"matchLabels": {"case": "$CASE", "on": "1"}})],
                        [create(), change("configmaps/x", {"metadata": {"labels": {"on": "1"}}})]),
    "label that went": ([validating(rules=[rule(UPDATE)], objectSelector={"matchLabels": {"case": "$CASE", "on": "1"}})],
                        [create(labels={"on": "1"}), change("configmaps/x", {"metadata": {"labels": {"on": None}}}), change("configmaps/x", {"data": {"b": "2"}})]),
    "label not in": ([validating(objectSelector={"matchLabels": {"case": "$CASE"}, "matchExpressions": [{"key": "on", "operator": "NotIn", "values": ["1"]}]})],
                     [create(), create(name="y", labels={"on": "1"})]),
    "label there": ([validating(objectSelector={"matchLabels": {"case": "$CASE"}, "matchExpressions": [{"key": "on", "operator": "Exists"}]})],
                    [create(), create(name="y", labels={"on": ""})]),
    "label of an earlier one": ([mutating(patch({"op": "add", "path": "/metadata/labels/on", "value": "1"})), mutating(patch(LABEL), objectSelector={"matchLabels": {"case": "$CASE", "on": "1"}})], [create()]),
    "label of the deleted": ([validating(rules=[rule(DELETE)], objectSelector={"matchLabels": {"case": "$CASE"}})], [create(), remove("configmaps/x")]),
    "another namespace": ([validating(namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "other"}})], [create()]),
    "namespace not in": ([validating(namespaceSelector={"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["$NS"]}]})], [create()]),
    "a namespace's own labels": ([validating(rules=[rule(kind={**MAPS, "resources": ["namespaces"]})], namespaceSelector={"matchLabels": {"on": "1"}})],
                                 [create("namespaces", name="$NS-w1"), create("namespaces", name="$NS-w2", labels={"on": "1"})]),
    "no namespace to select": ([validating(rules=[rule(kind={**MAPS, "resources": ["nodes"]})], namespaceSelector={"matchLabels": {"on": "1"}})],
                               [create("nodes", name="$NS-n", query="?dryRun=All")]),

    # --- rules
    "everything": ([validating(rules=[rule(["*"], {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]})])], [create(), create("secrets"), remove("configmaps/x")]),
    "everything and below": ([validating(rules=[rule(["*"], {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"]})])],
                             [create("pods", spec=POD), change("pods/x/status", {"status": {"message": "m"}})]),
    "every status": ([validating(rules=[rule(["*"], {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/status"]})])],
                     [create("pods", spec=POD), change("pods/x/status", {"status": {"message": "m"}})]),
    "another group": ([validating(rules=[rule(kind={**MAPS, "apiGroups": ["apps"]})])], [create()]),
    "another version of it": ([validating(rules=[rule(kind={**MAPS, "apiVersions": ["v2"]})])], [create()]),
    "whole clusters only": ([validating(rules=[rule(scope="Cluster")])], [create()]),
    "namespaces only": ([validating(rules=[rule(kind={**MAPS, "resources": ["nodes", "configmaps"]}, scope="Namespaced")])],
                        [create(), create("nodes", name="$NS-n", query="?dryRun=All")]),
    "second rule": ([validating(rules=[rule(DELETE), rule(CREATE)])], [create()]),
    "events by their other name": ([validating(rules=[rule(kind={"apiGroups": ["events.k8s.io"], "apiVersions": ["v1"], "resources": ["events"]})])],
                                   [create("events", involvedObject={"namespace": "$NS", "name": "x"}, reason="R")]),
    "events by exactly their name": ([validating(rules=[rule(kind={"apiGroups": ["events.k8s.io"], "apiVersions": ["v1"], "resources": ["events"]})], matchPolicy="Exact")],
                                     [create("events", involvedObject={"namespace": "$NS", "name": "x"}, reason="R")]),

    # --- conditions
    "condition met": ([validating(matchConditions=[{"name": "a", "expression": "object.metadata.name == 'x'"}])], [create(), create(name="y")]),
    "conditions": ([validating(matchConditions=[{"name": "a", "expression": "has(object.data) && 'k' in object.data"}, {"name": "b", "expression": "request.operation != 'DELETE'"}])],
                   [create(), create(name="y", data={"k": "1"})]),
    "condition that fails": ([validating(matchConditions=[{"name": "a", "expression": "object.data.nothing == 'x'"}])], [create()]),
    "condition that fails ignored": ([validating(matchConditions=[{"name": "a", "expression": "object.data.nothing == 'x'"}], failurePolicy="Ignore")], [create()]),
    "condition on containers": ([validating(rules=[rule(kind=PODS)], matchConditions=[{"name": "a", "expression": "object.spec.containers.exists(c, c.image.startsWith('x'))"}])],
                                [create("pods", spec=POD), create("pods", name="y", spec={**POD, "containers": [{"name": "c", "image": "y:1"}]})]),
}

HOOK = {"name": "a.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [rule()]}


def hook(**changes):
    return [{name: value for name, value in {**HOOK, **changes}.items() if value is not None}]


# Configurations as they are written, and what the server makes of them.
CONFIGURATIONS = {
    "plain": hook(), "nothing": [], "no rules": hook(rules=[]), "some side effects": hook(sideEffects="Some"), "unknown side effects": hook(sideEffects="Unknown"),
    "no side effects said": hook(sideEffects=None), "without TLS": hook(clientConfig={"url": "http://127.0.0.1/"}), "no client": hook(clientConfig={}),
    "no URL": hook(clientConfig={"url": "::"}), "URL with a user": hook(clientConfig={"url": "https://u@h/"}), "URL with a query": hook(clientConfig={"url": "https://h/?a=b"}),
    "URL with a fragment": hook(clientConfig={"url": "https://h/#a"}), "service and URL": hook(clientConfig={"url": "https://h/", "service": {"namespace": "n", "name": "s"}}),
    "service": hook(clientConfig={"service": {"namespace": "n", "name": "s"}}), "service without a name": hook(clientConfig={"service": {"namespace": "n"}}),
    "service with a bad path": hook(clientConfig={"service": {"namespace": "n", "name": "s", "path": "p//q"}}), "service with a bad port": hook(clientConfig={"service": {"namespace": "n", "name": "s", "port": 70000}}),
    "same name twice": hook() + hook(), "short name": hook(name="a"), "too patient": hook(timeoutSeconds=31), "impatient": hook(timeoutSeconds=0),
    "unknown policy": hook(failurePolicy="Perhaps"), "unknown match": hook(matchPolicy="Roughly"), "no review version": hook(admissionReviewVersions=[]),
    "unknown review version": hook(admissionReviewVersions=["v9"]), "old review version": hook(admissionReviewVersions=["v1beta1"]), "review version twice": hook(admissionReviewVersions=["v1", "v1"]),
    "unknown operation": hook(rules=[rule(["READ"])]), "no operation": hook(rules=[rule([])]), "all and one": hook(rules=[rule(["*", "CREATE"])]), "no resource": hook(rules=[rule(kind={**MAPS, "resources": []})]),
    "overlapping resources": hook(rules=[rule(kind={**MAPS, "resources": ["*", "pods"]})]), "overlapping subresources": hook(rules=[rule(kind={**MAPS, "resources": ["pods/*", "pods/status"]})]),
    "no group": hook(rules=[rule(kind={**MAPS, "apiGroups": []})]), "unknown scope": hook(rules=[rule(scope="Everywhere")]), "bad selector": hook(objectSelector={"matchExpressions": [{"key": "a", "operator": "Like"}]}),
    "bad condition": hook(matchConditions=[{"name": "a", "expression": "object."}]), "condition without a name": hook(matchConditions=[{"expression": "true"}]),
    "condition twice": hook(matchConditions=[{"name": "a", "expression": "true"}, {"name": "a", "expression": "true"}]), "condition that is no truth": hook(matchConditions=[{"name": "a", "expression": "1"}]),
    "reinvoked": hook(reinvocationPolicy="IfNeeded"), "unknown reinvocation": hook(reinvocationPolicy="Always"),
}
CLUSTER_WIDE = ("namespaces", "nodes")
GROUPS = {"deployments": "/apis/apps/v1"}


class Case:
    """One case on one server: its label, its webhooks, what was answered."""

    def __init__(self, api, namespace, server, name):
        self.api, self.namespace, self.server, self.name = api, namespace, server, name
        self.label = name.lower().replace(" ", "-").replace("'", "")
        self.answers = []

    def fill(self, value):
        text = json.dumps(value)
        for name, said in {"NS": self.namespace, "CASE": self.label, "URL": self.server.url}.items():
            text = text.replace(f"${name}", said)
        return json.loads(text)

    def path(self, what):
        kind = what.partition("/")[0]
        base = GROUPS.get(kind, "/api/v1")
        where = base if kind in CLUSTER_WIDE else f"{base}/namespaces/{self.namespace}"
        return f"{where}/" + what.replace(f"{kind}/x", f"{kind}/{self.object('x')}", 1)

    def object(self, name):
        """Objects of all cases share a namespace."""
        return f"{name}-{self.label}" if name in ("x", "y") else name

    def request(self, method, path, body=None, form=None):
        body = copy.deepcopy(body)
        meta = (body or {}).get("metadata", {})
        if "name" in meta:
            meta["name"] = self.object(meta["name"])
        body, path = self.fill(body), self.fill(path)
        answer = self.api.patch(form, path, body) if method == "PATCH" else self.api.request(method, path, body)
        self.answers.append(read(answer))
        return answer

    def configurations(self, hooks):
        """By kind and name of the configuration, which are in order of their names."""
        out = {}
        for number, (kind, answer, rules, config, fields) in enumerate(hooks):
            path = f"/{self.label}/{number}"
            self.server.answers[path] = answer
            webhook = {"name": f"h{number}.{self.label}.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": rules,
                       "clientConfig": {"url": self.server.url + path, "caBundle": self.server.ca}, "objectSelector": {"matchLabels": {"case": "$CASE"}},
                       "namespaceSelector": {"matchExpressions": [{"key": "differential", "operator": "NotIn", "values": ["off"]}]}, "timeoutSeconds": 10, **fields}
            out.setdefault((kind, f"{self.label}{'-' if config else ''}{config}"), []).append(self.fill(webhook))
        return out


def observe(test, api, namespace):
    server = WebhookServer(test, address_towards(api.host, api.port))
    for name, hooks in CONFIGURATIONS.items():
        body = {"metadata": {"name": "c"}, "webhooks": hooks}
        answer = api.request("POST", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations?dryRun=All", body)
        yield f"configuration: {name}", read(answer)
    cases = {name: Case(api, namespace, server, name) for name in CASES}
    made = []

    def register(kind, name, webhooks):
        path = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations"
        api.must("POST", path, {"metadata": {"name": name}, "webhooks": webhooks})
        made.append(f"{path}/{name}")

    try:
        for name, (hooks, _) in CASES.items():
            for (kind, config), webhooks in sorted(cases[name].configurations(hooks).items()):
                register(kind, config, webhooks)
        ready = Case(api, namespace, server, "all are known")
        for (kind, config), webhooks in ready.configurations([mutating(), validating()]).items():
            register(kind, f"z-{config}", webhooks)

        def known():
            create(name="x", query="?dryRun=All")(ready)
            return len(server.seen) >= 2
        eventually(known, seconds=20, every=0.1, what="the webhooks being known")
        for name, (hooks, requests) in CASES.items():
            case = cases[name]
            for request in requests:
                request(case)
            for number, answer in enumerate(case.answers, 1):
                yield f"{name}: answer {number}", without_address(answer, server.url)
            for number in range(len(hooks)):
                yield f"{name}: webhook {number}", [without_user(seen) for seen in server.seen.get(f"/{case.label}/{number}", [])]
    finally:
        for path in made:
            api.request("DELETE", path)


def without_address(answer, url):
    text = json.dumps(answer).replace(url, "https://WEBHOOK").replace(url.removeprefix("https://"), "WEBHOOK")
    return json.loads(GENERATED.sub("x-*", text))


def without_user(seen):
    """Who asks differs by the way the server was set up."""
    told = {**seen, "request": {name: value for name, value in seen["request"].items() if name != "userInfo"}}
    return masked(json.loads(GENERATED.sub("x-*", json.dumps(told))))

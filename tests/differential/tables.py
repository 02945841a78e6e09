"""What tables show: pods in constructed states, and one or several objects of every other kind that has columns of its own."""
import re

from answers import masked
from clients import KUBECTLS, kubectl
from cases import filled
from pods_with_statuses import ago, condition, every_pod

ADDRESS = re.compile(r"^(10|127)\.96(\.\d+){2}$")  # of a service, out of the server's own range
TABLE = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x:1"}, {"name": "d", "image": "y:2"}]}}
ONCE = {"spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
SELECTOR = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "c", "operator": "In", "values": ["y", "x"]}]}
TEMPLATE_OF_BOTH = {**TEMPLATE, "metadata": {"labels": {"a": "b", "c": "x"}}}


def ports(*wanted):
    return [{"name": f"p{number}", "port": number, **more} for number, more in wanted]


def others():
    """(path of the collection, object, status or None). $NS is the namespace, $NAME a prefix of this run for what has none."""
    core, apps, batch = "/api/v1/namespaces/$NS", "/apis/apps/v1/namespaces/$NS", "/apis/batch/v1/namespaces/$NS"

    def named(name, **rest):
        return {"metadata": {"name": name}, **rest}

    for name, state in {"fresh": None, "partly": {"replicas": 3, "readyReplicas": 2, "updatedReplicas": 1, "availableReplicas": 1}}.items():
        yield f"{apps}/deployments", named(name, spec={"replicas": 3, "selector": SELECTOR, "template": TEMPLATE_OF_BOTH}), state
        numbers = state and {"replicas": 3, "readyReplicas": 2, "availableReplicas": 1}
        yield f"{apps}/replicasets", named(name, spec={"replicas": 3, "selector": SELECTOR, "template": TEMPLATE_OF_BOTH}), numbers
        yield f"{apps}/statefulsets", named(name, spec={"replicas": 2, "serviceName": "s", "selector": {"matchLabels": {"a": "b"}},
                                                       "template": TEMPLATE}), numbers
        yield f"{core}/replicationcontrollers", named(name, spec={"replicas": 3, "selector": {"a": "b"}, "template": TEMPLATE}), numbers
        yield f"{apps}/daemonsets", named(name, spec={"selector": {"matchLabels": {"a": "b"}}, "template": {
            **TEMPLATE, "spec": {**TEMPLATE["spec"], "nodeSelector": {"disk": "ssd", "arch": "x"}}}}), state and {
                "currentNumberScheduled": 4, "desiredNumberScheduled": 5, "numberReady": 3, "numberMisscheduled": 0,
                "updatedNumberScheduled": 2, "numberAvailable": 1}
    yield f"{apps}/daemonsets", named("anywhere", spec={"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}), None

    def job(name, state, **more):
        return f"{batch}/jobs", named(name, spec={"template": ONCE, **more}), state

    begin, end = ago(hours=10), ago(hours=10, minutes=-3, seconds=-5)
    yield job("new", None)
    yield job("works", {"startTime": ago(hours=10), "active": 1}, completions=4, parallelism=2)
    yield job("queue", {"startTime": ago(hours=10), "active": 3}, parallelism=3, completions=None)
    yield job("over", {"startTime": begin, "completionTime": end, "succeeded": 1, "conditions": [
        condition("SuccessCriteriaMet"), condition("Complete")]})
    yield job("failed", {"startTime": begin, "failed": 1, "conditions": [condition("FailureTarget"), condition("Failed")]})
    yield job("failing", {"startTime": begin, "failed": 1, "conditions": [condition("FailureTarget")]})
    yield job("halted", {"conditions": [condition("Suspended")]}, suspend=True)
    yield f"{batch}/cronjobs", named("never", spec={"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": ONCE}}}), None
    yield f"{batch}/cronjobs", named("zoned", spec={"schedule": "@yearly", "timeZone": "Etc/UTC", "suspend": True, "jobTemplate": {
        "spec": {"template": ONCE}}}), {"lastScheduleTime": ago(hours=10), "active": [{"name": "j"}]}

    def service(name, state=None, **wanted):
        return f"{core}/services", named(name, spec=wanted), state

    yield service("plain", ports=ports((80, {})), selector={"a": "b", "c": "d"})
    yield service("several", ports=ports((80, {}), (53, {"protocol": "UDP"})))
    yield service("headless", clusterIP="None", ports=ports((80, {})))
    yield service("on-nodes", type="NodePort", ports=ports((80, {"nodePort": 31234})), externalIPs=["192.0.2.7"])
    yield service("balanced", {"loadBalancer": {"ingress": [{"ip": "192.0.2.8"}, {"hostname": "lb.example.com"}]}}, type="LoadBalancer",
                  ports=ports((80, {"nodePort": 31235})))
    yield service("waits", type="LoadBalancer", ports=ports((80, {"nodePort": 31236})))
    yield service("elsewhere", type="ExternalName", externalName="example.com")

    yield f"{core}/configmaps", named("empty"), None
    yield f"{core}/configmaps", named("full", data={"a": "1", "b": "2"}, binaryData={"c": "eA=="}), None
    yield f"{core}/secrets", named("full", data={"a": "eA=="}, type="example.com/t"), None
    yield f"{core}/serviceaccounts", named("with", secrets=[{"name": "a"}, {"name": "b"}]), None
    yield f"{core}/endpoints", named("none"), None
    yield f"{core}/endpoints", named("many", subsets=[{"addresses": [{"ip": f"192.0.2.{i}"} for i in range(1, 6)], "ports": [{"port": 80}]}]), None
    yield f"{core}/endpoints", named("ports", subsets=[{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"name": "a", "port": 80},
                                                                                                     {"name": "b", "port": 81}]}]), None
    yield f"{core}/endpoints", named("unready", subsets=[{"notReadyAddresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]), None
    yield f"{core}/limitranges", named("l", spec={"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}), None
    yield f"{core}/resourcequotas", named("q", spec={"hard": {"pods": "3", "requests.cpu": "2", "limits.cpu": "4"}}), {
        "hard": {"pods": "3", "requests.cpu": "2", "limits.cpu": "4"}, "used": {"pods": "1", "requests.cpu": "500m", "limits.cpu": "0"}}
    yield f"{core}/podtemplates", named("t", template=TEMPLATE), None
    yield f"{core}/persistentvolumeclaims", named("c", spec={"accessModes": ["ReadWriteOnce", "ReadOnlyMany"], "storageClassName": "s",
                                                             "resources": {"requests": {"storage": "1Gi"}}}), None
    yield f"{core}/persistentvolumeclaims", named("bound", spec={
        "accessModes": ["ReadWriteOnce"], "volumeName": "v", "storageClassName": "s", "resources": {"requests": {"storage": "1Gi"}}}), {
            "phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}}
    yield "/api/v1/persistentvolumes", named("$NAME", spec={
        "accessModes": ["ReadWriteMany"], "capacity": {"storage": "5Gi"}, "hostPath": {"path": "/x"}, "storageClassName": "s",
        "claimRef": {"namespace": "n", "name": "c"}, "persistentVolumeReclaimPolicy": "Retain"}), {"phase": "Released", "reason": "why"}

    def event(name, count=1, **more):
        involved = {"kind": "Pod", "namespace": "$NS", "name": "p", **more.pop("about", {})}
        return f"{core}/events", {"metadata": {"name": name}, "involvedObject": involved, "reason": "Why", "message": "words ", "type": "Normal",
                                  "count": count, **more}, None

    yield event("old", firstTimestamp=ago(hours=10), lastTimestamp=ago(minutes=50), source={"component": "kubelet", "host": "n"}, count=7)
    yield event("new", eventTime=ago(minutes=50).replace("Z", ".000000Z"), action="Act", reportingComponent="example.com/c",
                reportingInstance="i", count=0)
    yield event("serial", eventTime=ago(hours=10).replace("Z", ".000000Z"), action="Act", reportingComponent="example.com/c", count=0,
                reportingInstance="i", series={"count": 4, "lastObservedTime": ago(minutes=50).replace("Z", ".000000Z")})
    yield event("part", about={"fieldPath": "spec.containers{c}"}, firstTimestamp=ago(hours=10), lastTimestamp=ago(hours=10))

    yield "/apis/coordination.k8s.io/v1/namespaces/$NS/leases", named("l", spec={"holderIdentity": "me"}), None
    yield "/apis/coordination.k8s.io/v1/namespaces/$NS/leases", named("free"), None
    yield "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets", named("min", spec={"minAvailable": "50%", "selector": {}}), {
        "disruptionsAllowed": 2, "currentHealthy": 4, "desiredHealthy": 2, "expectedPods": 4}
    yield "/apis/policy/v1/namespaces/$NS/poddisruptionbudgets", named("max", spec={"maxUnavailable": 1, "selector": {}}), None
    yield "/apis/scheduling.k8s.io/v1/priorityclasses", named("$NAME", value=1000, globalDefault=False, preemptionPolicy="Never"), None
    yield "/apis/storage.k8s.io/v1/storageclasses", named("$NAME", provisioner="example.com/p"), None
    yield "/apis/storage.k8s.io/v1/csidrivers", named("$NAME", spec={"attachRequired": False}), None
    yield "/apis/storage.k8s.io/v1/csinodes", named("$NAME", spec={"drivers": [{"name": "d", "nodeID": "n"}]}), None
    yield "/apis/node.k8s.io/v1/runtimeclasses", named("$NAME", handler="h"), None
    yield "/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/roles", named("r", rules=[]), None
    yield "/apis/rbac.authorization.k8s.io/v1/clusterroles", named("$NAME", rules=[]), None
    subjects = [{"kind": "User", "name": "u", "apiGroup": "rbac.authorization.k8s.io"}, {"kind": "ServiceAccount", "namespace": "n", "name": "s"},
                {"kind": "Group", "name": "g", "apiGroup": "rbac.authorization.k8s.io"}]
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
    yield "/apis/rbac.authorization.k8s.io/v1/namespaces/$NS/rolebindings", named("b", roleRef=role, subjects=subjects), None
    yield "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", named("$NAME", roleRef=role, subjects=subjects), None
    hook = {"name": "w.example.com", "clientConfig": {"url": "https://127.0.0.1:1/"}, "sideEffects": "None", "admissionReviewVersions": ["v1"]}
    for kind in ("mutating", "validating"):
        yield f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations", named("$NAME", webhooks=[hook]), None
    yield "/apis/networking.k8s.io/v1/namespaces/$NS/ingresses", named("i", spec={"ingressClassName": "c", "tls": [{"hosts": ["h.example.com"]}], "rules": [
        {"host": "h.example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}), {
            "loadBalancer": {"ingress": [{"ip": "192.0.2.9"}]}}
    yield "/apis/networking.k8s.io/v1/namespaces/$NS/networkpolicies", named("n", spec={"podSelector": {"matchLabels": {"a": "b"}}}), None
    yield "/apis/networking.k8s.io/v1/ingressclasses", named("$NAME", spec={"controller": "example.com/c"}), None
    yield "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices", named("s", addressType="IPv4", ports=[{"name": "a", "port": 80}, {"name": "b", "port": 443}],
                                                                          endpoints=[{"addresses": ["192.0.2.1"]}, {"addresses": ["192.0.2.2"]}]), None
    yield "/apis/discovery.k8s.io/v1/namespaces/$NS/endpointslices", named("unset", addressType="IPv4", endpoints=[]), None
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    yield "/apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers", named("h", spec={"scaleTargetRef": target, "maxReplicas": 5, "minReplicas": 2, "metrics": [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}},
        {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "100Mi"}}}]}), {
            "currentReplicas": 3, "desiredReplicas": 4, "currentMetrics": [
                {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 70, "averageValue": "7m"}}}]}
    yield "/apis/autoscaling/v2/namespaces/$NS/horizontalpodautoscalers", named("bare", spec={"scaleTargetRef": target, "maxReplicas": 5}), None
    yield "/apis/apps/v1/namespaces/$NS/controllerrevisions", {"metadata": {"name": "r", "ownerReferences": [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}]}, "revision": 3, "data": {}}, None
    yield from nodes()
    yield "/api/v1/namespaces", named("$NAME"), None


def nodes():
    info = {"kubeletVersion": "v1.2.3", "osImage": "An OS", "kernelVersion": "6.1", "containerRuntimeVersion": "containerd://1.6",
            **{name: "" for name in ("machineID", "systemUUID", "bootID", "kubeProxyVersion", "operatingSystem", "architecture")}}
    addresses = [{"type": "Hostname", "address": "h"}, {"type": "InternalIP", "address": "192.0.2.3"}, {"type": "ExternalIP", "address": "198.51.100.3"}]

    def node(name, state, labels=(), **wanted):
        return "/api/v1/nodes", {"metadata": {"name": f"$NAME-{name}", "labels": dict(labels)}, "spec": wanted}, state

    yield node("ready", {"conditions": [condition("Ready")], "nodeInfo": info, "addresses": addresses})
    yield node("not-ready", {"conditions": [condition("Ready", "False")], "nodeInfo": info, "addresses": addresses[:1]})
    yield node("unknown", {"conditions": [condition("Ready", "Unknown")]})
    yield node("silent", {"conditions": [condition("MemoryPressure", "False")]})
    yield node("closed", {"conditions": [condition("Ready")], "nodeInfo": info}, unschedulable=True)
    yield node("roles", {"conditions": [condition("Ready")]}, labels={
        "node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/control-plane": "", "kubernetes.io/role": "old"})


def without_words(columns):
    """Descriptions are in words of our own."""
    return [{key: value for key, value in column.items() if key != "description"} for column in columns]


def rows_of(api, path):
    """Columns, rows by name, and the rest of the table; ages are left out."""
    table = api.request("GET", path, headers=TABLE).json
    columns = without_words(table["columnDefinitions"])
    aged = [column["name"] in ("Age", "Created At") for column in columns]
    rows = {}
    for row in table["rows"]:
        cells = ["AGE" if hide else cell for hide, cell in zip(aged, row["cells"])]
        rows[row["object"]["metadata"]["name"]] = masked({**row, "cells": [ADDRESS.sub("ADDRESS", cell) if isinstance(cell, str) else cell for cell in cells]})
    return columns, rows, {key: value for key, value in table.items() if key not in ("columnDefinitions", "rows", "metadata")}


def observe(api, namespace):
    path = f"/api/v1/namespaces/{namespace}/pods"
    for body, state, goes in every_pod():
        name = body["metadata"]["name"]
        codes = [api.request("POST", path, body).code, api.patch("merge", f"{path}/{name}/status", {"status": state}).code]
        if goes:
            codes.append(api.request("DELETE", f"{path}/{name}").code)
        yield f"object {name}", codes
    columns, rows, rest = rows_of(api, path)
    yield "table", {"columns": columns, **rest}
    for name, row in rows.items():
        yield f"row {name}", row
    for version in KUBECTLS:
        done = kubectl(api, version, "-n", namespace, "get", "pods", "-o", "wide")
        yield f"lines {version}", [done.returncode, lines_without_age(done.stdout)]


def observe_others(api, namespace):
    seen = {}
    for path, body, state in others():
        path, body = (filled(part, {"NS": namespace, "NAME": f"t-{namespace}"}) for part in (path, body))
        kind = path.rpartition("/")[2]
        own = f"{path}/{body['metadata']['name']}"
        codes = [api.request("POST", path, body).code]
        if state is not None:
            codes.append(api.patch("merge", f"{own}/status", {"status": state}).code)
        yield f"object {kind}/{body['metadata']['name']}".replace(namespace, "NS"), codes
        seen[path] = kind
    for path, kind in seen.items():
        columns, rows, rest = rows_of(api, path)
        yield f"table {kind}", {"columns": columns, **rest}
        for name, row in rows.items():
            if namespace in path + name:  # a server has further nodes, roles and namespaces of its own
                yield f"row {kind}/{name}".replace(namespace, "NS"), row


def lines_without_age(text):
    """The columns as kubectl prints them, ages left out: they depend on the second."""
    lines = text.splitlines()
    begin = lines[0].index(" AGE ") + 1
    end = lines[0].index("IP", begin)
    return [" ".join((line[:begin] + line[end:]).split()) for line in lines]

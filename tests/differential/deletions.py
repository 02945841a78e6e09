"""Ways to delete: what is answered, and which events each object's watchers see, in their order."""
from answers import read
from local_cluster import eventually

POD = {"schedulerName": "nobody", "terminationGracePeriodSeconds": 20, "containers": [{"name": "c", "image": "x:1"}]}
GHOST = "00000000-0000-4000-8000-00000000dead"
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x:1"}], "schedulerName": "nobody"}}


def state(event):
    """What of an event tells about the end of its object."""
    meta = event["object"]["metadata"]
    kept = {name: meta[name] for name in ("deletionGracePeriodSeconds", "finalizers") if name in meta}
    if "deletionTimestamp" in meta:
        kept["going"] = True
    if "ownerReferences" in meta:
        kept["owners"] = [owner["name"] for owner in meta["ownerReferences"]]
    phase = event["object"].get("status", {}).get("phase")
    return event["type"], {**kept, **({"phase": phase} if phase else {})}


class Flow:
    """Steps taken in one namespace. `answers` are compared as they are, events by object."""

    def __init__(self, api, namespace, watched=("pods", "configmaps")):
        self.api, self.answers, self.watched = api, [], watched
        self.core = f"/api/v1/namespaces/{namespace}"
        self.since = {name: api.must("GET", f"{self.core}/{name}?limit=1")["metadata"]["resourceVersion"] for name in watched}

    def say(self, answer):
        self.answers.append(read(answer))
        return answer

    def map(self, name, owners=(), block=True, **meta):
        references = [{"apiVersion": "v1", "kind": "ConfigMap", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
                       "blockOwnerDeletion": block} for owner in owners]
        return self.api.must("POST", f"{self.core}/configmaps", {"metadata": {"name": name, **meta, **({"ownerReferences": references} if owners else {})}})

    def pod(self, name, phase=None, node="away", meta=(), **spec):
        made = self.api.must("POST", f"{self.core}/pods", {"metadata": {"name": name, **dict(meta)}, "spec": {
            **POD, **({"nodeName": node} if node else {}), **spec}})
        if phase:
            self.api.patch("merge", f"{self.core}/pods/{name}/status", {"status": {"phase": phase}})
        return made

    def delete(self, what, query="", **options):
        body = {"kind": "DeleteOptions", "apiVersion": "v1", **options} if options else None
        return self.say(self.api.request("DELETE", f"{self.core}/{what}{query}", body))

    def merge(self, what, **meta):
        return self.say(self.api.patch("merge", f"{self.core}/{what}", {"metadata": meta}))

    def gone(self, *names):
        for name in names:
            eventually(lambda: self.api.get(f"{self.core}/{name}").code == 404, seconds=30, what=f"the end of {name}")

    def events(self):
        """By collection and object; the order between objects counts only for those that go."""
        out = {}
        for collection, since in self.since.items():
            path = f"{self.core}/{collection}"
            if collection == "pods":
                self.pod("the-end", node=None)
            else:
                self.map("the-end")
            with self.api.watch(f"{path}?watch=1&timeoutSeconds=20&resourceVersion={since}") as watch:
                seen = watch.until(lambda event: event["object"]["metadata"]["name"] == "the-end")[:-1]
            self.api.must("DELETE", f"{path}/the-end?gracePeriodSeconds=0")
            eventually(lambda: self.api.get(f"{path}/the-end").code == 404, what="the end of the mark")
            for event in seen:
                out.setdefault(f"{collection}/{event['object']['metadata']['name']}", []).append(state(event))
        return out


def plain_pod(flow):
    flow.pod("p", node=None)
    flow.delete("pods/p")


def pod_without_node_and_grace(flow):
    flow.pod("p", node=None)
    flow.delete("pods/p", gracePeriodSeconds=10)


def bound_pod(flow):
    flow.pod("p")
    flow.delete("pods/p")
    flow.delete("pods/p")
    flow.delete("pods/p", gracePeriodSeconds=5)
    flow.delete("pods/p", gracePeriodSeconds=50)
    flow.merge("pods/p", labels={"while": "it-goes"})
    flow.delete("pods/p", gracePeriodSeconds=0)
    flow.delete("pods/p")


def bound_pod_at_once(flow):
    flow.pod("p")
    flow.delete("pods/p", gracePeriodSeconds=0)


def bound_pod_with_the_query(flow):
    flow.pod("p")
    flow.delete("pods/p", "?gracePeriodSeconds=7")
    flow.delete("pods/p", "?gracePeriodSeconds=0")


def query_and_body(flow):
    flow.pod("p")
    flow.delete("pods/p", "?gracePeriodSeconds=0", gracePeriodSeconds=3)
    flow.delete("pods/p", gracePeriodSeconds=0)


def negative_grace(flow):
    flow.pod("p")
    flow.delete("pods/p", gracePeriodSeconds=-5)
    flow.delete("pods/p", gracePeriodSeconds=0)


def negative_grace_of_the_spec(flow):
    flow.pod("p", terminationGracePeriodSeconds=-7)
    flow.delete("pods/p")
    flow.delete("pods/p", gracePeriodSeconds=0)


def no_grace_in_the_spec(flow):
    flow.pod("p", terminationGracePeriodSeconds=0)
    flow.delete("pods/p")


def succeeded_pod(flow):
    flow.pod("p", phase="Succeeded")
    flow.delete("pods/p")


def failed_pod_with_grace(flow):
    flow.pod("p", phase="Failed")
    flow.delete("pods/p", gracePeriodSeconds=9)


def pod_with_finalizer(flow):
    flow.pod("p", meta={"finalizers": ["example.com/hold"]})
    flow.delete("pods/p")
    flow.delete("pods/p", gracePeriodSeconds=0)
    flow.merge("pods/p", finalizers=None)
    flow.gone("pods/p")


def unbound_pod_with_finalizer(flow):
    flow.pod("p", node=None, meta={"finalizers": ["example.com/hold"]})
    flow.delete("pods/p")
    flow.merge("pods/p", finalizers=None)
    flow.gone("pods/p")


def finalizer_goes_before_the_grace(flow):
    flow.pod("p", meta={"finalizers": ["example.com/hold"]})
    flow.delete("pods/p")
    flow.merge("pods/p", finalizers=None)
    flow.delete("pods/p", gracePeriodSeconds=0)


def pod_preconditions(flow):
    made = flow.pod("p")["metadata"]
    flow.delete("pods/p", preconditions={"uid": GHOST})
    flow.delete("pods/p", preconditions={"resourceVersion": "1"})
    flow.delete("pods/p", preconditions={"uid": made["uid"]})
    flow.delete("pods/p", gracePeriodSeconds=0, preconditions={"uid": GHOST})
    flow.delete("pods/p", gracePeriodSeconds=0, preconditions={"uid": made["uid"]})


def map_preconditions(flow):
    made = flow.map("m")["metadata"]
    flow.delete("configmaps/m", preconditions={"uid": GHOST})
    flow.delete("configmaps/m", preconditions={"resourceVersion": "1"})
    flow.delete("configmaps/m", preconditions={"uid": made["uid"], "resourceVersion": made["resourceVersion"]})


def dry_run(flow):
    flow.pod("p")
    flow.map("m")
    flow.map("held", finalizers=["example.com/hold"])
    for what in ("pods/p", "configmaps/m", "configmaps/held"):
        flow.delete(what, "?dryRun=All")
        flow.delete(what, dryRun=["All"])
    flow.delete("configmaps/m", dryRun=["Some"])
    flow.delete("configmaps/m", propagationPolicy="Foreground", dryRun=["All"])
    flow.delete("configmaps/m")
    flow.delete("pods/p", gracePeriodSeconds=0)
    flow.merge("configmaps/held", finalizers=None)
    flow.delete("configmaps/held")


def nonsense(flow):
    flow.map("m")
    flow.delete("configmaps/m", propagationPolicy="Sideways")
    flow.delete("configmaps/m", propagationPolicy="Orphan", orphanDependents=True)
    flow.delete("configmaps/m", "?propagationPolicy=Sideways")
    flow.delete("configmaps/m", "?gracePeriodSeconds=soon")
    flow.delete("configmaps/m", unknownOption=1)


def grace_of_what_has_none(flow):
    flow.map("m")
    flow.delete("configmaps/m", gracePeriodSeconds=30)


def two_finalizers(flow):
    flow.map("m", finalizers=["example.com/a", "example.com/b"])
    flow.delete("configmaps/m")
    flow.delete("configmaps/m")
    flow.merge("configmaps/m", finalizers=["example.com/a", "example.com/b", "example.com/c"])
    flow.merge("configmaps/m", finalizers=["example.com/c"])
    flow.merge("configmaps/m", finalizers=["example.com/b"])
    flow.merge("configmaps/m", labels={"still": "here"})
    flow.merge("configmaps/m", finalizers=[])
    flow.gone("configmaps/m")


def put_without_finalizers(flow):
    made = flow.map("m", finalizers=["example.com/a"])
    flow.delete("configmaps/m")
    del made["metadata"]["resourceVersion"], made["metadata"]["finalizers"]
    flow.say(flow.api.request("PUT", f"{flow.core}/configmaps/m", made))
    flow.gone("configmaps/m")


def background_takes_back_foreground(flow):
    flow.map("m", finalizers=["foregroundDeletion", "example.com/a"])
    flow.delete("configmaps/m", propagationPolicy="Background")
    flow.merge("configmaps/m", finalizers=[])
    flow.gone("configmaps/m")


def own_orphan_finalizer(flow):
    owner = flow.map("owner", finalizers=["orphan"])
    flow.map("child", [owner])
    flow.delete("configmaps/owner")
    flow.gone("configmaps/owner")


def background(flow):
    owner = flow.map("owner")
    flow.map("child", [owner])
    flow.delete("configmaps/owner", propagationPolicy="Background")
    flow.gone("configmaps/owner", "configmaps/child")


def default_policy(flow):
    owner = flow.map("owner")
    flow.map("child", [owner])
    flow.delete("configmaps/owner")
    flow.gone("configmaps/owner", "configmaps/child")


def foreground(flow):
    owner = flow.map("owner")
    flow.map("child", [owner])
    flow.delete("configmaps/owner", propagationPolicy="Foreground")
    flow.gone("configmaps/owner", "configmaps/child")


def foreground_of_nothing(flow):
    flow.map("owner")
    flow.delete("configmaps/owner", propagationPolicy="Foreground")
    flow.gone("configmaps/owner")


def foreground_without_blocking(flow):
    owner = flow.map("owner")
    flow.map("child", [owner], block=False, finalizers=["example.com/hold"])
    flow.delete("configmaps/owner", propagationPolicy="Foreground")
    flow.gone("configmaps/owner")
    flow.merge("configmaps/child", finalizers=None)
    flow.gone("configmaps/child")


def foreground_in_three_steps(flow):
    owner = flow.map("owner")
    child = flow.map("child", [owner])
    flow.map("grandchild", [child])
    flow.delete("configmaps/owner", propagationPolicy="Foreground")
    flow.gone("configmaps/owner", "configmaps/child", "configmaps/grandchild")


def foreground_with_a_held_child(flow):
    owner = flow.map("owner")
    flow.map("child", [owner], finalizers=["example.com/hold"])
    flow.delete("configmaps/owner", propagationPolicy="Foreground")
    eventually(lambda: "deletionTimestamp" in flow.api.must("GET", f"{flow.core}/configmaps/child")["metadata"], what="the child's deletion")
    flow.say(flow.api.get(f"{flow.core}/configmaps/owner"))
    flow.merge("configmaps/child", finalizers=None)
    flow.gone("configmaps/owner", "configmaps/child")


def foreground_of_a_pod(flow):
    owner = flow.map("owner")
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "blockOwnerDeletion": True}
    flow.pod("p", node=None, meta={"ownerReferences": [reference]})
    flow.delete("configmaps/owner", propagationPolicy="Foreground")
    flow.gone("configmaps/owner", "pods/p")


def orphan(flow):
    owner = flow.map("owner")
    flow.map("one", [owner])
    flow.map("two", [owner])
    flow.delete("configmaps/owner", propagationPolicy="Orphan")
    flow.gone("configmaps/owner")
    flow.delete("configmaps/one")
    flow.delete("configmaps/two")


def orphan_in_the_old_way(flow):
    owner = flow.map("owner")
    flow.map("one", [owner])
    flow.delete("configmaps/owner", orphanDependents=True)
    flow.gone("configmaps/owner")
    flow.delete("configmaps/one")


def two_owners(flow):
    owner, other = flow.map("owner"), flow.map("other")
    flow.map("child", [owner, other])
    flow.delete("configmaps/owner", propagationPolicy="Background")
    eventually(lambda: len(flow.api.must("GET", f"{flow.core}/configmaps/child")["metadata"]["ownerReferences"]) == 1, seconds=30,
               what="the end of one reference")
    flow.delete("configmaps/other")
    flow.gone("configmaps/child")


def owner_unknown(flow):
    flow.map("child", [{"metadata": {"name": "nobody", "uid": GHOST}}])
    flow.gone("configmaps/child")


def owner_with_another_uid(flow):
    flow.map("owner")
    flow.map("child", [{"metadata": {"name": "owner", "uid": GHOST}}])
    flow.gone("configmaps/child")
    flow.delete("configmaps/owner")


def collection(flow):
    for i in range(4):
        flow.map(f"m{i}", labels={"half": str(i % 2)}, **({"finalizers": ["example.com/hold"]} if i == 2 else {}))
    flow.delete("configmaps", "?labelSelector=half%3D0&dryRun=All")
    flow.delete("configmaps", "?labelSelector=half%3D0")
    flow.delete("configmaps", "?labelSelector=half%3D7")
    flow.delete("configmaps", "?fieldSelector=metadata.name%3Dm1", propagationPolicy="Foreground")
    flow.gone("configmaps/m1")
    flow.merge("configmaps/m2", finalizers=None)
    flow.delete("configmaps/m3")


def collection_of_pods(flow):
    flow.pod("bound")
    flow.pod("free", node=None)
    flow.delete("pods", gracePeriodSeconds=3)
    flow.delete("pods", "?gracePeriodSeconds=0")


def eviction(flow):
    flow.pod("free", node=None)
    flow.pod("bound")
    flow.pod("over", phase="Succeeded")

    def evict(name, **more):
        flow.say(flow.api.request("POST", f"{flow.core}/pods/{name}/eviction", {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}, **more}))
    evict("bound", deleteOptions={"dryRun": ["All"]})
    for name in ("free", "bound", "over", "nobody"):
        evict(name)
    evict("bound", deleteOptions={"gracePeriodSeconds": 0})


def replica_sets_go_with_their_deployment(flow):
    sets, path = deployment(flow)
    flow.answers.append(mark_of(flow.api.must("DELETE", path, {"propagationPolicy": "Foreground"})))
    eventually(lambda: flow.api.get(path).code == 404, seconds=30, what="the end of the deployment")
    flow.answers.append(flow.api.must("GET", sets)["items"])


def replica_sets_stay_as_orphans(flow):
    sets, path = deployment(flow)
    flow.answers.append(mark_of(flow.api.must("DELETE", path, {"propagationPolicy": "Orphan"})))
    eventually(lambda: [one for one in flow.api.must("GET", sets)["items"] if "ownerReferences" not in one["metadata"]], seconds=30, what="orphans")
    flow.api.must("DELETE", sets)


def deployment(flow):
    path = flow.core.replace("/api/v1", "/apis/apps/v1")
    flow.api.must("POST", f"{path}/deployments", {"metadata": {"name": "d"}, "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}})
    eventually(lambda: flow.api.must("GET", f"{path}/replicasets")["items"], seconds=30, what="its set")
    collector_has_seen(flow, f"{path}/replicasets")
    return f"{path}/replicasets", f"{path}/deployments/d"


def collector_has_seen(flow, sets):
    """Ends when the garbage collector knows all sets that there are by now. The real one follows every kind by itself: should it learn of
    the end of an owner before it learns of a dependent, it orphans nothing, and deletes the dependent as soon as it sees it."""
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": GHOST}
    labels = {"a": "mark"}
    flow.api.must("POST", sets, {"metadata": {"name": "mark", "ownerReferences": [owner]}, "spec": {
        "replicas": 0, "selector": {"matchLabels": labels}, "template": {**TEMPLATE, "metadata": {"labels": labels}}}})
    eventually(lambda: flow.api.get(f"{sets}/mark").code == 404, seconds=30, what="the end of what has no owner")


def mark_of(deployed):
    """What deleting changes; its status may have come meanwhile or not."""
    return {name: value for name, value in deployed["metadata"].items() if name in ("finalizers", "deletionGracePeriodSeconds", "name")}


def others(flow):
    """Which answer each kind gives: itself, or that it went well."""
    for name, body in {"services": {"spec": {"ports": [{"port": 80}]}}, "secrets": {}, "serviceaccounts": {}, "endpoints": {}, "limitranges": {"spec": {"limits": []}},
                       "podtemplates": {"template": TEMPLATE}, "resourcequotas": {}, "replicationcontrollers": {"spec": {"replicas": 0, "selector": {"a": "b"}, "template": TEMPLATE}},
                       "persistentvolumeclaims": {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}}.items():
        called = "y" if name == "endpoints" else "x"  # those called x go with the Service
        flow.api.must("POST", f"{flow.core}/{name}", {"metadata": {"name": called}, **body})
        flow.delete(f"{name}/{called}")
        if name == "replicationcontrollers":  # the real one has a controller, which may have been there meanwhile
            flow.answers[-1]["status"].pop("observedGeneration", None)


FLOWS = (plain_pod, pod_without_node_and_grace, bound_pod, bound_pod_at_once, bound_pod_with_the_query, query_and_body, negative_grace,
         negative_grace_of_the_spec, no_grace_in_the_spec, succeeded_pod, failed_pod_with_grace, pod_with_finalizer, unbound_pod_with_finalizer,
         finalizer_goes_before_the_grace, pod_preconditions, map_preconditions, dry_run, nonsense, grace_of_what_has_none, two_finalizers,
         put_without_finalizers, background_takes_back_foreground, own_orphan_finalizer, background, default_policy, foreground,
         foreground_of_nothing, foreground_without_blocking, foreground_in_three_steps, foreground_with_a_held_child, foreground_of_a_pod,
         orphan, orphan_in_the_old_way, two_owners, owner_unknown, owner_with_another_uid, collection, collection_of_pods, eviction,
         replica_sets_go_with_their_deployment, replica_sets_stay_as_orphans, others)


def observe(api, namespace):
    going = Namespace(api, f"{namespace}-going")  # takes the real controller some seconds: the others go on meanwhile
    for run in FLOWS:
        name = run.__name__.replace("_", " ")
        flow = Flow(api, namespace)
        flow.api.must("DELETE", f"{flow.core}/configmaps?fieldSelector=metadata.name%21%3Dkube-root-ca.crt")
        run(flow)
        for number, answer in enumerate(flow.answers, 1):
            yield f"{name}: answer {number}", answer
        yield f"{name}: events", flow.events()
    yield from going.end()


class Namespace:
    """One with a held object, deleted at once and looked at in the end."""

    def __init__(self, api, name):
        self.api, self.path = api, f"/api/v1/namespaces/{name}"
        api.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        eventually(lambda: api.get(f"{self.path}/configmaps/kube-root-ca.crt").code == 200, seconds=30, what="what controllers put there")
        self.flow = Flow(api, name)
        self.flow.map("m")
        self.flow.map("held", finalizers=["example.com/hold"])
        self.flow.pod("p", node=None)
        self.since = api.must("GET", self.path)["metadata"]["resourceVersion"]
        self.name = name
        for _ in range(2):
            self.flow.say(api.request("DELETE", self.path))
            self.flow.answers[-1].get("status", {}).pop("conditions", None)  # of the controller, which may have been there meanwhile
        self.flow.say(api.request("POST", f"{self.path}/configmaps", {"metadata": {"name": "late"}}))
        self.flow.say(api.request("DELETE", "/api/v1/namespaces/default"))

    def end(self):
        eventually(lambda: self.api.get(f"{self.path}/configmaps/m").code == 404, seconds=30, what="the end of the content")
        with self.api.watch(f"{self.path}/configmaps?watch=1&timeoutSeconds=30&resourceVersion={self.flow.since['configmaps']}") as watch:
            self.flow.merge("configmaps/held", finalizers=None)
            maps = watch.until(lambda event: event["type"] == "DELETED" and event["object"]["metadata"]["name"] == "held")
        eventually(lambda: self.api.get(self.path).code == 404, seconds=40, what="the end of the namespace")
        with self.api.watch(f"/api/v1/namespaces?watch=1&timeoutSeconds=30&fieldSelector=metadata.name%3D{self.name}&resourceVersion={self.since}") as watch:
            seen = watch.until(lambda event: event["type"] == "DELETED")
        for number, answer in enumerate(self.flow.answers, 1):
            yield f"namespace: answer {number}", answer
        by_name = {}
        for event in maps:
            by_name.setdefault(event["object"]["metadata"]["name"], []).append(state(event))
        yield "namespace: events of its content", by_name
        steps = [(event["type"], event["object"]["spec"].get("finalizers"), event["object"]["status"]["phase"]) for event in seen]
        yield "namespace: events", [step for number, step in enumerate(steps) if number == 0 or step != steps[number - 1]]
        last = {one["type"]: (one["status"], one["reason"]) for one in seen[-1]["object"]["status"]["conditions"]}
        yield "namespace: conditions at its end", last
        held = [event for event in seen if any(one["status"] == "True" for one in event["object"]["status"].get("conditions", []))]
        yield "namespace: conditions while it was held", held and {one["type"]: (one["status"], one["reason"], one["message"])
                                                                  for one in held[0]["object"]["status"]["conditions"]}

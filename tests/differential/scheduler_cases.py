"""Clusters and pods to ask schedulers about, drawn from a seed: the same seed gives the same questions for ever.

A question is one pod against one state of one cluster. The pods of a cluster come one after the other, and each that finds a
node is part of the state that the next one meets. Nothing here is ever preempted: pods that are asked about have the lowest
priority there is, so that the answer to every question is a node or a reason, and not somebody's eviction."""
import dataclasses
import random

# Made once per API server, and never changed: what namespace selectors, overheads and priorities refer to.
NAMESPACES = {"default": {}, "red": {"team": "red", "tier": "prod"}, "blue": {"team": "blue", "tier": "prod"}, "plain": {"tier": "test"}}
RUNTIME_CLASS = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "boxed"}, "handler": "boxed",
                 "overhead": {"podFixed": {"cpu": "70m", "memory": "30Mi"}}}
PRIORITIES = {"settled": (1000, "PreemptLowerPriority"), "modest": (-10, "PreemptLowerPriority"), "polite": (-10, "Never")}

APPS = ("web", "db", "cache", "batch")
VERSIONS = ("1", "2", "3")
ZONES = ("a", "b", "c")
ZONE, HOST, REGION = "topology.kubernetes.io/zone", "kubernetes.io/hostname", "topology.kubernetes.io/region"
GPU, HUGE = "example.com/gpu", "hugepages-2Mi"
STORAGE = "storage.k8s.io/v1"
TAINTS = [("dedicated", "db"), ("dedicated", "batch"), ("gpu", ""), ("old", "yes")]
MiB = 1 << 20
# What nodes call an image, and how large it is; pods ask by names that match some of them to the letter, and by others.
IMAGES = [(["docker.io/library/busybox@sha256:" + "1" * 64, "docker.io/library/busybox:latest"], 771000),
          (["registry.example/web@sha256:" + "2" * 64, "registry.example/web:v1"], 300 * MiB),
          (["registry.example:5000/db:latest", "registry.example:5000/db:v9"], 900 * MiB),
          (["cache:latest"], 137447344), (["small:v1"], 34361836), (["ml/train:latest", "ml/train:v7"], 4090 * 1000000),
          (["registry.example/side:v2"], 60 * MiB), (["registry.example/init:v1"], 25 * MiB)]
POD_IMAGES = ["busybox", "docker.io/library/busybox:latest", "registry.example/web:v1", "registry.example/web@sha256:" + "2" * 64,
              "registry.example:5000/db", "cache", "small:v1", "ml/train", "ml/train:v7", "registry.example/side:v2",
              "registry.example/init:v1", "unknown:v1"]

# Most clusters have the scheduler as it comes. `plugins` and `pluginConfig` of the others, as in a configuration file.
PROFILES = [
    {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [
        {"name": "cpu", "weight": 3}, {"name": "memory", "weight": 1}, {"name": GPU, "weight": 5}]}}}]},
    {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {
        "type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 2}, {"name": "ephemeral-storage", "weight": 1},
                                                          {"name": GPU, "weight": 5}, {"name": "memory", "weight": 1}],
        "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 35, "score": 7},
                                               {"utilization": 90, "score": 10}, {"utilization": 100, "score": 2}]}}}},
                      {"name": "NodeResourcesBalancedAllocation", "args": {"resources": [
                          {"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}, {"name": GPU, "weight": 1}]}}]},
    {"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": [
        {"maxSkew": 2, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"},
        {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": "ScheduleAnyway"}]}},
                      {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 60}}]},
    {"pluginConfig": [{"name": "NodeAffinity", "args": {"addedAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["tape"]}]}]},
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 30, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}}]}}},
                      {"name": "InterPodAffinity", "args": {"ignorePreferredTermsOfExistingPods": True}}]},
    {"plugins": {"score": {"disabled": [{"name": "NodeResourcesFit"}], "enabled": [{"name": "TaintToleration", "weight": 7},
                                                                                  {"name": "InterPodAffinity", "weight": 11}]}}},
    {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResourceGroups": ["example.com"]}}]},
]


@dataclasses.dataclass
class Cluster:
    """Objects as somebody would apply them. `changes` are merge patches of the status of pods, by namespace and name; `ending`
    are pods that are being deleted; `asked` are the pods to ask about, in order."""
    name: str
    profile: dict
    nodes: list
    owners: list  # Services, ReplicationControllers, ReplicaSets and StatefulSets
    pods: list
    changes: list
    ending: list
    asked: list
    extras: list = dataclasses.field(default_factory=list)  # budgets, claims, volumes; with a deletionTimestamp those that are being deleted


class Draw:
    """Chance in the words of the generator."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, choices):
        return self.random.choice(choices)

    def some(self, choices, least=0, most=None):
        choices = sorted(choices) if isinstance(choices, set) else list(choices)
        return self.random.sample(choices, self.random.randint(least, min(len(choices), most or len(choices))))

    def often(self, percent):
        return self.random.random() * 100 < percent

    def number(self, low, high):
        return self.random.randint(low, high)


# --- nodes ----------------------------------------------------------------------------------------------------

def node(draw, name, bare):
    labels = {"kubernetes.io/os": "linux", "disk": draw.one(["ssd", "hdd", "tape"] if draw.often(20) else ["ssd", "hdd"]),
              "generation": str(draw.number(1, 9))}
    if not draw.often(2 if bare else 0):
        labels[HOST] = name
    if not draw.often(12 if bare else 2):
        labels[ZONE] = draw.one(ZONES)
        labels[REGION] = "r1"
    if draw.often(30):
        labels["accelerator"] = draw.one(["x", "y"])
    taints = [{"key": key, **({"value": value} if value else {}), "effect": draw.one(["NoSchedule", "PreferNoSchedule", "PreferNoSchedule", "NoExecute"])}
              for key, value in dict(draw.some(TAINTS, 1, 2) if draw.often(25) else []).items()]
    room = {"cpu": draw.one(["2", "4", "4", "8", "3500m"]), "memory": draw.one(["4Gi", "8Gi", "16Gi", "7000000Ki"]),
            "pods": draw.one(["110", "110", "110", "12", "4"]), "ephemeral-storage": draw.one(["20Gi", "100Gi"])}
    if draw.often(40):
        room[GPU] = draw.one(["0", "2", "4", "8"])
    if draw.often(25):
        room[HUGE] = draw.one(["64Mi", "256Mi"])
    # All nodes say the same size: kube-scheduler takes that of the node it sees first, and since 1.35 that is any of them.
    images = [{"names": names, "sizeBytes": size} for names, size in draw.some(IMAGES)]
    spec = {**({"taints": taints} if taints else {}), **({"unschedulable": True} if draw.often(4) else {})}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec,
            "status": {"capacity": room, "allocatable": room, "images": images,
                       "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "so it says"}]}}


# --- what pods ask for ----------------------------------------------------------------------------------------

def quantities(draw, heavy=False):
    asked = {}
    if draw.often(75):
        asked["cpu"] = draw.one(["0", "10m", "100m", "250m", "333m", "0.5"] + (["1", "2", "3500m"] if heavy else []))
    if draw.often(70):
        asked["memory"] = draw.one(["0", "64Mi", "100M", "200Mi", "256Mi", "512Mi"] + (["1Gi", "3Gi", "6Gi"] if heavy else []))
    if draw.often(15):
        asked["ephemeral-storage"] = draw.one(["100Mi", "1Gi", "15Gi"])
    return asked


def container(draw, name, heavy, ports):
    """`ports` are those that no other container of the pod has taken."""
    made = {"name": name, "image": draw.one(POD_IMAGES)}
    asked = quantities(draw, heavy)
    if asked and draw.often(8):
        made["resources"] = {"limits": asked}  # which the server makes requests of
        return made
    if asked:
        made["resources"] = {"requests": asked}
    if draw.often(8):
        count = draw.one(["1", "2"])
        resources = made.setdefault("resources", {})
        resources.setdefault("requests", {})[GPU] = count
        resources.setdefault("limits", {})[GPU] = count
    if draw.often(4):
        resources = made.setdefault("resources", {})
        resources.setdefault("requests", {}).setdefault("memory", "64Mi")
        resources["requests"].setdefault("cpu", "10m")
        resources["requests"][HUGE] = resources.setdefault("limits", {})[HUGE] = draw.one(["2Mi", "32Mi"])
    if ports and draw.often(10):
        made["ports"] = [{"containerPort": port, "hostPort": port, **({"protocol": draw.one(["TCP", "UDP"])}),
                          **({"hostIP": draw.one(["127.0.0.1", "10.0.0.1", "0.0.0.0"])} if draw.often(40) else {})}
                         for port in draw.some(ports, 1, 2)]
        ports.difference_update(port["hostPort"] for port in made["ports"])
    return made


def selector(draw):
    """A label selector; now and then one that matches everything, nothing, or by what is not there."""
    kind = draw.number(1, 10)
    if kind <= 6:
        return {"matchLabels": {"app": draw.one(APPS)}}
    if kind == 7:
        return {"matchExpressions": [{"key": "app", "operator": "In", "values": draw.some(APPS, 1, 3)}]}
    if kind == 8:
        return {"matchExpressions": [{"key": "version", "operator": draw.one(["Exists", "DoesNotExist"])}]}
    if kind == 9:
        return {"matchLabels": {"app": draw.one(APPS)}, "matchExpressions": [{"key": "version", "operator": "NotIn", "values": ["2"]}]}
    return draw.one([{}, None])


def node_expressions(draw):
    key = draw.one(["disk", "disk", ZONE, "generation", "accelerator", "absent"])
    if key == "generation":
        return {"key": key, "operator": draw.one(["Gt", "Lt"]), "values": [str(draw.number(2, 8))]}
    if key in ("accelerator", "absent"):
        return {"key": key, "operator": draw.one(["Exists", "DoesNotExist"])}
    return {"key": key, "operator": draw.one(["In", "In", "NotIn"]), "values": draw.some(["ssd", "hdd"] if key == "disk" else ZONES, 1, 2)}


def node_term(draw, names):
    term = {"matchExpressions": [node_expressions(draw) for _ in range(draw.number(1, 2))]}
    if draw.often(10):
        term["matchFields"] = [{"key": "metadata.name", "operator": draw.one(["In", "NotIn"]), "values": [draw.one(names)]}]
    return term


def node_affinity(draw, names):
    made = {}
    if draw.often(45):
        terms = [node_term(draw, names) for _ in range(draw.number(1, 2))]
        if draw.often(15):
            terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}
                                      for name in draw.some(names, 1, 2)]} for _ in range(draw.number(1, 3))]
        made["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if not made or draw.often(50):
        made["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": draw.number(1, 100), "preference": node_term(draw, names)} for _ in range(draw.number(1, 3))]
    return made


def pod_term(draw):
    term = {"topologyKey": draw.one([ZONE, ZONE, HOST, "disk"])}
    labels = selector(draw)
    if labels is not None:
        term["labelSelector"] = labels
        if draw.often(15) and "version" not in str(labels):
            term[draw.one(["matchLabelKeys", "mismatchLabelKeys"])] = ["version"]
    if draw.often(25):
        term["namespaces"] = draw.some(NAMESPACES, 1, 2)
    if draw.often(25):
        term["namespaceSelector"] = draw.one([{}, {"matchLabels": {"tier": "prod"}}, {"matchExpressions": [
            {"key": "team", "operator": "NotIn", "values": ["red"]}]}, {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}])
    return term


def pod_affinity(draw, hard):
    """Of the four kinds one or two; `hard` is how often a required one comes, in percent."""
    made = {}
    for kind in draw.some(["podAffinity", "podAntiAffinity"], 1, 2):
        part = made.setdefault(kind, {})
        if draw.often(hard):
            part["requiredDuringSchedulingIgnoredDuringExecution"] = [pod_term(draw) for _ in range(draw.one([1, 1, 2]))]
        if not part or draw.often(40):
            part["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": draw.number(1, 100), "podAffinityTerm": pod_term(draw)} for _ in range(draw.number(1, 2))]
    return made


def spread_constraints(draw):
    made = {}
    for _ in range(draw.number(1, 3)):
        key, action = draw.one([ZONE, HOST, "disk"]), draw.one(["DoNotSchedule", "ScheduleAnyway"])
        constraint = {"maxSkew": draw.number(1, 4), "topologyKey": key, "whenUnsatisfiable": action}
        labels = selector(draw)
        if labels is not None:
            constraint["labelSelector"] = labels
            if draw.often(15) and "version" not in str(labels):
                constraint["matchLabelKeys"] = ["version"]
        if action == "DoNotSchedule" and draw.often(20):
            constraint["minDomains"] = draw.number(1, 4)
        if draw.often(20):
            constraint["nodeAffinityPolicy"] = draw.one(["Honor", "Ignore"])
        if draw.often(30):
            constraint["nodeTaintsPolicy"] = draw.one(["Honor", "Ignore"])
        made[key, action] = constraint  # the server takes each pair once
    return list(made.values())


def tolerations(draw):
    made = []
    for key, value in draw.some(TAINTS, 1, 3):
        effect = draw.one(["", "NoSchedule", "PreferNoSchedule", "NoExecute"])
        kept = {"effect": effect} if effect else {}
        made.append({"key": key, "operator": "Exists", **kept} if draw.often(50) or not value
                    else {"key": key, "value": value, **kept})
    if draw.often(10):
        made.append({"operator": "Exists"})
    if draw.often(10):
        made.append({"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"})
    return made


# --- pods -----------------------------------------------------------------------------------------------------

def pod(draw, name, names, owners, heavy=False, hard=30, bound=False):
    namespace = draw.one(["default", "default", "default", "red", "blue", "plain"])
    labels = {"app": draw.one(APPS)} if not draw.often(5) else {}
    if draw.often(60):
        labels["version"] = draw.one(VERSIONS)
    ports = {8080, 8081, 9000}
    spec = {"containers": [container(draw, f"c{number}", heavy, ports) for number in range(draw.one([1, 1, 1, 2, 3]))],
            "terminationGracePeriodSeconds": 3600}
    if draw.often(20):
        spec["initContainers"] = []
        for number in range(draw.number(1, 3)):
            first = container(draw, f"i{number}", heavy, ports)
            if draw.often(50):
                first["restartPolicy"] = "Always"
            spec["initContainers"].append(first)
    if draw.often(10):
        spec["runtimeClassName"] = "boxed"
    if draw.often(8):
        spec["resources"] = {"requests": {"cpu": draw.one(["7", "8"]) if heavy and draw.often(20) else "4", "memory": "6Gi"}
                             if not bound else {"cpu": "3", "memory": "3Gi"}}
        for one in spec["containers"] + spec.get("initContainers", []):  # must stay below what the whole may have
            one.pop("resources", None)
            if draw.often(60):
                one["resources"] = {"requests": {"cpu": draw.one(["0", "100m", "600m"]), "memory": draw.one(["0", "100Mi"])}}
    if draw.often(12):
        spec["nodeSelector"] = {"disk": draw.one(["ssd", "ssd", "hdd", "tape"])} if draw.often(80) else {"absent": "x"}
    if draw.often(50):
        spec["tolerations"] = tolerations(draw)
    affinity = {}
    if draw.often(25):
        affinity["nodeAffinity"] = node_affinity(draw, names)
    if draw.often(35):
        affinity.update(pod_affinity(draw, hard))
    if affinity:
        spec["affinity"] = affinity
    if draw.often(25):
        spec["topologySpreadConstraints"] = spread_constraints(draw)
    if not bound and draw.often(2):
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": "absent"}}]
    meta = {"name": name, "namespace": namespace}
    mine = [owner for owner in owners if owner["kind"] != "Service" and owner["metadata"]["namespace"] == namespace]
    if mine and draw.often(35):
        owner = draw.one(mine)
        labels.update(owner_labels(owner))
        meta["ownerReferences"] = [{"apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
                                    "uid": "5e1ec70f-0000-4000-8000-000000000001", "controller": True}]
    meta["labels"] = labels
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def owner_labels(owner):
    wanted = owner["spec"]["selector"]
    return wanted if owner["kind"] == "ReplicationController" else wanted["matchLabels"]


def owner(draw, number):
    kind = draw.one(["Service", "Service", "ReplicaSet", "ReplicaSet", "StatefulSet", "ReplicationController"])
    labels = {"app": draw.one(APPS), **({"version": draw.one(VERSIONS)} if draw.often(30) else {})}
    meta = {"name": f"o{number}", "namespace": draw.one(list(NAMESPACES))}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    if kind == "Service":
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": {"clusterIP": "None", "selector": labels}}
    if kind == "ReplicationController":
        return {"apiVersion": "v1", "kind": kind, "metadata": meta, "spec": {"replicas": 0, "selector": labels, "template": template}}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta,
            "spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template,
                     **({"serviceName": "o"} if kind == "StatefulSet" else {})}}


def change(draw, one):
    """What a kubelet may have said of a pod: it is done, or runs with other resources than it asks for."""
    if draw.often(40):
        return {"status": {"phase": draw.one(["Succeeded", "Failed"])}}
    sizes = {"cpu": draw.one(["50m", "700m"]), "memory": draw.one(["32Mi", "700Mi"])}
    first = one["spec"]["containers"][0]
    said = {"name": first["name"], "image": first["image"], "imageID": "", "ready": True, "restartCount": 0,
            "allocatedResources": sizes, "resources": {"requests": sizes}}
    conditions = [{"type": "PodResizePending", "status": "True", "reason": draw.one(["Infeasible", "Deferred"])}] if draw.often(30) else []
    return {"status": {"phase": "Running", "containerStatuses": [said], **({"conditions": conditions} if conditions else {})}}


# --- storage --------------------------------------------------------------------------------------------------

def claim(namespace, name, mode="ReadWriteOnce", affinity=None, labels=None, **wrong):
    """A claim and its volume. `wrong` is what is wrong with them: `volume` that is not there, a `phase`, a `storage_class` that has not found
    any, or that it `leaves`."""
    volume, unbound = f"{namespace}-{name}", "storage_class" in wrong
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": [mode], "csi": {"driver": "d.example", "volumeHandle": volume}}
    if affinity:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [affinity]}]}}
    made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": wrong.get("phase", "Pending" if unbound else "Bound")},
            "metadata": {"name": name, "namespace": namespace,
                         **({} if unbound else {"annotations": {"pv.kubernetes.io/bind-completed": "yes"}}),
                         **({"deletionTimestamp": "soon"} if "leaves" in wrong else {})},
            "spec": {"accessModes": [mode], "storageClassName": wrong.get("storage_class", ""), "resources": {"requests": {"storage": "1Gi"}},
                     **({} if unbound else {"volumeName": volume})}}
    if unbound or "volume" in wrong:
        return [made]
    return [{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume, "labels": labels or {}}, "spec": spec}, made]


def claims(namespace):
    return [*claim(namespace, "anywhere"), *claim(namespace, "zone-a", affinity={"key": ZONE, "operator": "In", "values": ["a"]}),
            *claim(namespace, "not-tape", affinity={"key": "disk", "operator": "NotIn", "values": ["tape"]}),
            *claim(namespace, "labelled", labels={ZONE: "a__b", REGION: "r1"}), *claim(namespace, "labelled-c", labels={ZONE: "c"}),
            *claim(namespace, "alone", mode="ReadWriteOncePod"), *claim(namespace, "gone", volume=None), *claim(namespace, "lost", phase="Lost"),
            *claim(namespace, "unbound", storage_class="at-once"), *claim(namespace, "leaving", leaves=True)]


def storage(draw, pods, asked, names):
    """Gives some of the pods claims, and returns the objects that these refer to."""
    fine = ["anywhere", "zone-a", "not-tape", "labelled", "labelled-c", "alone"]
    for one in [*pods, *asked]:
        if "volumes" in one["spec"] or not draw.often(35 if one in asked else 15):
            continue
        names = draw.some(fine, 1, 2)
        if one in asked and draw.often(20):
            names.append(draw.one(["gone", "lost", "unbound", "leaving", "absent"]))
        volumes = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
        if one in asked and draw.often(5):
            template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
            volumes.append({"name": "own", "ephemeral": {"volumeClaimTemplate": template}})
        one["spec"]["volumes"] = volumes
    attached = [{"apiVersion": STORAGE, "kind": "VolumeAttachment", "metadata": {"name": f"a{number}"},
                 "spec": {"attacher": "d.example", "nodeName": name, "source": {"persistentVolumeName": "default-anywhere"}}}
                for number, name in enumerate(draw.some(names, 0, 3))]
    return [storage_class("at-once", "d.example", "Immediate"), *attached, *limits(draw, names),
            *(item for namespace in NAMESPACES for item in claims(namespace))]


def storage_class(name, provisioner, mode="WaitForFirstConsumer", **more):
    return {"apiVersion": STORAGE, "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode, **more}


def limits(draw, names):
    """How many volumes of a driver a node can have; some nodes do not say, and some do not know the driver."""
    return [{"apiVersion": STORAGE, "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [
        {"name": driver, "nodeID": name, "topologyKeys": [], **({"allocatable": {"count": draw.number(1, 4)}} if draw.often(80) else {})}
        for driver in draw.some(["d.example", "metered.example"], 1)]}} for name in names if draw.often(50)]


# --- storage that waits for its first consumer ------------------------------------------------------------------

def classes_that_wait():
    return [storage_class("static", "kubernetes.io/no-provisioner"), storage_class("anywhere", "d.example"),
            storage_class("in-zones", "d.example", allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": ["a", "b"]}]},
                                                                      {"matchLabelExpressions": [{"key": "disk", "values": ["tape"]}]}]),
            storage_class("metered", "metered.example"),
            {"apiVersion": STORAGE, "kind": "CSIDriver", "metadata": {"name": "metered.example"}, "spec": {"storageCapacity": True}}]


def capacities(draw):
    """What the driver metered.example has left, zone by zone; in some it does not say."""
    return [{"apiVersion": STORAGE, "kind": "CSIStorageCapacity", "metadata": {"name": f"left-in-{zone}", "namespace": "default"},
             "storageClassName": "metered", "nodeTopology": {"matchLabels": {ZONE: zone}}, "capacity": draw.one(["0", "3Gi", "20Gi"]),
             **({"maximumVolumeSize": draw.one(["2Gi", "9Gi"])} if draw.often(40) else {})} for zone in draw.some(ZONES, 1)]


def free_volume(draw, number, names):
    """One that nobody has bound. No two have the same size: of equals kube-scheduler takes any."""
    affinity = draw.one([None, {"key": HOST, "operator": "In", "values": draw.some(names, 1, 2)},
                         {"key": HOST, "operator": "In", "values": [draw.one(names)]},
                         {"key": ZONE, "operator": "In", "values": draw.some(ZONES, 1, 2)}, {"key": "disk", "operator": "NotIn", "values": ["hdd"]}])
    spec = {"capacity": {"storage": f"{1000 + 250 * number}Mi"}, "accessModes": draw.one([["ReadWriteOnce"], ["ReadWriteOnce", "ReadOnlyMany"], ["ReadWriteOncePod"]]),
            "storageClassName": draw.one(["static", "static", "static", "anywhere", "other"]),
            "persistentVolumeReclaimPolicy": "Retain", "csi": {"driver": "d.example", "volumeHandle": f"free-{number}"},
            **({"volumeMode": "Block"} if draw.often(10) else {})}
    if affinity:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [affinity]}]}}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"free-{number:02}", "labels": {"speed": draw.one(["fast", "slow"])}},
            "spec": spec, "status": {"phase": "Available" if draw.often(90) else "Released"}}


def claim_that_waits(draw, namespace, name, size):
    spec = {"accessModes": [draw.one(["ReadWriteOnce", "ReadWriteOnce", "ReadWriteOnce", "ReadOnlyMany", "ReadWriteOncePod"])],
            "storageClassName": draw.one(["static", "static", "static", "anywhere", "in-zones", "metered", "metered", "no-such"]),
            "resources": {"requests": {"storage": size}}, **({"volumeMode": "Block"} if draw.often(8) else {})}
    if spec["storageClassName"] == "static" and draw.often(25):
        spec["selector"] = draw.one([{"matchLabels": {"speed": "fast"}}, {"matchExpressions": [{"key": "speed", "operator": "NotIn", "values": ["fast"]}]}])
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def storage_that_waits(draw, asked, names):
    """Gives some of the pods claims that wait for their first consumer, no two the same ones, and returns the objects that these refer to."""
    volumes = [free_volume(draw, number, names) for number in range(draw.number(4, 24))]
    made = []
    for one in asked:
        if "volumes" in one["spec"] or not draw.often(45):
            continue
        meta = one["metadata"]
        sizes = draw.some(["500Mi", "1Gi", "2Gi", "4Gi"], 1, 2)
        mine = [claim_that_waits(draw, meta["namespace"], f"{meta['name']}-{number}", size) for number, size in enumerate(sizes)]
        one["spec"]["volumes"] = [{"name": item["metadata"]["name"], "persistentVolumeClaim": {"claimName": item["metadata"]["name"]}} for item in mine]
        free = [volume for volume in volumes if "claimRef" not in volume["spec"]]
        if free and draw.often(15):
            draw.one(free)["spec"]["claimRef"] = {"namespace": meta["namespace"], "name": mine[0]["metadata"]["name"]}
        if draw.often(8):
            mine[-1]["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": draw.one(names)}
        made += mine
    return [*classes_that_wait(), *capacities(draw), *limits(draw, names), *volumes, *made]


def cluster(seed, number, asked, nodes=None):
    """Of the given number of nodes, or of any."""
    draw = Draw(f"{seed}/{number}")
    size = draw.one([3, 5, 8, 12, 20, 30])
    size = nodes or size
    bare = draw.often(50)
    nodes = [node(draw, f"n{index + 1:02}", bare) for index in range(size)]
    names = [one["metadata"]["name"] for one in nodes]
    owners = [owner(draw, index) for index in range(draw.number(0, 8))]
    pods, changes, ending = [], [], []
    # Hard rules of those who are there shut out those who come: some clusters have many of them, most have few.
    hard = draw.one([3, 8, 8, 40])
    for index in range(draw.number(0, min(60, 3 * size))):
        one = pod(draw, f"b{index}", names, owners, hard=hard, bound=True)
        one["spec"]["nodeName"] = draw.one(names)
        one["spec"]["priorityClassName"] = "settled"
        pods.append(one)
        if draw.often(6):
            changes.append((one["metadata"]["namespace"], one["metadata"]["name"], change(draw, one)))
        elif draw.often(8):
            ending.append((one["metadata"]["namespace"], one["metadata"]["name"]))
    questions = []
    for index in range(asked):
        one = pod(draw, f"q{index}", names, owners, heavy=draw.often(30), hard=draw.one([hard, 15]))
        one["spec"]["priorityClassName"] = draw.one(["modest", "modest", "modest", "polite"])
        questions.append(one)
    profile = draw.one(PROFILES) if draw.often(40) else {}
    # Drawn apart, so that what is asked without storage stays as it is.
    extras = []
    if isinstance(number, int) and number % 4 == 0:
        extras = storage(Draw(f"{seed}/{number}/storage"), pods, questions, names)
    elif isinstance(number, int) and number % 4 == 2:
        extras = storage_that_waits(Draw(f"{seed}/{number}/storage"), questions, names)
    return Cluster(f"{seed}-{number}", profile, nodes, owners, pods, changes, ending, questions, extras)

"""Constellations in which a pod has to take the place of others, drawn from a seed as in scheduler_cases.py.

Many are put into one cluster: each has its own namespace, and nodes that no pod of another may use, so none sees the others. Every
pod has a start time of its own, so that kube-scheduler's rules leave nothing open."""
import datetime

from scheduler_cases import APPS, HOST, ZONE, Cluster, Draw

# By the name of the class. The lowest makes up for a victim more in the sum of priorities.
PRIORITIES = {"p-lowest": -2147483648, "p-5": -5, "p0": 0, "p3": 3, "p5": 5, "p9": 9, "p10": 10, "p20": 20, "p50": 50, "p100": 100,
              "p1000": 1000}
NEVER = "p100-never"
ISLAND = "island"
BASE = 1767225600  # 2026-01-01, from where start times are counted in minutes


def namespaces(count):
    return {f"c{number}": {} for number in range(count)}


def priority_classes():
    made = [{"metadata": {"name": name}, "value": value} for name, value in PRIORITIES.items()]
    return [*made, {"metadata": {"name": NEVER}, "value": 100, "preemptionPolicy": "Never"}]


def time_text(minutes):
    return datetime.datetime.fromtimestamp(BASE + 60 * minutes, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Island:
    """One constellation while it is made."""

    def __init__(self, number):
        self.space = f"c{number}"
        self.nodes, self.pods, self.changes, self.ending, self.extras, self.asked = [], [], [], [], [], []
        self.minutes = 0

    def node(self, cpu="4", labels=None, taints=(), unschedulable=False, pods="110"):
        name = f"{self.space}-n{len(self.nodes) + 1}"
        room = {"cpu": cpu, "memory": "8Gi", "pods": pods, "ephemeral-storage": "20Gi"}
        spec = {**({"taints": list(taints)} if taints else {}), **({"unschedulable": True} if unschedulable else {})}
        self.nodes.append({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {ISLAND: self.space, HOST: name, **(labels or {})}},
                           "spec": spec, "status": {"capacity": room, "allocatable": room, "conditions": [
                               {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "so it says"}]}})
        return name

    def made(self, name, priority, cpu, app, spec):
        one = {"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}
        port = spec.pop("port", None)
        if port:
            one["ports"] = [{"containerPort": port, "hostPort": port}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": self.space, "labels": {"app": app} if app else {}},
                "spec": {"containers": [one], "priorityClassName": priority, "terminationGracePeriodSeconds": 3600, **spec}}

    def there(self, node, priority, cpu="4", app="", started=None, ends=False, **spec):
        """A pod on a node; without a start it has been started after those before it."""
        self.minutes += 1
        pod = self.made(f"b{len(self.pods)}", priority, cpu, app, {**spec, "nodeName": node})
        self.pods.append(pod)
        where = (self.space, pod["metadata"]["name"])
        self.changes.append((*where, {"status": {"phase": "Running", "startTime": time_text(self.minutes if started is None else started)}}))
        if ends:
            self.ending.append(where)
        return pod

    def budget(self, selector, allowed, disrupted=()):
        self.extras.append({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                            "metadata": {"name": f"d{len(self.extras)}", "namespace": self.space}, "spec": {"minAvailable": 1, "selector": selector},
                            "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1,
                                       "disruptedPods": {name: time_text(0) for name in disrupted}}})

    def claim(self, name, mode="ReadWriteOncePod"):
        self.extras += [
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": f"{self.space}-{name}"},
             "spec": {"capacity": {"storage": "1Gi"}, "accessModes": [mode], "csi": {"driver": "d.example", "volumeHandle": f"{self.space}-{name}"}}},
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim",
             "metadata": {"name": name, "namespace": self.space, "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
             "spec": {"accessModes": [mode], "storageClassName": "", "volumeName": f"{self.space}-{name}",
                      "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Bound"}}]
        return {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}

    def ask(self, priority="p1000", cpu="4", app="", **spec):
        self.asked.append(self.made("q", priority, cpu, app, {**spec, "nodeSelector": {ISLAND: self.space}}))


# --- one constellation for every rule -----------------------------------------------------------------------------

def first_the_fewest_violations(island):
    for app, priority in (("db", "p0"), ("db", "p0"), ("web", "p50")):
        island.there(island.node(), priority, app=app)
    island.budget({"matchLabels": {"app": "db"}}, 0)
    island.ask()


def then_the_lowest_highest_priority(island):
    island.there(island.node(), "p20")
    second = island.node()
    island.there(second, "p10", "2")
    island.there(second, "p10", "2")
    island.there(island.node(), "p20")
    island.ask()


def then_the_smallest_sum(island):
    for lower in ("p9", "p3", "p5"):
        node = island.node()
        island.there(node, "p10", "2")
        island.there(node, lower, "2")
    island.ask()


def then_the_fewest_victims(island):
    first = island.node()
    island.there(first, "p-lowest", "2")
    island.there(first, "p0", "2")
    island.there(island.node(), "p0")
    island.there(island.node(), "p5")
    island.ask()


def then_the_latest_start(island):
    for started in (10, 30, 20):
        node = island.node()
        island.there(node, "p0", "2", started=started)
        island.there(node, "p-5", "2", started=100 - started)
    island.ask()


def a_guarded_pod_stays_where_another_can_go(island):
    node = island.node()
    island.there(node, "p0", "2", app="db")
    island.there(node, "p20", "2", app="web")
    island.budget({"matchLabels": {"app": "db"}}, 0)
    island.ask(cpu="2")


def a_guarded_pod_goes_where_nothing_else_can(island):
    island.there(island.node(), "p0", app="db")
    island.budget({"matchLabels": {"app": "db"}}, 0)
    island.ask()


def never(island):
    island.there(island.node(), "p0")
    island.ask(NEVER)


def nobody_to_remove(island):
    island.node(taints=[{"key": "k", "effect": "NoSchedule"}])
    for priority in ("p1000", "p1000"):
        island.there(island.node(), priority)
    island.ask()


def not_enough_room_even_when_alone(island):
    island.there(island.node(cpu="2"), "p0", "2")
    island.ask()


RULES = (first_the_fewest_violations, then_the_lowest_highest_priority, then_the_smallest_sum, then_the_fewest_victims, then_the_latest_start,
         a_guarded_pod_stays_where_another_can_go, a_guarded_pod_goes_where_nothing_else_can, never, nobody_to_remove,
         not_enough_room_even_when_alone)


# --- and any others -----------------------------------------------------------------------------------------------

def term(draw):
    return {"labelSelector": {"matchLabels": {"app": draw.one(APPS)}}, "topologyKey": draw.one([HOST, HOST, ZONE])}


def apart(draw):
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(draw)]}}


def rules(draw, of_many):
    """What pods may have beside requests; `of_many` is how often, in percent."""
    spec = {}
    if draw.often(of_many):
        spec["port"] = draw.one([9000, 9001])
    if draw.often(of_many):
        spec["affinity"] = apart(draw)
    return spec


def any_island(draw, island):
    for _ in range(draw.number(1, 4)):
        cpu = draw.one(["2", "4", "4", "4", "6"])
        taints = [{"key": "k", "effect": "NoSchedule"}] if draw.often(6) else []
        island.node(cpu, {ZONE: draw.one(["a", "b"])} if draw.often(85) else {}, taints, draw.often(4), "110" if draw.often(85) else "3")
    minutes = iter(draw.random.sample(range(1000), 100))
    shared = island.claim("alone") if draw.often(10) else {}
    for node in island.nodes:
        left = 1000 * int(node["status"]["allocatable"]["cpu"])
        while left > 0 and (left > 1500 or draw.often(60)):
            asked = draw.one([500, 1000, 1500, 2000])
            spec = {**rules(draw, 8), **(shared if draw.often(40) else {})}
            island.there(node["metadata"]["name"], draw.one(["p-5", "p0", "p0", "p3", "p10", "p10", "p20", "p50", "p100", "p1000"]), f"{asked}m",
                         "" if draw.often(15) else draw.one(APPS), next(minutes), draw.often(5), **spec)
            left -= asked
    names = [pod["metadata"]["name"] for pod in island.pods]
    for _ in range(draw.one([0, 0, 1, 1, 2, 3])):
        selector = draw.one([{"matchLabels": {"app": draw.one(APPS)}}, {"matchLabels": {"app": draw.one(APPS)}}, {},
                             {"matchExpressions": [{"key": "app", "operator": "In", "values": draw.some(APPS, 1, 3)}]}])
        island.budget(selector, draw.one([0, 0, 1, 2]), draw.some(names, 0, 1) if draw.often(20) else ())
    spec = {**rules(draw, 14), **shared}
    if draw.often(15):
        spec["topologySpreadConstraints"] = [{"maxSkew": draw.number(1, 2), "topologyKey": draw.one([ZONE, HOST]), "whenUnsatisfiable": "DoNotSchedule",
                                              "labelSelector": {"matchLabels": {"app": draw.one(APPS)}}}]
    if draw.often(5):
        spec.setdefault("affinity", {})["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": [term(draw)]}
    island.ask(draw.one(["p10", "p50", "p100", "p100", "p1000", "p1000"]) if draw.often(95) else NEVER,
               draw.one(["500m", "1", "2", "2", "3", "4", "6"]), draw.one(APPS), **spec)


def cluster(seed, number, count):
    """The first of all clusters begins with the rules."""
    draw = Draw(f"{seed}/preemption/{number}")
    islands = [Island(index) for index in range(count)]
    for index, island in enumerate(islands):
        if number == 0 and index < len(RULES):
            RULES[index](island)
        else:
            any_island(draw, island)
    return joined(f"{seed}-preemption-{number}", islands)


def joined(name, islands):
    def all_of(field):
        return [item for island in islands for item in getattr(island, field)]
    return Cluster(name, {}, all_of("nodes"), [], all_of("pods"), all_of("changes"), all_of("ending"), all_of("asked"), all_of("extras"))


def island_of(whole, space):
    """The one constellation as a cluster of its own."""
    return Cluster(f"{whole.name}-{space}", whole.profile, [node for node in whole.nodes if node["metadata"]["labels"][ISLAND] == space], [],
                   [pod for pod in whole.pods if pod["metadata"]["namespace"] == space], [change for change in whole.changes if change[0] == space],
                   [one for one in whole.ending if one[0] == space], [pod for pod in whole.asked if pod["metadata"]["namespace"] == space],
                   [one for one in whole.extras if one["metadata"].get("namespace") == space or one["metadata"]["name"].startswith(f"{space}-")])

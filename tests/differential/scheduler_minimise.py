"""Makes a question smaller on which kube-scheduler and ours differ, as long as they do, and keeps it as a folder for
tests/e2e/sched: what was found once is asked for ever."""
import copy
import dataclasses
import json
import time

import scheduler_ours
from local_cluster import ROOT
from scheduler_stock import name_of

FOLDER = ROOT / "tests" / "data" / "sched"


def question_at(cluster, recording, index):
    """The cluster as the attempt met it, with that one pod to ask about."""
    asked = {name_of(pod): pod for pod in cluster.asked}
    placed = []
    for attempt in recording["attempts"][:index]:
        if "node" in attempt:
            pod = copy.deepcopy(asked[attempt["pod"]])
            pod["spec"]["nodeName"] = attempt["node"]
            placed.append(pod)
    return dataclasses.replace(cluster, pods=[*cluster.pods, *placed], asked=[asked[recording["attempts"][index]["pod"]]])


class Minimiser:
    def __init__(self, stock, seconds=120):
        self.stock, self.deadline = stock, time.monotonic() + seconds
        self.recording, self.difference = None, None

    def ask(self, cluster):
        return self.stock.ask(cluster)

    def differs(self, cluster):
        """Whether they still do; a question that the API server refuses is none."""
        try:
            recording = self.ask(cluster)
            found = scheduler_ours.mismatches(recording, scheduler_ours.ask(recording))
        except Exception as refused:  # noqa: BLE001 - whatever it is, this step does not lead on
            print(f"  (a step left out: {str(refused)[:200]})", flush=True)
            return False
        if found:
            self.recording, self.difference = recording, found[0][1]
        return bool(found)

    def minimise(self, cluster):
        if not self.differs(cluster):
            return None
        for shrink in (self.fewer("pods"), self.fewer("owners"), self.fewer("extras"), self.fewer("nodes"), self.fewer("pods"), self.simpler_pods, self.simpler_nodes):
            cluster = shrink(cluster)
        return cluster

    def fewer(self, field):
        def shrink(cluster):
            size = max(1, len(getattr(cluster, field)) // 2)
            while True:
                start = 0
                while start < len(getattr(cluster, field)) and time.monotonic() < self.deadline:
                    items = getattr(cluster, field)
                    smaller = consistent(dataclasses.replace(cluster, **{field: items[:start] + items[start + size:]}))
                    if smaller.nodes and self.differs(smaller):
                        cluster = smaller
                    else:
                        start += size
                if size == 1 or time.monotonic() >= self.deadline:
                    return cluster
                size //= 2
        return shrink

    def simpler_pods(self, cluster):
        for field in ("asked", "pods"):
            for number, pod in enumerate(getattr(cluster, field)):
                for path in removable(pod):
                    cluster = self.without(cluster, field, number, path)
        return cluster

    def simpler_nodes(self, cluster):
        for number in range(len(cluster.nodes)):
            for path in (("spec", "taints"), ("status", "images")):
                cluster = self.without(cluster, "nodes", number, path)
        return cluster

    def without(self, cluster, field, number, path):
        if time.monotonic() >= self.deadline:
            return cluster
        items = copy.deepcopy(getattr(cluster, field))
        place = items[number]
        for key in path[:-1]:
            place = place.get(key, {})
        if path[-1] not in place:
            return cluster
        del place[path[-1]]
        smaller = dataclasses.replace(cluster, **{field: items})
        return smaller if self.differs(smaller) else cluster

    def keep(self, name):
        folder = FOLDER / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "recording.json").write_text(json.dumps(self.recording, indent=1, sort_keys=True) + "\n")
        return folder


def removable(pod):
    yield from (("spec", key) for key in list(pod["spec"]) if key not in ("containers", "nodeName", "priorityClassName",
                                                                          "terminationGracePeriodSeconds", "affinity"))
    for kind, parts in pod["spec"].get("affinity", {}).items():
        yield from (("spec", "affinity", kind, part) for part in list(parts))
        yield "spec", "affinity", kind
    yield "metadata", "ownerReferences"


def consistent(cluster):
    """Without pods of nodes that are gone, and without changes of pods that are."""
    nodes = {node["metadata"]["name"] for node in cluster.nodes}
    pods = [pod for pod in cluster.pods if pod["spec"]["nodeName"] in nodes]
    left = {(pod["metadata"]["namespace"], pod["metadata"]["name"]) for pod in pods}
    return dataclasses.replace(cluster, pods=pods, changes=[change for change in cluster.changes if change[:2] in left],
                               ending=[one for one in cluster.ending if one in left])

"""What kube-scheduler answers to the questions of scheduler_cases.py: everything is put into a real API server, a new process of
the scheduler is started on it, and its log, the pods' conditions and the events say what it thought.

Many pods are asked about in one go. The scheduler takes one after the other and counts each on its node before it takes the
next, so the order of its log is the order of the states they met."""
import base64
import concurrent.futures
import http.client
import json
import re
import sys
import threading

from rig import RealCluster, RigFailure
from rig import control_plane
from rig.requirements import kubernetes_version
from http_api import HttpApi
import scheduler_ours
from scheduler_cases import NAMESPACES, PRIORITIES, RUNTIME_CLASS

VERSION = ".".join(kubernetes_version().removeprefix("v").split(".")[:2])
CORE, APPS, EVENTS, STORAGE = "/api/v1", "/apis/apps/v1", "/apis/events.k8s.io/v1", "/apis/storage.k8s.io/v1"
OWNERS = {"Service": f"{CORE}/namespaces/{{}}/services", "ReplicationController": f"{CORE}/namespaces/{{}}/replicationcontrollers",
          "ReplicaSet": f"{APPS}/namespaces/{{}}/replicasets", "StatefulSet": f"{APPS}/namespaces/{{}}/statefulsets"}
EXTRAS = {"PodDisruptionBudget": "/apis/policy/v1/namespaces/{}/poddisruptionbudgets",
          "PersistentVolumeClaim": f"{CORE}/namespaces/{{}}/persistentvolumeclaims", "PersistentVolume": f"{CORE}/persistentvolumes",
          **{kind: f"{STORAGE}/{name}" for kind, name in (
              ("StorageClass", "storageclasses"), ("CSIDriver", "csidrivers"), ("CSINode", "csinodes"), ("VolumeAttachment", "volumeattachments"),
              ("CSIStorageCapacity", "namespaces/{}/csistoragecapacities"))}}
# All that a scheduler looks at, and below which keys etcd has it. Of the services the API server's own must stay.
KEPT = [*(f"/registry/services/specs/{namespace}/o" for namespace in NAMESPACES), "/registry/controllers/", "/registry/replicasets/",
        "/registry/statefulsets/", "/registry/minions/", "/registry/pods/", "/registry/events/", "/registry/poddisruptionbudgets/",
        "/registry/persistentvolumeclaims/", "/registry/persistentvolumes/",
        *(f"/registry/{name}/" for name in ("storageclasses", "csidrivers", "csinodes", "csistoragecapacities", "volumeattachments"))]
# A new node is tainted until a controller has seen it ready, and here is none.
FLAGS = ("--disable-admission-plugins=TaintNodesByCondition",)
LINE = re.compile(r'^[IWE]\d{4} \S+ +\d+ schedule_one\.go:\d+\] "((?:[^"\\]|\\.)*)" pod="([^"]*)"(.*)$')
PREEMPTION = re.compile(r'^[IWE]\d{4} \S+ +\d+ (?:preemption|executor)\.go:\d+\] "((?:[^"\\]|\\.)*)"(.*)$')
# Nobody here binds volumes, so a pod that needs some gets no further than this.
VOLUMES = re.compile(r'^I\d{4} \S+ +\d+ binder\.go:\d+\] "BindPodVolumes" pod="([^"]*)" node="([^"]*)"$')
VICTIMS = re.compile(r"preempting (\d+) victims$")
FIELD = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\S+)')


def words(text):
    return {name: json.loads(value) if value.startswith('"') else value for name, value in FIELD.findall(text)}


class Attempts:
    """What a log says, read as it grows. One entry per attempt, in the order of the cycles: the pod, its weighted scores, and once it has
    an outcome `node` or `message`."""

    def __init__(self, log):
        self.log, self.place, self.rest = log, 0, ""
        self.all, self.newest = [], {}

    def read(self):
        with open(self.log) as log:
            log.seek(self.place)
            text = self.rest + log.read()
            self.place = log.tell()
        lines = text.split("\n")
        self.rest = lines.pop()
        for line in lines:
            found = LINE.match(line)
            if found:
                self.add(*found.groups())
            elif found := PREEMPTION.match(line):
                self.add_preemption(found[1], words(found[2]))
            elif found := VOLUMES.match(line):
                now = self.newest[found[1]]
                now["node"], now["feasible"] = found[2], len(now["totals"]) or 1
        return self.all

    def add_preemption(self, said, fields):
        """All that one pod removes others for is said after its newest attempt has begun."""
        now = self.newest.get(fields.get("preemptor", fields.get("pod")))
        if now is None:
            return
        if said == "the target node for the preemption is determined":
            now["nominated"], now["victims"] = fields["node"], []
        elif said == "Preemptor Pod preempted victim Pod":
            now["victims"].append(fields["victim"])
        elif said == "Victim Pod is already being deleted, skipping the API call for it":
            now["victims"].append(fields["victim"])
            now["leaving"] = now.get("leaving", 0) + 1
        elif said == "Async Preemption finished completely":
            now["removed"] = fields["result"]

    def add(self, said, pod, rest):
        if said == "Attempting to schedule pod":
            self.newest[pod] = {"pod": pod, "scores": {}, "totals": {}}
            self.all.append(self.newest[pod])
            return
        now = self.newest.get(pod)
        if now is None:
            return
        if said == "Plugin scored node for pod":
            fields = words(rest)
            now["scores"].setdefault(fields["plugin"], {})[fields["node"]] = int(fields["score"])
        elif said == "Calculated node's final score for pod":
            fields = words(rest)
            now["totals"][fields["node"]] = int(fields["score"])
        elif said == "Successfully bound pod to node":
            fields = words(rest)
            now["node"], now["feasible"] = fields["node"], int(fields["feasibleNodes"])
        elif said == "Unable to schedule pod; no fit; waiting":
            now["message"] = words(rest)["err"]
        elif said.startswith("Error"):
            now["error"] = rest


def has_outcome(attempt):
    return "node" in attempt or "message" in attempt and ("nominated" not in attempt or "removed" in attempt or nobody_to_remove(attempt))


def nobody_to_remove(attempt):
    """Whether all victims were leaving already: kube-scheduler 1.37 then removes nobody and does not say that it is done."""
    found = VICTIMS.search(attempt["message"])
    return found is not None and attempt.get("leaving") == int(found[1])


class Unanswered(RigFailure):
    pass


class SteadyApi(HttpApi):
    """Asks again where the server has closed a connection that nobody had used for long."""

    def request(self, *words, **options):
        try:
            return super().request(*words, **options)
        except http.client.RemoteDisconnected:
            return super().request(*words, **options)


class Stock:
    """One API server, and one scheduler after the other."""

    def __init__(self, namespaces=NAMESPACES):
        self.cluster = RealCluster(nodes=0, apiserver_flags=FLAGS)
        self.local = threading.local()
        self.connections = []
        self.pool = concurrent.futures.ThreadPoolExecutor(4)
        for name, labels in namespaces.items():
            if name != "default":
                self.api.post(f"{CORE}/namespaces", {"metadata": {"name": name, "labels": labels}})
        for name, (value, policy) in PRIORITIES.items():
            self.api.post("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value, "preemptionPolicy": policy})
        self.api.post("/apis/node.k8s.io/v1/runtimeclasses", RUNTIME_CLASS)

    @property
    def api(self):
        """Of the thread that asks."""
        if not hasattr(self.local, "api"):
            self.local.api = SteadyApi(self.cluster.kubeconfig)
            self.connections.append(self.local.api)
        return self.local.api

    def close(self):
        self.pool.shutdown()
        for api in self.connections:
            api.close()
        self.cluster.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- one cluster

    def ask(self, cluster):
        """The recording: what the API server had, and what the scheduler said. All as JSON."""
        self.fill(cluster)
        objects = self.objects()
        asked = list(self.pool.map(self.create_pod, cluster.asked))
        attempts = self.run_scheduler(cluster.profile, {name_of(pod) for pod in asked})
        return {"name": cluster.name, "version": VERSION, "profile": cluster.profile, "objects": objects, "asked": list(map(without_fields, asked)),
                "attempts": attempts, "conditions": self.conditions(), "notes": self.notes()}

    def fill(self, cluster):
        """All but the pods to ask about, in place of what was there."""
        self.clear()
        list(self.pool.map(lambda node: self.api.post(f"{CORE}/nodes", node), cluster.nodes))
        list(self.pool.map(lambda owner: self.api.post(OWNERS[owner["kind"]].format(owner["metadata"]["namespace"]), owner), cluster.owners))
        list(self.pool.map(self.create_extra, cluster.extras))
        list(self.pool.map(self.create_pod, cluster.pods))
        list(self.pool.map(lambda one: self.api.merge(f"{CORE}/namespaces/{one[0]}/pods/{one[1]}/status", one[2]), cluster.changes))
        list(self.pool.map(lambda one: self.api.delete(f"{CORE}/namespaces/{one[0]}/pods/{one[1]}"), cluster.ending))

    def create_extra(self, drawn):
        path, meta = EXTRAS[drawn["kind"]].format(drawn["metadata"].get("namespace")), dict(drawn["metadata"])
        leaves = meta.pop("deletionTimestamp", None)
        self.api.post(path, {**drawn, "metadata": meta})
        if "status" in drawn:
            self.api.merge(f"{path}/{meta['name']}/status", {"status": drawn["status"]})
        if leaves:  # what protects it from that keeps it
            self.api.delete(f"{path}/{meta['name']}")

    def create_pod(self, pod):
        return self.api.post(f"{CORE}/namespaces/{pod['metadata']['namespace']}/pods", pod)

    def clear(self):
        """Straight in etcd: what takes a second through the API takes a few milliseconds here, and nobody else looks on."""
        for prefix in KEPT:
            self.cluster.etcd_request("/v3/kv/deleterange", {"key": base64_of(prefix), "range_end": base64_of(prefix[:-1] + chr(ord(prefix[-1]) + 1))})
        self.cluster.eventually(lambda: not self.api.get(f"{CORE}/pods?resourceVersion=0")["items"] and
                                not self.api.get(f"{CORE}/nodes?resourceVersion=0")["items"], what="an empty cluster")

    def objects(self):
        found = []
        for path, kind in ((f"{CORE}/namespaces", "Namespace"), (f"{CORE}/nodes", "Node"), (f"{CORE}/services", "Service"),
                           (f"{CORE}/replicationcontrollers", "ReplicationController"), (f"{APPS}/replicasets", "ReplicaSet"),
                           (f"{APPS}/statefulsets", "StatefulSet"), ("/apis/policy/v1/poddisruptionbudgets", "PodDisruptionBudget"),
                           (f"{CORE}/persistentvolumeclaims", "PersistentVolumeClaim"), (f"{CORE}/persistentvolumes", "PersistentVolume"),
                           (f"{STORAGE}/storageclasses", "StorageClass"), (f"{STORAGE}/csidrivers", "CSIDriver"), (f"{STORAGE}/csinodes", "CSINode"),
                           (f"{STORAGE}/csistoragecapacities", "CSIStorageCapacity"), (f"{STORAGE}/volumeattachments", "VolumeAttachment"),
                           (f"{CORE}/pods", "Pod")):
            answer = self.api.get(path)
            # A scheduler that starts reads what the API server has in its cache, and that may be behind etcd.
            self.cluster.eventually(lambda: versions(self.api.get(f"{path}?resourceVersion=0")) == versions(answer), what=f"a cache with all of {path}")
            found += [{"apiVersion": answer["apiVersion"], "kind": kind, **without_fields(item)} for item in answer["items"]]
        return found

    def run_scheduler(self, profile, asked):
        configuration = {"percentageOfNodesToScore": 100, "profiles": [{"schedulerName": "default-scheduler", **profile}]}
        program = control_plane.scheduler(self.cluster.slot, self.cluster.pki, self.cluster.programs,
                                          ("--v=2", "--vmodule=schedule_one=10,binder=4"), configuration)
        program.log.unlink(missing_ok=True)
        program.start()
        log = Attempts(program.log)

        def all_answered():
            program.check()
            attempts = log.read()
            wrong = [attempt for attempt in attempts if "error" in attempt]
            if wrong:
                raise Unanswered(f"kube-scheduler could not answer: {wrong[0]}")
            return asked <= {attempt["pod"] for attempt in attempts if has_outcome(attempt)}
        try:
            self.cluster.eventually(all_answered, 60, every=0.05, what="an answer to every pod")
            failed = {attempt["pod"] for attempt in log.all if "message" in attempt}
            self.cluster.eventually(lambda: failed <= set(self.notes()) and self.is_told(failed), 20, every=0.05,
                                    what="conditions and events of all pods")
        finally:
            program.kill()
        attempts = log.read()
        # What was under way when it ended has left its trace on those after it, which then mean nothing.
        end = next((index for index, attempt in enumerate(attempts) if not has_outcome(attempt)), len(attempts))
        return attempts[:end]

    def is_told(self, failed):
        """Whether the pods say that they did not fit, or fitted after all when they were tried again."""
        return failed <= {name for name, condition in self.conditions().items() if condition["reason"] == "Unschedulable"
                          or condition["status"] == "True"}

    def conditions(self):
        """Of all pods: status, reason and message, by namespace/name."""
        found = {}
        for pod in self.api.get(f"{CORE}/pods?resourceVersion=0")["items"]:
            for condition in pod.get("status", {}).get("conditions", []):
                if condition["type"] == "PodScheduled":
                    found[name_of(pod)] = {key: condition.get(key, "") for key in ("status", "reason", "message")}
        return found

    def notes(self):
        """What was said of every pod that did not fit. A pod that has changed meanwhile is another to who counts repeats."""
        found = {}
        for event in self.api.get(f"{EVENTS}/events")["items"]:
            if event["reason"] == "FailedScheduling":
                found.setdefault(f"{event['regarding']['namespace']}/{event['regarding']['name']}", []).append(event["note"])
        return found


def compare(ask, cluster):
    """What `ask` records of kube-scheduler, and what differs in our answers. It begins when its own handlers have seen everything, but does
    not wait for those of its volume binder's caches: on a busy machine it may not know a volume that was there before it. So only what
    differs twice counts, and what differed once is told with what was recorded then."""
    try:
        recording = ask(cluster)
        found = scheduler_ours.mismatches(recording, scheduler_ours.ask(recording))
        if not found:
            return recording, found
        doubtful = "".join(f"\n  {difference}\n  recorded: {json.dumps(recording['attempts'][index])}" for index, difference in found[:5])
    except Unanswered as unanswered:
        doubtful = unanswered
    print(f"note: cluster {cluster.name} is asked again: {doubtful}", file=sys.stderr)
    recording = ask(cluster)
    return recording, scheduler_ours.mismatches(recording, scheduler_ours.ask(recording))


def name_of(pod):
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def versions(answer):
    return {(item["metadata"].get("namespace"), item["metadata"]["name"]): item["metadata"]["resourceVersion"] for item in answer["items"]}


def without_fields(item):
    item["metadata"].pop("managedFields", None)
    return item


def base64_of(text):
    return base64.b64encode(text.encode()).decode()

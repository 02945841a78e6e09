"""Pods from their beginning to their end: what their watchers see of phases, containers and conditions, and in which order.

Two nodes never write the same statuses: which changes one write tells together is a matter of time. So each state lasts for seconds, and
of every container, of the phase and of every condition those are kept that differ from the one before.
"""
import datetime

LASTS = 3  # seconds of a state: a kubelet looks at its containers once a second
GOES = f"trap 'sleep {LASTS}; exit 0' TERM; while :; do sleep 0.1; done"


def container(name, script, **more):
    return {"name": name, "image": "busybox", "imagePullPolicy": "IfNotPresent", "command": ["sh", "-c", script], **more}


def runs(name, code=0, seconds=LASTS, **more):
    return container(name, f"sleep {seconds}; exit {code}", **more)


PODS = {
    "init containers, a sidecar, containers": {
        "initContainers": [runs("i1"), container("side", GOES, restartPolicy="Always"), runs("i2")],
        "containers": [runs("c1"), runs("c2", code=3, seconds=2 * LASTS)], "restartPolicy": "Never"},
    "an init container fails": {"initContainers": [runs("i1", code=2), runs("i2")], "containers": [runs("c1")], "restartPolicy": "Never"},
    "again after a failure": {
        "containers": [container("c1", f"sleep {LASTS}; test -e /v/tried && exit 0; touch /v/tried; exit 4",
                                 volumeMounts=[{"name": "v", "mountPath": "/v"}])],
        "volumes": [{"name": "v", "emptyDir": {}}], "restartPolicy": "OnFailure"},
    "again though it succeeds": {"containers": [runs("c1")], "restartPolicy": "Always"},
    "ready after a while": {
        "containers": [container("c1", f"sleep {LASTS}; touch /tmp/ready; sleep {LASTS}; exit 0",
                                 readinessProbe={"exec": {"command": ["test", "-e", "/tmp/ready"]}, "periodSeconds": 1})],
        "restartPolicy": "Never"},
    "ends at the deadline": {"containers": [container("c1", GOES)], "restartPolicy": "Never"},
}
HAS_A_DEADLINE = "ends at the deadline"  # set once it runs: it counts from the pod's beginning, and a busy kubelet takes seconds to start it


def word(status):
    """One state of a container, without its times."""
    (kind, state), = status["state"].items()
    said = [kind, *(str(state[name]) for name in ("reason", "exitCode", "signal") if name in state)]
    if kind == "running":
        said += [name for name in ("started", "ready") if status.get(name)]
    return " ".join(said + ([f"after {status['restartCount']}"] if status["restartCount"] else []))


def parts(status):
    """What one status says, by what it is about; ends before beginnings, so that changes told together have one order."""
    told = {"phase": status["phase"]}
    containers = {name: word(one) for name, one in containers_of(status).items()}
    for name, state in sorted(containers.items(), key=lambda one: (not one[1].startswith("terminated"), one[1].startswith("running"))):
        told[f"container {name}"] = state
    for one in status.get("conditions", []):
        told[f"condition {one['type']}"] = " ".join(filter(None, (one["status"], one.get("reason"))))
    return told


def collapsed(statuses):
    """By what it is about, the states in their order; and of the containers' beginnings and ends the order among them."""
    seen, order = {}, []
    for status in statuses:
        for what, state in parts(status).items():
            if seen.setdefault(what, [])[-1:] == [state]:
                continue
            seen[what].append(state)
            kind, _, name = what.partition(" ")
            if kind == "container" and state.split()[0] != "waiting" and order[-1:] != [entry := f"{name} {state.split()[0]}"]:
                order.append(entry)
    return {**seen, "order": order}


def containers_of(status):
    return {one["name"]: one for kind in ("initContainerStatuses", "containerStatuses") for one in status.get(kind, [])}


def lasting(statuses):
    """Without those in which a container has ended that runs again at once: a kubelet may tell its end and its next beginning together."""
    def runs_again(name, ended, later):
        following = next((one for status in later if (one := containers_of(status).get(name)) and "terminated" not in one["state"]), None)
        return following and "running" in following["state"] and following["restartCount"] == ended["restartCount"] + 1
    return [status for place, status in enumerate(statuses)
            if not any("terminated" in one["state"] and runs_again(name, one, statuses[place + 1:])
                       for name, one in containers_of(status).items())]


def over(status):
    """Those that begin again and again have shown enough when they have twice."""
    return status["phase"] in ("Succeeded", "Failed") or any(one["restartCount"] > 1 for one in status.get("containerStatuses", []))


class Life:
    def __init__(self, api, namespace, node, name, spec):
        self.api, self.name, self.has_a_deadline = api, name.replace(" ", "-").replace(",", ""), name == HAS_A_DEADLINE
        self.path = f"/api/v1/namespaces/{namespace}/pods"
        self.since = api.must("GET", f"{self.path}?limit=1")["metadata"]["resourceVersion"]
        api.must("POST", self.path, {"metadata": {"name": self.name}, "spec": {"nodeName": node, "terminationGracePeriodSeconds": 30, **spec}})

    def watched(self):
        """Every status from before the pod was there to its end."""
        query = f"watch=1&timeoutSeconds=90&resourceVersion={self.since}&fieldSelector=metadata.name%3D{self.name}"
        with self.api.watch(f"{self.path}?{query}") as watch:
            return [event["object"]["status"] for event in watch.until(lambda event: self.is_over(event["object"]["status"]))]

    def is_over(self, status):
        if self.has_a_deadline and status["phase"] == "Running":
            self.has_a_deadline = False
            begun = datetime.datetime.fromisoformat(status["startTime"].replace("Z", "+00:00"))
            seconds = int((datetime.datetime.now(datetime.timezone.utc) - begun).total_seconds()) + LASTS
            answer = self.api.patch("merge", f"{self.path}/{self.name}", {"spec": {"activeDeadlineSeconds": seconds}})
            assert answer.code == 200, answer.text
        return over(status)


def observe(api, namespace, nodes):
    node = next(iter(nodes))
    lives = {name: Life(api, namespace, node, name, spec) for name, spec in PODS.items()}
    for name, life in lives.items():
        for what, states in collapsed(lasting(life.watched())).items():
            yield f"{name}: {what}", states

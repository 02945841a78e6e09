"""Pods in every state that a table tells apart. Not a test itself.

Each is (name, spec, status, what is done to it): the containers' states decide what the columns Ready, Status and Restarts show.
"""
import datetime


def ago(**parts):
    """A time whose age reads the same for the next seconds: twenty seconds are added."""
    then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(**parts) - datetime.timedelta(seconds=20)
    return then.strftime("%Y-%m-%dT%H:%M:%SZ")


def running(name="a", ready=True, restarts=0, last=None, **more):
    return {"name": name, "image": "x:1", "imageID": "", "ready": ready, "restartCount": restarts, "lastState": last or {},
            "state": {"running": {"startedAt": ago(minutes=20)}}, **more}


def waiting(reason, name="a", restarts=0, last=None, **more):
    return {"name": name, "image": "x:1", "imageID": "", "ready": False, "restartCount": restarts, "lastState": last or {},
            "state": {"waiting": {"reason": reason} if reason else {}}, **more}


def ended(reason=None, code=0, signal=None, name="a", restarts=0, last=None, **more):
    what = {"exitCode": code, "startedAt": ago(minutes=20), "finishedAt": ago(minutes=15)}
    if reason:
        what["reason"] = reason
    if signal:
        what["signal"] = signal
    return {"name": name, "image": "x:1", "imageID": "", "ready": False, "restartCount": restarts, "lastState": last or {},
            "state": {"terminated": what}, **more}


def before(**parts):
    return {"terminated": {"exitCode": 1, "startedAt": ago(days=2000), "finishedAt": ago(**parts)}}


def condition(kind, status="True", reason=None):
    return {"type": kind, "status": status, **({"reason": reason} if reason else {})}


READY, NOT_READY, INITIALIZED = condition("Ready"), condition("Ready", "False"), condition("Initialized")


def spec(containers=1, inits=0, sidecars=(), **more):
    """Containers a, b, c…; init containers i0, i1…, of which those in `sidecars` go on running."""
    out = {"containers": [{"name": "abcdef"[i], "image": "x:1"} for i in range(containers)], "schedulerName": "nobody", **more}
    if inits:
        out["initContainers"] = [{"name": f"i{i}", "image": "x:1", **({"restartPolicy": "Always"} if i in sidecars else {})}
                                 for i in range(inits)]
    return out


def status(*containers, phase="Running", inits=(), conditions=(), **more):
    out = {"phase": phase, **more}
    if containers:
        out["containerStatuses"] = list(containers)
    if inits:
        out["initContainerStatuses"] = list(inits)
    if conditions:
        out["conditions"] = list(conditions)
    return out


def plain():
    for phase in ("Pending", "Running", "Succeeded", "Failed", "Unknown"):
        yield f"phase-{phase}", spec(), status(phase=phase)
    for reason in ("Evicted", "NodeLost", "NodeAffinity", "Terminated"):
        yield f"reason-{reason}", spec(), status(phase="Failed", reason=reason, message="words")
    yield "reason-and-container", spec(), status(ended("Error", 1), phase="Failed", reason="Evicted")
    yield "gated", spec(schedulingGates=[{"name": "example.com/g"}]), status(phase="Pending", conditions=[
        condition("PodScheduled", "False", "SchedulingGated")])
    yield "unschedulable", spec(), status(phase="Pending", conditions=[condition("PodScheduled", "False", "Unschedulable")])
    for reason in ("ContainerCreating", "CrashLoopBackOff", "ErrImagePull", "ImagePullBackOff", "CreateContainerConfigError",
                   "InvalidImageName", "PodInitializing"):
        yield f"waiting-{reason}", spec(), status(waiting(reason), phase="Pending")
    yield "waiting-without-reason", spec(), status(waiting(None), phase="Pending")
    for reason in ("Completed", "Error", "OOMKilled", "ContainerCannotRun", "DeadlineExceeded"):
        yield f"ended-{reason}", spec(), status(ended(reason, 0 if reason == "Completed" else 1), phase="Failed")
    yield "ended-code", spec(), status(ended(code=3), phase="Failed")
    yield "ended-zero", spec(), status(ended(), phase="Succeeded")
    yield "ended-signal", spec(), status(ended(code=137, signal=9), phase="Failed")
    yield "running", spec(), status(running(), conditions=[READY])
    yield "running-not-ready", spec(), status(running(ready=False), conditions=[NOT_READY])
    yield "ready-but-waiting", spec(), status({**waiting(None), "ready": True})


def several():
    yield "two-run", spec(2), status(running(), running("b"), conditions=[READY])
    yield "one-completed-ready", spec(2), status(running(), ended("Completed", name="b"), conditions=[READY])
    yield "one-completed-not-ready", spec(2), status(running(), ended("Completed", name="b"), conditions=[NOT_READY])
    yield "first-completed", spec(2), status(ended("Completed"), running("b"), conditions=[NOT_READY])
    yield "completed-and-unready", spec(2), status(running(ready=False), ended("Completed", name="b"))
    yield "all-completed", spec(2), status(ended("Completed"), ended("Completed", name="b"), phase="Succeeded")
    yield "error-and-running", spec(2), status(ended("Error", 1), running("b"))
    yield "running-and-error", spec(2), status(running(), ended("Error", 1, name="b"))
    yield "crash-and-completed", spec(2), status(waiting("CrashLoopBackOff"), ended("Completed", name="b"))
    yield "completed-and-crash", spec(2), status(ended("Completed"), waiting("CrashLoopBackOff", "b"))
    yield "creating-and-image", spec(3), status(waiting("ContainerCreating"), waiting("ErrImagePull", "b"), running("c"))
    yield "fewer-statuses", spec(3), status(running())
    yield "no-statuses", spec(3), status()
    yield "code-and-signal", spec(2), status(ended(code=2), ended(code=9, signal=9, name="b"), phase="Failed")


def restarted():
    yield "restart-unknown-time", spec(), status(running(restarts=1))
    yield "restart-zero-with-time", spec(), status(running(last=before(hours=1)))
    for name, parts in {"minutes": {"minutes": 100}, "hours-minutes": {"hours": 3, "minutes": 30}, "hours": {"hours": 10},
                        "days-hours": {"days": 2, "hours": 5}, "days": {"days": 30}, "years-days": {"days": 800},
                        "years": {"days": 365 * 10}}.items():
        yield f"restart-{name}", spec(), status(running(restarts=3, last=before(**parts)))
    yield "restart-sum", spec(2), status(running(restarts=2, last=before(hours=10)), running("b", restarts=5, last=before(minutes=100)))
    yield "restart-no-end", spec(), status(running(restarts=2, last={"terminated": {"exitCode": 1}}))
    yield "restart-waiting-before", spec(), status(running(restarts=2, last={"waiting": {"reason": "X"}}))
    yield "restart-crashing", spec(), status(waiting("CrashLoopBackOff", restarts=7, last=before(minutes=50)))


def initializing():
    pending = waiting("PodInitializing")
    yield "init-none-said", spec(inits=2), status(phase="Pending")
    yield "init-0", spec(inits=2), status(pending, phase="Pending", inits=[running("i0", False), waiting("PodInitializing", "i1")])
    yield "init-1", spec(inits=2), status(pending, phase="Pending", inits=[ended("Completed", name="i0"), running("i1", False)])
    yield "init-waits", spec(inits=2), status(pending, phase="Pending", inits=[waiting("PodInitializing", "i0")])
    yield "init-done", spec(inits=2), status(pending, phase="Pending",
                                             inits=[ended("Completed", name="i0"), ended("Completed", name="i1")])
    yield "init-error", spec(inits=1), status(pending, phase="Pending", inits=[ended("Error", 1, name="i0")])
    yield "init-code", spec(inits=1), status(pending, phase="Pending", inits=[ended(code=2, name="i0")])
    yield "init-signal", spec(inits=1), status(pending, phase="Pending", inits=[ended(code=137, signal=9, name="i0")])
    yield "init-crash", spec(inits=1), status(pending, phase="Pending",
                                              inits=[waiting("CrashLoopBackOff", "i0", restarts=4, last=before(hours=10))])
    yield "init-image", spec(inits=3), status(pending, phase="Pending", inits=[waiting("ImagePullBackOff", "i0")])
    yield "init-restarted-then-run", spec(inits=1), status(running(restarts=1, last=before(minutes=100)),
                                                           inits=[ended("Completed", name="i0", restarts=6, last=before(hours=10))])
    yield "init-initialized", spec(inits=1), status(running(), conditions=[INITIALIZED], inits=[running("i0", restarts=2)])
    yield "sidecar-ready", spec(inits=2, sidecars=[1]), status(
        running(), inits=[ended("Completed", name="i0"), running("i1", started=True, restarts=2, last=before(minutes=100))])
    yield "sidecar-not-ready", spec(inits=1, sidecars=[0]), status(running(), inits=[running("i0", False, started=True)])
    yield "sidecar-not-started", spec(inits=1, sidecars=[0]), status(pending, phase="Pending", inits=[running("i0", False, started=False)])
    yield "sidecar-crash", spec(inits=2, sidecars=[0]), status(pending, phase="Pending", inits=[
        waiting("CrashLoopBackOff", "i0", restarts=2), waiting("PodInitializing", "i1")])
    yield "sidecar-ended", spec(inits=1, sidecars=[0]), status(ended("Completed"), phase="Succeeded", inits=[ended("Completed", name="i0")])
    yield "sidecar-killed", spec(inits=1, sidecars=[0]), status(ended("Completed"), phase="Succeeded", inits=[ended("Error", 137, name="i0")])
    yield "sidecar-and-main-restarts", spec(inits=1, sidecars=[0]), status(
        running(restarts=3, last=before(days=30)), inits=[running("i0", started=True, restarts=4, last=before(minutes=100))])


def wide():
    gates = [{"conditionType": "example.com/one"}, {"conditionType": "example.com/two"}]
    yield "gates-0", spec(readinessGates=gates), status(running(), conditions=[NOT_READY])
    yield "gates-1", spec(readinessGates=gates), status(running(), conditions=[condition("example.com/one"), NOT_READY])
    yield "gates-2", spec(readinessGates=gates), status(running(), conditions=[condition("example.com/one"),
                                                                              condition("example.com/two"), READY])
    yield "gates-false", spec(readinessGates=gates[:1]), status(running(), conditions=[condition("example.com/one", "False")])
    yield "nominated", spec(), status(phase="Pending", nominatedNodeName="node-z")
    yield "address", spec(nodeName="node-a"), status(running(), podIP="10.9.8.7", podIPs=[{"ip": "10.9.8.7"}])
    yield "addresses", spec(nodeName="node-a"), status(running(), podIP="10.9.8.7", podIPs=[{"ip": "10.9.8.7"}, {"ip": "fd00::7"}])
    yield "address-six", spec(nodeName="node-b"), status(running(), podIP="fd00::7", podIPs=[{"ip": "fd00::7"}])
    yield "only-pod-ip", spec(nodeName="node-b"), status(running(), podIP="10.9.8.6")


def deleted():
    """Deleted after their status is written; those whose phase is terminal are kept by a finalizer."""
    bound = {"nodeName": "node-a"}
    yield "going-running", spec(**bound), status(running())
    yield "going-pending", spec(**bound), status(waiting("ContainerCreating"), phase="Pending")
    yield "going-crash", spec(**bound), status(waiting("CrashLoopBackOff", restarts=2))
    yield "going-init", spec(inits=1, **bound), status(phase="Pending", inits=[running("i0", False)])
    yield "going-succeeded", spec(**bound), status(ended("Completed"), phase="Succeeded")
    yield "going-failed", spec(**bound), status(ended("Error", 1), phase="Failed")
    yield "going-lost", spec(**bound), status(running(), reason="NodeLost")
    yield "going-evicted", spec(**bound), status(phase="Failed", reason="Evicted")


def every_pod():
    for group in (plain, several, restarted, initializing, wide, deleted):
        for name, wanted, state in group():
            meta = {"name": name.lower(), **({"finalizers": ["example.com/hold"]} if group is deleted else {})}
            yield {"metadata": meta, "spec": wanted}, state, group is deleted

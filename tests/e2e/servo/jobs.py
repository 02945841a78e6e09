"""Pods whose statuses a test writes itself, so that their times are exact. Not a test itself."""
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "local"))
from http_api import HttpApi, Refused  # noqa: E402,F401

BEGAN, ENDED = "2026-01-01T10:00:00Z", "2026-01-01T10:00:42Z"


class Jobs:
    """Makes and ends pods on a cluster without nodes. One thread at a time."""

    def __init__(self, test, kubeconfig, namespace="default"):
        self.api, self.path = HttpApi(kubeconfig), f"/api/v1/namespaces/{namespace}/pods"
        test.addCleanup(self.api.close)

    def create(self, name, app, annotations=None, labels=None, **spec):
        containers = [{"name": "main", "image": "any", "env": [{"name": "JOBID", "value": app}],
                       "resources": {"limits": {"memory": "64Mi"}, "requests": {"memory": "64Mi"}}},
                      {"name": "side", "image": "any"}]
        pod = {"metadata": {"name": name, "annotations": annotations or {}, "labels": labels or {}},
               "spec": {"containers": containers, "restartPolicy": "Never", **spec}}
        return self.api.post(self.path, pod)["metadata"]["uid"]

    def status(self, name, **status):
        return self.api.request("PATCH", f"{self.path}/{name}/status", {"status": status}, "application/merge-patch+json")

    def end(self, name, began=BEGAN, ended=ENDED, code=0, phase="Succeeded", restarts=0, reason="Completed"):
        """The measured container's status comes second, as it may."""
        def container(who, state):
            return {"name": who, "image": "any", "imageID": "", "ready": False, "restartCount": restarts, "state": state}
        terminated = {"startedAt": began, "finishedAt": ended, "exitCode": code, "reason": reason}
        if began is None:
            del terminated["startedAt"]
        statuses = [container("side", {"terminated": {**terminated, "startedAt": "2026-01-01T09:00:00Z", "exitCode": 9}}),
                    container("main", {"terminated": terminated})]
        self.status(name, phase=phase, containerStatuses=statuses)

    def run(self, name, app, **how):
        uid = self.create(name, app)
        self.end(name, **how)
        return uid

    def delete(self, name):
        self.api.request("DELETE", f"{self.path}/{name}", {"gracePeriodSeconds": 0})

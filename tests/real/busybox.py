"""Pods of the one image that every node has. Not a test itself."""


def pod(name, *command, **spec):
    """Labelled app=<name up to the first dash>."""
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name.split("-")[0]}}, "spec": {
        "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "main", "image": "busybox", "imagePullPolicy": "IfNotPresent", "command": list(command),
                        "resources": {"requests": {"cpu": "50m", "memory": "16Mi"}}}], **spec}}

"""Nodes that are objects only: they have room, are ready, and run nothing."""
import concurrent.futures
import datetime

NODES = "/api/v1/nodes"


def fake_node(name, cpu="8", memory="32Gi", pods="110", labels=None, images=(), **resources):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    room = {"cpu": str(cpu), "memory": str(memory), "pods": str(pods), "ephemeral-storage": "100Gi", **resources}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "fake", "lastHeartbeatTime": now,
             "lastTransitionTime": now}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                                                  "kubernetes.io/arch": "amd64", **(labels or {})}},
            "status": {"capacity": room, "allocatable": room, "conditions": [ready], "images": list(images)}}


def create(connect, nodes, workers=8):
    """`connect` gives a connection to the API for one worker."""
    nodes = list(nodes)

    def some(part):
        api = connect()
        try:
            for node in part:
                api.post(NODES, node)
                # Admission taints every new node until a controller sees it ready; here none may run.
                api.merge(f"{NODES}/{node['metadata']['name']}", {"spec": {"taints": node.get("spec", {}).get("taints")}})
        finally:
            api.close()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        list(pool.map(some, [nodes[first::workers] for first in range(min(workers, len(nodes)))]))

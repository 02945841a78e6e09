"""The same questions to `plimsoll explain`, and whether the answers are the same."""
import json
import pathlib
import subprocess
import tempfile

from local_cluster import PROGRAM

NOTE_LIMIT = 1024  # of an event's note, in bytes


def configuration(profile):
    return {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "percentageOfNodesToScore": 100,
            "profiles": [{"schedulerName": "default-scheduler", **profile}]}


def questions(recording):
    """The pods as the scheduler met them: each first without a node, to be asked about, then where it went. One that went nowhere is
    said to be over, so that it is not in the way of others should ours have found a node for it."""
    asked = {f"{pod['metadata']['namespace']}/{pod['metadata']['name']}": pod for pod in recording["asked"]}
    for attempt in recording["attempts"]:
        pod = asked[attempt["pod"]]
        yield {"apiVersion": "v1", "kind": "Pod", **pod}
        if "node" in attempt:
            yield {"apiVersion": "v1", "kind": "Pod", **pod, "spec": {**pod["spec"], "nodeName": attempt["node"]}}
        else:
            yield {"apiVersion": "v1", "kind": "Pod", **pod, "spec": {**pod["spec"], "nodeName": "nowhere"}, "status": {"phase": "Failed"}}


def ask(recording):
    """Our answers, one per attempt of the recording."""
    with tempfile.TemporaryDirectory() as folder:
        def write(name, value):
            path = pathlib.Path(folder) / name
            path.write_text(json.dumps(value))
            return str(path)
        done = subprocess.run(
            [PROGRAM, "explain", "pod", "--snapshot", write("cluster.json", {"apiVersion": "v1", "kind": "List", "items": recording["objects"]}),
             "--pod", write("pods.json", {"apiVersion": "v1", "kind": "List", "items": list(questions(recording))}),
             "--config", write("config.json", configuration(recording["profile"])), "--emulated-version", recording["version"], "--all-nodes", "-o", "json"],
            capture_output=True, text=True, timeout=120)
    if done.returncode:
        raise AssertionError(f"plimsoll explain ended with {done.returncode}: {done.stderr}")
    answer = json.loads(done.stdout)
    answers = answer["items"] if "items" in answer else [answer]
    if len(answers) != len(recording["attempts"]):
        raise AssertionError(f"{len(answers)} answers to {len(recording['attempts'])} questions")
    return answers


def differences(stock, ours):
    """Sentences on what differs in the answers to one question; none if they agree."""
    if "message" in stock:
        if ours["outcome"] != "unschedulable":
            return [f"kube-scheduler finds no node ({stock['message']}), ours takes {ours.get('node')}"]
        if ours["message"] != stock["message"]:
            return [f"kube-scheduler says\n  {stock['message']}\nours\n  {ours['message']}"]
        after = ours.get("postFilter", {})
        asked, got = ((place or None, sorted(victims)) for place, victims in ((stock.get("nominated"), stock.get("victims", ())),
                                                                              (after.get("nominated"), after.get("victims", ()))))
        return [] if asked == got else [f"kube-scheduler makes room by removing {asked}, ours {got}"]
    if ours["outcome"] not in ("bound", "single-feasible"):
        return [f"kube-scheduler takes {stock['node']}, ours finds no node: {ours.get('message')}"]
    if stock["feasible"] == 1:
        return [] if ours["outcome"] == "single-feasible" and ours["node"] == stock["node"] else [
            f"kube-scheduler has {stock['node']} alone, ours {ours['nodes']['feasible']} nodes and takes {ours['node']}"]
    totals = {row["node"]: row["total"] for row in ours.get("rows", [])}
    scores = {}
    for row in ours.get("rows", []):
        for score in row["scores"]:
            scores.setdefault(score["plugin"], {})[row["node"]] = score["weighted"]
    found = []
    if set(totals) != set(stock["totals"]):
        found.append(f"only kube-scheduler finds feasible: {sorted(set(stock['totals']) - set(totals))}, only ours: "
                     f"{sorted(set(totals) - set(stock['totals']))}")
    for plugin in sorted({*stock["scores"], *scores}):
        one, other = stock["scores"].get(plugin, {}), scores.get(plugin, {})
        unequal = {node: (one.get(node), other.get(node)) for node in sorted({*one, *other}) if one.get(node) != other.get(node)}
        if unequal and set(one) | set(other) <= set(totals) & set(stock["totals"]):
            found.append(f"{plugin}, kube-scheduler's and ours: {unequal}")
    if found:
        return found
    if totals != stock["totals"]:
        return [f"totals {stock['totals']}, ours {totals}"]
    best = {node for node, total in stock["totals"].items() if total == max(stock["totals"].values())}
    if ours["node"] not in best or stock["node"] not in best:
        return [f"of the best, {sorted(best)}, kube-scheduler takes {stock['node']} and ours {ours['node']}"]
    return []


def note_of(message):
    """As an event carries it."""
    data = message.encode()
    return message if len(data) <= NOTE_LIMIT else data[:NOTE_LIMIT - 4].decode(errors="ignore") + " ..."


def mismatches(recording, answers):
    """(index of the attempt, what differs) of all that differ; conditions and events are held against our message too."""
    found = [(index, difference) for index, (stock, ours) in enumerate(zip(recording["attempts"], answers))
             for difference in differences(stock, ours)]
    said = {}
    for index, (stock, ours) in enumerate(zip(recording["attempts"], answers)):
        if "message" in stock and "message" in ours:
            said.setdefault(stock["pod"], []).append((index, ours["message"]))
    for pod, messages in said.items():
        ours = {message for _, message in messages}
        found += [(messages[0][0], f"an event says {note!r}, ours would say {ours}")
                  for note in recording["notes"][pod] if note not in map(note_of, ours)]
        condition = recording["conditions"][pod]
        if condition["status"] == "False" and (condition["reason"] != "Unschedulable" or condition["message"] not in ours):
            found.append((messages[0][0], f"the condition is {condition}, ours would say {ours}"))
    return found

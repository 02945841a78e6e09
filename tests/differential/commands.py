"""kubectl as people type it: every command with its exit code, its output and, where it fails, its complaint.

The commands of a list run one after the other in a namespace of their own, once with each kubectl.
"""
import json
import re
import shlex
import time

import yaml

from answers import masked
from clients import KUBECTLS, kubectl

# What no two clusters have in common, in a text for people.
MASKS = tuple((re.compile(pattern), mask) for pattern, mask in (
    (r"\b(?:[A-Z][a-z]{2}, )?\d\d [A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}", "TIME"),
    (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?[+-]\d{4} UTC|Z)?", "TIME"),
    (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UID"),
    (r"\b(sha256|containerd|process)://[0-9a-zA-Z._/:@-]+", "ID"),
    (r"(?<=-)[bcdf0-9]{7,10}-[bcdfghjklmnpqrstvwxz2456789]{5}\b", "HASH-RANDOM"),
    (r"(?<=[-=: ])[bcdf0-9]{7,10}(?=[\s,\"]|$)", "HASH"),
    (r"\bkube-api-access-[a-z0-9]{5}\b", "kube-api-access-*"),
    (r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}\b", "RANDOM"),
    (r"\b(?:\d{1,3}\.){3}\d{1,3}(?=\b)", "IP"),
    (r"(?<=https://IP):\d+", ":PORT"),
    (r"(?<![\w.-])(?:\d+y)?(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?<=[0-9][ydhms])(?![\w.-])", "AGE"),
    (r"(?m)^( *(?:resourceVersion|Resource Version): *)\S+", r"\1N"),
    (r"\b3[0-2]\d{3}\b(?=/TCP)", "PORT"),
))

HASH = re.compile(r"(?<=-)[bcdf4-9]{7,10}\b")  # of a pod template, in an object

POD = """
apiVersion: v1
kind: Pod
metadata: {name: p, labels: {a: b, tier: front}}
spec:
  nodeSelector: {nowhere: "true"}
  containers:
  - {name: c, image: "busybox:1", args: [sleep, infinity], ports: [{containerPort: 80}], resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 128Mi}}}
"""
TWO = POD + """---
apiVersion: v1
kind: Pod
metadata: {name: q, labels: {a: c}, annotations: {note: "hello"}}
spec:
  nodeSelector: {nowhere: "true"}
  initContainers: [{name: i, image: "busybox:1", command: ["true"]}]
  containers: [{name: c, image: "busybox:1"}, {name: d, image: "busybox:2", env: [{name: A, value: "1"}]}]
  volumes: [{name: v, emptyDir: {}}]
"""
MAP = "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: m}, data: {a: '%s'}}"
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  replicas: %s
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {nodeSelector: {nowhere: "true"}, containers: [{name: c, image: "busybox:%s"}]}
"""
WRONG = "---\n{apiVersion: v1, kind: Pod, metadata: {name: w}, spec: {containers: [{name: c, image: x, nonsense: 1}]}}"
INVALID = "---\n{apiVersion: v1, kind: Pod, metadata: {name: 'No_Good'}, spec: {containers: []}}"


class Command:
    """A line for kubectl. `only` is the version that has it; `rows` names lines instead of comparing the whole; `retry` is
    text that the output must have once controllers are done."""

    def __init__(self, line, input=None, only=None, rows=False, retry=None, words=True, filter=None, name=None):
        self.line, self.input, self.only, self.rows, self.retry, self.words, self.filter = line, input, only, rows, retry, words, filter
        self.name = name or line


def text(value, names):
    value = replaced(value, names)
    for pattern, mask in MASKS:
        value = pattern.sub(mask, value)
    lines = [" ".join(line.split()) for line in value.splitlines()]
    return [re.sub(r"[-=]{4,}", "----", line) for line in lines]


def output(done, names, filter=None):
    """Objects are compared as such, text line by line."""
    out = done.stdout
    try:
        value = json.loads(out) if out.startswith(("{", "[")) else yaml.safe_load(out) if out.startswith("apiVersion:") else None
    except (ValueError, yaml.YAMLError):
        value = None
    if isinstance(value, (dict, list)):
        shown = masked(json.loads(HASH.sub("HASH", replaced(json.dumps(value), names))))
    else:
        shown = text(out, names)
        shown = [line for line in shown if filter is None or re.search(filter, line)]
    return {"exit": done.returncode, "out": shown, **({"error": text(done.stderr, names)} if done.returncode else {})}


def replaced(value, names):
    """Whole words only: nodes have short names."""
    for name, mask in names.items():
        value = re.sub(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])", mask, value)
    return value


def plain_commands():
    """Those that need objects only; no pod of theirs ever runs."""
    yield Command("get pods", name="get pods of none")
    yield Command("get pods -o json")
    yield Command("create -f -", TWO)
    yield Command("create -f -", POD, name="create what is there")
    yield Command("create -f -", WRONG, name="create with an unknown field")
    yield Command("create --validate=false -f -", INVALID, name="create what is invalid")
    yield Command("create --dry-run=client -o yaml -f -", MAP % 1)
    yield Command("create --dry-run=server -o yaml -f -", MAP % 1)
    for form in ("", "-o wide", "-o name", "--show-labels", "-L a,tier", "--no-headers", "-l a=b", "-l 'a in (b,c),tier!=front'", "-l '!tier'", "--sort-by=.metadata.name",
                 "--field-selector=status.phase=Pending -o name", "--field-selector=spec.nodeName=x", "--field-selector=metadata.name!=p -o name", "--chunk-size=1 -o name",
                 "-o jsonpath='{.items[*].metadata.name}'", "-o custom-columns=N:.metadata.name,I:.spec.containers[*].image", "-o go-template='{{len .items}}'",
                 "--show-kind", "--ignore-not-found -l a=none", "-l a=none", "p nobody", "p -o jsonpath='{.spec.containers[0].name}'", "--field-selector=status.nothing=1",
                 "-l 'a in'"):
        yield Command(f"get pods {form}".strip())
    for form in ("p -o yaml", "p -o json", "q -o yaml"):
        yield Command(f"get pods {form}", retry="Unschedulable")
    yield Command("get pods -A --field-selector=metadata.namespace=$NS -o wide")
    yield Command("get pods,configmaps -l a=b")
    yield Command("get pod/p configmap/kube-root-ca.crt -o name")
    yield Command("get nonsense")
    yield Command("get nonsense.v1.example.com")
    yield Command("get po p --output-watch-events --watch --request-timeout=2s", filter="^(EVENT|ADDED)")  # schedulers may look again meanwhile
    yield Command("describe pod p", retry="Warning", filter=r"^(?!.*(FailedScheduling|default-scheduler))")
    yield Command("describe pod q", filter=r"^(?!.*(FailedScheduling|default-scheduler))")
    yield Command("describe pods nobody")

    yield Command("apply -f -", MAP % 1, name="apply new")
    yield Command("apply -f -", MAP % 1, name="apply same")
    yield Command("diff -f -", MAP % 1, name="diff same")
    yield Command("diff -f -", MAP % 2, name="diff changed", filter=r"^[-+ ] ?\w")
    yield Command("apply -f -", MAP % 2, name="apply changed")
    yield Command("apply --dry-run=server -f -", MAP % 3)
    yield Command("apply --dry-run=client -f -", MAP % 3)
    yield Command("apply view-last-applied configmap/m")
    yield Command("get cm m -o yaml")
    yield Command("replace -f -", MAP % 4)
    yield Command("apply -f -", MAP.replace("name: m", "name: n") % 1, name="apply another")
    yield Command("replace -f -", MAP.replace("name: m", "name: nobody") % 4, name="replace nobody")
    yield Command("apply --server-side -f -", MAP.replace("name: m", "name: s") % 1, name="server-side apply new")
    yield Command("apply --server-side -f -", MAP.replace("name: m", "name: s") % 1, name="server-side apply same")
    yield Command("apply --server-side --field-manager=other -f -", MAP.replace("name: m", "name: s") % 2, name="server-side apply in conflict")
    yield Command("apply --server-side --field-manager=other --force-conflicts -f -", MAP.replace("name: m", "name: s") % 2, name="server-side apply by force")
    yield Command("apply --server-side -f -", MAP % 9, name="server-side apply of what was applied", only="1.37")
    yield Command("get cm s -o yaml --show-managed-fields", only="1.37")
    yield Command("apply -f -", TWO, name="apply over created")
    yield Command("apply -f -", TWO.replace("tier: front", "tier: back"), name="apply one label")
    yield Command("apply -f -", TWO.replace("name: c, image: \"busybox:1\", args", "name: x, image: \"busybox:1\", args"), name="apply what cannot change")

    yield from creations()
    yield from changes()
    yield from rollouts()
    yield from cluster_commands()
    yield from deletions()


def creations():
    yield Command("create namespace $NS-x")
    yield Command("create namespace $NS-x", name="create namespace again")
    yield Command("get namespace $NS-x")
    yield Command("describe namespace $NS-x")
    yield Command("delete namespace $NS-x --wait=false")
    yield Command("create deployment made --image=busybox:1 --replicas=0 --port=80")
    yield Command("get deployment made -o yaml", retry="observedGeneration")
    yield Command("create job j --image=busybox:1 --dry-run=server -o yaml -- sleep 1", only="1.37")
    yield Command("create cronjob cj --image=busybox:1 --schedule='0 0 1 1 *' -- sleep 1")
    yield Command("get cronjob")
    yield Command("create configmap made --from-literal=a=1")
    yield Command("create secret generic made --from-literal=a=1")
    yield Command("get configmaps -o wide")
    yield Command("get secrets")
    yield Command("describe configmap made")
    yield Command("describe secret made")
    yield Command("create serviceaccount made")
    yield Command("get serviceaccounts")
    yield Command("describe serviceaccount made", filter=r"^(?!Events)")
    yield Command("create token made --duration=10m", only="1.37", filter="^$")
    yield Command("create role made --verb=get,list --resource=pods,deployments.apps --resource-name=p")
    yield Command("create rolebinding made --role=made --serviceaccount=$NS:made --user=u")
    yield Command("create clusterrole $NS --verb=get --resource=nodes --dry-run=server -o yaml")
    yield Command("create clusterrolebinding $NS --clusterrole=view --group=g --dry-run=server -o yaml")
    yield Command("get roles,rolebindings -o wide", filter=r"^(?!.*AT)")
    yield Command("describe role made")
    yield Command("describe rolebinding made")
    yield Command("create service clusterip made --tcp=80:8080")
    yield Command("create service nodeport ported --tcp=80")
    yield Command("create service externalname elsewhere --external-name=example.com")
    yield Command("create service clusterip headless --clusterip=None --tcp=80")
    yield Command("get services -o wide")
    # At times a real server repairs its list of addresses and says so of whatever Service is new.
    yield Command("describe service made", filter=r"^(?!.*(Events|Type +Reason|----|ipallocator))")
    yield Command("create quota made --hard=pods=100,configmaps=50")
    yield Command("create poddisruptionbudget made --selector=a=b --min-available=1")
    yield Command("get pdb")
    yield Command("describe pdb made", filter=r"^(?!.*(Event|NoPods|No matching|No Controllers|Unmanaged|LAST|controllermanager|----))")
    yield Command("create priorityclass $NS --value=1000 --description=words")
    yield Command("get priorityclass $NS")
    yield Command("describe priorityclass $NS")
    yield Command("delete priorityclass $NS")
    yield Command("create ingress made --rule=example.com/=made:80", only="1.37")
    yield Command("get ingress", only="1.37")
    yield Command("describe ingress made", only="1.37")
    yield Command("run ran --image=busybox:1 --overrides='{\"spec\":{\"nodeSelector\":{\"nowhere\":\"true\"}}}' --labels=a=b --env=A=1 --port=80")
    yield Command("get pod ran -o yaml", retry="Unschedulable")
    yield Command("expose pod ran --port=80 --target-port=8080 --name=exposed")
    yield Command("get endpoints exposed", retry="exposed")


def changes():
    yield Command("label pod p new=1")
    yield Command("label pod p new=1", name="label again")
    yield Command("label pod p new=2")
    yield Command("label pod p new=2 --overwrite")
    yield Command("label pod p new-")
    yield Command("label pod p new-", name="label gone already")
    yield Command("label pods --all x=y")
    yield Command("label pod p 'bad key=1'")
    yield Command("annotate pod p note=1")
    yield Command("annotate pod p note=1", name="annotate again")
    yield Command("annotate pod p note-")
    yield Command("patch pod p -p '{\"metadata\":{\"labels\":{\"s\":\"1\"}}}'")
    yield Command("patch pod p -p '{\"metadata\":{\"labels\":{\"s\":\"1\"}}}'", name="patch nothing")
    yield Command("patch pod p --type=merge -p '{\"metadata\":{\"labels\":{\"s\":null}}}'")
    yield Command("patch pod p --type=json -p '[{\"op\":\"remove\",\"path\":\"/metadata/labels/none\"}]'")
    yield Command("patch pod p --type=json -p '[{\"op\":\"add\",\"path\":\"/metadata/labels/j\",\"value\":\"1\"}]'")
    yield Command("patch pod p -p '{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"busybox:9\"}]}}'")
    yield Command("patch pod p -p '{\"spec\":{\"containers\":[{\"name\":\"z\",\"image\":\"busybox:9\"}]}}'")
    yield Command("patch pod nobody -p '{}'")
    yield Command("patch pod p -p nonsense")
    yield Command("set image pod/p c=busybox:10")
    yield Command("set image pod/p none=busybox:10")
    yield Command("set env configmap/m A=1")
    yield Command("get pod p --show-labels")


def rollouts():
    yield Command("apply -f -", DEPLOYMENT % (2, 1), name="apply deployment")
    yield Command("get deployment d", retry="d 0/2 2 0")
    yield Command("get replicasets -l app=d -o wide", retry="2 2 0")
    yield Command("get pods -l app=d", retry="Pending")
    yield Command("describe deployment d", retry="ScalingReplicaSet")
    yield Command("rollout status deployment/d --timeout=1s", filter=r"^(?!Waiting)")
    yield Command("scale deployment/d --replicas=0")
    yield Command("get deployment d", name="get deployment of none", retry="d 0/0 0 0")
    yield Command("scale deployment/d --replicas=1 --current-replicas=5")
    yield Command("rollout status deployment/d", filter=r"^(?!Waiting)")
    yield Command("set image deployment/d c=busybox:2")
    yield Command("set resources deployment/d --limits=cpu=1 --requests=cpu=1")
    yield Command("set env deployment/d A=1")
    yield Command("set env deployment/d --list")
    yield Command("set serviceaccount deployment/d made")
    yield Command("rollout status deployment/d", name="rollout status of none", filter=r"^(?!Waiting)")
    yield Command("rollout history deployment/d")
    yield Command("rollout history deployment/d --revision=2", filter=r"^(?!.*pod-template-hash)")
    yield Command("rollout undo deployment/d --to-revision=1")
    yield Command("rollout undo deployment/d --to-revision=77")
    yield Command("rollout pause deployment/d")
    yield Command("rollout pause deployment/d", name="rollout pause again")
    yield Command("rollout restart deployment/d", name="rollout restart while paused")
    yield Command("rollout resume deployment/d")
    yield Command("rollout restart deployment/d")
    yield Command("autoscale deployment/d --min=1 --max=3", filter="autoscaled")
    yield Command("get hpa", filter="^(NAME|d )")
    yield Command("delete hpa d")
    yield Command("get all -l app=d", retry="replicaset.apps/d-")
    yield Command("wait --for=condition=Available deployment/d --timeout=5s")
    yield Command("wait --for=condition=Available deployment/nobody --timeout=1s")
    yield Command("wait --for=condition=Ready pod/p --timeout=1s")
    yield Command("wait --for=delete pod/nobody --timeout=1s")
    yield Command("wait --for=jsonpath='{.status.phase}'=Pending pod/p --timeout=5s", only="1.37")
    yield Command("logs p")
    yield Command("logs q")
    yield Command("exec p -- ls")
    yield Command("events --for pod/nobody", only="1.37")


def cluster_commands():
    yield Command("api-versions", rows=True)
    yield Command("api-resources --no-headers", rows=True)
    yield Command("api-resources --no-headers -o name --namespaced=false --verbs=list", rows=True)
    yield Command("cluster-info", filter="^(Kubernetes|To further)")
    yield Command("version", filter="^(?!Server|Client)")
    yield Command("explain pod", words=False)
    yield Command("explain pod.spec.containers.resources", words=False)
    yield Command("explain deployment.spec.strategy --recursive", words=False)
    yield Command("explain job.spec.template", words=False)
    yield Command("explain pod.nothing")
    yield Command("explain nonsense")
    yield Command("explain crd.spec.names", words=False)
    yield Command("auth can-i create pods")
    yield Command("auth can-i '*' '*'")
    yield Command("auth can-i create pods --as=system:serviceaccount:$NS:made")
    yield Command("auth can-i list pods --subresource=log --as=nobody")
    yield Command("auth can-i get /healthz --as=nobody")
    yield Command("auth whoami", only="1.37", filter="^(ATTRIBUTE|Groups)")
    yield Command("get --raw /healthz")
    yield Command("get --raw /readyz/ping")
    yield Command("get --raw /nonsense")
    yield Command("get --raw /api/v1/namespaces/$NS/pods/nobody")
    yield Command("get componentstatuses", filter="^$")
    yield Command("get events --field-selector=reason=Nothing")


def deletions():
    yield Command("delete pod nobody")
    yield Command("delete pod nobody --ignore-not-found")
    yield Command("delete pod p --dry-run=server")
    yield Command("delete pod p")
    yield Command("delete pod q --force --grace-period=0", filter="pod")
    yield Command("delete deployment d --cascade=foreground")
    yield Command("delete deployment made --cascade=orphan")
    yield Command("delete configmap m n")
    yield Command("delete -f -", MAP.replace("name: m", "name: s") % 1)
    yield Command("delete pods -l a=b")
    yield Command("delete pods --all")
    yield Command("delete nonsense x")
    yield Command("delete services --all", filter="deleted")
    yield Command("get pods,deployments,services")


RUNNING = """
apiVersion: v1
kind: Pod
metadata: {name: runs, labels: {app: r}}
spec:
  nodeSelector: {kubernetes.io/hostname: $NODE}
  terminationGracePeriodSeconds: 1
  initContainers: [{name: first, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, echo first]}]
  containers:
  - {name: c, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, "echo one; echo two; echo three; exec sleep 1000"], env: [{name: A, value: b}]}
"""
ENDING = """
apiVersion: v1
kind: Pod
metadata: {name: ends}
spec:
  nodeSelector: {kubernetes.io/hostname: $NODE}
  restartPolicy: Never
  containers: [{name: c, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, "echo bye; exit 3"]}]
"""
SIZED = """
apiVersion: v1
kind: Pod
metadata: {name: sized}
spec:
  nodeSelector: {kubernetes.io/hostname: $NODE}
  terminationGracePeriodSeconds: 1
  containers: [{name: c, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, exec sleep 1000], resources: {requests: {cpu: 50m}}}]
"""
ROLLING = DEPLOYMENT.replace('nowhere: "true"}, ', "kubernetes.io/hostname: $NODE}, terminationGracePeriodSeconds: 1, ").replace(
    'image: "busybox:%s"', 'image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, "exec sleep 1000"], env: [{name: V, value: "%s"}]')


def running_commands():
    """Those whose pods run. $NODE is the node that they have for themselves."""
    yield Command("apply -f -", RUNNING + "---" + ENDING + "---" + SIZED, name="apply pods that run")
    yield Command("wait --for=condition=Ready pod/runs --timeout=30s")
    yield Command("get pod runs")
    yield Command("get pod runs -o wide")
    yield Command("get pod ends", retry="Error")
    yield Command("get pod ends -o jsonpath={.status.phase}", retry="Failed")  # the container's end is told before
    yield Command("get pods --field-selector=spec.nodeName=$NODE,status.phase=Running -o name")
    yield Command("logs runs")
    yield Command("logs runs -c first")
    yield Command("logs runs -c nobody")
    yield Command("logs runs --tail=2")
    yield Command("logs runs --tail=1 --timestamps")
    yield Command("logs runs --limit-bytes=5")
    yield Command("logs runs --since=1h")
    yield Command("logs runs --previous")
    yield Command("logs -l app=r --tail=-1")
    yield Command("logs ends")
    yield Command("logs -f ends")
    yield Command("logs nobody")
    yield Command("exec runs -- echo hello", only="1.37", name="exec")
    yield Command("exec runs -- sh -c 'echo out; echo err >&2; exit 7'", only="1.37")
    yield Command("exec runs -c nobody -- true", only="1.37")
    yield Command("exec ends -- true", only="1.37")
    yield Command("exec runs -i -- cat", "typed in\n", only="1.37")
    yield Command("exec runs -- sh -c 'echo $A'", only="1.37")
    yield Command("wait --for=condition=Ready pod/sized --timeout=30s")
    for amount in ("200m", "100m"):
        yield Command(f"patch pod sized --subresource resize -p '{{\"spec\":{{\"containers\":[{{\"name\":\"c\",\"resources\":{{\"requests\":{{\"cpu\":\"{amount}\"}}}}}}]}}}}'",
                      only="1.37", name=f"resize to {amount}")
        yield Command("get pod sized -o jsonpath='{.status.containerStatuses[0].resources.requests.cpu}/{.status.containerStatuses[0].allocatedResources.cpu}/{range .status.conditions[*]} {.type}={.reason}{end}'",
                      only="1.37", name=f"resized to {amount}", retry=f"{amount}/{amount}/ PodReady")
    yield Command("get events --field-selector=involvedObject.name=sized -o custom-columns=R:.reason --sort-by=.reason", only="1.37", retry="ResizeCompleted")
    yield Command("describe pod runs", filter=r"^(Name|Namespace|Priority|Labels|Annotations|Status|Controlled|QoS|Node-Selectors|Containers|Init|  |c:|first:|Ready|State|Reason|Exit|Restart|Environment|A:|Type|Initialized|ContainersReady|PodScheduled)")
    yield Command("describe pod ends", filter=r"^(Name|Status|State|Reason|Exit Code|Ready|Restart Count)")
    yield Command("get events --field-selector=involvedObject.name=ends -o custom-columns=T:.type,R:.reason,C:.source.component --sort-by=.reason", retry="Started")
    yield Command("get node $NODE", filter="NAME")
    yield Command("get nodes -o name")
    yield Command("describe node $NODE", filter=r"^(Name|Taints|Unschedulable|Conditions|Addresses|Capacity|Allocatable|System Info|Non-terminated|Allocated|Lease):?")
    yield Command("cordon $NODE")
    yield Command("cordon $NODE", name="cordon again")
    yield Command("get node $NODE -o jsonpath='{.spec.taints[*].key}'", retry="unschedulable")
    yield Command("uncordon $NODE")
    yield Command("taint node $NODE k=v:NoSchedule")
    yield Command("taint node $NODE k=v:NoSchedule", name="taint again")
    yield Command("taint node $NODE k=w:NoSchedule --overwrite")
    yield Command("taint node $NODE k:NoSchedule-")
    yield Command("taint node $NODE k:NoSchedule-", name="taint gone already")
    yield Command("label node $NODE role=x")
    yield Command("label node $NODE role-")
    yield Command("apply -f -", ROLLING % (2, 1), name="apply deployment that runs")
    yield Command("rollout status deployment/d --timeout=30s", filter="success")
    yield Command("get deployment d", retry="d 2/2 2 2")
    yield Command("get replicasets", retry="2 2 2")
    yield Command("apply -f -", ROLLING % (2, 2), name="apply another template")
    yield Command("rollout status deployment/d --timeout=30s", filter="success", name="rollout status of the second")
    yield Command("rollout history deployment/d")
    yield Command("rollout undo deployment/d")
    yield Command("rollout status deployment/d --timeout=30s", filter="success", name="rollout status after undo")
    yield Command("wait --for=condition=Available deployment/d --timeout=20s")
    yield Command("describe deployment d", filter=r"^(Name|Replicas|StrategyType|MinReady|RollingUpdate|Available|Progressing|Selector)")
    yield Command("create job j --image=busybox -- sh -c 'exit 0'", only="1.20", name="create job")
    yield Command("apply -f -", "---\n{apiVersion: batch/v1, kind: Job, metadata: {name: k}, spec: {template: {spec: {nodeSelector: {kubernetes.io/hostname: $NODE}, restartPolicy: Never, containers: [{name: c, image: busybox, imagePullPolicy: IfNotPresent, command: [sh, -c, 'exit 0']}]}}}}", name="apply job")
    yield Command("wait --for=condition=Complete job/k --timeout=30s")
    yield Command("get job k")
    yield Command("describe job k", filter=r"^(Name|Parallelism|Completions|Completion Mode|Pods Statuses|Suspend|Backoff)")
    yield Command("logs job/k")
    yield Command("drain $NODE --ignore-daemonsets --force --pod-selector=app=r --timeout=30s", filter=r"(evict|drained|cordoned)")
    yield Command("get pod runs", name="get what was drained")
    yield Command("uncordon $NODE", name="uncordon after drain")
    yield Command("delete deployment d")
    yield Command("delete pod ends")
    yield Command("delete job k")


def run(api, version, command, namespace, names, tries=100):
    def filled(value):
        for name, mask in names.items():
            value = value.replace(f"${mask}", name)
        return value
    words = ["-n", namespace, *shlex.split(filled(command.line))]
    for _ in range(tries):
        done = kubectl(api, version, *words, input=command.input and filled(command.input))
        if not command.retry or command.retry in " ".join(done.stdout.split()):
            break
        time.sleep(0.1)
    return done


def observe(api, version, namespace, commands, names=None):
    """(name, value) for every command; a list of rows gives one for each."""
    names = {namespace: "NS", **(names or {})}
    for command in commands:
        if command.only not in (None, version):
            continue
        done = run(api, version, command, namespace, names)
        name = command.name
        if command.rows:
            yield name, {"exit": done.returncode}
            for line in done.stdout.splitlines():
                yield f"{name}: {' '.join(line.split())}", "there"
        elif not command.words:
            yield name, {"exit": done.returncode, "fields": re.findall(r"(?m)^ +(\w+)\s+(<\S+>)", done.stdout), "says": len(done.stdout) > 50}
        else:
            yield name, output(done, names, command.filter)

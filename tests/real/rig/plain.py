"""What `kubectl get` asks the API server for, as far as tests ask often."""
import urllib.parse

EVERYWHERE = {"node": "/api/v1/nodes", "mutatingwebhookconfiguration": "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
              "nodeimageinventory": "/apis/plimsoll.io/v1alpha1/nodeimageinventories"}
IN_NAMESPACES = {"pod": ("/api/v1", "pods"), "event": ("/api/v1", "events"), "configmap": ("/api/v1", "configmaps"),
                 "lease": ("/apis/coordination.k8s.io/v1", "leases")}


def kind_of(word):
    for end, singular in (("ies", "y"), ("s", "")):
        if word.endswith(end):
            return word.removesuffix(end) + singular
    return word


def path_of(words):
    """The path, or None of what only kubectl understands: `pods -n x -l a=b`, `node y`, `events -A`."""
    plain, namespace, query = [], "default", ""
    rest = iter(words)
    for word in rest:
        if word == "-n":
            namespace = next(rest)
        elif word == "-A":
            namespace = None
        elif word == "-l":
            query = "?labelSelector=" + urllib.parse.quote(next(rest))
        else:
            plain.append(word)
    if not 1 <= len(plain) <= 2 or any(word.startswith("-") or "," in word or "/" in word for word in plain):
        return None
    kind, name = kind_of(plain[0]), "".join(f"/{word}" for word in plain[1:])
    if kind in EVERYWHERE:
        return EVERYWHERE[kind] + name + query
    if kind in IN_NAMESPACES:
        group, resource = IN_NAMESPACES[kind]
        return f"{group}{f'/namespaces/{namespace}' if namespace else ''}/{resource}{name}{query}"
    return None

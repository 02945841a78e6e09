"""The API server under test, and plain HTTPS to it. Not a test itself.

PLIMSOLL_TEST_KUBECONFIG names the cluster: any Kubernetes 1.37 whose user may do everything and whose controllers run. Without it
each script starts a local cluster of its own without nodes and removes it at the end.
"""
import contextlib
import http.client
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from http_api import credentials  # noqa: E402  (the folder beside this one)
from local_cluster import GOES_AFTERWARDS, LOAD, ClusterCase, LocalCluster, eventually, only_local  # noqa: E402,F401  (the folder beside this one)

PATCH_TYPES = {"json": "application/json-patch+json", "merge": "application/merge-patch+json",
               "strategic": "application/strategic-merge-patch+json", "apply": "application/apply-patch+yaml"}


class Answer:
    def __init__(self, response):
        self.code, self.headers, self.text = response.status, response.headers, response.read()

    @property
    def json(self):
        return json.loads(self.text)


class Api:
    """One user of one server. Connections are kept, one per Api: not for two threads."""

    def __init__(self, kubeconfig):
        url, self.trust, self.tls, self.headers = credentials(kubeconfig)
        self.kubeconfig, self.host, self.port = str(kubeconfig), url.hostname, url.port or 443
        self.connection = None

    def connect(self, timeout=60):
        return http.client.HTTPSConnection(self.host, self.port, context=self.tls, timeout=timeout)

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def anonymous(self, path, **headers):
        """One GET without our certificate or token."""
        connection = http.client.HTTPSConnection(self.host, self.port, context=self.trust, timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", path, headers=headers)
            return Answer(connection.getresponse())

    def request(self, method, path, body=None, kind=None, headers=()):
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        sent = {**self.headers, **dict(headers)}
        if kind:
            sent["Content-Type"] = kind
        elif body is not None:
            sent.setdefault("Content-Type", "application/json")
        for attempt in (1, 2):
            self.connection = self.connection or self.connect()
            try:
                self.connection.request(method, path, body.encode() if isinstance(body, str) else body, sent)
                return Answer(self.connection.getresponse())
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection.close()  # the server closed a kept connection
                self.connection = None
                if attempt == 2:
                    raise

    def get(self, path):
        return self.request("GET", path)

    def must(self, method, path, body=None, kind=None, codes=(200, 201, 202)):
        answer = self.request(method, path, body, kind)
        assert answer.code in codes, f"{method} {path}: {answer.code} {answer.text[:2000]!r}"
        return answer.json

    def patch(self, form, path, body):
        return self.request("PATCH", path, body, PATCH_TYPES[form])

    @contextlib.contextmanager
    def watch(self, path, headers=()):
        """Yields a Watch on a connection of its own."""
        connection = self.connect()
        with contextlib.closing(connection):
            connection.request("GET", path, headers={**self.headers, **dict(headers)})
            yield Watch(connection.getresponse())


class Watch:
    def __init__(self, response):
        self.response = response

    def next(self):
        """The next event, or None when the server has ended the watch."""
        line = self.response.readline()
        return json.loads(line) if line.strip() else None

    def rest(self):
        return list(iter(self.next, None))

    def until(self, last):
        """Events up to and with the first for which `last` holds."""
        seen = []
        for event in iter(self.next, None):
            seen.append(event)
            if last(event):
                return seen
        raise AssertionError(f"the watch ended early: {[brief(event) for event in seen]}")


def brief(event):
    return f"{event['type']} {event['object'].get('metadata', {}).get('name', '')}".strip()


class ApiCase(ClusterCase):
    """Tests of one class share a server and a namespace."""
    flags = ("--nodes", "0", "--scheduler", "none", "--ephemeral")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.api = Api(cls.cluster.kubeconfig)
        cls.shared.addCleanup(cls.api.close)
        cls.ns = cls.namespace()

    @classmethod
    def namespace(cls):
        name = f"api-{os.getpid()}-{time.monotonic_ns() % 1_000_000_000}"
        cls.api.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        eventually(lambda: cls.api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default").code == 200, what="its account")
        if not GOES_AFTERWARDS and not isinstance(cls.cluster, LocalCluster):
            cls.shared.addCleanup(cls.api.request, "DELETE", f"/api/v1/namespaces/{name}")
        return name

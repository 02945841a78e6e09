"""A whole cluster from real programs, up within seconds, gone without a trace."""
import atexit
import functools
import http.client
import json
import os
import socket
import ssl
import threading
import time
import unittest

from http_api import HttpApi, Refused
from local_cluster import Cluster

from . import control_plane, fake_nodes, images, plain
from .certificates import Pki
from .machine import RigFailure, at_once
from .network import connect_control_plane
from .node import RealNode
from .requirements import kubernetes
from .slot import NUMBERS, alone, claim

# Admission that waits for what only the controller manager makes: the account `default` of every namespace.
NEEDS_CONTROLLERS = "--disable-admission-plugins=ServiceAccount"


class RealCluster(Cluster):
    """Usable as soon as it is made: `with RealCluster(nodes=0) as cluster`, or `RealCluster(test=self)` inside a test, which
    ends it. Without nodes it is an API server on etcd alone, to which fake_nodes() may be added; controller manager and
    scheduler come with nodes, or when asked for. All work of a person's commands (`kubectl`, `get`, `apply`, `namespace`)
    is as with the local cluster of tests/e2e."""

    def __init__(self, nodes=0, *, test=None, controller_manager=None, scheduler=None, apiserver_flags=(),
                 controller_manager_flags=(), scheduler_flags=(), scheduler_configuration=None, kubelet_flags=(),
                 kubelet_configuration=None, accounts=False, milestone=None, numbers=NUMBERS):
        self.begun, self.milestone = time.monotonic(), milestone or (lambda what, seconds: None)
        self.programs = kubernetes()
        self.wants_controllers = bool(nodes) if controller_manager is None else controller_manager
        wants_scheduler = bool(nodes) if scheduler is None else scheduler
        if not self.wants_controllers and not accounts:  # which the test then makes itself
            apiserver_flags = (NEEDS_CONTROLLERS, *apiserver_flags)
        self.parts, self.nodes, self.slot = [], [], None
        self.readers, self.reader = [], threading.local()
        with alone():
            self.slot = claim(numbers)
            atexit.register(self.close)
        try:
            self.test = test or unittest.TestCase()
            self.start_api(nodes, apiserver_flags)
            if nodes:  # while the API server starts
                self.start_runtimes(kubelet_configuration or {})
                self.told("containerd ready")
                self.start_kubelets(kubelet_flags)
            self.wait_for_api()
            self.told("API server ready")
            if self.wants_controllers:
                self.controller_manager = self.part(control_plane.controller_manager(
                    self.slot, self.pki, self.programs, controller_manager_flags))
            if wants_scheduler:
                self.scheduler = self.part(control_plane.scheduler(
                    self.slot, self.pki, self.programs, scheduler_flags, scheduler_configuration or {}))
            self.wait_for_defaults()
            self.told("namespace default ready")
            if nodes:
                self.eventually(self.nodes_are_ready, 60, what="the nodes' readiness")
                self.told(f"{nodes} node{'s' if nodes > 1 else ''} Ready")
        except BaseException:
            self.remove()
            raise
        if test:
            test.addCleanup(self.close)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- making it

    def start_api(self, nodes, flags):
        slot = self.slot
        with alone():
            connect_control_plane(slot)
        for directory in (slot.run, slot.run / "home", slot.etcd):
            directory.mkdir(mode=0o700, parents=True)
        self.nodes = [RealNode(slot, number + 1) for number in range(nodes)]
        self.server = f"https://{slot.address}:6443"
        self.pki = Pki(slot.run / "pki", slot.address, self.server)
        self.etcd = self.part(control_plane.etcd(slot, self.pki))
        self.pki.issue_for_api()
        # An API server that comes first waits a whole second before it tries again.
        self.eventually(lambda: self.listens(2379), 60, what="etcd")
        self.apiserver = self.part(control_plane.apiserver(slot, self.pki, self.programs, flags))
        self.told("etcd ready")
        self.pki.issue_for_clients([(node.name, node.address) for node in self.nodes])
        self.kubeconfig, self.program = str(self.pki.path("admin.kubeconfig")), str(self.programs / "kubectl")
        self.env = {**os.environ, "HOME": str(slot.run / "home"), "KUBECONFIG": self.kubeconfig}

    def listens(self, port):
        with socket.socket() as caller:
            return caller.connect_ex((self.slot.address, port)) == 0

    def start_kubelets(self, flags):
        """As soon as they are heard: what they need of the API server is there before its default roles are, for which we wait."""
        self.eventually(lambda: self.listens(6443), 60, what="the API server's socket")
        for node in self.nodes:
            node.kubelet = self.part(node.kubelet_program(self.pki, self.programs, flags))

    def start_runtimes(self, kubelet_configuration):
        pause = images.compile_pause(self.slot.run)
        for node in self.nodes:
            with alone():
                node.connect()
            node.prepare(self.pki, kubelet_configuration)
            node.init = self.part(node.init_program(pause))
        archives = [images.pause_archive(self.slot.run / "pause.tar", pause),
                    images.busybox_archive(self.slot.run / "busybox.tar")]
        for node in self.nodes:
            self.eventually(node.is_set_up, 60, what=f"the namespaces of {node.name}")
            node.containerd = self.part(node.containerd_program())

        def fill(node):
            self.eventually(node.runtime_answers, 60, what=f"containerd of {node.name}")
            for archive in archives:
                node.import_image(archive)
        at_once(*(functools.partial(fill, node) for node in self.nodes))

    def nodes_are_ready(self):
        def is_ready(node):
            return any(condition["type"] == "Ready" and condition["status"] == "True"
                       for condition in node["status"].get("conditions", []))
        return sum(map(is_ready, self.read("/api/v1/nodes")["items"])) == len(self.nodes)

    def part(self, program):
        self.parts.append(program)
        program.start()
        return program

    def told(self, what):
        self.milestone(what, time.monotonic() - self.begun)

    def wait_for_api(self, seconds=60):
        self.eventually(self.answers_ready, seconds, what="the API server's readiness")

    def answers_ready(self):
        try:
            connection = self.api().connect(timeout=5)
            try:
                connection.request("GET", "/readyz")
                return connection.getresponse().status == 200
            finally:
                connection.close()
        except (OSError, http.client.HTTPException):
            return False

    def wait_for_defaults(self):
        """Whoever is told of a cluster creates pods at once: their namespace, and the account they run as, must be there."""
        path = "/api/v1/namespaces/default" + ("/serviceaccounts/default" if self.wants_controllers else "")

        def exists():
            try:
                return self.read(path)
            except Refused as refused:
                if refused.status != 404:
                    raise
        self.eventually(exists, 60, what=path)

    # --- using it

    def check(self):
        """RigFailure, with the end of its log, if a part has died that nobody stopped."""
        for part in self.parts:
            part.check()

    def eventually(self, condition, seconds=20, every=0.02, what="it"):
        """The first answer of `condition` that is true. Fails at once when a part of the cluster dies meanwhile."""
        deadline = time.monotonic() + seconds
        while True:
            asked = time.monotonic()
            answer = condition()
            if answer:
                return answer
            self.check()
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come about in {seconds} s; last: {answer!r}")
            time.sleep(max(every, min(time.monotonic() - asked, 0.5)))  # whoever asks all the time keeps it from coming about

    def kubectl(self, *words, **options):
        self.check()
        return super().kubectl(*words, **options)

    def api(self, kubeconfig=None):
        """Plain requests as the administrator, or as whom the kubeconfig names; one connection, not for several threads."""
        return HttpApi(kubeconfig or self.kubeconfig)

    def read(self, path):
        """One plain GET as the administrator, on a connection that stays."""
        if not hasattr(self.reader, "api"):
            self.reader.api = self.api()
            self.readers.append(self.reader.api)
        try:
            return self.reader.api.get(path)
        except (OSError, http.client.HTTPException):  # the server has been started anew, or has hung up
            return self.reader.api.get(path)

    def get(self, *words):
        """As `kubectl get … -o json`; by a plain request where plain.py knows the kind, since each start of kubectl takes a tenth of
        a second of a CPU and tests ask again and again."""
        path = plain.path_of(words)
        if not path:
            return super().get(*words)
        self.check()
        try:
            return self.read(path)
        except Refused as refused:
            raise AssertionError(f"get {' '.join(words)}: {refused}") from refused

    def fake_nodes(self, nodes, **options):
        """Adds nodes that are objects only: a number of equal ones (options as of fake_node), or Node objects. They stay
        ready only where no controller manager waits for their leases."""
        if isinstance(nodes, int):
            nodes = [fake_nodes.fake_node(f"fake{number + 1}", **options) for number in range(nodes)]
        fake_nodes.create(self.api, nodes)

    def restart_apiserver(self, *more_flags):
        """As after a crash; ready again on return. The flags hold until the next restart."""
        self.apiserver.kill()
        self.apiserver.start(*more_flags)
        self.wait_for_api()

    def restart_etcd(self):
        self.etcd.kill()
        self.etcd.start()
        self.wait_for_api()

    def etcd_request(self, path, body):
        """etcd's own API as JSON, e.g. /v3/kv/range."""
        tls = ssl.create_default_context(cafile=self.pki.path("ca.crt"))
        tls.load_cert_chain(self.pki.path("etcd-client.crt"), self.pki.path("etcd-client.key"))
        connection = http.client.HTTPSConnection(self.slot.address, 2379, context=tls, timeout=30)
        try:
            connection.request("POST", path, body=json.dumps(body))
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise RigFailure(f"etcd answers {path} with {answer.status}: {text}")
        return json.loads(text)

    def compact(self):
        """Makes etcd forget every revision but the newest, whose number is returned."""
        newest = self.etcd_request("/v3/kv/range", {"key": "AA=="})["header"]["revision"]
        self.etcd_request("/v3/kv/compaction", {"revision": newest, "physical": True})
        return int(newest)

    # --- ending it

    def keep(self, name):
        """Lets it go on when this process ends; `./dev real down` removes it."""
        self.slot.keep({"name": name, "kubeconfig": self.kubeconfig, "kubectl": self.program})
        atexit.unregister(self.close)
        with alone():
            self.slot.release()
        self.slot = None

    def close(self):
        """Removes it. Fails if a part had died that nobody stopped, since then the test saw something else than it thinks."""
        if not self.slot:
            return
        try:
            self.check()
        finally:
            self.remove()

    def remove(self):
        for api in self.readers:
            api.close()
        self.slot.clear()
        with alone():
            self.slot.release()
        self.slot = None
        atexit.unregister(self.close)
        for part in self.parts:
            part.kill()


class RealClusterCase(unittest.TestCase):
    """Tests that share one cluster."""
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.cluster = RealCluster(**cls.options)
        cls.addClassCleanup(cls.cluster.close)

    def setUp(self):
        self.cluster.test = self

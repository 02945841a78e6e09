"""The agent as a process, trees of cgroups, a kubelet that says what it is told. Not a test itself."""
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "e2e" / "local"))
from local_cluster import PROGRAM, alive, eventually  # noqa: E402,F401

NO_LIMIT = 9223372036854771712
SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)(?: (-?\d+))?$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)')


def directory(test):
    path = pathlib.Path(tempfile.mkdtemp(prefix="plim-agent."))
    test.addCleanup(shutil.rmtree, path, ignore_errors=True)
    return path


class Scrape:
    """Prometheus' text, read strictly: order, escapes, types, no sample twice."""

    def __init__(self, text):
        self.samples = {}
        self.types = {}
        family = None
        names = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line:
                continue
            if line.startswith("# HELP "):
                continue
            if line.startswith("# TYPE "):
                _, _, family, kind = line.split(" ")
                assert kind in ("counter", "gauge"), line
                assert family not in self.types, f"{family} twice"
                self.types[family] = kind
                names.append(family)
                continue
            match = SAMPLE.match(line)
            assert match, f"line {number}: {line}"
            name, labels, value, _ = match.groups()
            assert name == family, f"line {number}: {name} below the type of {family}"
            pairs = LABEL.findall(labels or "")
            rebuilt = ",".join(f'{key}="{text}"' for key, text in pairs)
            assert rebuilt == (labels or ""), f"line {number}: {labels}"
            keys = [key for key, _ in pairs]
            assert keys == sorted(keys) and len(set(keys)) == len(keys), line
            key = (name, tuple(pairs))
            assert key not in self.samples, f"twice: {line}"
            self.samples[key] = float(value) if "." in value or "e" in value else int(value)
        assert names == sorted(names), "families are not sorted"

    def get(self, name, **wanted):
        """The only sample of that name with these labels; None: there is none."""
        found = [value for (metric, labels), value in self.samples.items()
                 if metric == name and wanted.items() <= dict(labels).items()]
        assert len(found) < 2, (name, wanted, found)
        return found[0] if found else None

    def labels(self, name):
        return [dict(labels) for metric, labels in self.samples if metric == name]

    def tasks(self):
        return sorted(labels["task_name"] for labels in self.labels("task_up"))


class Tree:
    """A host root with cgroups made of plain files."""

    def __init__(self, test):
        self.root = directory(test)

    def write(self, path, text):
        path = self.root / path.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_name(path.name + ".new")
        new.write_text(text)
        new.rename(path)

    def v1(self, cgroup, cpu=1_000_000_000, memory=4096, controllers=("cpu", "cpuacct", "memory")):
        """`controllers` are directories; "cpu,cpuacct" is one for both."""
        of = {name: folder for folder in controllers for name in folder.split(",")}
        base = "sys/fs/cgroup/{}/" + cgroup.strip("/")
        files = {"cpuacct": {"cpuacct.usage": f"{cpu}\n"},
                 "cpu": {"cpu.stat": "nr_periods 10\nnr_throttled 2\nthrottled_time 3000000000\n"},
                 "memory": {"memory.usage_in_bytes": f"{memory}\n", "memory.max_usage_in_bytes": f"{memory * 2}\n",
                            "memory.limit_in_bytes": f"{NO_LIMIT}\n", "memory.soft_limit_in_bytes": f"{NO_LIMIT}\n",
                            "memory.numa_stat": "total=9 N0=9\nhierarchical_total=7 N0=3 N1=4\n",
                            "memory.stat": "cache 0\npgfault 77\ntotal_inactive_file 96\n",
                            "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"}}
        for controller, contents in files.items():
            for name, text in contents.items():
                self.write(base.format(of[controller]) + "/" + name, text)

    def v2(self, cgroup, cpu_us=2_500_000, memory=8192):
        self.write("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n")
        pressure = "some avg10=0.00 avg60=0.00 avg300=0.00 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total={}\n"
        files = {"cpu.stat": f"usage_usec {cpu_us}\nuser_usec 1\nnr_periods 5\nnr_throttled 1\nthrottled_usec 1500000\n",
                 "memory.current": f"{memory}\n", "memory.peak": f"{memory * 3}\n", "memory.max": "max\n",
                 "memory.low": "1024\n", "memory.events": "low 0\noom 2\noom_kill 3\n",
                 "memory.stat": "anon 1\ninactive_file 192\npgfault 88\n",
                 "memory.numa_stat": "anon N0=1\ninactive_anon N0=4096 N1=8192\nactive_anon N0=4096 N1=0\n"
                                     "inactive_file N0=0 N1=0\nactive_file N0=8192 N1=0\nunevictable N0=0 N1=4096\n",
                 "cpu.pressure": pressure.format(1_000_000, 500_000),
                 "memory.pressure": pressure.format(2_000_000, 250_000),
                 "io.pressure": pressure.format(3_000_000, 125_000), "cgroup.procs": "1\n"}
        for name, text in files.items():
            self.write(f"sys/fs/cgroup/{cgroup.strip('/')}/{name}", text)

    def remove(self, cgroup):
        for path in (self.root / "sys/fs/cgroup").glob("*/" + cgroup.strip("/")):
            shutil.rmtree(path)
        shutil.rmtree(self.root / "sys/fs/cgroup" / cgroup.strip("/"), ignore_errors=True)


def pod(name, uid, qos="BestEffort", namespace="default", containers=("c",), runtime="containerd", **more):
    """As a kubelet lists it: every container runs unless its status is given in `statuses`."""
    statuses = [{"name": one, "ready": True, "state": {"running": {"startedAt": "2024-01-01T00:00:00Z"}},
                 "containerID": f"{runtime}://{one}-{uid}"} for one in containers]
    spec = {"containers": [{"name": one, "image": "x"} for one in containers]}
    return {"metadata": {"name": name, "namespace": namespace, "uid": uid, "labels": more.get("labels", {}),
                         "annotations": more.get("annotations", {})},
            "spec": {**spec, **more.get("spec", {})},
            "status": {"phase": "Running", "qosClass": qos, "hostIP": more.get("host_ip", "10.0.0.1"),
                       "containerStatuses": more.get("statuses", statuses),
                       "initContainerStatuses": more.get("init_statuses", [])}}


class FakeKubelet:
    """Answers GET /pods with what `answer` is: (status, body), or a function of the request that writes by itself."""

    def __init__(self, test, pods=(), tls=None):
        self.requests = []  # (path, headers)
        self.answer = None
        self.pods = list(pods)
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                if outer.server is None:  # stopped, but this connection was kept
                    self.close_connection = True
                    return
                outer.requests.append((self.path, dict(self.headers)))
                answer = outer.answer
                if callable(answer):
                    answer(self)
                    return
                status, body = answer or (200, json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {},
                                                           "items": outer.pods}))
                data = body.encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        scheme = "http"
        if tls:
            scheme = "https"
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{scheme}://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.stop)

    def stop(self):
        server, self.server = self.server, None
        if server:
            server.shutdown()
            server.server_close()


class Agent:
    """One agent with its configuration; `storage` is a file that each iteration replaces."""

    def __init__(self, test, node, *words, host_root="/", interval=0.05, more=""):
        self.place = directory(test)
        self.storage = self.place / "metrics.prom"
        self.config = self.place / "config.yaml"
        indented = "\n".join("    " + line for line in node.strip().splitlines())
        self.config.write_text(f"runner: !MeasurementRunner\n  interval: {interval}\n{more}  node: {indented.strip()}\n"
                               f"  metrics_storage: !LogStorage\n    output_filename: {self.storage}\n"
                               f"    overwrite: true\n")
        self.command = [PROGRAM, "agent", "run", "--root", "-c", str(self.config), "--host-root", str(host_root), *words]
        self.process = None
        self.test = test

    def once(self, iterations=1):
        done = subprocess.run([*self.command, "--iterations", str(iterations)], capture_output=True, text=True, timeout=30)
        self.test.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.test.assertNotIn("Sanitizer", done.stderr)
        self.log_text = done.stdout
        return self.scrape()

    def start(self, **options):
        self.log = open(self.place / "log", "w")
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT,
                                        **options)
        self.test.addCleanup(self.end)
        eventually(lambda: self.storage.exists() or self.process.poll() is not None, what="the first iteration")
        self.test.assertIsNone(self.process.poll(), self.logged())
        return self

    def logged(self):
        return (self.place / "log").read_text()

    def scrape(self):
        return Scrape(self.storage.read_text())

    def url(self):
        """Of its endpoint, if it has one."""
        lines = eventually(lambda: [line for line in self.logged().splitlines() if "metrics at" in line])
        return lines[-1].split()[-1].rsplit("/", 1)[0]

    def get(self, path):
        with urllib.request.urlopen(self.url() + path, timeout=10) as answer:
            return answer.read().decode()

    def next_scrape(self, iterations=2):
        """One that began after now."""
        name = "plimsoll_agent_iterations_total"
        before = self.scrape().get(name)
        return eventually(lambda: (s := self.scrape()).get(name) >= before + iterations and s)

    def until(self, check, seconds=10):
        """The first scrape for which `check` is true."""
        return eventually(lambda: (s := self.scrape()) and check(s) and s, seconds=seconds)

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.log.close()


def kubernetes_node(url, **options):
    lines = [f"kubelet_endpoint: {url}"] + [f"{key}: {value}" for key, value in options.items()]
    return "!KubernetesNode\n" + "\n".join("  " + line for line in lines)


def certificates(place):
    """A CA, a server certificate for 127.0.0.1 and a client certificate, as files in `place`."""
    def openssl(*words):
        subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-keyout", place / "ca.key", "-out", place / "ca.crt", "-subj", "/CN=test-ca", "-days", 2)
    for name, extension in (("server", "subjectAltName=IP:127.0.0.1"), ("client", "extendedKeyUsage=clientAuth")):
        openssl("req", *key, "-keyout", place / f"{name}.key", "-out", place / f"{name}.csr", "-subj", f"/CN={name}")
        (place / "ext").write_text(extension)
        openssl("x509", "-req", "-in", place / f"{name}.csr", "-CA", place / "ca.crt", "-CAkey", place / "ca.key",
                "-CAcreateserial", "-out", place / f"{name}.crt", "-days", 2, "-extfile", place / "ext")


def server_tls(place, client_certificates=True):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(place / "server.crt", place / "server.key")
    if client_certificates:
        context.load_verify_locations(place / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
    return context

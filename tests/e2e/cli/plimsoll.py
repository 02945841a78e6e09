"""Running the program as a user would. Not a test itself."""
import contextlib
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("PLIMSOLL", str(ROOT / "build" / "dev" / "bin" / "plimsoll"))


def environment(home="/nonexistent", **more):
    """Nothing of the caller's own settings: no kubeconfig, no home, no colours."""
    kept = {name: value for name, value in os.environ.items()
            if name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")}
    return {**kept, "HOME": home, "TERM": "xterm", **more}


def run(*words, program=PROGRAM, stdin="", env=None, timeout=30):
    done = subprocess.run([program, *words], input=stdin, env=env or environment(), capture_output=True, text=True,
                          timeout=timeout)
    # Nobody ever sees a crash or a sanitizer's report.
    assert done.returncode >= 0 and "Sanitizer" not in done.stderr, (words, done.returncode, done.stderr)
    return done


class ApiServer(http.server.BaseHTTPRequestHandler):
    """As much of an API server as the commands need."""
    protocol_version = "HTTP/1.1"
    minor = "36"
    requests = []

    def log_message(self, *_):
        pass

    def answer(self, status, body, kind="application/json"):
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, reason, message):
        self.answer(status, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason,
                             "message": message, "code": status})

    def stream(self, lines, ends=True):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in lines:
            data = (json.dumps(line) + "\n").encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        if not ends:
            self.rfile.read(1)  # until the client goes
        self.wfile.write(b"0\r\n\r\n")

    def do_GET(self):
        type(self).requests.append(("GET", self.path, dict(self.headers), ""))
        path, _, query = self.path.partition("?")
        if self.headers.get("Authorization") == "Bearer expired":
            return self.refuse(401, "Unauthorized", "Unauthorized")
        names = {"/api/v1/namespaces": ["default", "kube-system"], "/api/v1/nodes": ["node-1", "node-2"]}.get(path)
        if path == "/version":
            return self.answer(200, {"major": "1", "minor": self.minor, "gitVersion": f"v1.{self.minor}.2"})
        if names and "watch=true" in query:
            return self.stream({"type": "ADDED", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {"name": n}}}
                               for n in names)
        if names:
            return self.answer(200, {"kind": "NodeList", "apiVersion": "v1",
                                     "items": [{"metadata": {"name": n}} for n in names]})
        if path == "/api/v1/pods":
            return self.stream([{"type": "ADDED", "object": {"metadata": {"name": "pod-1"}}}], ends=False)
        if path == "/slow":
            threading.Event().wait(5)
        if path == "/text":
            return self.answer(200, "ok", "text/plain")
        if path == "/html":
            return self.answer(502, "<html><body>bad gateway</body></html>", "text/html")
        if path == "/page":
            return self.answer(404, "404 page not found", "text/plain")
        return self.refuse(404, "NotFound", f'{path} not found')

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        type(self).requests.append((self.command, self.path, dict(self.headers), body))
        if self.path.endswith("selfsubjectaccessreviews"):
            return self.answer(201, {"status": {"allowed": True}})
        if "exists" in body:
            return self.refuse(409, "AlreadyExists", 'pods "exists" already exists')
        return self.answer(201, {"kind": "Pod", "metadata": {"name": "made"}})

    do_PATCH = do_PUT = do_DELETE = do_POST


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Clients that leave early are what some tests are about."""


@contextlib.contextmanager
def api_server(minor="36", certificate=None):
    """By https with a pair of files for its certificate and key."""
    handler = type("Handler", (ApiServer,), {"minor": minor, "requests": []})
    server = QuietServer(("127.0.0.1", 0), handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_port}", handler.requests
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def home_with(server, token="secret-token"):
    """A home whose kubeconfig has the contexts dev (this server) and arn:aws:x/prod (nobody there)."""
    with tempfile.TemporaryDirectory() as home:
        folder = pathlib.Path(home, ".kube")
        folder.mkdir()
        folder.joinpath("config").write_text(f"""apiVersion: v1
kind: Config
current-context: dev
clusters:
- {{name: here, cluster: {{server: "{server}"}}}}
- {{name: nowhere, cluster: {{server: "http://127.0.0.1:1"}}}}
users:
- {{name: me, user: {{token: {token}}}}}
contexts:
- {{name: dev, context: {{cluster: here, user: me}}}}
- {{name: "arn:aws:x/prod", context: {{cluster: nowhere, user: me}}}}
""")
        yield home

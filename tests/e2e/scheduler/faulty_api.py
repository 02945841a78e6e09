"""An API server's front that fails bindings in turn and cuts watches. Not a test itself."""
import contextlib
import http.server
import json
import socket
import threading
import time

from http_api import HttpApi

WATCHED = 100  # events that a watch shows before it may be cut
FAULTS = ("conflict", "throttled", "broken", "dropped before", "dropped after", None, None)


def status(code, reason):
    return {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": "as told by a test"}


class FaultyApi:
    """Plain HTTP; `kubeconfig` leads through it. It fails as fail() says."""

    def __init__(self, test, kubeconfig, directory, faults, cuts):
        self.lock = threading.Lock()
        self.fail(faults, cuts)
        self.asked_to_wait, self.waits = {}, []  # when, by path; and how long those have waited
        self.patches = []  # of statuses of pods, as they came
        self.bound, self.refused = [], 0  # paths of bindings that the server accepted; how many it did not
        self.conflict_every = 0  # every nth binding gets a conflict; 0: none
        self.bindings = 0
        self.swallow_events = False  # leave requests that create events without an answer
        self.gate = lambda command, path: None  # may wait before a request goes on, or give the status to refuse it with
        self.streams = set()  # connections to the server that have a watch
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            behind = None  # the connection to the server; lives as long as the caller's

            def finish(self):
                super().finish()
                if self.behind:
                    self.behind.close()

            def answer(self, code, body, **headers):
                self.send_response(code)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def drop(self):
                self.close_connection = True
                with contextlib.suppress(OSError):
                    self.connection.shutdown(socket.SHUT_RDWR)

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                path = self.path.split("?")[0]
                if self.command == "PATCH" and path.endswith("/status"):
                    outer.patches.append(json.loads(body)["status"])
                if outer.swallow_events and self.command == "POST" and path.endswith("/events"):
                    return self.drop()
                if refused := outer.gate(self.command, path):
                    return self.answer(refused, json.dumps(status(refused, {403: "Forbidden"}.get(refused, "InternalError"))).encode())
                fault = outer.next_fault(path) if path.endswith("/binding") else None
                if fault == "conflict":
                    return self.answer(409, json.dumps(status(409, "Conflict")).encode())
                if fault == "throttled":
                    return self.answer(429, json.dumps(status(429, "TooManyRequests")).encode(), **{"Retry-After": "1"})
                if fault == "broken":
                    return self.answer(500, json.dumps(status(500, "InternalError")).encode())
                if fault == "dropped before":
                    return self.drop()
                self.behind = self.behind or HttpApi(kubeconfig).connect(300)
                self.behind.request(self.command, self.path, body or None, {"Content-Type": self.headers.get("Content-Type", "application/json")})
                came = self.behind.getresponse()
                if "watch=" in self.path:
                    outer.streams.add(self.behind.sock)
                    return self.stream(came)
                data = came.read()
                if path.endswith("/binding"):
                    with outer.lock:
                        outer.bound += [path] * (came.status == 201)
                        outer.refused += came.status != 201
                if fault == "dropped after":
                    return self.drop()
                self.answer(came.status, data)

            def stream(self, came):
                self.send_response(came.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                events = 0
                while line := came.readline():
                    events += 1
                    if events > WATCHED and outer.may_cut():
                        self.wfile.write(b"%x\r\n%s" % (len(line), line[:len(line) // 2]))
                        return self.drop()
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.wfile.write(b"0\r\n\r\n")

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = forward

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 100

            def handle_error(self, *words):
                pass

        server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)
        self.kubeconfig = directory / "faulty.kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.server_address[1]}"}}],
            "users": [{"name": "u", "user": {}}]}))

    def fail(self, faults, cuts):
        """The next `faults` bindings get one of FAULTS each, and `cuts` watches end within one of their later events."""
        with self.lock:
            self.left, self.cuts, self.done = faults, cuts, {}

    def end_watches(self):
        streams, self.streams = self.streams, set()
        for stream in streams:
            with contextlib.suppress(OSError):
                stream.shutdown(socket.SHUT_RDWR)

    def may_cut(self):
        with self.lock:
            if self.cuts == 0:
                return False
            self.cuts -= 1
            return True

    def next_fault(self, path):
        now = time.monotonic()
        with self.lock:
            if path in self.asked_to_wait:
                self.waits.append(now - self.asked_to_wait.pop(path))
            self.bindings += 1
            if self.conflict_every and self.bindings % self.conflict_every == 0:
                self.done["conflict"] = self.done.get("conflict", 0) + 1
                return "conflict"
            if self.left == 0:
                return None
            self.left -= 1
            fault = FAULTS[self.left % len(FAULTS)]
            if fault == "throttled":
                self.asked_to_wait[path] = now
            self.done[fault] = self.done.get(fault, 0) + 1
            return fault

"""An API server's front that breaks watches as it is told. Not a test itself."""
import contextlib
import http.server
import json
import pathlib
import socket
import threading

from jobs import HttpApi

GONE = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410, "reason": "Expired", "message": "too old resource version"}
BROKEN = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 500, "reason": "InternalError", "message": "etcd is away"}


class LiveWatch:
    def __init__(self, handler):
        self.handler, self.lock, self.open = handler, threading.Lock(), True

    def send(self, data):
        with self.lock:
            if self.open:
                self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self, data=b"", politely=True):
        """Says this as the last, and goes with or without the regular end."""
        if data:
            self.send(data)
        with self.lock:
            if self.open and politely:
                self.handler.wfile.write(b"0\r\n\r\n")
            self.open = False
            with contextlib.suppress(OSError):  # the other side may have gone at that word
                self.handler.connection.shutdown(socket.SHUT_RDWR)


class BadProxy:
    """Plain HTTP; `kubeconfig` leads through it. Counts lists, and refuses the next watches with the statuses in `refusals`."""

    def __init__(self, test, kubeconfig, directory):
        self.lists, self.opened, self.live, self.upstream, self.refusals = 0, 0, [], [], []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self, status, kind, body):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def forward(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                is_watch, is_list = "watch=" in self.path, self.command == "GET" and "/pods" in self.path
                if is_watch and outer.refusals:
                    status = outer.refusals.pop(0)
                    return self.answer(status["code"], "application/json", json.dumps(status).encode())
                outer.lists += is_list and not is_watch and "continue=" not in self.path
                connection = HttpApi(kubeconfig).connect(300)
                connection.request(self.command, self.path, body or None, {"Content-Type": self.headers.get("Content-Type", "application/json")})
                came = connection.getresponse()
                if not is_watch:
                    self.answer(came.status, came.headers["Content-Type"], came.read())
                    return connection.close()
                self.send_response(came.status)
                self.send_header("Content-Type", came.headers["Content-Type"])
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                watch = LiveWatch(self)
                outer.live.append(watch)
                outer.upstream.append(connection.sock or came.fp.raw._sock)
                outer.opened += 1
                while watch.open and (line := came.readline()):
                    watch.send(line)
                self.close_connection = True
                came.close()
                connection.close()

            do_GET = do_POST = do_PATCH = forward

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *words):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        test.addCleanup(self.close)
        self.kubeconfig = pathlib.Path(directory, "through-proxy")
        cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.server_address[1]}"}}
        self.kubeconfig.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [cluster],
                                               "contexts": [{"name": "c", "context": {"cluster": "c"}}]}))

    def close(self):
        for connection in self.upstream:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.server.shutdown()
        self.server.server_close()

    def end_watch(self, data=b"", politely=True):
        self.live.pop().end(data, politely)

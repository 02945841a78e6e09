"""A scheduler extender whose answers a test writes. Not a test itself."""
import http.server
import json
import ssl
import threading


class ExtenderStub:
    """`answers` maps a path to a function of the request's JSON; it may wait, or raise to answer 500."""

    def __init__(self, test, answers=None, certificate=None, host="127.0.0.1"):
        self.answers, self.asked, self.connections = dict(answers or {}), [], 0
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                stub.connections += 1
                super().setup()

            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                stub.asked.append((self.path, text, self.headers["Content-Type"]))
                try:
                    status, body = 200, json.dumps(stub.answers[self.path](json.loads(text))).encode()
                except Exception as error:  # noqa: BLE001: whatever it is, the scheduler has to stand it
                    status, body = 500, str(error).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    pass  # the scheduler did not wait for it

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):
                pass  # a scheduler that goes away

        self.server = Server((host, 0), Handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"http{'s' if certificate else ''}://{host}:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        self.thread.start()
        test.addCleanup(self.close)

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def bodies(self, path, pod=None):
        """What was asked there, as JSON; of one pod where its name is given."""
        found = [json.loads(text) for where, text, _ in self.asked if where == path]
        return [one for one in found if pod is None or one["Pod"]["metadata"]["name"] == pod]

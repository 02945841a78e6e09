"""A receiver of measurements that remembers what came and says what it is told. Not a test itself."""
import http.server
import json
import threading
import time


class Post:
    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body
        self.key = headers.get("Idempotency-Key")
        self.at = time.monotonic()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def event(self):
        return self.json["event"]

    def __repr__(self):
        return f"<{self.path} {self.key} {self.body[:80]!r}>"


class Receiver:
    """`answer(post)` gives the status of each, or (status, headers, body); by default 200."""

    def __init__(self, test, answer=None, port=0, host="127.0.0.1"):
        self.posts, self.accepted = [], []
        self.answer = answer or (lambda post: 200)
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                post = Post(self.path, self.headers, body)
                answer = outer.answer(post)
                if callable(answer):
                    return answer(self)
                status, headers, text = answer if isinstance(answer, tuple) else (answer, {}, b"{}")
                with outer.lock:
                    outer.posts.append(post)
                    if status < 300:
                        outer.accepted.append(post)
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *words):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *words):
                pass

        self.server = Server((host, port), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        test.addCleanup(self.close)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/metrics/{{acct}}/{{app_id}}/servo"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def measurements(self, accepted=True):
        with self.lock:
            return [post for post in (self.accepted if accepted else self.posts) if post.event == "MEASUREMENT"]

    def events(self):
        with self.lock:
            return [post.event for post in self.posts]

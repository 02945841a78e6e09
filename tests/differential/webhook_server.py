"""A webhook that answers by path as a test wants it, for any API server that reaches this machine. Not a test itself.

It speaks HTTP/1.1 and says so by ALPN: kube-apiserver would talk HTTP/2 to a loopback address, and takes this instead.
"""
import base64
import http.server
import ipaddress
import json
import pathlib
import socket
import ssl
import subprocess
import tempfile
import threading
import time


def address_towards(host, port):
    """The address of this machine on the way to a server, by which that server reaches us."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((host, port))
        return probe.getsockname()[0]


def make_certificate(directory, addresses):
    names = ",".join(f"IP:{ipaddress.ip_address(address)}" for address in addresses)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=webhook", "-addext", f"subjectAltName={names}", "-keyout", directory / "key", "-out", directory / "crt"],
                   check=True, capture_output=True)


def allow(review):
    return {"allowed": True}


def deny(message=None, **status):
    return lambda review: {"allowed": False, "status": {**({"message": message} if message is not None else {}), **status}}


def patch(*operations, kind="JSONPatch", encode=True):
    text = json.dumps(operations)
    body = base64.b64encode(text.encode()).decode() if encode else text
    return lambda review: {"allowed": True, "patch": body, **({"patchType": kind} if kind else {})}


def warn(*warnings, allowed=True):
    return lambda review: {"allowed": allowed, "warnings": list(warnings)}


class Raw:
    """An answer that is no review."""

    def __init__(self, code=200, body=b"", headers=(), delay=0, review=None):
        self.code, self.body, self.headers, self.delay, self.review = code, body, dict(headers), delay, review

    def __call__(self, review):
        time.sleep(self.delay)
        return self


def review_of(uid, response, version="admission.k8s.io/v1", kind="AdmissionReview"):
    return {"apiVersion": version, "kind": kind, "response": {"uid": uid, **response}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        text = self.rfile.read(int(self.headers["Content-Length"]))
        path, _, query = self.path.partition("?")
        review = json.loads(text)
        seen = {"query": query, "type": self.headers["Content-Type"], "request": review["request"], "version": review["apiVersion"]}
        self.server.seen.setdefault(path, []).append(seen)
        answer = self.server.answers.get(path, allow)(review["request"])
        if isinstance(answer, Raw):
            body = json.dumps(answer.review(review["request"])).encode() if answer.review else answer.body
            self.say(answer.code, body, answer.headers)
        else:
            self.say(200, json.dumps(review_of(review["request"]["uid"], answer)).encode())

    def say(self, code, body, headers=()):
        try:
            self.send_response(code)
            for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **dict(headers)}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # the caller did not wait

    def log_message(self, *_):
        pass


class Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass  # a caller that trusts another certificate


class WebhookServer:
    """`answers` are functions of the request by path; `seen` are the requests by path."""

    def __init__(self, test, host):
        directory = pathlib.Path(self.keep(test, tempfile.TemporaryDirectory(prefix="plim.")).name)
        make_certificate(directory, [host])
        self.ca = base64.b64encode((directory / "crt").read_bytes()).decode()
        self.listener = Listener((host, 0), Handler)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(directory / "crt", directory / "key")
        tls.set_alpn_protocols(["http/1.1"])
        self.listener.socket = tls.wrap_socket(self.listener.socket, server_side=True, do_handshake_on_connect=False)
        self.answers = self.listener.answers = {}
        self.seen = self.listener.seen = {}
        self.url = f"https://{host}:{self.listener.server_address[1]}"
        threading.Thread(target=self.listener.serve_forever, args=(0.05,), daemon=True).start()
        test.addCleanup(self.listener.server_close)
        test.addCleanup(self.listener.shutdown)

    @staticmethod
    def keep(test, directory):
        test.addCleanup(directory.cleanup)
        return directory

"""The API by plain HTTPS requests, with the credentials of a kubeconfig. Not a test itself."""
import base64
import http.client
import json
import pathlib
import ssl
import tempfile
import urllib.parse

import yaml


def part(holder, name):
    """A certificate or key, given inline or as a file."""
    if f"{name}-data" in holder:
        return base64.b64decode(holder[f"{name}-data"]).decode()
    return pathlib.Path(holder[name]).read_text()


def credentials(kubeconfig):
    """Of its current context: the server's URL, a TLS context for it without and with the user's certificate, the user's headers."""
    config = yaml.safe_load(pathlib.Path(kubeconfig).read_text())
    context = next(c["context"] for c in config["contexts"] if c["name"] == config["current-context"])
    cluster = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
    user = next(u["user"] for u in config["users"] if u["name"] == context["user"])
    trust, tls = (ssl.create_default_context(cadata=part(cluster, "certificate-authority")) for _ in range(2))
    if "client-certificate-data" in user or "client-certificate" in user:
        with tempfile.NamedTemporaryFile("w") as pair:
            pair.write(part(user, "client-certificate") + "\n" + part(user, "client-key"))
            pair.flush()
            tls.load_cert_chain(pair.name)
    headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
    return urllib.parse.urlsplit(cluster["server"]), trust, tls, headers


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('reason')}: {body.get('message')}")
        self.status, self.body, self.reason = status, body, body.get("reason")


class HttpApi:
    """One connection at a time; not for several threads at once."""

    def __init__(self, kubeconfig):
        self.address, _, self.tls, self.headers = credentials(kubeconfig)
        self.connection = None

    def connect(self, timeout=30):
        return http.client.HTTPSConnection(self.address.hostname, self.address.port, context=self.tls, timeout=timeout)

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def request(self, method, path, body=None, kind="application/json"):
        """The parsed answer, or Refused; OSError or HTTPException when the connection breaks."""
        if not self.connection:
            self.connection = self.connect()
        try:
            self.connection.request(method, path, body=json.dumps(body) if body is not None else None,
                                    headers={**self.headers, "Content-Type": kind, "Accept": "application/json"})
            answer = self.connection.getresponse()
            data = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        value = json.loads(data)
        if answer.status >= 300:
            raise Refused(answer.status, value)
        return value

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body):
        return self.request("POST", path, body)

    def put(self, path, body):
        return self.request("PUT", path, body)

    def merge(self, path, body):
        return self.request("PATCH", path, body, "application/merge-patch+json")

    def delete(self, path, **options):
        return self.request("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", **options})

    def watch(self, path, seconds=5):
        """Events until the server ends the watch."""
        connection = self.connect(seconds + 30)
        separator = "&" if "?" in path else "?"
        connection.request("GET", f"{path}{separator}watch=true&timeoutSeconds={seconds}", headers=self.headers)
        answer = connection.getresponse()
        try:
            while line := answer.readline():
                yield json.loads(line)
        finally:
            connection.close()

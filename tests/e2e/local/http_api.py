"""The API by plain HTTPS requests, with the credentials of a kubeconfig. Not a test itself."""
import base64
import http.client
import json
import pathlib
import re
import ssl
import tempfile
import urllib.parse


class Refused(Exception):
    def __init__(self, status, body):
        super().__init__(f"{status} {body.get('reason')}: {body.get('message')}")
        self.status, self.body, self.reason = status, body, body.get("reason")


class HttpApi:
    """One connection at a time; not for several threads at once."""

    def __init__(self, kubeconfig):
        text = pathlib.Path(kubeconfig).read_text()

        def field(name):
            return re.search(rf"{name}: (\S+)", text)[1].strip('"')
        self.address = urllib.parse.urlsplit(field("server"))
        self.tls = ssl.create_default_context(cadata=base64.b64decode(field("certificate-authority-data")).decode())
        with tempfile.NamedTemporaryFile() as pair:
            pair.write(base64.b64decode(field("client-certificate-data")) + base64.b64decode(field("client-key-data")))
            pair.flush()
            self.tls.load_cert_chain(pair.name)
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
                                    headers={"Content-Type": kind, "Accept": "application/json"})
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
        connection.request("GET", f"{path}{separator}watch=true&timeoutSeconds={seconds}")
        answer = connection.getresponse()
        try:
            while line := answer.readline():
                yield json.loads(line)
        finally:
            connection.close()

"""Certificates and kubeconfigs of one cluster, by openssl: one call each."""
import base64
import functools
import json

from .machine import at_once, command
from .network import API_SERVICE

NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


class Authority:
    def __init__(self, directory, name):
        self.directory, self.name = directory, name
        command("openssl", "req", "-x509", *NEW_KEY, "-days", 30, "-subj", f"/CN={name}", "-keyout", self.key, "-out",
                self.certificate)

    @property
    def key(self):
        return self.directory / f"{self.name}.key"

    @property
    def certificate(self):
        return self.directory / f"{self.name}.crt"

    def issue(self, name, subject, *alternatives):
        """`name`.crt and `name`.key, good for servers and clients."""
        usage = ["-addext", "basicConstraints=critical,CA:FALSE", "-addext", "keyUsage=critical,digitalSignature",
                 "-addext", "extendedKeyUsage=serverAuth,clientAuth"]
        if alternatives:
            usage += ["-addext", f"subjectAltName={','.join(alternatives)}"]
        command("openssl", "req", "-x509", *NEW_KEY, "-days", 30, "-subj", subject, *usage, "-CA", self.certificate,
                "-CAkey", self.key, "-keyout", self.directory / f"{name}.key", "-out", self.directory / f"{name}.crt")


class Pki:
    """Everything below one directory. Users get a kubeconfig each, with all it needs inside."""

    def __init__(self, directory, server_address, server_url):
        directory.mkdir(mode=0o700)
        self.directory, self.server_url = directory, server_url
        self.here = ("IP:127.0.0.1", f"IP:{server_address}")
        self.authority = Authority(directory, "ca")
        self.authority.issue("etcd", "/CN=etcd", "DNS:localhost", *self.here)

    def issue_for_api(self):
        """What an API server needs to start."""
        names = [f"DNS:{name}" for name in ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
                                            "kubernetes.default.svc.cluster.local")]
        at_once(lambda: self.authority.issue("apiserver", "/CN=kube-apiserver", *names, *self.here, f"IP:{API_SERVICE}"),
                lambda: self.authority.issue("etcd-client", "/CN=etcd-client"),
                lambda: self.authority.issue("kubelet-client", "/O=system:masters/CN=kube-apiserver-kubelet-client"),
                lambda: Authority(self.directory, "front-ca").issue("front-proxy", "/CN=front-proxy-client"),
                self.service_account_key)

    def issue_for_clients(self, nodes):
        """What those need who talk to it; of nodes their names and addresses."""
        at_once(lambda: self.user("admin", "/O=system:masters/CN=kubernetes-admin"),
                lambda: self.user("controller-manager", "/CN=system:kube-controller-manager"),
                lambda: self.user("scheduler", "/CN=system:kube-scheduler"),
                *(functools.partial(self.user, name, f"/O=system:nodes/CN=system:node:{name}", f"DNS:{name}", f"IP:{address}", "IP:127.0.0.1")
                  for name, address in nodes))

    def service_account_key(self):
        command("openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.path("service-account.key"))

    def path(self, name):
        return self.directory / name

    def user(self, name, subject, *alternatives):
        """A certificate and the kubeconfig for it, whose path is returned."""
        self.authority.issue(name, subject, *alternatives)
        return self.kubeconfig(name, {"client-certificate-data": self.inline(f"{name}.crt"),
                                      "client-key-data": self.inline(f"{name}.key")})

    def kubeconfig(self, name, credentials):
        """Written as YAML because it is read by people, and by the tests' own small reader."""
        path = self.path(f"{name}.kubeconfig")
        lines = ["apiVersion: v1", "kind: Config", "clusters:", "- name: real", "  cluster:",
                 f"    server: {self.server_url}", f"    certificate-authority-data: {self.inline('ca.crt')}", "users:",
                 f"- name: {name}", "  user:",
                 *(f"    {key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in credentials.items()),
                 "contexts:", "- name: real", f"  context: {{cluster: real, user: {name}}}", "current-context: real"]
        path.touch(mode=0o600)
        path.write_text("\n".join(lines) + "\n")
        return path

    def inline(self, name):
        return base64.b64encode(self.path(name).read_bytes()).decode()

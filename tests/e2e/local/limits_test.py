#!/usr/bin/env python3
"""Requests beyond the limits, and requests that are none: answered with 4xx, and the next one is served as ever."""
import concurrent.futures
import json
import socket
import ssl
import unittest

from http_api import HttpApi, Refused
from local_cluster import ClusterCase, LocalCluster, only_local

MAPS = "/api/v1/namespaces/default/configmaps"
MIB = 1 << 20


@only_local("its limits are those of the local API server")
class Limits(ClusterCase):
    flags = ("--nodes", "0", "--scheduler", "none", "--ephemeral")

    def setUp(self):
        super().setUp()
        self.api = HttpApi(self.cluster.kubeconfig)
        self.addCleanup(self.api.close)
        self.addCleanup(self.assert_well)

    def assert_well(self):
        self.assertEqual(self.api.get("/api/v1/namespaces/default")["metadata"]["name"], "default")

    def raw(self, *parts):
        """The first line of the answer to these bytes; '' if the connection was closed without one."""
        plain = socket.create_connection((self.api.address.hostname, self.api.address.port), timeout=30)
        with self.api.tls.wrap_socket(plain, server_hostname=self.api.address.hostname) as connection:
            try:
                for part in parts:
                    connection.sendall(part.encode() if isinstance(part, str) else part)
            except (OSError, ssl.SSLError):
                pass  # refused before all of it was sent; the answer is there
            try:
                with connection.makefile("rb") as answer:
                    return answer.readline().decode()
            except (OSError, ssl.SSLError):
                return ""

    def refused(self, code, reason, call):
        with self.assertRaises(Refused) as refused:
            call()
        self.assertEqual((refused.exception.status, refused.exception.reason), (code, reason), refused.exception)
        return refused.exception.body

    def config_map(self, name, **data):
        return {"metadata": {"name": name}, "data": data}

    def test_sizes_of_bodies_and_objects(self):
        self.api.post(MAPS, self.config_map("fits", a="x" * (MIB - 1000)))
        self.refused(422, "Invalid", lambda: self.api.post(MAPS, self.config_map("large", a="x" * (MIB + 1))))
        many = {"metadata": {"name": "huge"}, "subsets": [{"addresses": [{"ip": "10.0.0.1", "hostname": "x" * 60, "nodeName": f"n{i}"}
                                                                         for i in range(20_000)], "ports": [{"port": 1}]}]}
        self.assertGreater(len(json.dumps(many)), 1.6 * MIB)
        self.refused(413, "RequestEntityTooLarge", lambda: self.api.post("/api/v1/namespaces/default/endpoints", many))
        line = self.raw(f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {3 * MIB + 1}\r\n\r\n")
        self.assertIn(" 413 ", line)

    def test_depth_of_json(self):
        deep = '{"a":' * 600 + "1" + "}" * 600
        line = self.raw(f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(deep)}\r\n\r\n{deep}")
        self.assertIn(" 400 ", line)

    def test_patches(self):
        self.api.post(MAPS, self.config_map("patched", a="1"))
        path, kind = f"{MAPS}/patched", "application/json-patch+json"
        replace = {"op": "replace", "path": "/data/a", "value": "2"}
        self.api.request("PATCH", path, [replace] * 10_000, kind)
        self.refused(413, "RequestEntityTooLarge", lambda: self.api.request("PATCH", path, [replace] * 10_001, kind))
        growing = [{"op": "add", "path": "/data/b", "value": "x" * 1000}]
        growing += [{"op": "copy", "from": "/data", "path": f"/data/c{i}"} for i in range(40)]  # twice as much each time
        with self.assertRaises(Refused) as refused:
            self.api.request("PATCH", path, growing, kind)
        self.assertIn(refused.exception.status, (413, 422))

    def test_yaml_that_explodes(self):
        lines = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"] + [f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
        body = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n" + "\n".join(lines) + "\n"
        line = self.raw(f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/yaml\r\nContent-Length: {len(body)}\r\n\r\n{body}")
        self.assertRegex(line, " 4(00|13) ")

    def test_headers_and_addresses(self):
        self.assertIn(" 431 ", self.raw("GET /version HTTP/1.1\r\nHost: x\r\nX-Large: " + "x" * (65 << 10) + "\r\n\r\n"))
        self.assertRegex(self.raw(f"GET /api/v1/pods?labelSelector={'x' * (17 << 10)} HTTP/1.1\r\nHost: x\r\n\r\n"), " 4(00|14|31) ")
        self.assertRegex(self.raw("GET /" + "x" * (10 * MIB) + " HTTP/1.1\r\nHost: x\r\n\r\n"), " 4(14|31) ")

    def test_what_is_no_request(self):
        for text in ("GET", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n", "G\x80T / HTTP/1.1\r\nHost: x\r\n\r\n",
                     "GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
                     "GET /version HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
                     "POST /version HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                     "POST /version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
                     "POST /version HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
                     "GET /version HTTP/1.1\r\nHost: x\r\nNo colon\r\n\r\n"):
            with self.subTest(text):
                line = self.raw(text, "\r\n\r\n" if text == "GET" else "")
                self.assertRegex(line, r"^(HTTP/1\.1 4\d\d .*|)\r?\n?$")

    def test_paths_that_lead_astray(self):
        for path, codes in (("//api/v1/pods", (301, 400, 404)), ("/api/v1/../../etc/passwd", (301, 400, 404)),
                            ("/api/v1/namespaces/..%2f..%2fx/pods", (200, 400, 404)), ("/api/v1/namespaces/%00/pods", (200, 400, 404)),
                            ("/api/v1/namespaces/default/pods/%2e%2e", (400, 404)), ("/api/v1/namespaces/default/pods/%zz", (400, 404)),
                            ("/api/v1/nodes/..%2f..%2f/proxy/pods", (400, 404)), ("/%ff%fe", (400, 404))):
            with self.subTest(path):
                line = self.raw(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n")
                self.assertIn(int(line.split()[1]), codes)

    def test_bodies_that_are_not_json(self):
        for body in (b"", b"{", b"[]", b"null", b'{"metadata":{"name":"\xff\xfe"}}', b'{"metadata":{"name":"a"},"metadata":{"name":"b"}} x',
                     b'{"metadata":{"generation":1e999}}', b'{"data":{"a":"\\ud800"}}', b"k8s\0garbage"):
            with self.subTest(body):
                line = self.raw(f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n", body)
                self.assertRegex(line, " 4(00|22) ")
        garbage = b"k8s\0\xff\xff\xff\xff"
        head = f"POST {MAPS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/vnd.kubernetes.protobuf\r\nContent-Length: {len(garbage)}\r\n\r\n"
        self.assertIn(" 400 ", self.raw(head, garbage))

    def test_more_readers_than_may_be_in_flight(self):
        """Lists that wait for a version still to come are in flight for seconds."""
        version = int(self.api.get(MAPS)["metadata"]["resourceVersion"]) + 1_000_000
        connections = [self.api.connect() for _ in range(420)]
        self.addCleanup(lambda: [connection.close() for connection in connections])
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            list(pool.map(lambda connection: connection.connect(), connections))
        for connection in connections:
            connection.request("GET", f"{MAPS}?resourceVersion={version}")
        answers = [connection.getresponse() for connection in connections]
        codes = [answer.status for answer in answers]
        self.assertEqual(set(codes), {504, 429})
        self.assertEqual(codes.count(429), 20)
        busy = answers[codes.index(429)]
        self.assertEqual((busy.headers["Retry-After"], json.loads(busy.read())["reason"]), ("1", "TooManyRequests"))


@only_local("fills the store of the server")
class Memory(unittest.TestCase):
    def test_a_store_that_is_full_can_still_be_emptied(self):
        cluster = LocalCluster(self, "--nodes", "0", "--max-objects-bytes", "1Mi")
        api = HttpApi(cluster.kubeconfig)
        self.addCleanup(api.close)
        written = []
        with self.assertRaises(Refused) as refused:
            for i in range(30):
                api.post(MAPS, {"metadata": {"name": f"m{i}"}, "data": {"a": "x" * 100_000}})
                written.append(f"m{i}")
        self.assertEqual(refused.exception.status, 500)
        self.assertIn("the store is full", refused.exception.body["message"])
        self.assertGreater(len(written), 5)
        api.get(f"{MAPS}/{written[0]}")
        for name in written[:2]:
            api.delete(f"{MAPS}/{name}")
        api.post(MAPS, {"metadata": {"name": "again"}, "data": {"a": "x" * 100_000}})


if __name__ == "__main__":
    unittest.main()

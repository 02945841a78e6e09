#!/usr/bin/env python3
"""Pods of a kubelet or an API server as tasks, and what goes wrong with them."""
import contextlib
import json
import shutil
import socket
import time
import unittest

from agent_under_test import (NO_LIMIT, Agent, FakeKubelet, Scrape, Tree, certificates, directory, eventually,
                              kubernetes_node, pod, server_tls)

UIDS = {"Guaranteed": "11111111-aaaa-bbbb-cccc-000000000001", "Burstable": "11111111-aaaa-bbbb-cccc-000000000002",
        "BestEffort": "11111111-aaaa-bbbb-cccc-000000000003"}
PREFIX = {"containerd": "cri-containerd", "cri-o": "crio", "docker": "docker"}


def pod_path(driver, qos, uid, root=""):
    if driver == "cgroupfs":
        return f"{root}/kubepods/" + ("" if qos == "Guaranteed" else qos.lower() + "/") + f"pod{uid}"
    uid = uid.replace("-", "_")
    if qos == "Guaranteed":
        return f"{root}/kubepods.slice/kubepods-pod{uid}.slice"
    qos = qos.lower()
    return f"{root}/kubepods.slice/kubepods-{qos}.slice/kubepods-{qos}-pod{uid}.slice"


def container_path(driver, qos, uid, name, runtime="containerd", root=""):
    leaf = f"{name}-{uid}" if driver == "cgroupfs" else f"{PREFIX[runtime]}-{name}-{uid}.scope"
    return f"{pod_path(driver, qos, uid, root)}/{leaf}"


class Found(unittest.TestCase):
    def test_every_layout(self):
        for driver, version, runtime in (("cgroupfs", 1, "containerd"), ("systemd", 1, "docker"), ("cgroupfs", 2, "containerd"),
                                         ("systemd", 2, "containerd"), ("systemd", 2, "cri-o"), ("systemd", 2, "docker")):
            with self.subTest(driver=driver, version=version, runtime=runtime):
                tree = Tree(self)
                make = tree.v1 if version == 1 else tree.v2
                pods = []
                for qos, uid in UIDS.items():
                    pods.append(pod(qos.lower(), uid, qos, containers=("a", "b"), runtime=runtime,
                                    labels={"app.kubernetes.io/name": "web", "a-b": "1", "host": "no"}))
                    make(pod_path(driver, qos, uid))
                    for name in ("a", "b"):
                        make(container_path(driver, qos, uid, name, runtime))
                kubelet = FakeKubelet(self, pods)
                scrape = Agent(self, kubernetes_node(kubelet.url), host_root=tree.root).once()
                self.assertEqual(scrape.tasks(), ["default/besteffort", "default/burstable", "default/guaranteed"])
                for labels in scrape.labels("task_subcontainers"):
                    self.assertEqual(scrape.get("task_subcontainers", task_id=labels["task_id"]), 2)
                    self.assertEqual(labels["app_kubernetes_io__name"], "web")
                    self.assertEqual(labels["a_b"], "1")
                    self.assertEqual(labels["app_kubernetes_io__qos_class"], labels["task_name"].split("/")[1])
                    self.assertNotEqual(labels["host"], "no")
                self.assertEqual(sorted(labels["task_id"] for labels in scrape.labels("task_up")), sorted(UIDS.values()))
                usage = scrape.get("task_cpu_usage_seconds", task_name="default/guaranteed")
                self.assertEqual(usage, 2 if version == 1 else 5)  # both containers

    def test_a_root_of_the_kubelets_own(self):
        uid = UIDS["Burstable"]
        roots = {"/x.slice/x-kubepods.slice/x-kubepods-burstable.slice/x-kubepods-burstable-pod{}.slice".format(
            uid.replace("-", "_")): ("systemd", "/x"),
            pod_path("cgroupfs", "Burstable", uid, "/a/b"): ("cgroupfs", "/a/b"),
            pod_path("systemd", "Burstable", uid, "/a/b"): ("systemd", "/a/b"),
            pod_path("cgroupfs", "Burstable", uid, "/kubelet"): ("auto", None)}
        for path, (driver, root) in roots.items():
            with self.subTest(path):
                tree = Tree(self)
                leaf = f"/c-{uid}" if "slice" not in path else f"/cri-containerd-c-{uid}.scope"
                tree.v1(path)
                tree.v1(path + leaf)
                kubelet = FakeKubelet(self, [pod("p", uid, "Burstable")])
                options = {"cgroup_root": root} if root else {}
                node = kubernetes_node(kubelet.url, cgroup_driver=driver, **options)
                self.assertEqual(Agent(self, node, host_root=tree.root).once().tasks(), ["default/p"])

    def test_static_pods_are_under_their_hash(self):
        tree = Tree(self)
        tree.v1("/kubepods/burstable/podabc123")
        tree.v1("/kubepods/burstable/podabc123/c-" + UIDS["Burstable"])
        kubelet = FakeKubelet(self, [pod("etcd", UIDS["Burstable"], "Burstable",
                                         annotations={"kubernetes.io/config.hash": "abc123"})])
        self.assertEqual(Agent(self, kubernetes_node(kubelet.url), host_root=tree.root).once().tasks(), ["default/etcd"])

    def test_namespaces(self):
        tree = Tree(self)
        pods = []
        for number, namespace in enumerate(("default", "a", "b")):
            uid = f"uid-{number}"
            tree.v1(f"/kubepods/besteffort/pod{uid}")
            tree.v1(f"/kubepods/besteffort/pod{uid}/c-{uid}")
            pods.append(pod("p", uid, namespace=namespace))
        kubelet = FakeKubelet(self, pods)
        for option, wanted in ((None, ["default/p"]), ("[a, b]", ["a/p", "b/p"]), ('["*"]', ["a/p", "b/p", "default/p"])):
            options = {"monitored_namespaces": option} if option else {}
            scrape = Agent(self, kubernetes_node(kubelet.url, **options), host_root=tree.root).once()
            self.assertEqual(scrape.tasks(), wanted)

    def test_which_containers_count(self):
        tree = Tree(self)
        uid = "u1"
        for name in ("", "/run-u1", "/side-u1", "/init-u1"):
            tree.v1(f"/kubepods/besteffort/pod{uid}{name}")
        statuses = [{"name": "run", "ready": True, "state": {"running": {}}, "containerID": "containerd://run-u1"},
                    {"name": "wait", "ready": False, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                     "containerID": "containerd://old"}]
        side = [{"name": "done", "ready": True, "state": {"terminated": {"exitCode": 0}}, "containerID": "containerd://i"},
                {"name": "init", "ready": False, "state": {"running": {}}, "containerID": "containerd://init-u1"},
                {"name": "side", "ready": True, "state": {"running": {}}, "containerID": "containerd://side-u1"}]
        kubelet = FakeKubelet(self, [pod("p", uid, statuses=statuses)])
        node = kubernetes_node(kubelet.url)
        self.assertEqual(Agent(self, node, host_root=tree.root).once().get("task_subcontainers"), 1)
        ready = kubernetes_node(kubelet.url, pod_selection="ready")
        self.assertEqual(Agent(self, ready, host_root=tree.root).once().tasks(), [])
        init = {"initContainers": [{"name": "done"}, {"name": "side", "restartPolicy": "Always"}, {"name": "init"}]}
        kubelet.pods = [pod("p", uid, statuses=statuses, init_statuses=side, spec=init)]
        self.assertEqual(Agent(self, node, host_root=tree.root).once().get("task_subcontainers"), 2)

    def test_a_limit_of_all_is_none_if_one_has_none(self):
        for make in ("v1", "v2"):
            with self.subTest(make):
                tree = Tree(self)
                names = ("a", "b", "c")
                path = "/kubepods/burstable/podu1"
                for name in ("", *(f"/{one}-u1" for one in names)):
                    getattr(tree, make)(path + name)
                limit = "sys/fs/cgroup/memory{}/c-u1/memory.limit_in_bytes" if make == "v1" else "sys/fs/cgroup{}/c-u1/memory.max"
                tree.write(limit.format(path), f"{64 << 20}\n")
                kubelet = FakeKubelet(self, [pod("p", "u1", "Burstable", containers=names)])
                scrape = Agent(self, kubernetes_node(kubelet.url), host_root=tree.root).once()
                self.assertEqual(scrape.get("task_subcontainers"), 3)
                self.assertEqual(scrape.get("task_mem_limit_bytes"), NO_LIMIT)
                self.assertEqual(scrape.get("task_mem_soft_limit_bytes"), NO_LIMIT if make == "v1" else 3 * 1024)

    def test_resources(self):
        tree = Tree(self)
        tree.v1("/kubepods/burstable/podu1")
        tree.v1("/kubepods/burstable/podu1/c-u1")
        spec = {"containers": [
            {"name": "c", "resources": {"requests": {"cpu": "250m", "memory": "64Mi", "ephemeral-storage": "1G",
                                                     "nvidia.com/gpu": "2", "hugepages-2Mi": "1.5Gi"},
                                        "limits": {"cpu": "0.5", "memory": "128e6"}}},
            {"name": "d", "resources": {"requests": {"memory": "1k", "odd": "12parsecs"}}}],
            "initContainers": [{"name": "i", "resources": {"requests": {"cpu": "3"}}},
                               {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "100m"}}}],
            "overhead": {"cpu": "50m"}}
        kubelet = FakeKubelet(self, [pod("p", "u1", "Burstable", spec=spec)])
        agent = Agent(self, kubernetes_node(kubelet.url), "--metrics-listen", "127.0.0.1:0", host_root=tree.root).start()
        scrape = agent.until(lambda s: s.tasks())
        self.assertEqual(scrape.get("task_requested_cpus"), 0.35)
        self.assertEqual(scrape.get("task_requested_mem_bytes"), 64 * 2**20 + 1000)
        self.assertEqual(scrape.get("plimsoll_agent_node_sync_errors_total", reason="bad_pod"), 1)
        found = json.loads(agent.get("/state"))["tasks"][0]["resources"]
        wanted = {"cpus": 0.35, "mem": 67109864, "disk": 1e9, "requests_cpus": 0.35, "requests_cpu": 0.35, "limits_cpus": 0.5,
                  "limits_cpu": 0.5, "requests_mem": 67109864, "requests_memory": 67109864, "limits_mem": 1.28e8,
                  "limits_memory": 1.28e8, "requests_ephemeral-storage": 1e9, "requests_nvidia.com/gpu": 2,
                  "requests_hugepages-2Mi": 1610612736, "effective_cpus": 3.05, "effective_mem": 67109864}
        self.assertEqual({key: round(value, 9) for key, value in found.items()}, wanted)

    def test_quantities_of_every_kind(self):
        tree = Tree(self)
        tree.v1("/kubepods/burstable/podu1")
        tree.v1("/kubepods/burstable/podu1/c-u1")
        amounts = {"250m": 0.25, "0.5": 0.5, "64Mi": 67108864, "1.5Gi": 1610612736, "1G": 1e9, "128e6": 1.28e8, "2E": 2e18, "100m": 0.1,
                   "1k": 1000, "1K": 1000, "3E2": 300, "5n": 5e-9, "7u": 7e-6, "1Ki": 1024, "2Ti": 2 * 2**40, "1P": 1e15, "1Ei": 2**60, "2": 2}
        spec = {"containers": [{"name": "c", "resources": {
            "requests": {f"example.com/r{i}": text for i, text in enumerate(amounts)},
            "limits": {"memory": "100m", "ephemeral-storage": "2Gi"}}}], "resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}
        kubelet = FakeKubelet(self, [pod("p", "u1", "Burstable", spec=spec)])
        agent = Agent(self, kubernetes_node(kubelet.url), "--metrics-listen", "127.0.0.1:0", host_root=tree.root).start()
        agent.until(lambda s: s.tasks())
        found = json.loads(agent.get("/state"))["tasks"][0]["resources"]
        for i, (text, value) in enumerate(amounts.items()):
            self.assertAlmostEqual(found[f"requests_example.com/r{i}"], value, delta=value * 1e-12, msg=text)
        for key, value in {"limits_mem": 0.1, "limits_memory": 0.1, "limits_ephemeral-storage": 2**31, "effective_cpus": 2,
                           "effective_mem": 2**30}.items():
            self.assertEqual(found[key], value, key)
        self.assertFalse({"cpus", "mem", "disk", "requests_cpus", "limits_cpus"} & set(found))

    def test_a_driver_that_is_named_is_obeyed(self):
        tree = Tree(self)
        for driver, cpu in (("cgroupfs", 1), ("systemd", 2)):
            tree.v1(pod_path(driver, "Burstable", "u1"))
            tree.v1(container_path(driver, "Burstable", "u1", "c"), cpu=cpu * 1_000_000_000)
        kubelet = FakeKubelet(self, [pod("p", "u1", "Burstable")])
        for driver, cpu in (("systemd", 2), ("!CgroupDriverType systemd", 2), ("cgroupfs", 1), ("auto", 1)):
            scrape = Agent(self, kubernetes_node(kubelet.url, cgroup_driver=driver), host_root=tree.root).once()
            self.assertEqual(scrape.get("task_cpu_usage_seconds"), cpu, driver)

    def test_a_new_pod_is_seen_long_before_the_next_poll(self):
        tree = Tree(self)
        tree.v1("/kubepods/besteffort")
        kubelet = FakeKubelet(self)
        agent = Agent(self, kubernetes_node(kubelet.url, node_sync_interval=600), host_root=tree.root).start()
        agent.until(lambda s: s.get("plimsoll_agent_source_up", source="node") == 1)
        self.assertEqual(agent.scrape().tasks(), [])
        kubelet.pods = [pod("p", "u1")]
        tree.v1("/kubepods/besteffort/podu1")
        tree.v1("/kubepods/besteffort/podu1/c-u1")
        agent.until(lambda s: s.tasks() == ["default/p"])

    def test_no_requests_no_lines(self):
        tree = Tree(self)
        tree.v1("/kubepods/besteffort/podu1")
        tree.v1("/kubepods/besteffort/podu1/c-u1")
        scrape = Agent(self, kubernetes_node(FakeKubelet(self, [pod("p", "u1")]).url), host_root=tree.root).once()
        self.assertEqual(scrape.tasks(), ["default/p"])
        self.assertNotIn("task_requested_cpus", scrape.types)
        self.assertNotIn("task_requested_mem_bytes", scrape.types)

    def test_a_list_shaped_like_kubernetes_1_13(self):
        tree = Tree(self)
        tree.v1("/kubepods/besteffort/podu1")
        tree.v1("/kubepods/besteffort/podu1/c-u1")
        old = pod("p", "u1", runtime="docker")
        del old["status"]["qosClass"], old["status"]["initContainerStatuses"], old["metadata"]["annotations"]
        scrape = Agent(self, kubernetes_node(FakeKubelet(self, [old]).url), host_root=tree.root).once()
        self.assertEqual(scrape.labels("task_up")[0]["app_kubernetes_io__qos_class"], "besteffort")


class Faults(unittest.TestCase):
    def setUp(self):
        self.tree = Tree(self)
        for uid in ("u1", "u2"):
            self.tree.v1(f"/kubepods/besteffort/pod{uid}")
            self.tree.v1(f"/kubepods/besteffort/pod{uid}/c-{uid}")
        self.pods = [pod("one", "u1"), pod("two", "u2")]
        self.kubelet = FakeKubelet(self, self.pods)

    def agent(self, metrics_listen=False):
        words = ["--metrics-listen", "127.0.0.1:0"] if metrics_listen else []
        return Agent(self, kubernetes_node(self.kubelet.url, node_sync_interval=0.05, timeout=1), *words, host_root=self.tree.root)

    def test_bodies_that_do_not_end(self):
        """Nobody needs rights to ask for metrics. The agent keeps within the memory that deploy/agent gives it."""
        agent = self.agent(metrics_listen=True).start()
        host, port = agent.url().removeprefix("http://").rsplit(":", 1)
        head, body = f"GET /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: {3 << 20}\r\n\r\n".encode(), bytes((3 << 20) - 1)
        for source in ("127.0.0.1", "127.0.0.2"):
            for _ in range(45):
                slow = socket.create_connection((host, int(port)), timeout=20, source_address=(source, 0))
                self.addCleanup(slow.close)
                with contextlib.suppress(OSError):  # it may be cut off
                    slow.sendall(head + body)
        self.assertIn("plimsoll_agent_iterations_total", agent.get("/metrics"))
        with open(f"/proc/{agent.process.pid}/status") as file:
            most = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
        self.assertLess(most, 64 << 10, "KiB")

    def test_a_day_of_faults(self):
        """One process through all of them; the tasks that have no part in a fault are in every scrape."""
        self.tree.v1("/kubepods/besteffort/podu3")
        self.tree.v1("/kubepods/besteffort/podu3/c-u3")
        self.kubelet.pods = [*self.pods, pod("three", "u3")]
        agent = self.agent(metrics_listen=True)
        place = agent.place / "sub"
        place.mkdir()
        agent.config.write_text(agent.config.read_text().replace("/metrics.prom", "/sub/metrics.prom"))
        agent.storage = place / "metrics.prom"
        agent.start()
        pid = agent.process.pid
        steady = {"default/one", "default/two"}
        seen = []

        def until(check, what):
            def look():
                scrape = Scrape(agent.get("/metrics"))
                if seen or steady <= set(scrape.tasks()):  # from the first list on
                    self.assertLessEqual(steady, set(scrape.tasks()), what)
                    seen.append(scrape)
                return check(scrape) and scrape
            return eventually(look, seconds=30, what=what)

        def errors(scrape, reason):
            return scrape.get("plimsoll_agent_node_sync_errors_total", reason=reason) or 0
        until(lambda s: len(s.tasks()) == 3, "three tasks")
        body = json.dumps({"items": self.kubelet.pods})

        def silence(handler):
            time.sleep(1.5)
            handler.close_connection = True

        def half(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            handler.wfile.write(body[:40].encode())
            handler.close_connection = True

        for answer, reason in (((500, "boom"), "http_5xx"), ((401, ""), "http_401"), ((403, "no"), "http_403"), ((404, ""), "http_4xx"),
                               ((200, "<html>hello</html>"), "bad_json"), ((200, body[:-30]), "bad_json"), ((200, "{}"), "bad_json"),
                               (silence, "timeout"), (half, "connect")):
            before = errors(seen[-1], reason)
            self.kubelet.answer = answer
            failed = until(lambda s: errors(s, reason) > before, reason)
            self.assertEqual(failed.get("plimsoll_agent_source_up", source="node", reason=reason), 0)
            self.kubelet.answer = None
            until(lambda s: s.get("plimsoll_agent_source_up", source="node", reason="") == 1, f"better times after {reason}")
        # A cgroup goes between list and reading; pods make no sense; the disk is gone.
        self.tree.remove("/kubepods/besteffort/podu3")
        until(lambda s: s.get("plimsoll_agent_task_read_errors_total", kind="vanished"), "the vanished task")
        wrong = pod("wrong", "u4")
        wrong["spec"]["containers"] = [{"name": "c", "resources": {"requests": {"cpu": "many", "nvidia.com/gpu": "1"}}}]
        self.kubelet.pods = [{"metadata": {}}, *self.pods, wrong]
        until(lambda s: errors(s, "bad_pod") >= 2, "bad pods")
        shutil.rmtree(place)
        until(lambda s: s.get("plimsoll_agent_storage_errors_total", storage="LogStorage"), "the failing storage")
        place.mkdir()
        eventually(agent.storage.exists)
        self.assertEqual((agent.process.pid, agent.process.poll()), (pid, None))
        self.assertEqual(seen[-1].get("plimsoll_agent_node_sync_errors_total", reason="bad_json"), 3)

    def test_who_may_not_is_told_the_missing_right(self):
        for status in (401, 403):
            self.kubelet.answer = (status, "")
            agent = self.agent()
            agent.once()
            self.assertIn("nodes/pods", agent.log_text)

    def test_a_kubelet_that_is_down_is_asked_less_and_less_often(self):
        times = []

        def note(handler):
            times.append(time.monotonic())
            handler.send_response(500)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
        self.kubelet.answer = note
        self.agent().start()
        eventually(lambda: len(times) >= 3, seconds=20)
        pauses = [round(later - earlier) for earlier, later in zip(times, times[1:])]
        self.assertEqual(pauses[:2], [1, 2])

    def test_an_outage_keeps_the_last_list(self):
        agent = self.agent().start()
        agent.until(lambda s: len(s.tasks()) == 2)
        self.kubelet.answer = (500, "boom")
        scrape = agent.until(lambda s: s.get("plimsoll_agent_node_sync_errors_total", reason="http_5xx"))
        self.assertEqual(scrape.tasks(), ["default/one", "default/two"])
        self.assertEqual(scrape.get("plimsoll_agent_source_up", source="node"), 0)
        self.kubelet.stop()
        scrape = agent.until(lambda s: s.get("plimsoll_agent_node_sync_errors_total", reason="connect"))
        self.assertEqual(scrape.tasks(), ["default/one", "default/two"])
        self.tree.remove("/kubepods/besteffort/podu1")
        agent.until(lambda s: s.tasks() == ["default/two"])
        self.assertEqual(agent.logged().count("cannot get the list of pods"), 1)  # once a minute

    def test_iterations_that_take_too_long_are_counted(self):
        def slow(handler):
            data = json.dumps({"items": self.pods}).encode()
            time.sleep(0.2)
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        self.kubelet.answer = slow
        waiting = Agent(self, kubernetes_node(self.kubelet.url, node_sync_interval=0), host_root=self.tree.root).start()
        waiting.until(lambda s: s.get("plimsoll_agent_overruns_total") >= 2)
        apart = self.agent().start()  # asks beside the loop, which never waits
        scrape = apart.until(lambda s: s.get("plimsoll_agent_iterations_total") >= 20)
        self.assertLess(scrape.get("plimsoll_agent_overruns_total"), 10)

    def test_one_bad_pod_spoils_nothing(self):
        wrong = pod("wrong", "u3")
        wrong["spec"]["containers"] = "none"
        nameless = pod("", "u4")
        lost = pod("lost", "u5")  # has no cgroup
        self.kubelet.pods = [wrong, *self.pods, nameless, lost, {"metadata": None}]
        agent = self.agent().start()
        scrape = agent.until(lambda s: "lost" in agent.logged())
        self.assertEqual(scrape.tasks(), ["default/one", "default/two"])
        self.assertGreaterEqual(agent.next_scrape().get("plimsoll_agent_node_sync_errors_total", reason="bad_pod"), 4)

    def test_a_new_container_continues_the_counter(self):
        path = "/kubepods/besteffort/podu1"
        self.tree.v1(f"{path}/c-u1", cpu=50_000_000_000)
        agent = self.agent().start()
        agent.until(lambda s: s.get("task_cpu_usage_seconds", task_name="default/one") == 50)
        self.tree.v1(f"{path}/new", cpu=1_000_000_000)
        self.tree.remove(f"{path}/c-u1")
        changed = pod("one", "u1")
        changed["status"]["containerStatuses"][0]["containerID"] = "containerd://new"
        self.kubelet.pods = [changed, self.pods[1]]
        last = 0.0
        for _ in range(1000):
            value = agent.scrape().get("task_cpu_usage_seconds", task_name="default/one")
            if value is not None:
                self.assertGreaterEqual(value, last)
                last = value
            if last == 51:
                break
            time.sleep(0.01)
        self.assertEqual(last, 51)
        # Gone from the list for a while, then back: it still goes on, and what the container used before counts once.
        for used, total in ((1, 51), (3, 53), (0.5, 53.5)):  # the last one was made anew meanwhile
            self.kubelet.pods = [self.pods[1]]
            agent.until(lambda s: s.tasks() == ["default/two"])
            self.tree.v1(f"{path}/new", cpu=int(used * 1_000_000_000))
            self.kubelet.pods = [changed, self.pods[1]]
            back = agent.until(lambda s: "default/one" in s.tasks())
            self.assertEqual(back.get("task_cpu_usage_seconds", task_name="default/one"), total)


class Secured(unittest.TestCase):
    def setUp(self):
        self.place = directory(self)
        certificates(self.place)
        self.tree = Tree(self)
        self.tree.v1("/kubepods/besteffort/podu1")
        self.tree.v1("/kubepods/besteffort/podu1/c-u1")

    def agent(self, kubelet, **options):
        """Each iteration waits for the answer, so that one is enough."""
        return Agent(self, kubernetes_node(kubelet.url, node_sync_interval=0, **options), host_root=self.tree.root)

    def test_client_certificates_of_both_kinds(self):
        kubelet = FakeKubelet(self, [pod("p", "u1")], server_tls(self.place))
        ssl = (f"!SSL {{server_verify: {self.place}/ca.crt, client_cert_path: {self.place}/client.crt, "
               f"client_key_path: {self.place}/client.key}}")
        self.assertEqual(self.agent(kubelet, ssl=ssl).once().tasks(), ["default/p"])
        seed = self.agent(kubelet, client_cert=self.place / "client.crt", client_private_key=self.place / "client.key")
        self.assertEqual(seed.once().tasks(), ["default/p"])
        both = self.place / "both.pem"
        both.write_text((self.place / "client.crt").read_text() + (self.place / "client.key").read_text())
        one = f"!SSL {{server_verify: {self.place}/ca.crt, client_cert_path: {both}}}"
        self.assertEqual(self.agent(kubelet, ssl=one).once().tasks(), ["default/p"])
        without = self.agent(kubelet, ssl=f"!SSL {{server_verify: {self.place}/ca.crt}}").once()
        self.assertEqual(without.get("plimsoll_agent_source_up", source="node"), 0)
        self.assertEqual(without.get("plimsoll_agent_node_sync_errors_total", reason="tls"), 1)

    def test_a_strange_authority_is_refused_and_the_agent_runs_on(self):
        kubelet = FakeKubelet(self, [pod("p", "u1")], server_tls(self.place, client_certificates=False))
        other = directory(self)
        certificates(other)
        agent = self.agent(kubelet, server_cert_ca_path=other / "ca.crt", ssl="!SSL {server_verify: true}").start()
        agent.until(lambda s: s.get("plimsoll_agent_node_sync_errors_total", reason="tls"))
        agent.next_scrape()
        self.assertIsNone(agent.process.poll())
        self.assertEqual(kubelet.requests, [])

    def test_tokens_are_sent_and_reread(self):
        kubelet = FakeKubelet(self, [pod("p", "u1")], server_tls(self.place, client_certificates=False))
        token = self.place / "token"
        token.write_text("first\n")
        agent = self.agent(kubelet, server_cert_ca_path=self.place / "ca.crt", client_token_path=token).start()

        def sent():
            return {headers.get("Authorization") for _, headers in kubelet.requests}
        eventually(lambda: "Bearer first" in sent())
        token.write_text("second\n")
        eventually(lambda: "Bearer second" in sent())
        agent.until(lambda s: s.tasks() == ["default/p"])
        self.assertNotIn("first", agent.logged())

    def test_no_token_goes_over_an_open_line(self):
        kubelet = FakeKubelet(self, [pod("p", "u1")])
        token = self.place / "token"
        token.write_text("secret")
        self.agent(kubelet, client_token_path=token).once()
        self.assertNotIn("Authorization", kubelet.requests[0][1])

    def test_the_api_server_instead(self):
        kubelet = FakeKubelet(self, [pod("p", "u1", host_ip="10.0.0.1"), pod("q", "u2", host_ip="10.0.0.2")],
                              server_tls(self.place, client_certificates=False))
        port = kubelet.url.rsplit(":", 1)[1]
        node = ("!KubernetesNode\n" + f"  kubeapi_host: 127.0.0.1\n  kubeapi_port: {port}\n  node_ip: 10.0.0.1\n"
                f"  node_name: n1\n  server_cert_ca_path: {self.place}/ca.crt\n  node_sync_interval: 0\n")
        self.assertEqual(Agent(self, node, host_root=self.tree.root).once().tasks(), ["default/p"])
        path = kubelet.requests[0][0]
        self.assertTrue(path.startswith("/api/v1/namespaces/default/pods?resourceVersion=0"), path)
        self.assertIn("spec.nodeName", path)

    def test_namespaces_of_the_api_server(self):
        pods = [pod("p", f"u{i}", namespace=namespace) for i, namespace in enumerate(("default", "a", "b"), 1)]
        for one in ("u2", "u3"):
            self.tree.v1(f"/kubepods/besteffort/pod{one}")
            self.tree.v1(f"/kubepods/besteffort/pod{one}/c-{one}")
        kubelet = FakeKubelet(self, tls=server_tls(self.place, client_certificates=False))

        def answer(handler):
            words = handler.path.split("?")[0].split("/")
            chosen = [one for one in pods if "namespaces" not in words or one["metadata"]["namespace"] == words[4]]
            data = json.dumps({"items": chosen}).encode()
            handler.send_response(200)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        kubelet.answer = answer
        port = kubelet.url.rsplit(":", 1)[1]
        for option, wanted in (("", ["default/p"]), ("  monitored_namespaces: [a, b]\n", ["a/p", "b/p"]),
                               ('  monitored_namespaces: ["*"]\n', ["a/p", "b/p", "default/p"])):
            node = (f"!KubernetesNode\n  kubeapi_host: 127.0.0.1\n  kubeapi_port: {port}\n  node_ip: ' 10.0.0.1 '\n{option}"
                    f"  server_cert_ca_path: {self.place}/ca.crt\n  node_sync_interval: 0\n")
            self.assertEqual(Agent(self, node, host_root=self.tree.root).once().tasks(), wanted)


if __name__ == "__main__":
    unittest.main()

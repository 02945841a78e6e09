#!/usr/bin/env python3
"""Volumes of our scheduler on a real API server, whose controller manager binds claims: claims that wait for their first consumer with
volumes that exist and volumes that are made, two pods that want one volume, the time limit, and a crash in between."""
import json
import sys
import unittest

from rig import ROOT, RealClusterCase
from rig.fake_nodes import fake_node

sys.path.insert(0, str(ROOT / "tests" / "e2e" / "scheduler"))
from scheduler import Scheduler, directory, pod  # noqa: E402

VOLUMES, CLASSES, CSI_NODES = "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/storageclasses", "/apis/storage.k8s.io/v1/csinodes"
ZONE = "topology.kubernetes.io/zone"
SELECTED = "volume.kubernetes.io/selected-node"
NO_VOLUME = "node(s) didn't find available persistent volumes to bind"


def storage_class(name, provisioner="kubernetes.io/no-provisioner", mode="WaitForFirstConsumer"):
    return {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}, "provisioner": provisioner,
            "volumeBindingMode": mode}


def volume(name, of_class, size="1Gi", zone=None, claim=None, modes=("ReadWriteOnce",)):
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]}}} if zone else {}
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
            "spec": {"capacity": {"storage": size}, "accessModes": list(modes), "storageClassName": of_class,
                     "csi": {"driver": "disk.example", "volumeHandle": name}, "persistentVolumeReclaimPolicy": "Retain",
                     **affinity, **({"claimRef": claim} if claim else {})}}


def claim(name, of_class, size="1Gi", modes=("ReadWriteOnce",)):
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
            "spec": {"accessModes": list(modes), "storageClassName": of_class, "resources": {"requests": {"storage": size}}}}


def using(name, *claims, **more):
    return pod(name, volumes=[{"name": one, "persistentVolumeClaim": {"claimName": one}} for one in claims], **more)


class VolumesOnARealApi(RealClusterCase):
    options = {"nodes": 0, "controller_manager": True,
               "controller_manager_flags": ("--controllers=persistentvolume-binder-controller,statefulset-controller,"
                                            "serviceaccount-controller,ephemeral-volume-controller",)}

    def setUp(self):
        super().setUp()
        self.api = self.cluster.api()
        self.addCleanup(self.api.close)
        self.namespace = self.cluster.namespace()
        self.home = f"/api/v1/namespaces/{self.namespace}"
        self.pods, self.claims = f"{self.home}/pods", f"{self.home}/persistentvolumeclaims"
        self.addCleanup(self.remove)
        self.cluster.fake_nodes([fake_node("left", labels={ZONE: "z1"}), fake_node("right", labels={ZONE: "z2"})])
        self.kubeconfig = str(self.cluster.pki.user("volume-scheduler", "/CN=system:kube-scheduler"))

    def remove(self):
        sets = f"/apis/apps/v1/namespaces/{self.namespace}/statefulsets"
        for path in (sets, self.pods, self.claims, VOLUMES, CLASSES, CSI_NODES, "/api/v1/nodes"):
            for one in self.api.get(path)["items"]:
                where = f"{path}/{one['metadata']['name']}"
                if one["metadata"].get("finalizers"):
                    self.api.merge(where, {"metadata": {"finalizers": None}})
                self.api.delete(where, gracePeriodSeconds=0)

    def scheduler(self, timeout=600, start=True):
        settings = directory(self) / "scheduler.conf"
        settings.write_text(json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": False},
            "profiles": [{"pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": timeout}}]}]}))
        made = Scheduler(self, self.kubeconfig, "--config", str(settings))
        return made.start() if start else made

    def available(self, *volumes):
        for one in volumes:
            self.api.post(VOLUMES, one)
        names = {one["metadata"]["name"] for one in volumes}
        self.cluster.eventually(lambda: names <= {one["metadata"]["name"] for one in self.api.get(VOLUMES)["items"]
                                                  if one["status"].get("phase") == "Available"}, what="available volumes")

    def node_of(self, name):
        return self.api.get(f"{self.pods}/{name}")["spec"].get("nodeName")

    def bound(self, name, seconds=30):
        return self.cluster.eventually(lambda: self.node_of(name), seconds, what=f"a node for {name}")

    def refusal(self, name):
        def said():
            conditions = self.api.get(f"{self.pods}/{name}")["status"].get("conditions", [])
            return next((one for one in conditions if one["type"] == "PodScheduled" and one["status"] == "False"), None)
        return self.cluster.eventually(said, 30, what=f"a refusal of {name}")

    def claim_of(self, name):
        return self.api.get(f"{self.claims}/{name}")

    def test_volumes_in_two_zones(self):
        """Scenario 18: the node has the volume, and what is missing is said in kube-scheduler's words."""
        self.api.post(CLASSES, storage_class("local"))
        self.available(volume("in-z1", "local", "1Gi", "z1"), volume("in-z2", "local", "5Gi", "z2"))
        self.scheduler()
        for name, size in (("large", "3Gi"), ("small", "1Gi"), ("none", "1Gi")):
            self.api.post(self.claims, claim(name, "local", size))
        self.api.post(self.pods, using("large", "large"))
        self.assertEqual(self.bound("large"), "right")
        self.api.post(self.pods, using("small", "small"))
        self.assertEqual(self.bound("small"), "left")
        for name, wanted in (("large", "in-z2"), ("small", "in-z1")):
            made = self.api.get(f"{VOLUMES}/{wanted}")
            self.assertEqual(made["spec"]["claimRef"]["name"], name)
            self.assertEqual(made["metadata"]["annotations"]["pv.kubernetes.io/bound-by-controller"], "yes")
            self.assertEqual(self.claim_of(name)["spec"]["volumeName"], wanted)
            self.assertNotIn(SELECTED, self.claim_of(name)["metadata"].get("annotations", {}))
        self.api.post(self.pods, using("none", "none"))
        self.assertIn(f"0/2 nodes are available: 2 {NO_VOLUME}.", self.refusal("none")["message"])
        self.api.post(self.pods, using("lost", "missing"))
        self.assertIn('0/2 nodes are available: persistentvolumeclaim "missing" not found.', self.refusal("lost")["message"])
        self.api.post(VOLUMES, volume("late", "local", "2Gi", "z2"))  # which wakes the pod
        self.assertEqual(self.bound("none"), "right")

    def test_a_node_holds_as_many_volumes_as_its_csi_driver_says(self):
        self.api.post(CLASSES, storage_class("disk", "disk.example"))
        for name in ("left", "right"):
            self.api.post(CSI_NODES, {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name},
                                      "spec": {"drivers": [{"name": "disk.example", "nodeID": name, "allocatable": {"count": 1}}]}})
        self.scheduler()
        for name in ("a", "b", "c"):
            self.api.post(self.claims, claim(name, "disk"))
        for name in ("a", "b"):
            self.api.post(self.pods, using(name, name))
            self.provision(name)
            self.bound(name)
        self.assertEqual({self.node_of("a"), self.node_of("b")}, {"left", "right"})
        self.api.post(self.pods, using("c", "c"))
        self.assertIn("0/2 nodes are available: 2 node(s) exceed max volume count.", self.refusal("c")["message"])
        free = self.node_of("a")
        self.api.delete(f"{self.pods}/a", gracePeriodSeconds=0)
        self.provision("c")
        self.assertEqual(self.bound("c"), free)

    def test_a_claim_for_one_pod_has_one_user(self):
        self.api.post(CLASSES, storage_class("local"))
        self.available(volume("mine", "local", modes=("ReadWriteOncePod",)))
        self.api.post(self.claims, claim("mine", "local", modes=("ReadWriteOncePod",)))
        self.scheduler()
        self.api.post(self.pods, using("first", "mine"))
        self.bound("first")
        self.api.post(self.pods, using("second", "mine"))
        self.assertIn("2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
                      self.refusal("second")["message"])
        self.api.delete(f"{self.pods}/first", gracePeriodSeconds=0)
        self.bound("second")

    def test_two_pods_race_for_one_volume(self):
        self.api.post(CLASSES, storage_class("local"))
        self.available(volume("only", "local"))
        for name in ("a", "b"):
            self.api.post(self.claims, claim(name, "local"))
            self.api.post(self.pods, using(name, name))
        self.scheduler()
        winner = self.cluster.eventually(lambda: next((one for one in ("a", "b") if self.node_of(one)), None), 30, what="a winner")
        loser = "b" if winner == "a" else "a"
        self.assertIn(NO_VOLUME, self.refusal(loser)["message"])
        self.assertEqual(self.api.get(f"{VOLUMES}/only")["spec"]["claimRef"]["name"], winner)
        self.assertIsNone(self.node_of(loser))

    def test_a_volume_that_is_never_made_runs_out_of_time(self):
        self.api.post(CLASSES, storage_class("slow", "disk.example"))
        self.api.post(self.claims, claim("a", "slow"))
        self.scheduler(timeout=2)
        self.api.post(self.pods, using("a", "a"))
        said = self.refusal("a")
        self.assertEqual(said["reason"], "SchedulerError")
        self.assertEqual(said["message"], 'running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded')
        self.assertIn(self.claim_of("a")["metadata"]["annotations"][SELECTED], ("left", "right"))
        self.assertIsNone(self.node_of("a"))
        events = f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events"
        self.cluster.eventually(lambda: said["message"] in [one.get("note") for one in self.api.get(events)["items"] if one["reason"] == "FailedScheduling"],
                                what="the event")
        self.provision("a")  # now the provisioner is there, and the pod is tried again on the same node
        self.assertEqual(self.bound("a", 60), self.claim_of("a")["metadata"]["annotations"][SELECTED])

    def provision(self, name):
        """What an external provisioner does once a node was selected."""
        made = self.cluster.eventually(lambda: (lambda one: one if SELECTED in one["metadata"].get("annotations", {}) else None)(self.claim_of(name)),
                                       30, what=f"a selected node for {name}")
        zone = self.api.get(f"/api/v1/nodes/{made['metadata']['annotations'][SELECTED]}")["metadata"]["labels"][ZONE]
        reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": self.namespace, "name": name, "uid": made["metadata"]["uid"]}
        self.api.post(VOLUMES, volume(f"made-for-{self.namespace}-{name}", made["spec"]["storageClassName"],
                                      made["spec"]["resources"]["requests"]["storage"], zone, reference))

    def test_a_stateful_set_with_claims_that_wait(self):
        self.api.post(CLASSES, storage_class("fast", "disk.example"))
        self.scheduler()
        self.api.post(f"/apis/apps/v1/namespaces/{self.namespace}/statefulsets", {
            "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db"},
            "spec": {"serviceName": "db", "replicas": 3, "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": "db"}},
                     "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [
                         {"name": "c", "image": "busybox", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}},
                     "volumeClaimTemplates": [claim("data", "fast")]}})
        names = [f"db-{at}" for at in range(3)]
        for name in names:
            self.cluster.eventually(lambda: [one for one in self.api.get(self.claims)["items"] if one["metadata"]["name"] == f"data-{name}"], 30,
                                    what=f"the claim of {name}")
        for name in names:
            self.provision(f"data-{name}")
        for name in names:
            self.assertEqual(self.bound(name), self.claim_of(f"data-{name}")["metadata"]["annotations"][SELECTED])
            self.assertEqual(self.claim_of(f"data-{name}")["spec"]["volumeName"], f"made-for-{self.namespace}-data-{name}")

    def test_a_scheduler_that_is_killed_before_the_volume_is_bound(self):
        self.api.post(CLASSES, storage_class("local"))
        self.available(volume("only", "local", zone="z2"))
        self.api.post(self.claims, claim("a", "local"))
        self.cluster.controller_manager.kill()  # nobody binds
        first = self.scheduler()
        self.api.post(self.pods, using("a", "a"))
        self.cluster.eventually(lambda: self.api.get(f"{VOLUMES}/only")["spec"].get("claimRef"), 30, what="a reserved volume")
        first.kill()
        self.assertIsNone(self.node_of("a"))
        self.cluster.controller_manager.start()
        self.scheduler()
        self.assertEqual(self.bound("a", 60), "right")
        self.assertEqual(self.api.get(f"{VOLUMES}/only")["spec"]["claimRef"]["uid"], self.claim_of("a")["metadata"]["uid"])


if __name__ == "__main__":
    unittest.main()

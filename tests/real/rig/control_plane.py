"""The command lines of etcd and of the Kubernetes programs beside the nodes."""
import json

from . import requirements
from .machine import Program
from .network import inside


def etcd(slot, pki):
    url, peers = f"https://{slot.address}:2379", "http://127.0.0.1:2380"
    return Program("etcd", [
        *inside(slot.name), requirements.etcd(), "--name", "real", "--data-dir", slot.etcd,
        "--listen-client-urls", url, "--advertise-client-urls", url,
        "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", f"real={peers}",
        "--cert-file", pki.path("etcd.crt"), "--key-file", pki.path("etcd.key"),
        "--client-cert-auth", "--trusted-ca-file", pki.path("ca.crt"),
        "--quota-backend-bytes", 4 << 30, "--log-level", "warn", "--logger", "zap"], slot.run / "etcd.log")


def apiserver(slot, pki, programs, flags):
    return Program("kube-apiserver", [
        *inside(slot.name), programs / "kube-apiserver",
        f"--etcd-servers=https://{slot.address}:2379", f"--etcd-cafile={pki.path('ca.crt')}",
        f"--etcd-certfile={pki.path('etcd-client.crt')}", f"--etcd-keyfile={pki.path('etcd-client.key')}",
        f"--bind-address={slot.address}", f"--advertise-address={slot.address}", "--secure-port=6443",
        f"--tls-cert-file={pki.path('apiserver.crt')}", f"--tls-private-key-file={pki.path('apiserver.key')}",
        f"--client-ca-file={pki.path('ca.crt')}",
        "--service-account-issuer=https://kubernetes.default.svc", f"--service-account-key-file={pki.path('service-account.key')}",
        f"--service-account-signing-key-file={pki.path('service-account.key')}",
        "--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true",
        f"--kubelet-client-certificate={pki.path('kubelet-client.crt')}",
        f"--kubelet-client-key={pki.path('kubelet-client.key')}",
        f"--kubelet-certificate-authority={pki.path('ca.crt')}", "--kubelet-preferred-address-types=InternalIP",
        f"--requestheader-client-ca-file={pki.path('front-ca.crt')}",
        "--requestheader-allowed-names=front-proxy-client", "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group", "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki.path('front-proxy.crt')}", f"--proxy-client-key-file={pki.path('front-proxy.key')}",
        "--max-requests-inflight=2000", "--max-mutating-requests-inflight=1000", *flags], slot.run / "kube-apiserver.log")


def controller_manager(slot, pki, programs, flags):
    kubeconfig = pki.path("controller-manager.kubeconfig")
    return Program("kube-controller-manager", [
        *inside(slot.name), programs / "kube-controller-manager", f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1", "--leader-elect=false", "--use-service-account-credentials=true",
        f"--service-account-private-key-file={pki.path('service-account.key')}", f"--root-ca-file={pki.path('ca.crt')}",
        f"--cluster-signing-cert-file={pki.path('ca.crt')}", f"--cluster-signing-key-file={pki.path('ca.key')}",
        "--kube-api-qps=500", "--kube-api-burst=1000", *flags], slot.run / "kube-controller-manager.log")


def scheduler(slot, pki, programs, flags, configuration):
    kubeconfig = pki.path("scheduler.kubeconfig")
    settings = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                "clientConnection": {"kubeconfig": str(kubeconfig), "qps": 5000, "burst": 10000},
                "leaderElection": {"leaderElect": False}, **configuration}
    path = slot.run / "scheduler.yaml"
    path.write_text(json.dumps(settings))
    return Program("kube-scheduler", [
        *inside(slot.name), programs / "kube-scheduler", f"--config={path}", "--bind-address=127.0.0.1",
        f"--authentication-kubeconfig={kubeconfig}", f"--authorization-kubeconfig={kubeconfig}", *flags],
        slot.run / "kube-scheduler.log")

"""Network namespaces, and the cables between them: a bridge in the control plane's, everything else plugged into it."""
from .machine import command

BRIDGE = "br0"
API_SERVICE = "10.96.0.1"  # the first address of --service-cluster-ip-range


def batch(namespace, *lines):
    where = ("-n", namespace) if namespace else ()
    command("ip", *where, "-batch", "-", input="\n".join(lines) + "\n")


def inside(namespace):
    """Words in front of a command that is to run there. Not `ip netns exec`: that hides the cgroups behind a new /sys."""
    return ("nsenter", f"--net=/run/netns/{namespace}")


def forward(namespace):
    command(*inside(namespace), "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")


def connect_control_plane(slot):
    command("ip", "netns", "add", slot.name)
    batch(slot.name, "link set lo up", f"link add {BRIDGE} type bridge forward_delay 0",
          f"addr add {slot.address}/24 dev {BRIDGE}", f"link set {BRIDGE} up")
    batch(None, f"link add {slot.link} type veth peer name host netns {slot.name}",
          f"addr add {slot.host_address}/24 dev {slot.link}", f"link set {slot.link} up",
          f"route add {slot.pod_network} via {slot.address}")
    batch(slot.name, f"link set host master {BRIDGE} up")
    forward(slot.name)
    # What kube-proxy would do for the one Service that every pod needs.
    command(*inside(slot.name), "iptables", "-t", "nat", "-A", "PREROUTING", "-d", API_SERVICE, "-p", "tcp", "--dport", 443, "-j", "DNAT",
            "--to-destination", f"{slot.address}:6443")

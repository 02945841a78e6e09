"""Room for one cluster beside others on the same machine: a number that gives names, addresses, directories and cgroups.

Whoever uses a number holds a lock on it as long as it lives. A number that nobody holds and that is not marked as kept
belonged to a run that crashed: the next one, or `./dev real down`, clears it up."""
import contextlib
import fcntl
import ipaddress
import json
import os
import pathlib
import shutil
import time

from .machine import NETNS, RigFailure, command, kill_all_in

RUN = pathlib.Path("/run/plimsoll-real")  # pids, sockets, logs, keys
STATE = pathlib.Path("/var/lib/plimsoll-real")  # what nodes keep: images, pods
MEMORY = pathlib.Path("/dev/shm")  # etcd syncs every write; in memory that costs nothing
ENOUGH_MEMORY = 1 << 30  # containers often have only 64 MiB there, which etcd's first log file fills
CGROUPS = pathlib.Path("/sys/fs/cgroup")
NUMBERS = range(40)
TESTS_OF_THE_RIG = range(40, 60)  # which must know that nobody else takes the number they just gave back


def cgroup_hierarchies():
    """The one of version 2, or all of version 1 beside it."""
    if (CGROUPS / "cgroup.procs").exists():
        return [CGROUPS]
    return [place for place in CGROUPS.iterdir() if (place / "cgroup.procs").exists()]


class Slot:
    def __init__(self, number):
        self.number = number
        self.name = f"plimsoll-real-{number}"  # of the control plane's network namespace and of the cgroups
        self.run, self.state, self.memory = RUN / str(number), STATE / str(number), MEMORY / self.name
        self.etcd = (self.memory if shutil.disk_usage(MEMORY).free > ENOUGH_MEMORY else self.run) / "etcd"
        self.link = f"plimreal{number}"  # this machine's end of the cable into the cluster
        self.network = ipaddress.ip_network(f"10.99.{number}.0/24")
        self.address, self.host_address = str(self.network[1]), str(self.network[254])
        self.pod_network = ipaddress.ip_network(f"10.{128 + number}.0.0/16")
        self.lock = None

    def hold(self):
        """False if somebody else has it. Call inside alone(), as release() too: locks are files that come and go."""
        RUN.mkdir(mode=0o755, exist_ok=True)
        lock = open(RUN / f"{self.number}.lock", "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return False
        self.lock = lock
        return True

    def release(self):
        pathlib.Path(self.lock.name).unlink()
        self.lock.close()
        self.lock = None

    def namespaces(self):
        if not NETNS.is_dir():
            return []
        return sorted(entry for entry in os.listdir(NETNS) if entry == self.name or entry.startswith(f"{self.name}-"))

    # --- clusters that outlive the process that made them

    def keep(self, facts):
        (self.run / "kept.json").write_text(json.dumps(facts))

    def kept(self):
        try:
            return json.loads((self.run / "kept.json").read_text())
        except FileNotFoundError:
            return None

    # --- clearing up

    def is_used(self):
        return any(directory.exists() for directory in self.directories()) or bool(self.namespaces())

    def directories(self):
        return self.run, self.state, self.memory

    def clear(self):
        """Removes everything of the cluster, whoever made it and however far that had come. Call with the lock held."""
        namespaces = self.namespaces()
        kill_all_in(namespaces)
        command("ip", "link", "del", self.link, check=False)
        for name in namespaces:
            command("ip", "netns", "del", name)
        self.remove_mounts()
        self.remove_cgroups()
        for directory in self.directories():
            shutil.rmtree(directory, ignore_errors=True)
        left = [str(path) for path in self.directories() if path.exists()]
        if left:
            raise RigFailure(f"cannot remove {', '.join(left)}")

    def remove_mounts(self):
        """None is made outside of the nodes' own mount namespaces; tests may have."""
        with open("/proc/self/mountinfo") as table:
            places = [line.split()[4] for line in table]
        for place in reversed(places):
            if any(pathlib.Path(place).is_relative_to(directory) for directory in self.directories()):
                command("umount", "-l", place, check=False)

    def cgroups(self):
        return [hierarchy / self.name for hierarchy in cgroup_hierarchies() if (hierarchy / self.name).is_dir()]

    def remove_cgroups(self):
        for top in self.cgroups():
            deepest_first = [pathlib.Path(place) for place, _, _ in os.walk(top, topdown=False)]
            for group in deepest_first:
                deadline = time.monotonic() + 5
                while True:
                    try:
                        group.rmdir()
                        break
                    except FileNotFoundError:
                        break
                    except OSError as busy:  # the kernel takes a moment to forget the processes that were in it
                        if time.monotonic() > deadline:
                            raise RigFailure(f"cannot remove the cgroup {group}: {busy}") from busy
                        time.sleep(0.01)


@contextlib.contextmanager
def alone():
    """While one run looks for room, changes the machine's links or clears up, others wait."""
    RUN.mkdir(mode=0o755, exist_ok=True)
    with open(RUN / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def every_slot():
    return (Slot(number) for number in (*NUMBERS, *TESTS_OF_THE_RIG))


def claim(numbers=NUMBERS):
    """A free slot, held. Leftovers of crashed runs are cleared on the way. Call inside alone()."""
    addresses = [ipaddress.ip_address(entry["local"]) for link in json.loads(command("ip", "-j", "-4", "addr"))
                 for entry in link["addr_info"]]
    clear_leftovers()
    for slot in map(Slot, numbers):
        if any(address in slot.network for address in addresses):
            continue  # in use, by a cluster or by something else on this machine
        if slot.hold():
            if not slot.is_used():
                return slot
            slot.release()
    raise RigFailure("no room for another cluster; ./dev real down --all removes those that were kept")


def clear_leftovers():
    """Clears what nobody holds and nobody wanted kept; the number of clusters that were."""
    cleared = 0
    for slot in every_slot():
        if slot.is_used() and slot.hold():
            if slot.is_used() and not slot.kept():
                slot.clear()
                cleared += 1
            slot.release()
    return cleared

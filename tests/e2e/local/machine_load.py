"""How much of this machine others had while a test measured: what is promised of a quiet one is not asked of a busy one. Not a test itself."""
import os
import pathlib


def machine_ticks():
    """Of all cores together: busy ones, and all."""
    numbers = [int(word) for word in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return sum(numbers) - numbers[3] - numbers[4], sum(numbers)  # idle, and waiting for a disk


def ticks_of(pid):
    """With the children that it has waited for."""
    return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))


class OthersLoad:
    """From when it is made. What this process, `pids` and their children that have ended used is not others'."""
    QUIET = 0.3

    def __init__(self, *pids):
        self.pids = (os.getpid(), *pids)
        self.before = self.now()

    def now(self):
        busy, all_of_it = machine_ticks()
        return busy - sum(ticks_of(pid) for pid in self.pids), all_of_it

    def share(self):
        (busy, whole), (busy_before, whole_before) = self.now(), self.before
        return max(0.0, (busy - busy_before) / max(1, whole - whole_before))


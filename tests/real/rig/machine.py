"""What the rig asks of the machine: commands, processes with their namespaces, waiting. Nothing here knows Kubernetes."""
import concurrent.futures
import os
import pathlib
import select
import signal
import subprocess

NETNS = pathlib.Path("/run/netns")


class RigFailure(Exception):
    """The rig could not do what it was asked for, or a part of it died; says why, with the tail of the log."""


def command(*words, input=None, check=True, timeout=60, **options):
    done = subprocess.run([str(word) for word in words], input=input, stdin=None if input else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout, **options)
    if check and done.returncode:
        raise RigFailure(f"{' '.join(map(str, words))} ended with {done.returncode}\n{input or ''}{done.stdout}")
    return done.stdout


def at_once(*jobs):
    """Calls each; returns when all are done, and fails if one did."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for job in [pool.submit(job) for job in jobs]:
            job.result()


def tail(path, lines=15):
    try:
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
    except FileNotFoundError:
        return "(no log)"


class Program:
    """A long-running child with a log of its own, which may be stopped, killed and started again. It outlives us, so that a
    cluster can be kept; whoever clears up finds it by the network namespace it runs in."""

    def __init__(self, name, words, log, **options):
        self.name, self.words, self.log, self.options = name, [str(word) for word in words], log, options
        self.child = None

    def start(self, *more_words):
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen([*self.words, *more_words], stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                          start_new_session=True, **self.options)

    @property
    def pid(self):
        return self.child.pid

    def check(self):
        """RigFailure if it was started, not stopped by us, and is gone."""
        if self.child and self.child.poll() is not None:
            ended, self.child = self.child.returncode, None
            raise RigFailure(f"{self.name} ended with {ended}; the end of {self.log}:\n{tail(self.log)}")

    def kill(self, number=signal.SIGKILL):
        if self.child:
            self.child.send_signal(number)
            self.child.wait()
            self.child = None


def net_namespace_of(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def kill_all_in(namespaces):
    """Ends every process inside the named network namespaces. They are the rig's alone, so whatever runs there is too."""
    ours = {net_namespace_of(NETNS / name) for name in namespaces} - {None}
    if not ours:
        return
    for _ in range(100):
        doomed = []
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or net_namespace_of(f"/proc/{entry}/ns/net") not in ours:
                continue
            try:
                handle = os.pidfd_open(int(entry))
            except ProcessLookupError:
                continue
            # Asked again now that the handle is held: the number may have gone to somebody else in between.
            if net_namespace_of(f"/proc/{entry}/ns/net") in ours:
                doomed.append(handle)
            else:
                os.close(handle)
        if not doomed:
            return
        for handle in doomed:
            try:
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for handle in doomed:
            select.select([handle], [], [], 10)
            os.close(handle)
    raise RigFailure(f"processes in {', '.join(namespaces)} cannot be ended")

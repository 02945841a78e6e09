"""When processes became the program they run and when they ended, by the kernel's own clock: no wait for a core blurs it.

Needs root and a kernel with CONFIG_PROC_EVENTS; without, nothing is told and why_not says so.
"""
import errno
import os
import socket
import struct
import threading

NETLINK_CONNECTOR, GROUP_OF_PROCESSES, LISTEN = 11, 1, 1
EXEC, COMM, EXIT = 2, 0x200, 0x80000000
SO_RCVBUFFORCE = 33


class KernelTimes:
    """Listens from when it is made. times() has, by the name that a process gave itself, when it was executed and when it ended, in
    nanoseconds of CLOCK_MONOTONIC; some are missing when the kernel had to drop messages."""

    def __init__(self):
        self.why_not = "the kernel does not tell us of processes"
        self.executed, self.names, self.ended = {}, {}, {}
        self.dropped = False
        self.socket = None
        try:
            self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, NETLINK_CONNECTOR)
            self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
            self.socket.bind((0, GROUP_OF_PROCESSES))
            request = struct.pack("IIIIHHI", GROUP_OF_PROCESSES, 1, 0, 0, 4, 0, LISTEN)
            self.socket.send(struct.pack("IHHII", 16 + len(request), 3, 0, 0, os.getpid()) + request)
        except OSError as error:
            self.why_not += f" ({error})"
            return
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                event = self.socket.recv(4096)[36:]
            except OSError as error:
                if error.errno == errno.ENOBUFS:
                    self.dropped = True
                    continue
                if error.errno != errno.EBADF:  # closed
                    self.why_not += f" any more ({error})"
                return
            what, _, when, pid, process = struct.unpack_from("IIQII", event)
            if pid != process:
                continue  # a thread
            if what == EXEC:
                self.executed[pid] = when
            elif what == COMM:
                self.names[pid] = event[24:40].partition(b"\0")[0].decode(errors="replace")
            elif what == EXIT and pid in self.names and pid in self.executed:
                self.ended[self.names.pop(pid)] = self.executed.pop(pid), when

    def times(self):
        return dict(self.ended)

    def close(self):
        if self.socket:
            self.socket.close()

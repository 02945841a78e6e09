"""A disk whose power fails: what may be left of files whose changes were recorded. Not a test itself.

The model is stricter than any file system. The data of a file is durable once the file was synced, a name once its directory
was, and a sync of one says nothing about the other. Whatever is not durable may be there or not, in any order: each write by
itself and any part of it, each change of a name. Only a rename within a directory happens completely or not at all.
"""
import collections
import os
import pathlib
import random
import shutil
import struct

Change = collections.namedtuple("Change", "kind name data at inode number")
HEADER = struct.Struct("<IIQQQQ")
# What else than the durable part is there: nothing, all but the end of some file's changes, only names, only data, anything, all.
MODES = ("synced", "torn", "torn", "names", "data", "any", "any", "any", "written")


class NotModelled(Exception):
    pass


def read_log(path):
    """What recorder.c wrote, in the order in which it took effect."""
    text, at, changes = pathlib.Path(path).read_bytes(), 0, []
    while at < len(text):
        kind, name_size, data_size, time, inode, number = HEADER.unpack_from(text, at)
        at += HEADER.size
        name = text[at:at + name_size].decode()
        at += name_size
        changes.append(Change(chr(kind), name, text[at:at + data_size], time, inode, number))
        at += data_size
    return changes


class File:
    def __init__(self, content=b""):
        self.durable = bytearray(content)
        self.pending = []  # (sequence, offset, bytes; None: cut off there)

    def sync(self, before):
        for _, offset, data in (change for change in self.pending if change[0] < before):
            store(self.durable, offset, data)
        self.pending = [change for change in self.pending if change[0] >= before]

    def after_cut(self, mode, luck):
        content = bytearray(self.durable)
        if mode in ("written", "data"):
            kept = [change[1:] for change in self.pending]
        elif mode == "torn" and self.pending:
            first_lost = luck.randrange(len(self.pending))
            kept = [change[1:] for change in self.pending[:first_lost]] + [part_of(self.pending[first_lost], luck)]
        elif mode == "any":
            kept = [part_of(change, luck) if luck.random() < 0.3 else change[1:] for change in self.pending if luck.random() < 0.6]
        else:
            kept = []
        for offset, data in kept:
            store(content, offset, data)
        return content


class Directory:
    def __init__(self):
        self.durable, self.now = {}, {}
        self.pending = []  # (sequence, {name: what it means from then on, or None})

    def change(self, sequence, names):
        self.pending.append((sequence, names))
        rename(self.now, names)

    def sync(self, before):
        for _, names in (change for change in self.pending if change[0] < before):
            rename(self.durable, names)
        self.pending = [change for change in self.pending if change[0] >= before]

    def after_cut(self, mode, luck):
        share = {"written": 1, "torn": 1, "names": 1, "any": 0.6}.get(mode, 0)
        found = dict(self.durable)
        for _, names in self.pending:
            if luck.random() < share:
                rename(found, names)
        return found


class Link:
    def __init__(self, target):
        self.target = target


def rename(found, names):
    for name, node in names.items():
        if node is None:
            found.pop(name, None)
        else:
            found[name] = node


def store(content, offset, data):
    if len(content) < offset:
        content.extend(bytes(offset - len(content)))
    if data is None:
        del content[offset:]
    else:
        content[offset:offset + len(data)] = data


def part_of(change, luck):
    _, offset, data = change
    return offset, data if data is None else data[:luck.randrange(len(data))]


class Disk:
    """The files below `root`: as they are now, all durable, and then as recorded changes make them."""

    def __init__(self, root):
        self.place, self.root, self.files, self.syncs, self.sequence = pathlib.Path(root), Directory(), {}, {}, 0
        for folder, folders, files in os.walk(root):
            node = self.find(folder)
            for name in folders:
                node.durable[name] = node.now[name] = Directory()
            for name in files:
                path = pathlib.Path(folder, name)
                node.durable[name] = node.now[name] = self.files[path.stat().st_ino] = File(path.read_bytes())

    def find(self, path):
        node = self.root
        for part in pathlib.Path(os.path.relpath(path, self.place)).parts:
            node = node.now.get(part) if isinstance(node, Directory) else None
        return node

    def parent(self, path):
        path = os.path.normpath(path)
        return self.find(os.path.dirname(path)), os.path.basename(path)

    def apply(self, change):
        self.sequence += 1
        if change.kind == "o":
            self.opened(change)
        elif change.kind == "w":
            self.files[change.inode].pending.append((self.sequence, change.number, change.data))
        elif change.kind == "t":
            self.files[change.inode].pending.append((self.sequence, change.number, None))
        elif change.kind == "s":
            node = self.find(change.name)
            node = node if isinstance(node, Directory) else self.files.get(change.inode)
            self.syncs[change.inode, change.number] = node, self.sequence
        elif change.kind == "S":
            node, before = self.syncs.pop((change.inode, change.number))
            if node:  # else it is a directory that was deleted
                node.sync(before)
        elif change.kind == "r":
            (source, old), (target, new) = self.parent(change.name), self.parent(change.data.decode())
            if source is not target:
                raise NotModelled(f"a rename to another directory: {change.name}")
            source.change(self.sequence, {old: None, new: source.now[old]})
        elif change.kind == "u":
            directory, name = self.parent(change.name)
            if name in directory.now:  # else it is a socket
                directory.change(self.sequence, {name: None})
        elif change.kind in "dl":
            directory, name = self.parent(change.name)
            directory.change(self.sequence, {name: Directory() if change.kind == "d" else Link(change.data.decode())})
        elif change.kind != "m" or not change.name.endswith("-shm"):
            raise NotModelled(f"{change.kind} of {change.name}")

    def opened(self, change):
        directory, name = self.parent(change.name)
        file = directory.now.get(name)
        if file is None:
            file = File()
            directory.change(self.sequence, {name: file})
        elif change.number & os.O_TRUNC:
            file.pending.append((self.sequence, 0, None))
        self.files[change.inode] = file

    def after_cut(self, mode, luck):
        """The paths of directories (None), links and files (bytes) that are left."""
        found, open_directories = {}, [("", self.root)]
        while open_directories:
            path, directory = open_directories.pop()
            for name, node in directory.after_cut(mode, luck).items():
                inner = os.path.join(path, name)
                if isinstance(node, Directory):
                    found[inner] = None
                    open_directories.append((inner, node))
                elif isinstance(node, Link):
                    found[inner] = node
                elif not name.endswith("-shm"):  # an index that SQLite makes anew
                    found[inner] = node.after_cut(mode, luck)
        return found

    def put(self, found):
        """Replaces what is below the root."""
        for entry in self.place.iterdir():
            shutil.rmtree(entry) if entry.is_dir() and not entry.is_symlink() else entry.unlink()
        for path in sorted(found):
            node, place = found[path], self.place / path
            if node is None:
                place.mkdir(mode=0o700)
            elif isinstance(node, Link):
                place.symlink_to(node.target)
            else:
                with open(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                    file.write(node)

    def differences(self):
        """Between the recorded and the real files, which shows changes that the recorder does not see."""
        recorded = {path: bytes(node) for path, node in self.after_cut("written", random.Random()).items() if isinstance(node, bytearray)}
        real = {str(path.relative_to(self.place)): path.read_bytes() for path in self.place.rglob("*")
                if path.is_file() and not path.is_symlink() and not path.name.endswith("-shm")}
        return sorted(path for path in recorded.keys() | real.keys() if recorded.get(path) != real.get(path))


class PowerCut:
    """One moment at which the power fails."""

    def __init__(self, number, last, moment, mode):
        self.number, self.last, self.moment, self.mode = number, last, moment, mode

    def __str__(self):
        name = f"{self.last.kind} {os.path.basename(self.last.name)}" if self.last else "the start"
        return f"cut {self.number} ({self.mode}), after {name}"


def cuts(disk, changes, seed, most):
    """Moments of a power cut with what each leaves, about `most` of them: half after syncs, the others around changes of names
    and anywhere."""
    luck = random.Random(seed)
    synced = [number + 1 for number, change in enumerate(changes) if change.kind == "S"]
    named = sorted({at for number, change in enumerate(changes) if change.kind in "rudlo" for at in (number, number + 1)})
    chosen = collections.defaultdict(list)
    for places, modes, share in ((synced, ("synced",), most // 2), (named, MODES, most // 4), (range(len(changes) + 1), MODES, most // 4)):
        possible = [(number, mode) for number in places for mode in modes]
        for number, mode in luck.sample(possible, min(share, len(possible))):
            chosen[number].append(mode)
    chosen[len(changes)] += ["any", "synced"]
    for number in range(len(changes) + 1):
        moment = changes[number].at if number < len(changes) else float("inf")
        for mode in chosen.get(number, ()):
            yield PowerCut(number, changes[number - 1] if number else None, moment, mode), disk.after_cut(mode, luck)
        if number < len(changes):
            disk.apply(changes[number])

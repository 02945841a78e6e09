"""Container images out of thin air: docker archives that containerd imports, since there is no registry to pull from."""
import fcntl
import hashlib
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import tarfile
import tempfile

from local_cluster import PROGRAM, ROOT

from .machine import command

HERE = pathlib.Path(__file__).resolve().parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "plimsoll"
PAUSE = "plimsoll.local/pause:1"
BUSYBOX = "docker.io/library/busybox:latest"  # "busybox" in a pod
DIRECTORIES = ("bin", "dev", "etc", "proc", "root", "sys", "tmp", "usr", "usr/bin", "var")


def compile_pause(directory):
    """Compiled once for all clusters of its source; each gets a copy, since nodes do not see all of this machine's directories."""
    source = HERE / "pause.c"
    kept = CACHE / f"pause-{hashlib.sha256(source.read_bytes()).hexdigest()[:16]}"
    if not kept.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as place:
            command("clang-19", "-static", "-Os", "-s", "-o", f"{place}/pause", source)
            os.rename(f"{place}/pause", kept)
    return pathlib.Path(shutil.copy(kept, directory / "pause"))


def layer(files, links=(), directories=()):
    """A layer's tar. `files` maps paths to contents, `links` to targets."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        def add(path, kind, mode, data=b"", target=""):
            entry = tarfile.TarInfo(path)
            entry.type, entry.mode, entry.size, entry.linkname = kind, mode, len(data), target
            archive.addfile(entry, io.BytesIO(data))
        for path in directories:
            add(path, tarfile.DIRTYPE, 0o1777 if path == "tmp" else 0o755)
        for path, data in files.items():
            add(path, tarfile.REGTYPE, 0o644 if path.startswith("etc/") else 0o755, data)
        for path, target in dict(links).items():
            add(path, tarfile.SYMTYPE, 0o777, target=target)
    return out.getvalue()


def padding(size, seed=0):
    """A layer of `size` bytes that do not compress. The same size and seed give the same layer, so images can share it."""
    return layer({f"padding-{seed}": random.Random(seed).randbytes(size)})


def image(name, layers, entrypoint=None, command=None, labels=None):
    """One of write_archives(): labels make images of the same layers different ones."""
    def digest(data):
        return hashlib.sha256(data).hexdigest()
    config = json.dumps({
        "architecture": "amd64", "os": "linux", "created": "1970-01-01T00:00:00Z",
        "config": {"Env": ["PATH=/usr/bin:/bin"], "Entrypoint": entrypoint, "Cmd": command, "WorkingDir": "/", "Labels": labels},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest(data)}" for data in layers]},
        "history": [{"created": "1970-01-01T00:00:00Z"} for _ in layers]}).encode()
    files = {f"{digest(config)}.json": config, **{f"{digest(data)}/layer.tar": data for data in layers}}
    return files, {"Config": f"{digest(config)}.json", "RepoTags": [name], "Layers": [f"{digest(data)}/layer.tar" for data in layers]}


def write_archives(path, images):
    """Several images in one file, which share their layers."""
    files = {name: data for found, _ in images for name, data in found.items()}
    files["manifest.json"] = json.dumps([entry for _, entry in images]).encode()
    path.write_bytes(layer(files))
    return path


def write_archive(path, name, layers, entrypoint=None, command=None):
    return write_archives(path, [image(name, layers, entrypoint, command)])


def pause_archive(path, program):
    return write_archive(path, PAUSE, [layer({"pause": program.read_bytes()})], entrypoint=["/pause"])


def busybox_layer():
    program = pathlib.Path("/bin/busybox").read_bytes()
    applets = subprocess.run(["/bin/busybox", "--list"], check=True, capture_output=True, text=True).stdout.split()
    files = {"bin/busybox": program, "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n",
             "etc/group": b"root:x:0:\nnogroup:x:65534:\n"}
    links = {f"bin/{applet}": "busybox" for applet in applets if applet != "busybox"}
    return layer(files, links, DIRECTORIES)


def busybox_archive(path, name=BUSYBOX, more_layers=()):
    """With padding() as more layers, an image of any size."""
    return write_archive(path, name, [busybox_layer(), *more_layers], command=["sh"])


def program_archive():
    """Our own image, with the program under test: packed once for all scripts, since that takes seconds."""
    program, packer = pathlib.Path(PROGRAM), ROOT / "tools" / "image"
    parts = [(path.stat().st_mtime_ns, path.stat().st_size) for path in (program, program.with_name("plimsoll-starter"), packer)]
    place = program.parent.parent / "image-for-tests"
    kept = place / f"{hashlib.sha256(repr(parts).encode()).hexdigest()[:16]}.tar"
    place.mkdir(exist_ok=True)
    with open(place / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            for old in place.glob("*.tar"):
                old.unlink()
            half = place / "half"
            command(packer, "--program", program, "--output", half, timeout=300, env={**os.environ, "SOURCE_DATE_EPOCH": "0"})
            half.rename(kept)
    return kept

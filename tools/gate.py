"""What the checks share: which files changed since the last release, what a file includes, how it is compiled, what passed before."""
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@functools.cache
def last_release():
    """(commit, name) of the last release: of the last tag. Without tags, of the commit that last changed a version's heading in
    CHANGELOG.md, or of the first commit."""
    try:
        tag = git("describe", "--tags", "--abbrev=0", "--match", "v[0-9]*")
        return git("rev-list", "-1", tag), tag
    except subprocess.CalledProcessError:
        commit = git("log", "-1", "--format=%H", "-G", "^## ", "--", "CHANGELOG.md")
        if commit:
            return commit, f"{commit[:10]}, which named the version in CHANGELOG.md"
        commit = git("rev-list", "--max-parents=0", "HEAD").splitlines()[-1]
        return commit, f"{commit[:10]}, the first commit"


def changed_files(*patterns):
    """Files that are not as in the last release, uncommitted and new ones included, but not those that were only moved."""
    changed = git("diff", "--name-only", "-M100%", "--diff-filter=AMT", last_release()[0], "--", *patterns)
    new = git("ls-files", "--others", "--exclude-standard", "--", *patterns)
    return sorted(ROOT / name for name in {*changed.splitlines(), *new.splitlines()} if (ROOT / name).is_file())


@functools.cache
def text_of(path):
    return path.read_text()


@functools.cache
def includes(path):
    """(our files, other headers) that this file names."""
    ours, others = [], []
    for quote, name in INCLUDE.findall(text_of(path)):
        found = [place / name for place in (ROOT / "src", path.parent) if quote == '"' and (place / name).is_file()]
        (ours if found else others).append(found[0] if found else name)
    return ours, others


def closure(path):
    """Our files that it includes, itself among them, and theirs."""
    found, todo = {path}, [path]
    while todo:
        new = set(includes(todo.pop())[0]) - found
        found |= new
        todo += new
    return sorted(found)


@functools.cache
def commands(build):
    """The entries of compile_commands.json. A file of a module has one in which it is compiled by itself."""
    return json.loads((build / "compile_commands.json").read_text())


def flags_of(entry):
    """The compiler and its flags, without the source, the output and the precompiled header."""
    words = shlex.split(entry["command"])
    words = words[next(i for i, word in enumerate(words) if re.search(r"(^|/)(clang|g)\+\+[^/]*$", word)):]
    out, rest = [], iter(words)
    for word in rest:
        if word == "-o":
            next(rest)
        elif word not in ("-c", entry["file"]):
            out.append(word)
    if "-include-pch" in out:  # -Xclang -include-pch -Xclang FILE
        at = out.index("-include-pch")
        out = out[:at - 1] + out[at + 3:]
    return out


class Passed:
    """Digests of what passed a check, in the user's cache, for all clones."""

    def __init__(self, check):
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        self.place = cache / "plimsoll" / f"{check}-passed"
        self.place.mkdir(parents=True, exist_ok=True)

    def __contains__(self, digest):
        return (self.place / digest).exists()

    def add(self, digest):
        (self.place / digest).touch()


def digest(*parts):
    out = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else str(part).encode()
        out.update(len(data).to_bytes(8, "little") + data)
    return out.hexdigest()

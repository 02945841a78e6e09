#!/usr/bin/env python3
"""The container image: the same bits every time, a valid OCI layout, and a root in which the program runs."""
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import shlex
import ssl
import subprocess
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("PLIMSOLL", str(ROOT / "build" / "dev" / "bin" / "plimsoll"))


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def write_image(output, *flags, program=PROGRAM, env=None, umask=-1):
    done = run(ROOT / "tools" / "image", "--program", program, "--output", output, *flags,
               env={**os.environ, "SOURCE_DATE_EPOCH": "1000000000", **(env or {})}, umask=umask)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Image:
    """An OCI layout in a tar, checked while it is read: whatever a descriptor names has that digest and size."""

    def __init__(self, path):
        with tarfile.open(path) as tar:
            self.files = {member.name: tar.extractfile(member).read() for member in tar if member.isfile()}
        self.index = json.loads(self.files["index.json"])
        (self.described,) = self.index["manifests"]
        self.manifest = json.loads(self.blob(self.described))
        self.config = json.loads(self.blob(self.manifest["config"]))

    def blob(self, descriptor):
        data = self.files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert (len(data), "sha256:" + hashlib.sha256(data).hexdigest()) == (descriptor["size"], descriptor["digest"])
        return data

    def layer_digests(self):
        return [layer["digest"] for layer in self.manifest["layers"]]

    def layer(self, number):
        return tarfile.open(fileobj=io.BytesIO(self.blob(self.manifest["layers"][number])), mode="r:gz")

    def unpack(self, root):
        for number in range(len(self.manifest["layers"])):
            with self.layer(number) as tar:
                tar.extractall(root)


def paths(root):
    """What lies below a folder, as a layer would hold it: mode and content by path."""
    def one(path):
        if path.is_symlink():
            return "link", os.readlink(path)
        return path.stat().st_mode & 0o7777, path.read_bytes() if path.is_file() else None
    return {str(path.relative_to(root)): one(path) for path in pathlib.Path(root).rglob("*")}


class ContainerImage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = pathlib.Path(cls.folder.name)
        cls.said = write_image(cls.work / "image.tar", "--tag", "example.org/plimsoll:test")
        cls.image = Image(cls.work / "image.tar")
        cls.settings = dict(value.split("=", 1) for value in cls.image.config["config"]["Env"])
        cls.root = cls.work / "root"
        cls.image.unpack(cls.root)

    def in_root(self, *command, user="65532:65532"):
        if os.geteuid():
            self.skipTest("needs root to change the root folder")
        done = run("/usr/sbin/chroot", f"--userspec={user}", self.root, *command, env=self.settings)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_is_the_same_bits_whoever_writes_it(self):
        write_image(self.work / "again.tar", "--tag", "example.org/plimsoll:test", umask=0o077,
                    env={"TZ": "Asia/Tokyo", "HOME": "/nonexistent"})
        self.assertEqual((self.work / "again.tar").read_bytes(), (self.work / "image.tar").read_bytes())
        (self.work / "again.tar").unlink()

    def test_another_build_moves_the_programs_layer_alone(self):
        other = self.work / "plimsoll"
        changed, count = re.subn(rb"clang (\d+\.\d+)\.\d\b", rb"clang \1.X", pathlib.Path(PROGRAM).read_bytes())
        self.assertGreater(count, 0)
        other.write_bytes(changed)
        other.chmod(0o755)
        shutil.copy(pathlib.Path(PROGRAM).with_name("plimsoll-starter"), self.work)
        write_image(self.work / "other.tar", program=other, env={"SOURCE_DATE_EPOCH": "1100000000"})
        image = Image(self.work / "other.tar")
        before, after = self.image.layer_digests(), image.layer_digests()
        self.assertEqual(before[0], after[0])
        self.assertNotEqual(before[1], after[1])
        # Without --tag it has its own version, and the full name that runtimes give to a short one.
        self.assertRegex(image.described["annotations"]["io.containerd.image.name"], r"^docker\.io/library/plimsoll:\d+\.\d+\.\d+$")

    def test_says_the_digests_and_sizes(self):
        for digest in (*self.image.layer_digests(), self.image.described["digest"]):
            self.assertRegex(self.said, rf"(?m)^\w+ +{digest} +\d+\.\d MiB")

    def test_is_an_oci_layout_and_a_docker_archive(self):
        self.assertEqual(json.loads(self.image.files["oci-layout"]), {"imageLayoutVersion": "1.0.0"})
        self.assertEqual(self.image.described["annotations"], {
            "io.containerd.image.name": "example.org/plimsoll:test", "org.opencontainers.image.ref.name": "test"})
        for number, diff_id in enumerate(self.image.config["rootfs"]["diff_ids"]):
            with self.image.layer(number) as tar:
                tar.fileobj.seek(0)
                self.assertEqual("sha256:" + hashlib.sha256(tar.fileobj.read()).hexdigest(), diff_id)
        (docker,) = json.loads(self.image.files["manifest.json"])
        self.assertEqual(docker["RepoTags"], ["example.org/plimsoll:test"])
        self.assertEqual(json.loads(self.image.files[docker["Config"]]), self.image.config)
        self.assertEqual(["sha256:" + pathlib.Path(path).name for path in docker["Layers"]], self.image.layer_digests())

    def test_skopeo_reads_it(self):
        for kind in ("oci-archive", "docker-archive"):
            said = run("skopeo", "--tmpdir", self.work, "inspect", "--config", f"{kind}:{self.work / 'image.tar'}")
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual(json.loads(said.stdout)["rootfs"], self.image.config["rootfs"])

    def test_the_dockerfile_makes_the_same_of_what_was_built(self):
        # Its first stage, which needs an image of Debian, is replaced by a folder with what that stage leaves.
        last = (ROOT / "deploy" / "Dockerfile").read_text()
        (self.work / "Dockerfile").write_text(last[last.index("FROM scratch"):])
        written = run(ROOT / "tools" / "image", "--program", PROGRAM, "--context", self.work / "stage" / "image")
        self.assertEqual(written.returncode, 0, written.stderr)

        def buildah(*words):
            done = run("buildah", "--root", self.work / "storage", "--runroot", self.work / "storage-run", "--storage-driver", "vfs", *words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout.strip()
        proxies = ["--build-arg", "http_proxy=http://127.0.0.1:9", "--build-arg", "https_proxy=http://127.0.0.1:9"]
        buildah("bud", "--isolation", "chroot", *proxies, "--build-context", f"build={self.work / 'stage'}", "-f", self.work / "Dockerfile",
                "-t", "plimsoll:test", self.work / "stage")
        config = json.loads(buildah("inspect", "--type", "image", "plimsoll:test"))["OCIv1"]["config"]
        for key in ("User", "Env", "Entrypoint", "WorkingDir"):
            self.assertEqual(config[key], self.image.config["config"][key], key)
        root = pathlib.Path(buildah("mount", buildah("from", "plimsoll:test")))
        names = sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*"))
        self.assertEqual(sorted(str(path.relative_to(root)) for path in root.rglob("*")), names)

    def test_every_entry_is_roots_and_without_a_time(self):
        for number in range(2):
            with self.image.layer(number) as tar:
                for member in tar:
                    self.assertEqual((member.uid, member.gid, member.mtime), (0, 0, 0), member.name)
                    self.assertTrue(member.issym() or not member.mode & 0o022 or member.name == "tmp", member.name)

    def test_runs_as_nobody_in_particular(self):
        config = self.image.config
        self.assertEqual((config["os"], config["created"]), ("linux", "2001-09-09T01:46:40Z"))
        self.assertEqual(config["config"]["Entrypoint"], ["/usr/bin/plimsoll"])
        self.assertEqual(config["config"]["User"], "65532:65532")
        names = [line.split(":")[0] for line in (self.root / "etc/passwd").read_text().splitlines()]
        self.assertEqual(names, ["root", "plimsoll"])
        self.assertEqual(self.in_root("/usr/bin/plimsoll", "version", "--client"), run(PROGRAM, "version", "--client").stdout)
        started = run("/usr/sbin/chroot", self.root, "/process-starter", "plimsoll", "version", "--client", env=self.settings)
        self.assertEqual(started.stdout, run(PROGRAM, "version", "--client").stdout)

    def test_the_programs_of_the_ancestors_are_there(self):
        flags = ("-logtostderr", "-v=4", "--nonsense")
        # kubeadm's static pod starts the scheduler by its bare name.
        for name, *words in (("/cpu-device-plugin", *flags), ("/cpusetter", *flags), ("/cpu-device-webhook", *flags),
                             ("kube-scheduler", "--nonsense")):
            done = run("/usr/sbin/chroot", self.root, name, *words, env=self.settings)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("unknown flag --nonsense", done.stderr)

    def test_every_library_is_found_inside(self):
        (loader,) = (self.root / "lib64").iterdir()
        programs = [path for path in self.root.rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"
                    and not path.is_symlink() and path.name != "plimsoll-starter"]  # which is static
        self.assertGreater(len(programs), 5)
        for path in programs:
            said = self.in_root(f"/lib64/{loader.name}", "--list", "/" + str(path.relative_to(self.root)), user="0:0")
            self.assertNotIn("not found", said, path)

    def test_has_certificates_where_the_settings_say(self):
        bundle = self.root / self.settings["SSL_CERT_FILE"].lstrip("/")
        self.assertGreater(len(ssl.create_default_context(cafile=bundle).get_ca_certs()), 50)

    def test_has_the_licence_and_the_notices(self):
        for name in ("LICENSE", "NOTICE"):
            self.assertEqual((self.root / "usr/share/doc/plimsoll" / name).read_text(), (ROOT / name).read_text())
        self.assertEqual(self.image.config["config"]["Labels"]["org.opencontainers.image.licenses"], "Apache-2.0")

    def test_the_dockerfile_gives_the_same(self):
        context = self.work / "context"
        done = run(ROOT / "tools" / "image", "--program", PROGRAM, "--context", context)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (ROOT / "deploy" / "Dockerfile").read_text()
        final = [shlex.split(line) for line in text.partition("FROM scratch\n")[2].splitlines()]
        copies = [words[1:] for words in final if words[0] == "COPY"]
        self.assertEqual(copies, [["--from=build", f"/image/{layer}/", "/"] for layer in ("libraries", "program")])
        self.assertIn("RUN /plimsoll/dev image --context /image\n", text)
        copied = {path: what for layer in ("libraries", "program") for path, what in paths(context / layer).items()}
        self.assertEqual(sorted(context.iterdir()), [context / "libraries", context / "program"])
        self.assertEqual(copied, paths(self.root))

        config = self.image.config["config"]
        said = lambda key: [word for words in final if words[0] == key for word in words[1:]]
        self.assertEqual(said("ENV"), config["Env"])
        self.assertEqual(said("USER"), [config["User"]])
        self.assertEqual(said("WORKDIR"), [config["WorkingDir"]])
        self.assertEqual(said("ENTRYPOINT"), [f"[{config['Entrypoint'][0]}]"])
        self.assertLessEqual(dict(label.split("=", 1) for label in said("LABEL")).items(), config["Labels"].items())

    def test_refuses_what_cannot_be_an_image(self):
        for flags in (["--tag", "no-tag"], ["--tag", "UPPER:1"], ["--program", "/nonexistent"]):
            done = run(ROOT / "tools" / "image", "--program", PROGRAM, "--output", self.work / "never.tar", *flags)
            self.assertEqual(done.returncode, 2, flags)
        self.assertFalse((self.work / "never.tar").exists())


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The Debian package: the same bits every time, installable, complete, and gone without a trace."""
import gzip
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("PLIMSOLL", str(ROOT / "build" / "dev" / "bin" / "plimsoll"))
# Quick to write; what is shipped takes dpkg-deb's own choice.
FAST = {"DPKG_DEB_COMPRESSOR_TYPE": "gzip", "DPKG_DEB_COMPRESSOR_LEVEL": "1"}


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, **options)


def write_package(folder, umask=-1):
    done = run(ROOT / "tools" / "package", "--program", PROGRAM, "--output", folder, umask=umask,
               env={**os.environ, **FAST, "SOURCE_DATE_EPOCH": "1000000000"})
    assert done.returncode == 0, done.stderr
    (package,) = pathlib.Path(folder).glob("*.deb")
    assert package.name in done.stdout
    return package


class DebianPackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name)
        cls.work.chmod(0o755)  # apt reads it as somebody else
        cls.package = write_package(cls.work / "first")
        cls.root = cls.work / "root"
        done = run("dpkg-deb", "--extract", cls.package, cls.root)
        assert done.returncode == 0, done.stderr

    def field(self, name):
        return run("dpkg-deb", "--field", self.package, name).stdout.strip()

    def test_is_the_same_bits_whoever_writes_it(self):
        self.assertEqual(write_package(self.work / "second", umask=0o077).read_bytes(), self.package.read_bytes())

    def test_names_every_package_that_the_program_is_linked_with(self):
        names = set(re.findall(r"(?:^|, )([^ ,]+)", self.field("Depends")))
        for line in run("ldd", PROGRAM).stdout.splitlines():
            path = re.search(r"=> (\S+)", line)
            if path:
                owner = run("dpkg-query", "-S", path[1], "/usr" + path[1]).stdout.split(":")[0]
                self.assertIn(owner, names, line)

    def test_apt_would_install_it_here(self):
        done = run("apt-get", "install", "--simulate", "--no-install-recommends", self.package)
        self.assertEqual(done.returncode, 0, done.stderr)
        installed = re.findall(r"^Inst (\S+)", done.stdout, re.MULTILINE)
        self.assertEqual(installed, ["plimsoll"])

    def test_installs_and_leaves_nothing_behind(self):
        root = self.work / "machine"
        for folder in ("var/lib/dpkg/updates", "var/lib/dpkg/info"):
            (root / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        dpkg = ["dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--log=/dev/null"]
        path = {**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
        done = run(*dpkg, "--install", self.package, env=path)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = run(root / "usr/bin/plimsoll", "version", "--client").stdout
        self.assertEqual(said, run(PROGRAM, "version", "--client").stdout)
        self.assertIn(f"Client:       {self.field('Version')} ", said)
        self.assertEqual(run(*dpkg, "--verify", "plimsoll").stdout, "")

        done = run(*dpkg, "--purge", "plimsoll", env=path)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([path for path in root.rglob("*") if "var/lib/dpkg" not in str(path) and not path.is_dir()], [])

    def test_kubectl_finds_it_as_a_plugin(self):
        done = run(self.root / "usr/bin/kubectl-plimsoll", "version", "--client")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("kubectl-plimsoll", "kubectl_complete-plimsoll"):
            self.assertEqual(os.readlink(self.root / "usr/bin" / name), "plimsoll")

    def test_every_program_has_a_manual_page_that_man_shows(self):
        for program in (self.root / "usr/bin").iterdir():
            page = self.root / f"usr/share/man/man1/{program.name}.1.gz"
            done = run("man", "--local-file", "--warnings", page, env={**os.environ, "LC_ALL": "C.UTF-8"})
            self.assertEqual((done.returncode, done.stderr), (0, ""), program.name)
            self.assertIn("plimsoll", done.stdout)

    def test_completions_lie_where_the_shells_look(self):
        for shell, path in (("bash", "usr/share/bash-completion/completions/plimsoll"),
                            ("zsh", "usr/share/zsh/vendor-completions/_plimsoll"),
                            ("fish", "usr/share/fish/vendor_completions.d/plimsoll.fish")):
            self.assertEqual((self.root / path).read_text(), run(PROGRAM, "completion", shell).stdout)

    def test_says_what_it_is(self):
        self.assertEqual(self.field("Package"), "plimsoll")
        copyright_file = (self.root / "usr/share/doc/plimsoll/copyright").read_text()
        self.assertIn((ROOT / "NOTICE").read_text(), copyright_file)
        self.assertIn("/usr/share/common-licenses/Apache-2.0", copyright_file)
        history = gzip.decompress((self.root / "usr/share/doc/plimsoll/changelog.gz").read_bytes()).decode()
        self.assertTrue(history.startswith(f"plimsoll ({self.field('Version')}) "), history)
        self.assertIn("Sun, 09 Sep 2001 01:46:40 +0000", history)


if __name__ == "__main__":
    unittest.main()

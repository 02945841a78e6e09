#!/usr/bin/env python3
"""The generated tables of types match Kubernetes' own files, of the version in programs/kubernetes/go.mod."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
READ = ["tools/make-types", "tools/kubernetes_types", "tests/real/programs", "src/local/apiserver/schema/types",
        "src/kube/field_names.hpp"]


def check(root):
    return subprocess.run([root / "tools/make-types", "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Types(unittest.TestCase):
    def copy(self):
        """A copy of what make-types reads and writes, for a test to change."""
        root = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in READ:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, root / name)
        return root

    def refused(self, root, *parts):
        done = check(root)
        self.assertEqual(done.returncode, 1, done.stdout)
        for part in parts:
            self.assertIn(part, done.stdout)

    def test_tables_match_kubernetes(self):
        done = check(ROOT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_a_changed_row_is_noticed(self):
        root = self.copy()
        apps = root / "src/local/apiserver/schema/types/apps.cpp"
        apps.write_text(apps.read_text().replace('.name = "paused", .scalar = Scalar::boolean, .number = 7', '.name = "paused"'))
        self.refused(root, '-    {.name = "paused"},', "run tools/make-types")

    def test_a_lost_file_is_noticed(self):
        root = self.copy()
        (root / "src/local/apiserver/schema/types/batch.cpp").unlink()
        self.refused(root, "src/local/apiserver/schema/types/batch.cpp")

    def test_changed_defaults_in_go_are_noticed(self):
        root = self.copy()
        table = root / "tools/kubernetes_types/kinds.toml"
        table.write_text(re.sub(r'(apps/v1/defaults.go" = )".*"', r'\1"of another version"', table.read_text()))
        self.refused(root, "kubernetes/pkg/apis/apps/v1/defaults.go has changed since its defaults were copied")


if __name__ == "__main__":
    unittest.main()

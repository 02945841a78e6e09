#!/usr/bin/env python3
"""install and uninstall, above all what they say they would do."""
import subprocess
import unittest

from local_cluster import PROGRAM, ClusterCase, only_local


@only_local("tests/real/install_test.py installs there")
class Install(ClusterCase):
    def plimsoll(self, *words, code=0):
        done = subprocess.run([PROGRAM, *words, "--kubeconfig", self.cluster.kubeconfig], env=self.cluster.env, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout if code == 0 else done.stderr

    def names(self, said, what):
        """Of lines that all end with `what`."""
        lines = said.splitlines()
        self.assertTrue(lines and all(line.endswith(f" {what}") for line in lines), said)
        return sorted(line.removesuffix(f" {what}") for line in lines)

    def there(self, namespace):
        return self.cluster.kubectl("get", "deployments,serviceaccounts,services,roles", "-n", namespace, "-o", "name").stdout

    def test_a_dry_run_tells_everything_and_changes_nothing(self):
        namespace = self.cluster.namespace()
        servo = ("servo", "--namespace", namespace)
        before = self.there(namespace)
        self.assertIn("kind: Deployment", self.plimsoll("install", *servo, "--dry-run"))
        would_come = self.names(self.plimsoll("install", *servo, "--dry-run=server"), "applied (server dry run)")
        would_go = self.names(self.plimsoll("uninstall", *servo, "--dry-run"), "deleted (dry run)")
        # Policies that protect other parts too stay.
        shared = [name for name in would_come if name.startswith("validatingadmissionpolic")]
        self.assertEqual(len(shared), 2)
        self.assertEqual([name for name in would_come if not name.startswith("namespace/") and name not in shared], would_go)
        self.assertLessEqual(set(shared), set(self.names(self.plimsoll("uninstall", "--dry-run"), "deleted (dry run)")))
        self.assertEqual(self.there(namespace), before)
        self.assertEqual(self.names(self.plimsoll("install", *servo), "applied"), would_come)
        after = self.there(namespace)
        self.assertNotEqual(after, before)
        self.assertEqual(self.names(self.plimsoll("uninstall", *servo, "--dry-run=server"), "deleted (server dry run)"), would_go)
        self.assertEqual(self.there(namespace), after)
        self.assertEqual(self.names(self.plimsoll("uninstall", *servo), "deleted"), would_go)
        self.assertEqual(self.there(namespace), before)

    def test_a_dry_run_is_of_the_client_or_of_the_server(self):
        self.assertIn("expected one of client, server", self.plimsoll("install", "servo", "--dry-run=maybe", code=2))
        self.assertIn('unknown role "server"', self.plimsoll("install", "--dry-run", "server", code=2))


if __name__ == "__main__":
    unittest.main()

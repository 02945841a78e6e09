"""`plimsoll up` and real Kubernetes, side by side. Not a test itself.

DIFFERENTIAL_KUBECONFIG names a real API server that runs already; without it one is started and ended.
"""
import concurrent.futures
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("tests/e2e/api", "tests/e2e/local", "tests/real"):
    sys.path.insert(0, str(ROOT / folder))
from local_cluster import LocalCluster  # noqa: E402
from server_under_test import PATCH_TYPES, Api  # noqa: E402,F401

REAL = os.environ.get("DIFFERENTIAL_KUBECONFIG")
API_ONLY = ("--nodes", "0", "--scheduler", "none", "--controllers", "none", "--roles", "none", "--ephemeral")


def real_kubeconfig(test, options):
    if REAL and not options:
        return REAL
    from rig import RealCluster  # needs root, which a named server does not
    return RealCluster(test=test, **(options or {"nodes": 0, "accounts": True})).kubeconfig


class Pair:
    """Without options both are API servers alone. `both` asks the two the same at the same time."""

    def __init__(self, test, flags=API_ONLY, **options):
        """`flags` of plimsoll up, `options` of RealCluster."""
        self.local = LocalCluster(test, *flags)
        self.ours = Api(self.local.kubeconfig)
        self.real = Api(real_kubeconfig(test, options))
        self.pool = concurrent.futures.ThreadPoolExecutor(2)
        for end in (self.pool.shutdown, self.ours.close, self.real.close):
            test.addCleanup(end)

    def both(self, function, *arguments):
        """What `function` gives for our server and for the real one."""
        return list(self.pool.map(lambda api: function(api, *arguments), (self.ours, self.real)))

    def namespace(self, purpose):
        """Of the same name on both, with the account that pods need and that a controller may not have made yet."""
        name = f"{purpose}-{os.getpid()}"

        def make(api):
            api.must("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
            api.must("POST", f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "default"}}, codes=(201, 409))
        self.both(make)
        return name

"""Real Kubernetes clusters for tests. tests/real/README.md says how to use them."""
import pathlib
import sys

# What every cluster under test offers, real or local, lies with the tests of the local one.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e" / "local"))

from local_cluster import PROGRAM, ROOT  # noqa: E402

from .cluster import RealCluster, RealClusterCase  # noqa: E402
from .machine import RigFailure  # noqa: E402

__all__ = ["PROGRAM", "ROOT", "RealCluster", "RealClusterCase", "RigFailure"]

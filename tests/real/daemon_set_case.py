"""A DaemonSet of deploy/ on one real node. Not a test itself."""
import pathlib

from rig import RealClusterCase

STARTER = pathlib.Path("/opt/bin/process-starter")


class DaemonSetCase(RealClusterCase):
    """Before the mixin in the bases."""
    options = {"nodes": 1}

    def setUp(self):
        super().setUp()
        self.node = self.cluster.nodes[0]
        self.node.import_program()

        # The node of the rig is this machine: what was not there before is removed.
        if not STARTER.exists():
            self.addCleanup(STARTER.unlink, missing_ok=True)

"""The kubectls that are promised to work: Debian's, and the one of the release we follow. Not a test itself."""
import functools
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "plimsoll/kubernetes/v1.37.1"


@functools.cache
def programs():
    debian = subprocess.run([ROOT / "tools/debian-kubectl"], capture_output=True, text=True, check=True).stdout.splitlines()[-1]
    return {"1.20": debian, "1.37": str(CACHE / "kubectl")}


KUBECTLS = ("1.20", "1.37")


@functools.cache
def home(kubeconfig, version):
    """Each client of each server keeps what it learned of it in a directory of its own, as users' do."""
    return tempfile.TemporaryDirectory(prefix="plim.")


def kubectl(api, version, *words, input=None, timeout=60):
    # Each lives for a moment: it need not collect its garbage.
    environment = {"PATH": os.environ["PATH"], "GOGC": "off", "HOME": home(api.kubeconfig, version).name, "KUBECONFIG": api.kubeconfig}
    return subprocess.run([programs()[version], *words], env=environment, input=input, capture_output=True, text=True, timeout=timeout)

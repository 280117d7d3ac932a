"""A host with another Python, or another NumPy, is refused, and both versions are named; the others do the work."""

import logging
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import bed
import parvum
import places
from parvum import errors

OWN = platform.python_version()
OTHER_NUMPY = "9.8.7"


class Said(logging.Handler):
    """What was logged."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def another_python() -> str | None:
    """One of this system's that is not this one's equal."""
    for minor in range(10, 16):
        found = shutil.which(f"python3.{minor}")
        if minor != sys.version_info[1] and found:
            if subprocess.run([found, "-c", "import sys"], capture_output=True, check=False).returncode == 0:
                return found
    return None


def refuses(error: type[Exception], call: Callable[[], object], *texts: str) -> None:
    try:
        call()
    except error as refusal:
        assert all(text in str(refusal) for text in texts), (refusal, texts)
        return
    raise AssertionError(f"not refused: {texts}")


said = Said()
logging.getLogger("parvum").addHandler(said)
with tempfile.TemporaryDirectory() as folder, parvum.machine(hosts=["beta", "gamma"]) as vm:
    # Another Python: gamma alone has another file under this name.
    python, its = Path(folder, "python"), Path(folder, "its")
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    real = another_python()
    if real is not None:
        its.write_text(f'#!/bin/sh\nexec {real} "$@"\n')
        version = subprocess.run([real, "-c", "import platform; print(platform.python_version())"], capture_output=True, text=True, check=True)
        other = version.stdout.strip()
    else:
        other = "2.7.18"
        its.write_text(f"#!{sys.executable}\nimport sys\nsys.version_info = (2, 7, 18, 'final', 0)\nexec(sys.argv[2])\n")
    for file in (python, its):
        file.chmod(0o755)
    bed.on("gamma", f"mount --bind {its} {python}")
    with parvum.Executor(6, hosts=["alpha", "beta", "gamma"], python=str(python)) as pool:
        assert pool.wait_for_workers(4, 120)
        assert set(pool.map(places.slowly, range(80))) == {"alpha", "beta"}
        bed.eventually("gamma's are refused", lambda: len(said.texts) >= 2)
        assert all("gamma" in text and OWN in text and other in text for text in said.texts), said.texts
        assert sorted(pool.workers.values()) == ["alpha", "alpha", "beta", "beta"]
    with parvum.Executor(1, hosts=["gamma"], python=str(python)) as pool:
        refuses(parvum.VersionsDiffer, lambda: pool.submit(places.here).result(120), "gamma", OWN, other)
    if real is not None:
        code = "import parvum; vm = parvum.enrol(); vm.send({'a': 1}, vm.parent, 1); vm.send(b'no pickle', vm.parent, 2)"
        (there,) = vm.spawn([str(python), "-c", code], host="gamma")
        short = [".".join(version.split(".")[:2]) for version in (OWN, other)]
        refuses(errors.VersionMismatch, lambda: vm.recv(there, 1), *short)
        assert vm.recv(there, 2) == b"no pickle"
    bed.on("gamma", f"umount {python}")

    # Another NumPy: gamma alone has one in this folder, which all look into first.
    site, its = Path(folder, "site"), Path(folder, "other")
    for place in (site, its / "numpy", its / f"numpy-{OTHER_NUMPY}.dist-info"):
        place.mkdir(parents=True)
    (its / "numpy/__init__.py").write_text(
        "import sys\n"
        f"sys.path.remove({str(site)!r})\n"
        "del sys.modules['numpy']\n"
        "import numpy\n"
        f"numpy.__version__ = {OTHER_NUMPY!r}\n"
    )
    bed.on("gamma", f"mount --bind {its} {site}")
    sys.path.insert(0, str(site))
    said.texts.clear()
    both = [np.__version__, OTHER_NUMPY]
    with parvum.Executor(6, hosts=["alpha", "beta", "gamma"]) as pool:
        assert pool.wait_for_workers(4, 120)
        assert set(pool.map(places.numpy_version, range(80))) == {("alpha", np.__version__), ("beta", np.__version__)}
        bed.eventually("gamma's are refused", lambda: len(said.texts) >= 2)
        assert all("gamma" in text and all(version in text for version in both) for text in said.texts), said.texts
    with parvum.Executor(1, hosts=["gamma"]) as pool:
        refuses(parvum.VersionsDiffer, lambda: pool.submit(places.here).result(120), "gamma", *both)
    code = "import numpy, parvum; vm = parvum.enrol(); vm.send({'a': numpy.ones(3)}, vm.parent, 1); vm.send(numpy.ones(3), vm.parent, 2)"
    path = os.pathsep.join([str(site), os.environ["PYTHONPATH"]])
    (there,) = vm.spawn(["python", "-c", code], host="gamma", env={"PYTHONPATH": path})
    refuses(errors.VersionMismatch, lambda: vm.recv(there, 1), *(".".join(version.split(".")[:2]) for version in both))
    assert vm.recv(there, 2).sum() == 3, "an array itself is no pickle"

    # A pool that has no NumPy when it begins learns of it later: what is on its way is done, the host is left.
    del sys.modules["numpy"]
    with parvum.Executor(3, hosts=["alpha", "beta", "gamma"]) as pool:
        assert pool.wait_for_workers(3, 120)
        assert set(pool.map(places.slowly, range(60))) == {"alpha", "beta", "gamma"}
        sys.modules["numpy"] = np
        assert set(pool.map(places.slowly, range(60))) == {"alpha", "beta"}
    bed.on("gamma", f"umount {site}")
print("all well")

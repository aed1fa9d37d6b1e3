"""The runtime of the embedding model reports to its maker by default; here it does not."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
STAND_IN = """
import ctypes
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
print("loaded with", getenv(b"ORT_DISABLE_TELEMETRY"))

def disable_telemetry_events():
    print("and told to stop")
"""
OURS = "from memrepo.store.embedder import runtime; runtime()"


def said(home: Path, code: str, *path: Path) -> str:
    """Run code in a process with nothing of this machine's in its environment."""
    home.mkdir(exist_ok=True)
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "TMPDIR": str(home),
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT))),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


def test_the_library_sees_the_switch_when_it_is_loaded(tmp_path: Path) -> None:
    package = tmp_path / "packages"
    package.mkdir()
    (package / "onnxruntime.py").write_text(STAND_IN)
    told = said(tmp_path / "home", OURS, package)
    assert told == "loaded with b'1'\nand told to stop\n"


@pytest.mark.skipif(
    importlib.util.find_spec("onnxruntime") is None, reason="needs the extra `dense`"
)
def test_the_real_library_makes_no_id_of_this_machine(tmp_path: Path) -> None:
    said(tmp_path / "plain", "import onnxruntime, time; time.sleep(1)")
    if not list((tmp_path / "plain").rglob("deviceid")):
        pytest.skip("this build of the library has no telemetry")
    said(tmp_path / "ours", f"{OURS}; import time; time.sleep(1)")
    assert [p for p in (tmp_path / "ours").rglob("*") if p.is_file()] == []


def test_nothing_else_loads_it() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "memrepo").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.Import) and any(a.name == "onnxruntime" for a in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "onnxruntime")
    }
    assert found == {"memrepo/store/embedder.py"}

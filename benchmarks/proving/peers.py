"""Peers, installed from their packages into environments of their own, and asked like memrepo.

A peer that cannot be installed, or that finds nothing without a model, is listed with its reason.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from benchmarks.proving.finding import DEPTH, Corpus

DRIVERS = Path(__file__).with_name("drivers")
INTERPRETERS = ("/usr/bin/python3", "python3.13", "python3.12", "python3.11", sys.executable)
"""Tried in this order: the system's own can load the extensions of SQLite that some peers need."""
PATIENCE_S = 900


class Peer(msgspec.Struct, frozen=True, kw_only=True):
    """A program to compare with: its package, the releases to try, and who asks it."""

    package: str
    driver: str
    versions: tuple[str, ...] = ("",)
    """Requirements behind the package's name, the first that installs is taken."""


PEERS: Mapping[str, Peer] = {
    "basic-memory": Peer(
        package="basic-memory", driver="ask_basic_memory.py", versions=("", "<0.24")
    ),
    "palinode": Peer(package="palinode", driver="ask_palinode.py"),
    "mem0": Peer(package="mem0ai", driver="ask_mem0.py"),
}


class Missing(Exception):
    """A peer could not be had, or does not answer here; says why in one line."""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """A peer in its environment."""

    peer: Peer
    python: Path
    version: str

    def ask(self, corpus: Corpus) -> Sequence[Sequence[str]]:
        """Return the ids found for each question; raises Missing."""
        with tempfile.TemporaryDirectory(prefix="memrepo-peer-") as folder:
            question, answer = Path(folder) / "question.json", Path(folder) / "answer.json"
            home = Path(folder) / "home"
            home.mkdir()
            docs = [{"id": doc.id, "line": doc.line} for doc in corpus.docs]
            asked = [one.text for one in corpus.questions]
            question.write_text(json.dumps({"docs": docs, "questions": asked, "depth": DEPTH}))
            ran = _ran(
                [self.python, DRIVERS / self.peer.driver, question, answer],
                cwd=home,
                env={"PATH": os.environ["PATH"], "HOME": str(home), "LC_ALL": "C.UTF-8"},
            )
            if ran.returncode:
                raise Missing(_last(ran.stderr))
            found: list[list[str]] = json.loads(answer.read_bytes())
            return found


def install(name: str, folder: Path) -> Installed:
    """Return a peer from its package, in `folder/NAME`, where it stays; raises Missing."""
    peer, place = PEERS[name], folder / name
    python, why = place / "bin" / "python", "no interpreter"
    if python.exists() and (version := _version(python, peer)):
        return Installed(peer=peer, python=python, version=version)
    for interpreter in dict.fromkeys(filter(None, map(shutil.which, INTERPRETERS))):
        for wanted in peer.versions:
            shutil.rmtree(place, ignore_errors=True)
            pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            ran = _ran([interpreter, "-m", "venv", place])
            ran = ran if ran.returncode else _ran([*pip, f"{peer.package}{wanted}"])
            if not ran.returncode:
                version = _version(python, peer)
                return Installed(peer=peer, python=python, version=version)
            why = _last(ran.stderr)
    raise Missing(why)


def _version(python: Path, peer: Peer) -> str:
    code = f"from importlib.metadata import version; print(version({peer.package!r}))"
    return _ran([python, "-c", code]).stdout.strip()


def _ran(
    argv: Sequence[str | Path], cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            [*map(str, argv)],
            cwd=cwd,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess([], 1, "", f"no answer within {PATIENCE_S} s")


def _last(text: str) -> str:
    """Return the last line of an error, without what a machine's folders are called."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR: No matching")] or lines
    said = " ".join(w for w in (errors or ["no reason told"])[-1].split() if not w.startswith("/"))
    return said if len(said) <= 160 else f"{said[:157]}..."

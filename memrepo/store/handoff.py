"""The hand-off of a landed run: a command of the person's is given the path of its manifest.

Lineage: memory-purifier, wiki trigger (60 seconds, the first 500 characters of what it says).
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path

LIMIT_S = 60.0
_SAID = 500


def hand_off(command: str, manifest: Path, folder: Path, *, limit_s: float = LIMIT_S) -> str:
    """Run a command with a manifest's path as its last argument; say what failed, or nothing.

    No shell is involved. After `limit_s` seconds it is ended, with what it started.
    """
    import tempfile

    with tempfile.TemporaryFile() as out:  # a pipe would wait for whatever it leaves running
        try:
            process = subprocess.Popen(
                [*shlex.split(command), str(manifest)],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            return f"cannot be started: {error}"
        try:
            code = process.wait(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return f"took longer than {limit_s:g} s and was ended"
        out.seek(0)
        said = " ".join(out.read(4 * _SAID).decode("utf-8", "replace").split())[:_SAID]
    if code == 0:
        return ""
    return f"exit code {code}{': ' + said if said else ''}"

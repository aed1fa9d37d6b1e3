"""Programs of the person's: one is given a landed run's manifest, one what needs them; a webhook.

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


def hand_off(
    command: str, last: Path | str, folder: Path, *, told: bytes = b"", limit_s: float = LIMIT_S
) -> str:
    """Run a command with one more argument; say what failed, or nothing.

    `told` is its standard input. No shell is involved. After `limit_s` seconds it is ended, with
    what it started.
    """
    import tempfile

    # A pipe would wait for whatever it leaves running.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as stdin:
        stdin.write(told)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                [*shlex.split(command), str(last)],
                cwd=folder,
                stdin=stdin,
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

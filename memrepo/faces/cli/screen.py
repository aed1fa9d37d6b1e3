"""Print results on a terminal, in a pager if they are longer than the screen."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

from memrepo.actions.verbs import VERBS


def show(name: str, text: str) -> None:
    """Print the output of a command. Use a pager if the output is longer than the screen.

    The text of a command that writes is never paged, so that it stays visible.
    """
    reads = name not in VERBS or not VERBS[name].writes
    height = shutil.get_terminal_size().lines
    if not (reads and text.count("\n") + 2 > height and _paged(text)):
        print(text)


def _paged(text: str) -> bool:
    """Show a text in the pager, like git. Return whether a pager was started."""
    import subprocess

    asked = os.environ.get("MEMREPO_PAGER", os.environ.get("PAGER", "less"))
    words = shlex.split(asked)
    if not words or words == ["cat"] or os.environ.get("TERM") == "dumb":
        return False
    settings = {"LESS": "FRX", "LV": "-c", **os.environ}
    sys.stdout.flush()
    try:
        pager = subprocess.Popen(words, stdin=subprocess.PIPE, env=settings)
    except OSError:
        return False
    try:
        pager.communicate(f"{text}\n".encode())
    except KeyboardInterrupt:  # Ctrl-C belongs to the pager: less stops searching and continues
        pager.wait()
    return True

"""Who this clone is: an id of its own in the common git directory, minted once.

It is kept with the host and the inode of its folder: a repository that was copied with its git
directory finds that they differ and mints an id of its own, so that two clones never share one.
"""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

NAME = "clone"


def clone_id(folder: Path) -> str:
    """Return the id of the clone whose memrepo folder this is (12 hex digits)."""
    folder.mkdir(parents=True, exist_ok=True)
    path, place = folder / NAME, f"{socket.gethostname()} {folder.stat().st_ino}"
    try:
        found, _, where = path.read_text(encoding="utf-8").strip().partition(" ")
    except (FileNotFoundError, UnicodeDecodeError):
        found, where = "", ""
    if where == place and len(found) == 12:
        return found
    made = secrets.token_hex(6)
    fresh = path.with_name(f"{NAME}.{os.getpid()}")
    fresh.write_text(f"{made} {place}\n", encoding="utf-8")
    fresh.replace(path)
    return made

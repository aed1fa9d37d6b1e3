"""Access to the user's crontab, in which the lines of each repository end in a comment of it.

The program `crontab` is found on the PATH and called only here. A failed read is never treated as
an empty table, because the next write would delete its contents.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from memrepo.store.errors import CrontabFailed, NoCrontab

_LIMIT_S = 30.0
_NONE_YET = (b"no crontab", b"no such file")
_CRON_PATH = ("/usr/bin", "/bin")


def read() -> bytes:
    """Return the user's crontab, or b"" if the user has none. Raises NoCrontab or CrontabFailed."""
    done = _run("-l")
    if done.returncode == 0:
        return done.stdout
    if any(words in done.stderr.lower() for words in _NONE_YET):
        return b""
    raise CrontabFailed("read", cause=_output(done))


def write(text: bytes) -> None:
    """Replace the user's crontab and read it back to verify it. Remove an empty crontab."""
    done = _run("-", text) if text else _run("-r")
    if done.returncode != 0:
        raise CrontabFailed("write", cause=_output(done))
    if read() != text:
        raise CrontabFailed("raced")


def _run(option: str, text: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    program = shutil.which("crontab")
    if program is None:
        raise NoCrontab
    try:
        return subprocess.run(
            [program, option],
            input=text,
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CrontabFailed("run", option=option, cause=error) from error


def _output(done: subprocess.CompletedProcess[bytes]) -> str:
    text = " ".join(done.stderr.decode("utf-8", "replace").split())
    return text or f"exit code {done.returncode}"


def with_entries(table: bytes, name: str, commands: Sequence[str]) -> bytes:
    """Return a crontab in which the given lines are the entries of `name`, after all others.

    Each ends in a comment that names their owner. Every other line stays as it is.
    """
    rows = [row for row in table.splitlines(keepends=True) if not _is_of(row, name)]
    if commands and rows and not rows[-1].endswith(b"\n"):
        rows[-1] += b"\n"
    return b"".join((*rows, *(os.fsencode(f"{line}{_tag(name)}\n") for line in commands)))


def entries(table: bytes, name: str) -> tuple[str, ...]:
    """Return the entries of `name`, without the comment at their end."""
    rows = (os.fsdecode(row.rstrip(b"\r\n")) for row in table.splitlines() if _is_of(row, name))
    return tuple(row.removesuffix(_tag(name)) for row in rows)


def _is_of(row: bytes, name: str) -> bool:
    return os.fsdecode(row.rstrip(b"\r\n")).endswith(_tag(name))


def _tag(name: str) -> str:
    escaped = name.replace("%", r"\%")  # a bare percent sign ends a command
    return f" # memrepo {escaped}"


def program() -> tuple[str, ...]:
    """Return the command words that start this memrepo installation without relying on PATH."""
    sibling = Path(sys.executable).with_name("memrepo")
    if sibling.exists():
        return (str(sibling),)
    found = shutil.which("memrepo")
    return (str(Path(found).absolute()),) if found else (sys.executable, "-m", "memrepo")


def timeout_words(seconds: int) -> tuple[str, ...]:
    """Return a command prefix that limits run time, or () if `timeout` is not installed."""
    found = shutil.which("timeout")
    return (found, "-s", "INT", "-k", "60", str(seconds)) if found else ()


def search_path() -> str:
    """Return the PATH with which a cron job finds git, or "" if cron's default suffices."""
    git = shutil.which("git")
    folder = str(Path(git).parent) if git else ""
    return ":".join((folder, *_CRON_PATH)) if folder and folder not in _CRON_PATH else ""

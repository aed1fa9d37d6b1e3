"""Refs as git's own files hold them (gitrepository-layout(5)); what these do not tell git is asked.

A ref is one small file, or a line of `packed-refs` once it was packed: reading that takes no
process. Where refs are kept otherwise (reftable), or a file holds what is no id, git answers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from memrepo.core.patterns import regex

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

_ID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TO = "ref: "


class _AskGit(Exception):
    """The files do not tell."""


class Refs:
    """The refs of one work tree. Every question is asked anew: others move refs meanwhile."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._own, self._common = Path(repo.git_dir), Path(repo.common_dir)

    @property
    def branch(self) -> str:
        """Return the full name of the branch that HEAD names; empty where it is detached."""
        try:
            said = self._head()
        except _AskGit:
            return self._repo.light.ask("symbolic-ref", "-q", "HEAD", no=1).strip()
        return said.removeprefix(_TO) if said.startswith(_TO) else ""

    @property
    def head(self) -> str:
        """Return the id of the commit at HEAD; empty on a branch that is not born."""
        try:
            said = self._head()
            return self._named(said.removeprefix(_TO)) if said.startswith(_TO) else said
        except _AskGit:
            return self._asked("HEAD")

    def id(self, ref: str) -> str:
        """Return the object that a ref names in full, or an empty string."""
        try:
            return self._named(ref)
        except _AskGit:
            return self._asked(ref)

    def below(self, folder: str) -> list[str]:
        """Return the names of the refs below a folder (`refs/heads/run/`), in order."""
        try:
            self._refuse_other_kinds()
            found = {name for name in self._packed() if name.startswith(folder)}
            for place, _, names in os.walk(self._common / folder, onerror=_raise):
                above = Path(place).relative_to(self._common).as_posix()
                loose = (f"{above}/{name}" for name in names if not name.endswith(".lock"))
                found.update(name for name in loose if self._named(name))
        except (_AskGit, OSError):
            return self._repo.light.ask("for-each-ref", "--format=%(refname)", folder).split()
        return sorted(found)

    def _asked(self, ref: str) -> str:
        return self._repo.light.ask("rev-parse", "-q", "--verify", ref, no=1).strip()

    def _head(self) -> str:
        """Return the id that HEAD holds, or `ref: ` and a branch."""
        self._refuse_other_kinds()
        place = self._own / "HEAD"
        try:
            said = "" if place.is_symlink() else place.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            said = ""
        name = said.removeprefix("ref:").strip()
        if said.startswith("ref:") and name.startswith("refs/"):
            return _TO + name
        if not _ID.fullmatch(said):
            raise _AskGit
        return said

    def _named(self, ref: str) -> str:
        self._refuse_other_kinds()
        try:
            said = (self._common / ref).read_text("ascii").strip()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            # Who packs a ref writes it there before the file goes.
            return self._packed().get(ref, "")
        except (OSError, UnicodeDecodeError):
            raise _AskGit from None
        if not _ID.fullmatch(said):
            raise _AskGit
        return said

    def _packed(self) -> dict[str, str]:
        try:
            text = (self._common / "packed-refs").read_text("utf-8", "surrogateescape")
        except FileNotFoundError:
            return {}
        except OSError:
            raise _AskGit from None
        rows = (line.split(" ", 1) for line in text.split("\n") if line and line[0] not in "#^")
        return {name: id_ for id_, name in rows}

    def _refuse_other_kinds(self) -> None:
        if not (self._common / "refs" / "heads").is_dir() or (self._common / "reftable").exists():
            raise _AskGit


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error

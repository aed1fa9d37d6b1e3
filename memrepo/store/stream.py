"""Write a chain of commits as one `git fast-import` stream, and sign the chain's merge.

The stream ends in `done` (git-fast-import(1)). Without it, a truncated stream would be committed
silently.

If `commit.gpgSign` is set, the merge of a run is signed, which also covers the chain. fast-import
does not sign, so the merge is written again with a signature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from memrepo.core.state import Effect
from memrepo.store import settings
from memrepo.store.errors import CannotSign
from memrepo.store.git import GitFailed, TreeEntry

if TYPE_CHECKING:
    from memrepo.store.local import Repo

COMMITTER = "memrepo <memrepo@localhost>"
"""The committer if no identity is configured in git."""
RUN = "memrepo run <run@memrepo.invalid>"
"""The author of decisions that a run made itself."""
SYNC = "memrepo sync <sync@memrepo.invalid>"
"""The author of merges of two histories."""


class NewCommit(msgspec.Struct, frozen=True, kw_only=True):
    """A commit to write, with its message and its changes to files.

    `picks` are entries to use unchanged, including their modes. None removes the path.
    """

    message: str
    effect: Effect
    picks: Mapping[str, TreeEntry | None] = msgspec.field(default_factory=dict)


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    """Commits on top of `base` (empty: a root), with the message of their merge (empty: no merge).

    If `first` is set, the first commit is a merge. `first` is its first parent, whose files it
    edits, and `base` is its second parent. If `second` is set, it is a merge of `second` into
    `base`.
    """

    base: str
    first: str = ""
    second: str = ""
    commits: Sequence[NewCommit]
    merge: str = ""
    author: str = RUN
    when: datetime


def quoted(path: str) -> bytes:
    """Quote a path in C style for fast-import. Non-ASCII bytes are left unquoted."""
    text = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + text.encode("utf-8", "surrogateescape") + b'"'


def _data(out: BinaryIO, data: bytes) -> None:
    out.write(b"data %d\n" % len(data))
    out.write(data)
    out.write(b"\n")


def write_stream(out: BinaryIO, chain: Chain, ref: str, committer: str = COMMITTER) -> None:
    """Write the complete fast-import stream that creates the chain and its merge at `ref`."""
    stamp = f"{int(chain.when.timestamp())} +0000"
    who = f"author {chain.author} {stamp}\ncommitter {committer} {stamp}\n"
    out.write(b"feature done\n")
    marks = 0
    net: dict[str, str] = {}
    parents: tuple[str, ...] = (chain.first, chain.base) if chain.first else (chain.base,)
    parents += (chain.second,) if chain.second else ()
    for commit in chain.commits:
        marked = {path: _entry(pick) for path, pick in commit.picks.items()}
        for path, data in commit.effect.items():
            if data is None:
                marked[path] = ""
                continue
            marks += 1
            out.write(b"blob\nmark :%d\n" % marks)
            _data(out, data)
            marked[path] = f"100644 :{marks}"
        net.update(marked)
        marks += 1
        _commit(out, ref, marks, commit.message, parents, marked, who)
        parents = (f":{marks}",)
    if chain.merge:
        marks += 1
        parents = (chain.base, *parents)
        _commit(out, ref, marks, chain.merge, parents, net, who)
    out.write(b"done\n")


def _entry(pick: TreeEntry | None) -> str:
    return f"{pick.mode} {pick.id}" if pick is not None else ""


def _commit(
    out: BinaryIO,
    ref: str,
    mark: int,
    message: str,
    parents: tuple[str, ...],
    files: Mapping[str, str],
    who: str,
) -> None:
    out.write(f"commit {ref}\nmark :{mark}\n{who}".encode())
    _data(out, message.encode("utf-8", "backslashreplace"))
    words = ("from", *["merge"] * (len(parents) - 1))
    for word, parent in zip(words, parents, strict=True):
        if parent:
            out.write(f"{word} {parent}\n".encode())
    # Deletions first: a file may replace a folder that becomes empty in the same commit.
    for path in (p for p, entry in files.items() if not entry):
        out.write(b"D " + quoted(path) + b"\n")
    for path, entry in files.items():
        if entry:
            out.write(f"M {entry} ".encode() + quoted(path) + b"\n")
    out.write(b"\n")


BAD = "BR"
"""Git's `%G?` letters for a signature that does not match, or a revoked key."""
UNCHECKED = "E"
"""Git's `%G?` letter for a signature that cannot be checked: no key, or no program."""


def committer(repo: Repo) -> str:
    """Return the committer identity configured in git, or memrepo's own if there is none."""
    return settings.author(repo) or COMMITTER


def wants_signature(repo: Repo) -> bool:
    """Return whether git is configured to sign commits in this repository."""
    return repo.config.is_on("commit.gpgSign")


def refuse_unsigned(repo: Repo) -> None:
    """Raise CannotSign if signing is required but impossible. Call this before writing."""
    if not wants_signature(repo):
        return
    empty = repo.call("mktree").strip()
    stamp = "1000000000 +0000"
    who = {**_who("AUTHOR", RUN, stamp), **_who("COMMITTER", committer(repo), stamp)}
    try:
        repo.call("commit-tree", "-S", "-m", "a trial", empty, env=who)
    except GitFailed as error:
        raise CannotSign(cause=error.cause) from error


def sign_merge(repo: Repo, chain: Chain, tip: str, held: tuple[int, ...]) -> str:
    """Write the merge at `tip` again with a signature, and return its id. Raises CannotSign."""
    tree, *parents = repo.call("rev-parse", f"{tip}^{{tree}}", f"{tip}^1", f"{tip}^2").split()
    stamp = f"{int(chain.when.timestamp())} +0000"
    words = [word for parent in parents for word in ("-p", parent)]
    try:
        return repo.call(
            "commit-tree",
            "-S",
            *words,
            "-F",
            "-",
            tree,
            lines=[chain.merge or chain.commits[-1].message],
            inherited=held,
            env={
                **_who("AUTHOR", chain.author, stamp),
                **_who("COMMITTER", committer(repo), stamp),
            },
        ).strip()
    except GitFailed as error:
        raise CannotSign(cause=error.cause) from error


def _who(role: str, name: str, stamp: str) -> dict[str, str]:
    who, _, email = name.rpartition(" <")
    return {
        f"GIT_{role}_NAME": who,
        f"GIT_{role}_EMAIL": email.rstrip(">"),
        f"GIT_{role}_DATE": stamp,
    }


def verdicts(repo: Repo, commits: Sequence[str]) -> dict[str, str]:
    """Return {commit: git's signature verdict (`%G?`)} for each signed commit."""
    if not commits:
        return {}
    lines = (f"{commit}\n" for commit in commits)
    raw = repo.call("log", "--no-walk=unsorted", "--stdin", "--format=%H %G?", lines=lines)
    pairs = (line.split(" ") for line in raw.splitlines())
    return {commit: letter for commit, letter in pairs if letter != "N"}

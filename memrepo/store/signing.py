"""Signatures: a run's merge is signed where `commit.gpgSign` asks for it, and it covers the chain.

fast-import does not sign, so the merge is made once more, equal but for its signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memrepo.core.errors import MemrepoError
from memrepo.store.identity import person
from memrepo.store.light import GitFailed, call
from memrepo.store.stream import COMMITTER, Chain

if TYPE_CHECKING:
    from memrepo.store.gitenv import Repo

BAD = "BR"
"""Of git's `%G?`: the signature does not fit the commit, or its key was revoked."""
UNCHECKED = "E"
"""The signature cannot be checked here: no key, or no program."""


class CannotSign(MemrepoError):
    """commit.gpgSign is set and the signature could not be made; nothing was written."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the merge commit could not be signed, as commit.gpgSign asks: {why}",
            fix="see to gpg.format, user.signingKey and the signing program (`git commit -S` tries"
            " them), or unset commit.gpgSign",
        )


def wants_signature(repo: Repo) -> bool:
    """Tell whether commits are to be signed here."""
    return repo.config.is_on("commit.gpgSign")


def sign_merge(repo: Repo, chain: Chain, tip: str, ref: str, held: tuple[int, ...]) -> str:
    """Make the merge at `ref` once more with a signature; return the new tip. Raises CannotSign."""
    tree, *parents = call(repo, "rev-parse", f"{tip}^{{tree}}", f"{tip}^1", f"{tip}^2").split()
    stamp = f"{int(chain.when.timestamp())} +0000"
    words = [word for parent in parents for word in ("-p", parent)]
    try:
        made = call(
            repo,
            "commit-tree",
            _switch(repo),
            *words,
            "-F",
            "-",
            tree,
            lines=[chain.merge],
            held=held,
            env={**_who("AUTHOR", chain.author, stamp), **_who("COMMITTER", COMMITTER, stamp)},
        ).strip()
    except GitFailed as error:
        raise CannotSign(error.said) from error
    call(repo, "update-ref", ref, made, tip)
    return made


def _switch(repo: Repo) -> str:
    """Return `-S` with the person's own key: without one git would look for the committer's."""
    name, email = person(repo)
    key = repo.config.get("user.signingKey")
    form = repo.config.get("gpg.format") or "openpgp"
    if not key and form == "openpgp":
        key = f"{name} <{email}>" if name else email
    return f"-S{key}"


def _who(role: str, name: str, stamp: str) -> dict[str, str]:
    who, _, email = name.rpartition(" <")
    return {
        f"GIT_{role}_NAME": who,
        f"GIT_{role}_EMAIL": email.rstrip(">"),
        f"GIT_{role}_DATE": stamp,
    }


def verdicts(repo: Repo, commits: Sequence[str]) -> dict[str, str]:
    """Return git's verdict (`%G?`) for each commit that carries a signature."""
    if not commits:
        return {}
    raw = call(
        repo,
        "-c",
        "log.showSignature=false",
        "log",
        "--no-walk=unsorted",
        "--stdin",
        "--format=%H %G?",
        lines=[f"{commit}\n" for commit in commits],
    )
    pairs = (line.split(" ") for line in raw.splitlines())
    return {commit: letter for commit, letter in pairs if letter != "N"}

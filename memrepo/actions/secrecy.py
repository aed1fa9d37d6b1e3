"""What no write brings in: secrets, in texts that are given, in files and in commit messages.

A text that comes from outside is refused whatever it says about itself. What a chain writes is held
against the tree before: a secret that a hand committed does not stop what is done about its memory,
but none comes in, and none comes back from history. There a line that allows one, and the baseline,
count as they do for `check`. What git has merged already is `check`'s to tell of.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from memrepo.checks.secrets import secrets_of
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.secrets import find_secrets
from memrepo.store.around import grounds

if TYPE_CHECKING:
    from memrepo.core.state import State
    from memrepo.store.repo import Repository
    from memrepo.store.stream import Commit


class SecretInText(MemrepoError):
    """A text that holds a secret is not written: git would keep it for ever."""

    exit_code = Exit.USAGE

    def __init__(
        self,
        kinds: str,
        what: str = "the text",
        fix: str = "leave the secret out, or name where it is kept",
    ) -> None:
        super().__init__(f"{what} holds a secret ({kinds}): nothing was written", fix=fix)


def refuse_secret(text: str, what: str) -> None:
    """Raise SecretInText where a text holds a secret; `what` names the text."""
    if secrets := find_secrets(text):
        raise SecretInText(", ".join(sorted({s.kind for s in secrets})), what)


def refuse_new_secrets(store: Repository, base: str, commits: Iterable[Commit]) -> None:
    """Raise SecretInText where a commit's files hold a secret that the tree of `base` does not."""
    for commit in commits:
        for path, data in commit.effect.files.items():
            if data is not None and next(secrets_of(data), None):
                _refuse_new(store, base, path, data)


def _refuse_new(store: Repository, base: str, path: str, data: bytes) -> None:
    git = store.repo.light
    allowed = grounds(git).wants(git).allowed_secrets
    before = store.snapshot(base).state() if base else None
    for secret, value in secrets_of(data, allowed):
        if before is None or not _was_there(before, path, value):
            raise SecretInText(
                secret.kind,
                f"{visible(path)}, line {secret.line},",
                fix="leave it out of what is written; if it is none, end its line with"
                " <!-- memrepo:allow-secret --> where it comes from, or `memrepo check --baseline`",
            )


def _was_there(before: State, path: str, value: str) -> bool:
    """Tell whether a file, or any memory, held a value already."""
    if value in before.files.get(path, b"").decode("utf-8", "replace"):
        return True
    return any(
        value in text
        for memory in before.memories.values()
        for text in (memory.body, *memory.fields.values())
        if isinstance(text, str)
    )

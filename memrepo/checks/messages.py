"""What a hand-written commit message must not say: memrepo's trailers, and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from memrepo.checks.rules import Rule
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.secrets import find_secrets

FORGED = Rule(
    name="message-trailer",
    group="derived",
    doc="A hand-written commit message has none of memrepo's trailers: history is read by them.",
)
SECRET = Rule(name="message-secret", group="secrets", doc="A commit message holds no secret.")
RULES = (FORGED, SECRET)
_SCISSORS = regex(r"^. -+ >8 -+$", re.MULTILINE)
_TRAILER = regex(rf"[ \t]*{PREFIX}[A-Za-z-]+[ \t]*[:=#]", re.IGNORECASE)


def message_problems(path: str, text: str) -> Iterator[Problem]:
    """Return what is wrong with a message as an editor leaves it, comments and all."""
    cut = _SCISSORS.search(text)
    said = text[: cut.start()] if cut else text
    for number, line in enumerate(said.split("\n"), start=1):
        if _TRAILER.match(line):
            yield FORGED.found(
                path,
                f"found {line.strip().split(':')[0][:40]}, which only memrepo writes",
                line=number,
                column=1,
                fix="take the line out; the commands write it themselves",
            )
    for secret in find_secrets(said):
        yield SECRET.found(
            path,
            f"found a secret ({secret.kind})",
            line=secret.line,
            column=secret.column,
            fix="take it out, and change it where it is used",
        )

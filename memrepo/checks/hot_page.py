"""What `check` says of a hot cache that a hand changed: edits belong to the memories behind."""

from __future__ import annotations

import shlex
from collections.abc import Callable

from memrepo.checks.derived import EDITED
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem
from memrepo.policies.hotcache import hot_of
from memrepo.views.hot import bullet, condensed, said_by_hand, standing_of, unescaped

Find = Callable[[str], Memory | None]
"""From the path of a memory to the memory that stands there."""


def check_hot_page(path: str, data: bytes, find: Find) -> list[Problem]:
    """Return a finding for each line that a hand changed, with the command that says the same."""
    if standing_of(data) != "edited":
        return []
    back = f"`git restore -SW {path}`"
    found = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        said = said_by_hand(line)
        if said is not None and (wrong := _wrong(line, *said, find)):
            message, command = wrong
            found.append(
                EDITED.found(
                    path,
                    message,
                    line=number,
                    column=1,
                    fix=f"{back}, then {command}",
                )
            )
    return found or [
        EDITED.found(
            path,
            "was changed by hand, expected it as memrepo wrote it",
            fix=f"{back}; `memrepo promote`, with and without `--off`, says what stands on it",
        )
    ]


def _wrong(line: str, said: str, path: str, find: Find) -> tuple[str, str] | None:
    """Return what is wrong with a line and what makes it true; None where it stands rightly."""
    shown = visible(unescaped(said))
    if not path:
        return f"found {shown!r}, which no memory says", f"`memrepo add {shlex.quote(shown)}`"
    memory = find(path)
    if memory is None or hot_of(memory) is None:
        return f"found a bullet of {visible(path)}, which is not hot", "`memrepo promote` it"
    if said == condensed(memory):
        message = f"found another tag for {memory.id}"
        wanted = "`memrepo pin` it, with or without `--off`, if that was meant"
        return None if line.rstrip() == bullet(memory) else (message, wanted)
    command = f"`memrepo edit {memory.id} --text {shlex.quote(shown)}`"
    if unescaped(condensed(memory)) != memory.body.strip():
        command = f"`memrepo edit {memory.id}`, whose text is longer than its bullet"
    was = visible(unescaped(condensed(memory)))
    return f"found {shown!r}, where {memory.id} says {was!r}", command

"""Commit messages with a subject, a body with the reason, and machine-readable trailers.

Texts of memories are untrusted. They are folded to one line, without invisible characters and
secrets, so that they cannot be parsed as trailers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.core.ids import visible
from memrepo.core.patterns import read_table, regex

if TYPE_CHECKING:
    from memrepo.core.memory import Memory
    from memrepo.core.state import State, Step

SUBJECT_LENGTH = 72
REASON_LENGTH = 500
MAX_MEMORIES = 50
"""The maximum number of memories listed in a message."""
MAX_STEPS = 40
"""The maximum number of commits listed in the merge message of a run."""
PREFIX = "Memrepo-"
_BLANKS = regex(r"\s+")
_TRAILER = regex(r"[\w-]+\s*[:=#]")
"""Matches the start of a line that could be parsed as a trailer."""
_MARKUP = regex(r"^(?:[#>*+-]+\s+)+|\*\*")
"""Markdown markers before and within the first words of a text."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """Values shared by all commits of a command: run id (or empty), actor, and reverted commits.

    `lines` are listed in the body. `written` are a time and a path for each copied source whose
    text is older than the copy.
    """

    actor: str
    run: str = ""
    reverts: tuple[str, ...] = ()
    extra: Mapping[str, str] | None = None
    lines: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


def fold(text: str, limit: int) -> str:
    """Fold a text to one line of at most `limit` characters, and remove invisible characters."""
    line = _BLANKS.sub(" ", visible(text)).strip()
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def cut(text: str, limit: int) -> str:
    """Fold a text to one line of at most `limit` characters, truncated at the end of a word."""
    line = fold(text, limit)
    if not line.endswith("…") or line == _BLANKS.sub(" ", visible(text)).strip():
        return line
    whole = line.rpartition(" ")[0].rstrip(" ,;:–—-")
    return f"{whole}…" if len(whole) > limit // 2 else line


def counted(count: int, one: str, many: str) -> str:
    """Format a count with a noun, such as `1 page` or `2 pages`."""
    return f"{count} {one if count == 1 else many}"


def counted_as(count: int, many: str) -> str:
    """Format a count and its words. A known noun among the first two is inflected: `1 new note`."""
    words = many.split(" ")
    if count == 1:
        words[:2] = [_table()["one"].get(word, word) for word in words[:2]]
    return " ".join((str(count), *words))


@cache
def _table() -> Mapping[str, Any]:
    """Return the words of subjects, by their section of `messages.toml`."""
    found: Mapping[str, Any] = read_table(Path(__file__).with_suffix(".toml"))
    return found


def message(
    step: Step,
    context: Context,
    before: State | None = None,
    after: State | None = None,
) -> str:
    """Return the commit message of a step. The texts of memories are read from the given states."""
    found = _memories(step, before, after)
    trailers = [("Run", context.run)] if context.run else []
    trailers.append(("Op", step.op))
    trailers += [("Memory", id_) for id_ in step.memory_ids]
    trailers.append(("Actor", context.actor))
    if reason := fold(step.reason, REASON_LENGTH):
        trailers.append(("Reason", reason))
    trailers += [("Reverts", commit) for commit in context.reverts]
    trailers += [("Written", row) for row in context.written]
    trailers += sorted((context.extra or {}).items())
    listed = [*_listed(found), *(f"- {fold(one, 200)}" for one in context.lines)]
    parts = [
        _subject(step, found, after or before, before, by_run=bool(context.run)),
        f"- {reason}" if _TRAILER.match(reason) else reason,
        "\n".join(listed),
        "\n".join(f"{PREFIX}{key}: {fold(value, REASON_LENGTH)}" for key, value in trailers),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def subject_of(step: Step, before: State, after: State) -> str:
    """Return the commit subject of a step decided by a person or a command, not by a run."""
    return _subject(step, _memories(step, before, after), after, before, by_run=False)


def _subject(
    step: Step,
    found: Sequence[Memory],
    state: State | None,
    before: State | None,
    *,
    by_run: bool,
) -> str:
    """Return the subject given in the step, or build one from the memories in the step."""
    if step.what or not found:
        return fold(step.what, SUBJECT_LENGTH) or step.op
    if step.op == "supersede" and len(found) > 1:
        return _superseding(found)
    if step.op == "compress":
        count = counted(len(found) - 1, "memory", "memories")
        return _with_words(f"Summarise {count}: ", found[0])
    if (pair := _table()["pairs"].get(step.op)) and len(found) == 2 and step.memories:
        half = (SUBJECT_LENGTH - len(pair) + 4) // 2
        return str(pair).format(*(words_of(memory, half) for memory in found))
    usual = _table()["subjects"].get(step.op, (step.op.capitalize(),) * 2)
    one, many = usual if by_run else _table()["by_hand"].get(step.op, usual)
    if step.op == "retire" and all(memory.status == "active" for memory in found):
        one, many = "Mark {type} for removal", "Mark {many} for removal"
    if step.op == "reword" and all(memory.is_note for memory in found):
        one, many = "Extend {type}", "Extend {many}"
    first, tiers = found[0], Counter(memory.tier for memory in found)
    if step.op == "pin" and not first.pinned:
        one = many = f"Un{one.lower()}"
    if len(found) == 1:
        start = f"{one.format(type=first.type, tier=next(iter(tiers)))}: "
        old = before.memories.get(first.id) if before and step.op in ("reword", "edit") else None
        if old is not None and not old.is_note and old.body != first.body:
            return _with_former(start, first, old)
        return _with_words(start, first)
    nouns = ("note", "notes") if all(m.is_note for m in found) else ("memory", "memories")
    count, tier = counted(len(found), *nouns), next(iter(tiers))
    if len(tiers) > 1:  # such as "Move 7 notes to warm, 3 to gist"
        count = counted(tiers[tier], *nouns)
        tier = ", ".join([tier, *(f"{n} to {name}" for name, n in [*tiers.items()][1:])])
    subject = many.format(
        type=counted(len(found), *nouns),
        many=count if step.op == "tier" else counted(len(found), *nouns),
        tier=tier,
        origin=_origin(found, state),
    )
    return fold(subject, SUBJECT_LENGTH)


def words_of(memory: Memory, limit: int) -> str:
    """Return the first words of a memory on one line. Secrets are redacted."""
    from memrepo.core.secrets import redact

    titled = memory.sources and (memory.is_note or "\n" in memory.body)
    title = memory.title if titled else ""
    text = _MARKUP.sub("", memory.body[:1000].lstrip()) or memory.body
    named, colon, rest = text.partition(":")
    if colon and named.casefold() == memory.type and rest.strip():  # "Add decision: Decision: ..."
        text = rest.lstrip()
    text = f"{title}: {text}" if title and not text.startswith(title) else text
    return cut(redact(text)[0] + ("…" if len(memory.body) > 1000 else ""), limit)


def _memories(step: Step, before: State | None, after: State | None) -> list[Memory]:
    """Return the memories of a step as they are after it, or before it if removed."""
    from memrepo.core.state import Create, Update

    found: dict[str, Memory] = {}
    for side in filter(None, (before, after)):
        found |= {id_: m for id_ in step.memory_ids if (m := side.memories.get(id_)) is not None}
    for change in step.changes:  # the states cover the whole sequence of steps
        if isinstance(change, Create):
            found[change.memory.id] = change.memory
        elif isinstance(change, Update) and (old := found.get(change.id)) is not None:
            found[change.id] = old.with_fields(change.fields, change.body)
    return [found[id_] for id_ in step.memory_ids if id_ in found]


def _with_words(start: str, memory: Memory) -> str:
    return start + words_of(memory, SUBJECT_LENGTH - len(start))


def _superseding(found: Sequence[Memory]) -> str:
    """Return the subject of a supersession."""
    ids = {memory.id for memory in found}
    new = next((m for m in found if ids & {*m.supersedes}), found[0])
    first, *more = [m for m in found if m is not new]
    return _with_former("Supersede: ", new, first, f" and {len(more)} more" if more else "")


def _with_former(start: str, new: Memory, old: Memory, rest: str = "") -> str:
    """Return a subject with the new text, and the part of the old text that differs."""
    now, was = (words_of(memory, 200).split(" ") for memory in (new, old))
    same = next((n for n, pair in enumerate(zip(now, was, strict=False)) if len({*pair}) > 1), 0)
    room = SUBJECT_LENGTH - len(f"{start} (was: )") - len(rest)
    former = cut(" ".join(was[max(0, same - 1) :]), max(18, room - len(" ".join(now))))
    return f"{start}{cut(' '.join(now), room - len(former))} (was: {former}{rest})"


def _origin(found: Sequence[Memory], state: State | None) -> str:
    """Return the source file of most of the memories, as the end of a subject."""
    files = Counter(name for memory in found if (name := memory.first[0]))
    if not files:
        return ""
    first = min(files, key=lambda name: (-files[name], name))
    name = state.layout.source_name(first) if state else first
    more = counted(len(files) - 1, "other file", "other files")
    return f" from {fold(name, 28)}{f' and {more}' if len(files) > 1 else ''}"


def _listed(found: Sequence[Memory]) -> list[str]:
    """Return a line for each of several memories, or an empty list for a single one."""
    if len(found) < 2:
        return []
    shown, rest = found[:MAX_MEMORIES], len(found) - MAX_MEMORIES
    lines = [f"- {m.type}: {words_of(m, 60)} ({fold(m.path, 200)})" for m in shown]
    return [*lines, *([f"- and {rest} more"] if rest > 0 else [])]

"""The evidence of a memory, quoted: the recorded lines, and where they stand by now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

import msgspec

from memrepo.actions.work import Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory, Source
from memrepo.purify.evidence import Found, Outcome, Text, quote, resolve
from memrepo.store.tree import contents

LINES = 5
"""Lines that are shown of one piece."""


class _Sources(Mapping[str, Text]):
    """The sources of one tree, each read once and only when it is looked into.

    The notes that a memory rests on are sources to it.
    """

    def __init__(self, work: Work, notes: Iterable[str]) -> None:
        area = work.tree.layout.area("sources")
        self.work = work
        self.blobs = {p: blob for p, blob in work.tree.blobs.items() if p.startswith(area)}
        self.blobs |= {p: work.tree.blobs[p] for p in notes if p in work.tree.blobs}
        self._read: dict[str, Text] = {}

    def __getitem__(self, path: str) -> Text:
        if path not in self._read:
            blob = self.blobs[path]
            data = contents(self.work.store.repo, [blob]).get(blob) or b""
            self._read[path] = self.text(path, data)
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.blobs)

    def __len__(self) -> int:
        return len(self.blobs)

    def text(self, path: str, data: bytes) -> Text:
        """Return a version of a source, read by the rules of its name."""
        return Text(path, data, self.work.tree.layout.source_name(path))


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """Where moved lines stand by now."""

    resource: str
    lines: tuple[int, int]


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence, quoted, and what became of its lines."""

    resource: str
    lines: tuple[int, int]
    blob: str
    captured: str
    captured_from: str
    kind: str
    quote: str
    resolved: Outcome
    found: Now | None
    """Where lines that moved stand now."""
    missing: bool
    """Whether the repository lacks the recorded version, which then cannot be quoted."""


def evidence(work: Work, memory: Memory) -> tuple[Quote, ...]:
    """Return the evidence of a memory, each piece with its quote."""
    now = _Sources(work, (s.resource for s in memory.sources))
    recorded = contents(work.store.repo, [s.blob for s in memory.sources])
    texts: dict[tuple[str, str], Text] = {}
    found = []
    for source in memory.sources:
        data = recorded.get(source.blob)
        key = (source.resource, source.blob)
        if data is not None and key not in texts:
            texts[key] = now.text(source.resource, data)
        text = texts.get(key)
        found.append(_quote(source, text, resolve(source, text, now.blobs, now), now))
    return tuple(found)


def _quote(source: Source, text: Text | None, place: Found, now: _Sources) -> Quote:
    said = quote(text, source.lines) if text is not None else ""
    if text is None and place.path in now:
        said = quote(now[place.path], place.lines)
    moved = place.outcome == "moved"
    return Quote(
        resource=source.resource,
        lines=source.lines,
        blob=source.blob,
        captured=source.captured,
        captured_from=source.captured_from,
        kind=source.kind,
        quote=said,
        resolved=place.outcome,
        found=Now(resource=place.path, lines=place.lines) if moved else None,
        missing=bool(source.blob) and text is None,
    )


def span(lines: Sequence[int]) -> str:
    """Spell a span of lines behind a path: `:3`, `:3-5`, nothing for a whole file."""
    first, last = lines
    return f":{first}" + (f"-{last}" if last > first else "") if first else ""


def evidence_lines(found: Sequence[Quote]) -> list[str]:
    """Spell pieces of evidence, a few lines of each."""
    lines = []
    for piece in found:
        dated = f", captured {piece.captured} (from the {piece.captured_from})"
        place = f"{piece.resource}{span(piece.lines)}"
        lines.append(
            f"{'evidence:':<15}{visible(place)}{dated if piece.captured else ''}{_became(piece)}"
        )
        quoted = piece.quote.split("\n") if piece.quote else []
        lines += [f"    | {visible(line)}" for line in quoted[:LINES]]
        if len(quoted) > LINES:
            lines.append(f"    | ... {len(quoted) - LINES} more lines")
        if piece.missing:
            lines.append(
                f"    the recorded version {piece.blob[:10]} is not in this repository "
                "(a shallow or partial clone, or purged)"
            )
    return lines


def _became(piece: Quote) -> str:
    match piece.resolved:
        case "exact":
            return ""
        case "moved":
            now = piece.found
            return visible(f"; now at {now.resource}{span(now.lines)}") if now else ""
        case "lost":
            # What has a scheme was never among the sources of this repository.
            return "" if "://" in piece.resource else "; no longer in the sources"
        case _:
            assert_never(piece.resolved)

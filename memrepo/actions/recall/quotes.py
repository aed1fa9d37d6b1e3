"""The evidence of a memory, quoted: the recorded lines, and where those lines are now.

`exact`: the source still has these lines at this place. `moved`: the text is elsewhere. It was
found line by line or, if lines were wrapped differently, by the hash of its unit. `lost`: no source
contains the text. Secrets in the recorded text are never quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property
from typing import Literal, NamedTuple, TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.core.ids import normal_claim, visible
from memrepo.core.memory import Memory, Source, span
from memrepo.core.secrets import find_secrets, redact
from memrepo.core.times import format_time
from memrepo.read.notes import scan_notes, scan_state

Outcome = Literal["exact", "moved", "lost"]
Lines: TypeAlias = tuple[int, int]
_TELLING = 4
"""Minimum length of a word that is searched for before a file is compared line by line."""


class Located(msgspec.Struct, frozen=True, kw_only=True):
    """The result of locating a piece of evidence: path and one-based lines, if found."""

    outcome: Outcome
    path: str = ""
    lines: Lines = (0, 0)


class SourceVersion:
    """One version of a source file, parsed only as far as needed."""

    def __init__(self, path: str, data: bytes, name: str) -> None:
        self.path = path
        self.data = data
        self.name = name

    @cached_property
    def flat(self) -> str:
        r"""Return the text with all line breaks as `\n`, to match the recorded line numbers."""
        text = self.data.decode("utf-8", "replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", " ")

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines of the text. Line n has index n - 1."""
        return self.flat.removesuffix("\n").split("\n")

    @cached_property
    def normal(self) -> list[tuple[int, str]]:
        """Return (line number, normalised text) for each line with content."""
        rows = ((n, normal_claim(line)) for n, line in enumerate(self.lines, start=1))
        return [(n, line) for n, line in rows if line]

    @cached_property
    def lower(self) -> str:
        """Return the text in lower case, to search it for words."""
        return self.flat.casefold()

    @cached_property
    def hashes(self) -> dict[str, list[Lines]]:
        """Return the line ranges of the file's units and notes, by the hash of their text."""
        from memrepo.read.thoughts import scan

        found: dict[str, list[Lines]] = {}
        for unit in scan(self.name, self.data).units:
            found.setdefault(unit.text_hash, []).append(unit.lines)
        for note in (*scan_notes(self.name, self.data)[0], *scan_state(self.name, self.data)):
            found.setdefault(note.text_hash, []).append(note.lines)
        return found

    def span(self, lines: Lines) -> list[str]:
        """Return the lines of a span, or all lines for (0, 0)."""
        first, last = lines
        return self.lines[first - 1 : last] if first else self.lines


def quote(text: SourceVersion, lines: Lines) -> str:
    """Return the lines of a span, with each secret replaced by the name of its kind."""
    rows = text.span(lines)
    first = max(lines[0], 1)
    start = sum(len(line) + 1 for line in text.lines[: first - 1])
    end = start + sum(len(line) + 1 for line in rows) - 1
    parts, at = [], start
    # Search the whole file: a fragment of a multi-line key does not look like a secret.
    for secret in find_secrets(text.flat):
        if secret.end > at and secret.start < end:
            parts += [text.flat[at : max(secret.start, at)], f"[redacted:{secret.kind}]"]
            at = secret.end
    parts.append(text.flat[at:end] if at < end else "")
    return redact("".join(parts))[0]


def resolve(source: Source, recorded: SourceVersion | None, now: _Sources) -> Located:
    """Return where the recorded lines of a source are now."""
    path, lines = source.resource, source.lines
    wanted = recorded.span(lines) if recorded is not None else []
    if path in now.blobs:
        here = now.open(path)
        if any(wanted) and here.span(lines) == wanted:
            return Located(outcome="exact", path=path, lines=lines)
        if spans := [*_spans(here, source.text_hash, wanted)]:
            near = min(spans, key=lambda s: (abs(s[0] - lines[0]), s))
            return Located(outcome="exact" if near == lines else "moved", path=path, lines=near)
    return now.holding(source.text_hash, tuple(wanted))


def _spans(text: SourceVersion, text_hash: str, rows: Sequence[str]) -> Iterator[Lines]:
    wanted = [line for row in rows if (line := normal_claim(row))]
    # A note's hash covers its text without the heading, which may have changed.
    below = [line for line in wanted if not line.startswith("#")] or wanted
    words = [w for line in below for w in line.split() if w.isascii() and w.isalpha()]
    telling = max(words, key=len, default="")
    if len(telling) >= _TELLING and telling not in text.lower:
        return
    for at, (number, line) in enumerate(text.normal if wanted else ()):
        run = text.normal[at : at + len(wanted)]
        if line == wanted[0] and [row for _, row in run] == wanted:
            yield number, run[-1][0]
    yield from text.hashes.get(text_hash, ())


_VERSIONS = 1000
"""Maximum number of file versions searched for a text that is no longer in the file."""
LINES, PLACES = 5, 10
"""Maximum lines shown per piece of evidence, and maximum pieces. A line may occur in every file."""


class _Sources:
    """The sources in one tree, and the notes that are evidence. Each is loaded when first used."""

    def __init__(self, work: Work, notes: Iterable[str]) -> None:
        area = work.tree.layout.area("sources")
        self.work = work
        self.blobs = {p: blob for p, blob in work.tree.blobs.items() if p.startswith(area)}
        self.blobs |= {p: work.tree.blobs[p] for p in notes if p in work.tree.blobs}
        self.open = cache(self._open)
        self.holding = cache(self._holding)

    def _open(self, path: str) -> SourceVersion:
        blob = self.blobs[path]
        return self.text(path, self.work.store.repo.objects.contents([blob]).get(blob) or b"")

    def _holding(self, text_hash: str, rows: tuple[str, ...]) -> Located:
        """Return the first place, in path order, that contains the given lines."""
        places = ((p, [*_spans(self.open(p), text_hash, rows)]) for p in sorted(self.blobs))
        found = (Located(outcome="moved", path=p, lines=min(at)) for p, at in places if at)
        return next(found, Located(outcome="lost"))

    def text(self, path: str, data: bytes) -> SourceVersion:
        """Return a Text for one version of a source, named as in the workspace."""
        return SourceVersion(path, data, self.work.tree.layout.source_name(path))


class Now(msgspec.Struct, frozen=True, kw_only=True):
    """The current place of lines that moved."""

    resource: str
    lines: tuple[int, int]


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of evidence, with its quoted lines and their current state."""

    resource: str
    lines: tuple[int, int]
    blob: str
    captured: str
    captured_from: str
    kind: str
    quote: str
    resolved: Outcome
    found: Now | None
    """The current place, if the lines moved."""
    missing: bool
    """Whether the repository lacks the recorded version, so that it cannot be quoted."""


class Version(NamedTuple):
    """A version of a file, with the range of lines that contain a text."""

    blob: str
    text: SourceVersion | None
    lines: Lines


class Versions:
    """The versions of source files that contained the texts of memories."""

    def __init__(self, work: Work, now: _Sources) -> None:
        self._work, self._now = work, now
        self._blobs = cache(self._blobs_of)
        self._text = cache(self._text_of)

    def of(self, memory: Memory, source: Source) -> Version:
        """Return the newest version that contains a source's text at the recorded lines.

        If none has it there, return the newest version that contains it anywhere. If no text was
        recorded, return the version of the day the memory was created. The blob is empty if the
        repository has no such version.
        """
        hashes = memory.wordings(source) - {""}
        if not hashes:
            return self._at_birth(memory, source)
        elsewhere = Version("", None, source.lines)
        for blob in self._blobs(source.resource):
            text = self._text(source.resource, blob)
            at = [lines for h in hashes for lines in text.hashes.get(h, ())] if text else []
            if source.lines in at:
                return Version(blob, text, source.lines)
            if at and not elsewhere.blob:
                elsewhere = Version(blob, text, at[0])
        return elsewhere

    def _at_birth(self, memory: Memory, source: Source) -> Version:
        made = memory.created
        until = [f"--until={format_time(made)}"] if made else []
        blobs = self._listed(source.resource, *until, "-1") or self._blobs(source.resource)[-1:]
        blob = next(iter(blobs), "")
        text = self._text(source.resource, blob) if blob else None
        return Version(blob, text, source.lines)

    def _blobs_of(self, path: str) -> list[str]:
        found = [self._now.blobs.get(path, ""), *self._listed(path, f"-{_VERSIONS}")]
        return [blob for blob in dict.fromkeys(found) if blob]

    def _listed(self, path: str, *options: str) -> list[str]:
        """Return the blobs that a path had in history, newest first."""
        words = ("log", "--format=", "--raw", "--no-abbrev", "--no-renames", *options)
        raw = self._work.store.repo.call(*words, self._work.tree.commit, "--", path)
        blobs = (line.split()[3] for line in raw.splitlines() if line.startswith(":"))
        return [blob for blob in blobs if blob.strip("0")]

    def _text_of(self, path: str, blob: str) -> SourceVersion | None:
        data = self._work.store.repo.objects.contents([blob]).get(blob)
        return None if data is None else self._now.text(path, data)


def versions(work: Work, resources: Iterable[str]) -> Versions:
    """Return the versions of a commit's sources, including those of any notes in `resources`."""
    return Versions(work, _Sources(work, resources))


def evidence(work: Work, memory: Memory) -> tuple[Quote, ...]:
    """Return a quote for each piece of evidence of a memory."""
    now = _Sources(work, (s.resource for s in memory.sources))
    recorded = Versions(work, now)
    found = []
    for source in memory.sources:
        version = recorded.of(memory, source)
        found_at = replace(source, lines=version.lines)
        place = resolve(found_at, version.text, now)
        if place.outcome == "exact" and place.lines != source.lines:
            place = replace(place, outcome="moved")
        found.append(_quote(found_at, version, place, now, source.lines))
    return tuple(found)


def _quote(source: Source, version: Version, place: Located, now: _Sources, lines: Lines) -> Quote:
    text = version.text
    quoted = quote(text, source.lines) if text is not None else ""
    if text is None and place.path in now.blobs:
        quoted = quote(now.open(place.path), place.lines)
    moved = place.outcome == "moved"
    return Quote(
        resource=source.resource,
        lines=lines,
        blob=version.blob,
        captured=source.captured,
        captured_from=source.captured_from,
        kind=source.kind,
        quote=quoted,
        resolved=place.outcome,
        found=Now(resource=place.path, lines=place.lines) if moved else None,
        missing=text is None and place.outcome == "lost" and "://" not in source.resource,
    )


def evidence_lines(found: Sequence[Quote]) -> list[str]:
    """Format the first pieces of evidence, with a few lines of each."""
    lines = []
    for piece in found[:PLACES]:
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
                "    no version of the file in this repository has the text "
                "(a shallow or partial clone, or purged)"
            )
    if len(found) > PLACES:
        lines.append(f"{'':<15}and {len(found) - PLACES} more places (--json lists all)")
    return lines


def _became(piece: Quote) -> str:
    match piece.resolved:
        case "exact":
            return ""
        case "moved":
            now = piece.found
            return visible(f"; now at {now.resource}{span(now.lines)}") if now else ""
        case "lost":
            # A URL was never among the sources of this repository.
            return "" if "://" in piece.resource else "; no longer in the sources"
        case _:
            assert_never(piece.resolved)

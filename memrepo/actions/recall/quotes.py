"""The evidence of a memory, quoted: the recorded lines, and where they stand by now.

`exact`: the source still holds these lines at this place. `moved`: the text stands elsewhere, found
line by line or, where lines were broken again, by the hash of its unit. `lost`: no source holds it.
Secrets that the recorded text holds are never quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias, assert_never

import msgspec
from msgspec import UnsetType
from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.core.ids import normal_claim, visible
from memrepo.core.memory import Memory, Source
from memrepo.core.secrets import find_secrets, redact
from memrepo.core.times import format_time
from memrepo.read.notes import scan_notes
from memrepo.store.tree import contents

Outcome = Literal["exact", "moved", "lost"]
Lines: TypeAlias = tuple[int, int]
_TELLING = 4
"""Words of so many letters are looked for before a file is read line by line."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a piece of evidence: where it stands (path, one-based lines), if anywhere."""

    outcome: Outcome
    path: str = ""
    lines: Lines = (0, 0)


class Text:
    """One version of a source file, read as far as it is asked.

    `name` is its name in the workspace, by which its kind of unit is known.
    """

    def __init__(self, path: str, data: bytes, name: str) -> None:
        self.path = path
        self.data = data
        self.name = name

    @cached_property
    def flat(self) -> str:
        r"""Return the text with `\n` line ends, as line numbers count them."""
        text = self.data.decode("utf-8", "replace").removeprefix("\ufeff")
        return text.replace("\r\n", "\n").replace("\r", " ")

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines; line n is at n - 1."""
        return self.flat.removesuffix("\n").split("\n")

    @cached_property
    def normal(self) -> list[tuple[int, str]]:
        """Return the lines that say something, normalised, each with its number."""
        rows = ((n, normal_claim(line)) for n, line in enumerate(self.lines, start=1))
        return [(n, line) for n, line in rows if line]

    @cached_property
    def lower(self) -> str:
        """Return the text in lower case, to look for words."""
        return self.flat.casefold()

    @cached_property
    def hashes(self) -> dict[str, list[Lines]]:
        """Return where the units and notes of the file stand, by the hash of their text."""
        from memrepo.read.thoughts import scan

        found: dict[str, list[Lines]] = {}
        for unit in scan(self.name, self.data).units:
            found.setdefault(unit.text_hash, []).append(unit.lines)
        for note in scan_notes(self.name, self.data)[0]:
            found.setdefault(note.text_hash, []).append(note.lines)
        return found

    def span(self, lines: Lines) -> list[str]:
        """Return the lines of a span; all where it is (0, 0)."""
        first, last = lines
        return self.lines[first - 1 : last] if first else self.lines


def quote(text: Text, lines: Lines) -> str:
    """Return the lines of a span without the secrets in them, of which only the kind is told."""
    rows = text.span(lines)
    first = max(lines[0], 1)
    start = sum(len(line) + 1 for line in text.lines[: first - 1])
    end = start + sum(len(line) + 1 for line in rows) - 1
    parts, at = [], start
    # Found in the whole file: of a key over many lines a part alone does not look like one.
    for secret in find_secrets(text.flat):
        if secret.end > at and secret.start < end:
            parts += [text.flat[at : max(secret.start, at)], f"[redacted:{secret.kind}]"]
            at = secret.end
    parts.append(text.flat[at:end] if at < end else "")
    return redact("".join(parts))[0]


def resolve(source: Source, recorded: Text | None, now: _Sources) -> Found:
    """Return where a source's lines stand by now.

    `recorded` is the version they were taken from, None where the repository lacks it.
    """
    path, lines = source.resource, source.lines
    said = recorded.span(lines) if recorded is not None else []
    if path in now:
        here = now[path]
        if any(said) and here.span(lines) == said:
            return Found(outcome="exact", path=path, lines=lines)
        if spans := [*_spans(here, source.text_hash, said)]:
            near = min(spans, key=lambda s: (abs(s[0] - lines[0]), s))
            return Found(outcome="exact" if near == lines else "moved", path=path, lines=near)
    return now.holding(source.text_hash, said)


def _spans(text: Text, text_hash: str, said: Sequence[str]) -> Iterator[Lines]:
    wanted = [line for row in said if (line := normal_claim(row))]
    # A note's hash is that of its text without the heading, under which it may stand no more.
    below = [line for line in wanted if not line.startswith("#")] or wanted
    words = [w for line in below for w in line.split() if w.isascii() and w.isalpha()]
    telling = max(words, key=len, default="")
    if len(telling) >= _TELLING and telling not in text.lower:
        return
    if wanted:
        yield from _runs(text, wanted)
    yield from text.hashes.get(text_hash, ())


def _runs(text: Text, wanted: list[str]) -> Iterator[Lines]:
    """Yield where these lines stand one after the other, blank lines between them or not."""
    rows = text.normal
    for at, (number, line) in enumerate(rows):
        if line == wanted[0] and [row for _, row in rows[at : at + len(wanted)]] == wanted:
            yield number, rows[at + len(wanted) - 1][0]


_VERSIONS = 1000
"""So many versions of a file are looked through for a text that it holds no more."""
LINES, PLACES = 5, 10
"""Lines that are shown of one piece, and how many pieces: one line may stand in every file."""


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
        self._held: dict[tuple[str, ...], Found] = {}

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

    def __contains__(self, path: object) -> bool:
        return path in self.blobs

    def holding(self, text_hash: str, said: Sequence[str]) -> Found:
        """Return where some lines stand first, by path: looked for once for all that said them."""
        key = (text_hash, *said)
        if key not in self._held:
            places = ((p, [*_spans(self[p], text_hash, said)]) for p in sorted(self.blobs))
            found = (Found(outcome="moved", path=p, lines=min(at)) for p, at in places if at)
            self._held[key] = next(found, Found(outcome="lost"))
        return self._held[key]

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


class Version(NamedTuple):
    """A version of a file, and the lines of it that hold a text; no blob where there is none."""

    blob: str
    text: Text | None
    lines: Lines


class Versions:
    """The versions of source files in which the texts of memories stood."""

    def __init__(self, work: Work, now: _Sources) -> None:
        self._work, self._now = work, now
        self._known: dict[str, list[str]] = {}
        self._texts: dict[tuple[str, str], Text | None] = {}

    def of(self, memory: Memory, source: Source) -> Version:
        """Return the newest version that has a source's text at its lines.

        Where none has it there, it is the newest that has it at all; where no text was recorded,
        that of the day when the memory was made. Nothing where the repository lacks it.
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
        made = memory.time("created")
        until = [f"--until={format_time(made)}"] if made else []
        blobs = self._listed(source.resource, *until, "-1") or self._blobs(source.resource)[-1:]
        blob = next(iter(blobs), "")
        text = self._text(source.resource, blob) if blob else None
        return Version(blob, text, source.lines)

    def _blobs(self, path: str) -> list[str]:
        if path not in self._known:
            now = self._now.blobs.get(path, "")
            found = [now, *self._listed(path, f"-{_VERSIONS}")]
            self._known[path] = [blob for blob in dict.fromkeys(found) if blob]
        return self._known[path]

    def _listed(self, path: str, *options: str) -> list[str]:
        """Return the blobs that commits gave to a path, the newest first."""
        words = ("log", "--format=", "--raw", "--no-abbrev", "--no-renames", *options)
        raw = self._work.store.repo.light.ask(*words, self._work.tree.commit, "--", path)
        blobs = (line.split()[3] for line in raw.splitlines() if line.startswith(":"))
        return [blob for blob in blobs if blob.strip("0")]

    def _text(self, path: str, blob: str) -> Text | None:
        if (path, blob) not in self._texts:
            data = contents(self._work.store.repo, [blob]).get(blob)
            self._texts[path, blob] = None if data is None else self._now.text(path, data)
        return self._texts[path, blob]


def versions(work: Work, resources: Iterable[str]) -> Versions:
    """Return the versions of the sources of a commit, and of the notes among some resources."""
    return Versions(work, _Sources(work, resources))


def evidence(work: Work, memory: Memory) -> tuple[Quote, ...]:
    """Return the evidence of a memory, each piece with its quote."""
    now = _Sources(work, (s.resource for s in memory.sources))
    recorded = Versions(work, now)
    found = []
    for source in memory.sources:
        version = recorded.of(memory, source)
        dated = replace(source, blob=version.blob, lines=version.lines)
        place = resolve(dated, version.text, now)
        if place.outcome == "exact" and place.lines != source.lines:
            place = replace(place, outcome="moved")
        found.append(_quote(dated, version.text, place, now, source.lines))
    return tuple(found)


def _quote(source: Source, text: Text | None, place: Found, now: _Sources, told: Lines) -> Quote:
    said = quote(text, source.lines) if text is not None else ""
    if text is None and place.path in now:
        said = quote(now[place.path], place.lines)
    moved = place.outcome == "moved"
    return Quote(
        resource=source.resource,
        lines=told,
        blob=source.blob,
        captured=source.captured,
        captured_from=source.captured_from,
        kind=source.kind,
        quote=said,
        resolved=place.outcome,
        found=Now(resource=place.path, lines=place.lines) if moved else None,
        missing=text is None and place.outcome == "lost" and "://" not in source.resource,
    )


def span(lines: Sequence[int]) -> str:
    """Format a span of lines behind a path: `:3`, `:3-5`, nothing for a whole file."""
    first, last = lines
    return f":{first}" + (f"-{last}" if last > first else "") if first else ""


def evidence_lines(found: Sequence[Quote], count: int | UnsetType | None = None) -> list[str]:
    """Format the first pieces of evidence, a few lines of each.

    `count` tells how many places there are, where not all are among those found.
    """
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
    shown, count = min(len(found), PLACES), max(len(found), count or 0)
    if count > shown:
        named = "all" if count == len(found) else str(len(found))
        lines.append(f"{'':<15}and {count - shown} more places (--json lists {named})")
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

"""What a run takes in: units that no accepted run consumed, and what became of earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from memrepo.core.problems import Problem
from memrepo.purify.capture import PlacedNote, note_hash
from memrepo.purify.gather import Placed
from memrepo.purify.manifest import Consumed
from memrepo.purify.notes import NoteUnit, scan_notes
from memrepo.purify.owners import Owners, is_profile, read_owners
from memrepo.purify.revisions import Revision, revise
from memrepo.purify.scope import Cursor, advance
from memrepo.purify.units import Scan, Unit, scan

Read = Callable[[str], bytes]
"""From a blob id to its bytes."""

MAX_LOST_PCT = 30
FREE_LOSSES = 5
"""A source may always lose this many units: short files are edited too."""


class SourceText(msgspec.Struct, frozen=True, kw_only=True):
    """One source file at the base commit.

    `name` is its path in the workspace, `resource` in the repository, `committed` the ISO date
    of the commit that brought this version. An empty `blob` means that the file is gone.
    """

    name: str
    resource: str
    blob: str
    kind: str
    committed: str


class Intake(msgspec.Struct):
    """Units still to be taken in over all sources, and what became of earlier ones."""

    whole: bool = False
    placed: list[Placed] = msgspec.field(default_factory=list)
    notes: list[PlacedNote] = msgspec.field(default_factory=list)
    standing: list[NoteUnit] = msgspec.field(default_factory=list)
    consumed: list[Consumed] = msgspec.field(default_factory=list)
    revisions: dict[str, Revision] = msgspec.field(default_factory=dict)
    alarms: list[str] = msgspec.field(default_factory=list)
    problems: list[Problem] = msgspec.field(default_factory=list)

    @property
    def gone(self) -> dict[str, frozenset[str]]:
        """Return, by source, the text hashes that left it."""
        return {resource: revision.gone for resource, revision in self.revisions.items()}


class Reader:
    """Scans versions of sources, each once."""

    def __init__(self, texts: Iterable[SourceText], read: Read) -> None:
        self._read = read
        self.missing: set[str] = set()
        """Blobs that were asked for and are not in the repository: they read as empty."""
        self._current = {text.resource: text for text in texts}
        self._owners: Owners | None = None
        self._claims: dict[tuple[str, str], Scan] = {}
        self._notes: dict[tuple[str, str], tuple[tuple[NoteUnit, ...], tuple[Problem, ...]]] = {}

    def claims(self, name: str, blob: str) -> Scan:
        """Return the claim units of one version of a source."""
        key = (name, blob)
        if key not in self._claims:
            self._claims[key] = scan(name, self._bytes(blob))
        return self._claims[key]

    def notes(self, name: str, blob: str) -> tuple[tuple[NoteUnit, ...], tuple[Problem, ...]]:
        """Return the note units of one version of a daily log."""
        key = (name, blob)
        if key not in self._notes:
            self._notes[key] = scan_notes(name, self._bytes(blob))
        return self._notes[key]

    def about(self, name: str) -> str:
        """Return whom a source is about, as the profile files among the sources say."""
        if self._owners is None:
            files = (
                (t.name, self._bytes(t.blob)) for t in self._current.values() if is_profile(t.name)
            )
            self._owners = read_owners(files)
        return self._owners.of(name)

    def standing(self, resource: str) -> frozenset[str]:
        """Return the text hashes of the units that a source holds now, lines of daily logs too."""
        text = self._current.get(resource)
        if text is None or not text.blob:
            return frozenset()
        return frozenset(u.text_hash for u in self.claims(text.name, text.blob).units)

    def _bytes(self, blob: str) -> bytes:
        if not blob:
            return b""
        try:
            return self._read(blob)
        except (KeyError, ValueError):
            self.missing.add(blob)
            return b""


def take_in(
    texts: Sequence[SourceText],
    cursor: Mapping[str, Cursor],
    reader: Reader,
    *,
    whole: bool,
    days: bool = True,
) -> Intake:
    """Compare every source with what the cursor consumed of it; `whole` takes in all claims again.

    Notes are captures, not judgements: a reconciliation has nothing to say of them anew. With
    `days` their units are candidates too, once.
    """
    intake = Intake(whole=whole)
    for text in texts:
        at = cursor.get(text.resource, Cursor())
        seen = at.is_at(text.blob) or at.last == text.blob == ""
        if seen and (not whole or text.kind == "notes" or not text.blob):
            continue
        if text.kind == "notes":
            _notes(intake, text, at, reader, days=days)
        else:
            _claims(intake, text, at, reader)
    intake.alarms += _alarms(intake, texts)
    return intake


def _claims(intake: Intake, text: SourceText, at: Cursor, reader: Reader) -> None:
    found = reader.claims(text.name, text.blob)
    old = {
        blob: frozenset(u.hash for u in reader.claims(text.name, blob).units) for blob in _blobs(at)
    }
    at = _readable(intake, text, at, reader)
    open_ = _open(intake, text, at, old, frozenset(u.hash for u in found.units))
    if intake.whole:
        open_ = frozenset(u.hash for u in found.units)
    if open_ is None:
        return
    revision = Revision()
    if at.last and at.last != text.blob:
        revision = revise(reader.claims(text.name, at.last).units, found.units)
        intake.revisions[text.resource] = revision
    intake.problems += found.problems
    about = reader.about(text.name)
    intake.placed += [
        _placed(unit, text, revision, about) for unit in found.units if unit.hash in open_
    ]


def _placed(unit: Unit, text: SourceText, revision: Revision, about: str = "") -> Placed:
    return Placed(
        unit=unit,
        resource=text.resource,
        blob=text.blob,
        committed=text.committed,
        former=revision.edited.get(unit.hash, ""),
        daily=text.kind == "notes",
        about=about,
    )


def _alarms(intake: Intake, texts: Iterable[SourceText]) -> Iterator[str]:
    """Say why a person must look first; what only moved to another source is not lost."""
    arrived = {p.unit.text_hash for p in intake.placed}
    for text in texts:
        if text.kind == "notes":
            continue  # logs are rotated
        found = intake.revisions.get(text.resource, Revision())
        lost = len(found.gone - arrived - set(found.edited.values()))
        if lost and not text.blob:
            yield f"the source {text.name} is gone, and {lost} of its units with it"
        elif lost > FREE_LOSSES and lost * 100 > MAX_LOST_PCT * found.before:
            yield f"{text.name} lost {lost} of its {found.before} units"


def _notes(intake: Intake, text: SourceText, at: Cursor, reader: Reader, *, days: bool) -> None:
    """Take in a daily log: its notes, and with `days` its units.

    A log that is gone was rotated: what it said stands.
    """
    found, problems = reader.notes(text.name, text.blob)
    units = reader.claims(text.name, text.blob).units if days else ()
    old = {
        blob: frozenset(note_hash(u) for u in reader.notes(text.name, blob)[0]).union(
            u.hash for u in (reader.claims(text.name, blob).units if days else ())
        )
        for blob in _blobs(at)
    }
    at = _readable(intake, text, at, reader)
    open_ = _open(
        intake, text, at, old, frozenset(note_hash(u) for u in found).union(u.hash for u in units)
    )
    if open_ is None:
        return
    revision = Revision()
    if days and text.blob and at.last and at.last != text.blob:
        revision = revise(reader.claims(text.name, at.last).units, units)
        intake.revisions[text.resource] = revision
    intake.problems += problems
    intake.standing += found
    intake.notes += [
        PlacedNote(unit=u, resource=text.resource, blob=text.blob, committed=text.committed)
        for u in found
        if note_hash(u) in open_
    ]
    intake.placed += [_placed(u, text, revision) for u in units if u.hash in open_]


def _blobs(at: Cursor) -> set[str]:
    return {blob for span in at.spans for blob in (span.from_, span.to) if blob}


def _readable(intake: Intake, text: SourceText, at: Cursor, reader: Reader) -> Cursor:
    """Leave out what manifests say of versions that are not there: nobody can tell what it was."""
    spans = tuple(s for s in at.spans if not reader.missing & {s.from_, s.to})
    if lost := [s for s in at.spans if s not in spans]:
        blob = next(b for b in (lost[0].to, lost[0].from_) if b in reader.missing)
        intake.problems.append(
            Problem(
                path=text.resource,
                rule="manifest-blob-missing",
                severity="warning",
                message=f"a run consumed version {blob[:12]}, which the repository does not hold",
                fix="fetch the missing history: until then what that run took in counts as new",
            )
        )
    return Cursor(spans=spans)


def _open(
    intake: Intake,
    text: SourceText,
    at: Cursor,
    old: Mapping[str, frozenset[str]],
    new: frozenset[str],
) -> frozenset[str] | None:
    """Return the unit hashes to take in, and note the consumption; None when there is none."""
    step = advance(at, text.resource, text.blob, new, {**old, "": frozenset[str]()}.__getitem__)
    if step is None:
        return None
    intake.consumed.append(step[1])
    return step[0]

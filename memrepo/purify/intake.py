"""What a run takes in: units that no accepted run consumed, and what became of earlier ones.

Which units a run has still to take in: the fold of the manifests in the tree.

Each manifest consumed the difference between two blobs of a source. When one is reverted its
difference is open again, whatever later runs consumed.

What became of a source's units between two versions: kept, edited in place, or gone.

A unit that was edited should show as one rewording, not as a deletion and an addition (measured on
real histories: the median similarity of an edited unit to its former text is 0.75 to 0.93).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import normal_claim
from memrepo.core.memory import Source
from memrepo.core.problems import Problem
from memrepo.merge.statements import leave_out
from memrepo.merge.tombstones import Corrected, Tombstones
from memrepo.policies.matching import jaccard, tokens
from memrepo.purify.capture import NoteUnit, PlacedNote, note_hash, scan_notes
from memrepo.purify.gather import Owners, Placed, is_profile, read_owners
from memrepo.purify.manifest import Consumed, Recorded
from memrepo.purify.units import Scan, Unit, scan

UnitHashes = Callable[[str], frozenset[str]]
"""From a blob id to the unit hashes of that version of the source; empty for an empty id."""


class Cursor(msgspec.Struct, frozen=True, kw_only=True):
    """What manifests say of one source: unbroken spans from blob to blob, oldest first."""

    spans: tuple[Consumed, ...] = ()

    @property
    def last(self) -> str:
        """Return the newest blob consumed, or an empty string."""
        return self.spans[-1].to if self.spans else ""

    def is_at(self, blob: str) -> bool:
        """Tell whether exactly this blob is consumed, whole: nothing needs to be read."""
        if len(self.spans) != 1:
            return False
        span = self.spans[0]
        return (span.from_, span.to, span.except_, span.also) == ("", blob, (), ())

    def taken(self, hashes: UnitHashes) -> frozenset[str]:
        """Return the hashes of all units consumed so far."""
        taken: frozenset[str] = frozenset()
        for span in self.spans:
            old, new = hashes(span.from_), hashes(span.to)
            added = (new - old - frozenset(span.except_)) | frozenset(span.also)
            taken = (taken - (old - new)) | added
        return taken


def cursors(manifests: Iterable[Recorded]) -> dict[str, Cursor]:
    """Fold manifests, oldest first, into one cursor a source."""
    found: dict[str, Cursor] = {}
    for manifest in manifests:
        for entry in manifest.consumed:
            found[entry.resource] = _extend(found.get(entry.resource, Cursor()), entry)
    return found


def advance(
    cursor: Cursor, resource: str, blob: str, new: frozenset[str], hashes: UnitHashes
) -> tuple[frozenset[str], Consumed] | None:
    """Return the open units of a source's version and the entry that consumes them all.

    None when there is nothing to take in and nothing to note. Units that were left open before
    are named in `also`: they are in no difference between two versions, or only by returning.
    """
    open_ = new - cursor.taken(hashes)
    if not open_ and cursor.last == blob:
        return None
    left = hashes(cursor.last).union(*(span.except_ for span in cursor.spans))
    entry = Consumed(
        resource=resource, from_=cursor.last, to=blob, also=tuple(sorted(open_ & left))
    )
    return open_, entry


def _extend(cursor: Cursor, entry: Consumed) -> Cursor:
    """Append a span, joined to the last where it goes on from it and nothing was left out."""
    last = cursor.spans[-1] if cursor.spans else None
    left_open = last is not None and (last.except_ or last.also or entry.except_ or entry.also)
    if last is None or last.to != entry.from_ or left_open:
        return Cursor(spans=(*cursor.spans, entry))
    joined = Consumed(resource=entry.resource, from_=last.from_, to=entry.to)
    return Cursor(spans=(*cursor.spans[:-1], joined))


SIMILAR = 0.6
"""Texts at one place that agree by this ratio are one unit before and after an edit."""
MAX_TEXT = 2000
SHARED = 0.2
"""The least share of common words of an edit."""
WINDOW = 50
"""An edit does not move a unit past more than this many others."""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """One source between two versions.

    `edited` maps the hash of a new unit to the text hash it had; `gone` holds the text hashes that
    stand nowhere in the source any more; `before` counts the units there were; `boxes` holds the
    hashes of units whose box was ticked, or opened again.
    """

    edited: Mapping[str, str] = msgspec.field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    before: int = 0
    boxes: frozenset[str] = frozenset()


def revise(old: Sequence[Unit], new: Sequence[Unit]) -> Revision:
    """Compare two versions of one source by position and similarity."""
    gone = {u.text_hash for u in old} - {u.text_hash for u in new}
    edited: dict[str, str] = {}
    blocks = SequenceMatcher(None, [u.hash for u in old], [u.hash for u in new], autojunk=False)
    for tag, i1, i2, j1, j2 in blocks.get_opcodes():
        if tag == "replace":
            edited.update(_pairs(old[i1:i2], new[j1:j2], gone))
    tasks = {u.hash: u.task for u in old}
    boxes = (u.hash for u in new if u.task and tasks.get(u.hash, u.task) not in ("", u.task))
    return Revision(edited=edited, gone=frozenset(gone), before=len(old), boxes=frozenset(boxes))


def _pairs(old: Sequence[Unit], new: Sequence[Unit], gone: set[str]) -> dict[str, str]:
    """Pair what stands at one place, best similarity first; ties go to the earlier units."""
    before = [(i, u, _prepared(u.text)) for i, u in enumerate(old) if u.text_hash in gone]
    after = [(j, u, _prepared(u.text)) for j, u in enumerate(new)]
    scored = [
        (-score, i, j)
        for i, _, one in before
        for j, _, other in after
        if abs(i - j) <= WINDOW and (score := _agreement(one, other)) >= SIMILAR
    ]
    pairs: dict[str, str] = {}
    used_old: set[int] = set()
    used_new: set[int] = set()
    for _, i, j in sorted(scored):
        if i not in used_old and j not in used_new:
            used_old.add(i)
            used_new.add(j)
            pairs[new[j].hash] = old[i].text_hash
    return pairs


def similarity(one: str, other: str) -> float:
    """Return how much two texts agree, 0 to 1, by their first 2,000 normalised characters.

    Texts that share hardly a word agree by 0: nobody would call one an edit of the other.
    """
    return _agreement(_prepared(one), _prepared(other))


_Prepared: TypeAlias = tuple[str, frozenset[str]]


def _prepared(text: str) -> _Prepared:
    plain = normal_claim(text)[:MAX_TEXT]
    return plain, tokens(plain)


def _agreement(one: _Prepared, other: _Prepared) -> float:
    """Compare by words first: the exact ratio is dear, and most pairs of a rewrite differ."""
    if one[1] and other[1] and jaccard(one[1], other[1]) < SHARED:
        return 0.0
    matcher = SequenceMatcher(None, one[0], other[0], autojunk=False)
    if matcher.real_quick_ratio() < SIMILAR or matcher.quick_ratio() < SIMILAR:
        return 0.0
    return matcher.ratio()


Read = Callable[[str], bytes]
"""From a blob id to its bytes."""
UnitT = TypeVar("UnitT", Unit, NoteUnit)

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
    """Scans versions of sources, each once; what `stones` reject is left out of their units."""

    def __init__(
        self,
        texts: Iterable[SourceText],
        read: Read,
        stones: Tombstones | None = None,
        corrected: Corrected | None = None,
        *,
        whole: bool = False,
    ) -> None:
        self._read = read
        self._stones = stones or Tombstones()
        self._corrected = corrected or None
        self._whole = whole
        self.left_out: dict[tuple[str, str], str] = {}
        """By source and text hash of a unit: the tombstone or correction that shortened it."""
        self.missing: set[str] = set()
        """Blobs that were asked for and are not in the repository: they read as empty."""
        self._current = {text.resource: text for text in texts}
        self._owners: Owners | None = None
        self._claims: dict[tuple[str, str], Scan] = {}
        self._standing: dict[str, frozenset[str]] = {}
        self._holding: dict[frozenset[str], tuple[Source, ...]] = {}
        self._notes: dict[tuple[str, str], tuple[tuple[NoteUnit, ...], tuple[Problem, ...]]] = {}

    def claims(self, name: str, blob: str) -> Scan:
        """Return the claim units of one version of a source."""
        key = (name, blob)
        if key not in self._claims:
            found = scan(name, self._bytes(blob))
            if self._stones or self._corrected:
                found = replace(found, units=tuple(self._shortened(u) for u in found.units))
            self._claims[key] = found
        return self._claims[key]

    def notes(self, name: str, blob: str) -> tuple[tuple[NoteUnit, ...], tuple[Problem, ...]]:
        """Return the note units of one version of a daily log."""
        key = (name, blob)
        if key not in self._notes:
            units, problems = scan_notes(name, self._bytes(blob))
            if self._stones or self._corrected:
                units = tuple(self._shortened(u) for u in units)
            self._notes[key] = (units, problems)
        return self._notes[key]

    def _shortened(self, unit: UnitT) -> UnitT:
        """Return a unit without the statements in it that were rejected, or corrected elsewhere.

        It keeps its hashes, by which it is known, and stays as it is where nothing would be left.
        """
        names = (*unit.headings, *getattr(unit, "parents", ()))
        is_log = isinstance(unit, NoteUnit)
        stated = self._stones.stated(unit.text, names, is_log=is_log)
        if self._corrected and not is_log:  # a log is the record of its day
            places = [t.resource for t in self._current.values() if t.name == unit.resource]
            resource = places[0] if places else unit.resource
            stated += [
                (one, stone)
                for one, stone in self._corrected.stated(unit.text, names)
                if self._corrected.binds(stone, resource, unit.captured, whole=self._whole)
            ]
        rest = leave_out(unit.text, (one for one, _ in stated)) if stated else ""
        if not rest:
            return unit
        self.left_out[unit.resource, unit.text_hash] = stated[0][1].key
        if isinstance(unit, NoteUnit):
            return replace(unit, text=rest)
        head = unit.text.removesuffix(unit.detail)
        named = unit.value in rest
        return replace(
            unit,
            text=rest,
            detail=rest.removeprefix(head) if rest.startswith(head) and unit.detail else "",
            key=unit.key if named else "",
            value=unit.value if named else "",
        )

    def about(self, name: str, unit: Unit) -> str:
        """Return whom a unit is about, as its file and the profile files among the sources say."""
        if self._owners is None:
            files = (
                (t.name, self._bytes(t.blob)) for t in self._current.values() if is_profile(t.name)
            )
            self._owners = read_owners(files)
        return self._owners.of(name, unit)

    def standing(self, resource: str) -> frozenset[str]:
        """Return the text hashes of the units that a source holds now, lines of daily logs too."""
        text = self._current.get(resource)
        if text is None or not text.blob:
            return frozenset()
        if resource not in self._standing:
            units = self.claims(text.name, text.blob).units
            self._standing[resource] = frozenset(u.text_hash for u in units)
        return self._standing[resource]

    def held(self, resource: str, blob: str) -> frozenset[str]:
        """Return the text hashes of the units that one version of a source held."""
        text = self._current.get(resource)
        if text is None or not blob or blob == text.blob:
            return self.standing(resource) if blob else frozenset()
        return frozenset(unit.text_hash for unit in self.claims(text.name, blob).units)

    def holding(self, hashes: frozenset[str]) -> tuple[Source, ...]:
        """Return the places that hold one of some texts now, by path: all sources are looked into.

        It is the only such look, and for a line whose listed places are gone.
        """
        if hashes not in self._holding:
            found: dict[tuple[str, str], Source] = {}
            for resource, text in sorted(self._current.items()):
                if hashes & self.standing(resource):
                    for unit in self.claims(text.name, text.blob).units:
                        if unit.text_hash in hashes:
                            place = _placed(unit, text, Revision()).source()
                            found.setdefault((resource, unit.text_hash), place)
            self.forget()
            self._holding[hashes] = tuple(found.values())
        return self._holding[hashes]

    def forget(self) -> None:
        """Hold no units any more: what is asked of one source yet is read once more."""
        self._claims.clear()

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
    intake.placed += [
        _placed(unit, text, revision, reader.about(text.name, unit))
        for unit in found.units
        if unit.hash in open_
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
    intake.placed += [
        _placed(u, text, revision, reader.about(text.name, u)) for u in units if u.hash in open_
    ]


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

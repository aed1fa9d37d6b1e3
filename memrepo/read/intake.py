"""Select the input of a run: units not yet consumed, and changes to units consumed earlier.

The manifests in the tree determine which units are open. Each manifest consumed the difference
between two blobs of a source. If a run is reverted, its input and that of later runs is read again.
An edited unit counts as one rewording, not as a deletion and an addition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.errors import Problem
from memrepo.core.ids import digest, normal_claim, normalise
from memrepo.core.layout import in_workspace
from memrepo.core.manifest import Consumed, Manifest
from memrepo.core.memory import Memory, Source
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.state import State, Step, Update
from memrepo.merge.tombstones import (
    Tombstone,
    binds,
    decided_against,
    forgotten_in,
    leave_out,
    tombstones_in,
)
from memrepo.policies.claims import SHORT, is_held_by_person
from memrepo.policies.phrases import are_apart
from memrepo.policies.rules import Size
from memrepo.policies.standing import RETIRED
from memrepo.read.documents import note_header
from memrepo.read.kinds import (
    OTHER_AGENT,
    FileKind,
    file_kind,
    is_profile,
    kinds,
    other_agents,
    path_kind,
    read_owners,
    spoken_names,
    subject_of,
    title_of,
)
from memrepo.read.notes import NoteUnit, PlacedNote, note_hash, scan_notes, scan_state
from memrepo.read.shelf import RankedUnit, rank_file
from memrepo.read.thoughts import Scan, Unit, scan
from memrepo.text.dates import date_updated, is_date_heading
from memrepo.text.words import (
    bare,
    content_words,
    language_of,
    small_words,
    stop_words,
    table,
    words,
)


class Placed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A unit that a run reads, with its place in the repository."""

    unit: Unit
    resource: str
    blob: str
    committed: str
    """ISO date of the unit's last change: by the workspace's history, the file or the copy."""
    updated: str = ""
    """ISO date on which its file says that it was last updated."""
    former: Unit | None = None
    """The unit at this place before an edit."""
    retrieved: str = ""
    """How often recall returned the note, for a note promoted because of that."""
    ranked: RankedUnit | None = None
    """Its rank, or None for a unit that is judged in any case."""
    hint: str = ""
    """Its type, if nothing else determines one."""
    changes: tuple[str, ...] = ()
    """The memories that the unit's words change."""
    about: str = ""
    """The subject of its file: an owner, or a person or project that has a note."""

    def source(self) -> Source:
        """Return the source entry that records where the unit is from."""
        captured = self.unit.captured
        basis: str = self.unit.captured_from
        # A text cannot be captured before it is written. A later date is part of its content.
        if not captured or (self.committed and captured[:10] > _latest(self.committed, basis)):
            captured, basis = self.updated or self.committed, "commit"
        return Source(
            resource=self.resource,
            lines=self.unit.lines,
            text_hash=self.unit.text_hash,
            captured=captured,
            captured_from=basis,
        )


def _latest(committed: str, basis: str) -> str:
    """Return the latest day that a text of a commit may have. Elsewhere it may be tomorrow."""
    if basis == "unit":
        return committed
    return (date.fromisoformat(committed) + timedelta(days=1)).isoformat()


def candidate_id(unit: Unit) -> str:
    """Return the id of the candidate for a unit, which does not depend on the unit's place."""
    return f"cand-{meaning_key(unit)[:16]}"


def meaning_key(unit: Unit) -> str:
    """Return a hash that is equal for units of equal meaning.

    For a field such as `**Status:** ...` and for a short text, the hash includes the heading. An
    episode never equals a line about the same day.
    """
    text = normal_claim(unit.text)
    if unit.kind in ("document", "memory"):
        return digest([text, unit.kind])
    if not unit.key and len(text) >= SHORT:
        return digest([text])
    under = [h for h in (*unit.headings, *filter(None, (unit.lead,))) if not is_date_heading(h)]
    return digest([text, *(normalise(h) for h in under[-1:])])


class Cursor(NamedTuple):
    """The versions of a source file that runs consumed: all up to `read`, and a part of `last`.

    They differ after a reverted run: what it and later runs read is read again.
    """

    read: str = ""
    last: str = ""


def cursors(manifests: Iterable[Manifest]) -> dict[str, Cursor]:
    """Map each source file to the versions that runs consumed.

    `manifests` are ordered from oldest to newest. Each consumed the difference between two
    versions. An entry that does not begin where the last one ended, as after a reverted run, does
    not count as read: the next run reads its input again, and recognises what memories state.
    """
    found: dict[str, Cursor] = {}
    for manifest in manifests:
        for entry in manifest.consumed:
            read = found.get(entry.resource, Cursor()).read
            read = entry.to if entry.from_ in ("", read) else read
            found[entry.resource] = Cursor(read, entry.to)
    return found


MIN_SHARED_WORDS = 0.5
"""Minimum share of common words for two texts at one place to be versions of one unit."""
MAX_UNITS_MOVED = 50
"""Maximum number of units that an edit can move a unit past."""


class Revision(msgspec.Struct, frozen=True, kw_only=True):
    """The changes between two versions of a source file.

    `edited` maps the hash of a new unit to the former unit. `gone` contains the text hashes that
    are no longer in the source. `before` is the former number of units. `boxes` contains the hashes
    of units whose checkbox was ticked or unticked.
    """

    edited: Mapping[str, Unit] = msgspec.field(default_factory=dict)
    gone: frozenset[str] = frozenset()
    before: int = 0
    boxes: frozenset[str] = frozenset()


def revise(old: Sequence[Unit], new: Sequence[Unit], *, is_log: bool = False) -> Revision:
    """Compare the units in two versions of a source file by position and similarity.

    Where as many units came below a heading as left, they are pairs by position if they name one
    thing, unless so many are that the file has other contents now. Others are an end and a
    beginning. A line of a daily log is not replaced so.
    """
    gone = _text_hashes(old) - _text_hashes(new)
    before, after = _headings_by_text(old), _headings_by_text(new)
    left_here = {
        u.hash
        for u in old
        if len(now := after.get(u.text_hash, ())) < len(before[u.text_hash])
        if u.headings not in now
    }  # of a text under two headings, the one that it left
    edited, placed = dict[str, Unit](), dict[str, Unit]()
    from difflib import SequenceMatcher  # needed for a changed file only

    blocks = SequenceMatcher(None, [u.hash for u in old], [u.hash for u in new], autojunk=False)
    for tag, i1, i2, j1, j2 in blocks.get_opcodes():
        if tag == "replace":
            pairs = _pairs(old[i1:i2], new[j1:j2], left_here)
            edited |= pairs
            paired = _text_hashes(pairs.values())
            left = [u for u in old[i1:i2] if u.text_hash not in paired]
            came = [u for u in new[j1:j2] if u.hash not in pairs]
            if [u.headings for u in left] == [u.headings for u in came]:
                for one, other in zip(left, came, strict=True):
                    if one.hash in left_here and _names_the_same(one.text, other.text):
                        placed[other.hash] = one
    if not is_log and (len(placed) == 1 or not is_much(len(placed), len(old))):
        edited |= placed
    tasks = {u.hash: u.task for u in old}
    boxes = (u.hash for u in new if u.task and tasks.get(u.hash, u.task) not in ("", u.task))
    gone |= {u.text_hash for u in old if u.hash in left_here}
    return Revision(edited=edited, gone=frozenset(gone), before=len(old), boxes=frozenset(boxes))


def _text_hashes(units: Iterable[Unit]) -> frozenset[str]:
    return frozenset(unit.text_hash for unit in units)


def _headings_by_text(units: Iterable[Unit]) -> Mapping[str, Collection[tuple[str, ...]]]:
    found: dict[str, set[tuple[str, ...]]] = {}
    for unit in units:
        found.setdefault(unit.text_hash, set()).add(unit.headings)
    return found


def _pairs(
    old: Sequence[Unit], new: Sequence[Unit], gone: Collection[str], reach: int = MAX_UNITS_MOVED
) -> dict[str, Unit]:
    """Pair old and new units at the same place, most similar first. Earlier units win ties.

    `gone` are the hashes of the old units to pair.
    """
    before = [(i, content_words(u.text)) for i, u in enumerate(old) if u.hash in gone]
    after = [content_words(u.text) for u in new]
    scored = [
        (-score, i, j)
        for i, one in before
        for j in range(max(0, i - reach), min(len(new), i + reach + 1))
        if (score := _shared(one, after[j])) >= MIN_SHARED_WORDS
    ]
    pairs: dict[str, Unit] = {}
    used: set[int] = set()
    for _, i, j in sorted(scored):
        if i not in used and new[j].hash not in pairs:
            used.add(i)
            pairs[new[j].hash] = old[i]
    return pairs


def _shared(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, from 0 to 1."""
    return 2 * len(one & other) / (len(one) + len(other) or 1)


_UNTOLD = regex(
    "[\u3041-\u309f\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]+"
    "|(?<=[\uac00-\ud7af]{2})[\uac00-\ud7af]+"
)
"""Hiragana, the ends of Korean words, and scripts whose words nothing separates."""


def _names_the_same(one: str, other: str) -> bool:
    """Return whether one of two texts begins with a word that the other has too.

    Function words and numbers do not count: what both name is where either begins.
    """
    particles = dict.fromkeys(map(ord, table("chinese", "language")["particles"]), " ")
    both = [_UNTOLD.sub(" ", text).translate(particles) for text in (one, other)]
    language = language_of([word for text in both for word in words(text)], " ".join(both))
    small = stop_words() | small_words().get(language, frozenset())
    content = [
        [word for word in words(text) if not word.isdigit() and bare(word) not in small]
        for text in both
    ]
    return any(a[0] in b for a, b in (content, content[::-1]) if a)


Read = Callable[[str], bytes]
"""Return the bytes of a blob by its id."""
UnitT = TypeVar("UnitT", Unit, NoteUnit)
MAX_LOST_PCT = 30
NAMED = 3
FREE_LOSSES = 5
"""Losses without an alarm, up to half of a file, since short files are edited too."""


class SourceText(msgspec.Struct, frozen=True, kw_only=True):
    """A source file at the base commit of a run.

    `name` is its path in the workspace, `resource` its path in the repository, and `committed` the
    ISO date of the commit that added this version, or if `is_dated`, of the day on which it was
    written. An empty `blob` means the file was deleted. `as_kind` is the kind set in the
    configuration, and `updated` the day on which the file says that it was last updated.
    """

    name: str
    resource: str
    blob: str
    kind: str
    committed: str
    is_dated: bool = False
    as_kind: str = ""
    updated: str = ""


_UNCHANGED = Revision()


class Intake(msgspec.Struct):
    """The input of a run: the unconsumed units of all sources, and changes to earlier units."""

    whole: bool = False
    placed: list[Placed] = msgspec.field(default_factory=list)
    notes: list[PlacedNote] = msgspec.field(default_factory=list)
    ended: list[str] = msgspec.field(default_factory=list)
    """The source files about current work that were deleted, or are about other things now."""
    consumed: list[Consumed] = msgspec.field(default_factory=list)
    revisions: dict[str, Revision] = msgspec.field(default_factory=dict)
    alarms: dict[str, str] = msgspec.field(default_factory=dict)
    problems: list[Problem] = msgspec.field(default_factory=list)

    @property
    def gone(self) -> dict[str, frozenset[str]]:
        """Map each source file to the hashes of the texts that were removed from it."""
        return {name: found.gone for name, found in self.revisions.items()}


class Reader:
    """A reader for versions of source files that reads each version once.

    Statements that `state` has as rejected or corrected are removed from the units.
    """

    def __init__(
        self,
        texts: Iterable[SourceText],
        read: Read,
        state: State | None = None,
        *,
        whole: bool = False,
        size: Size = "normal",
    ) -> None:
        """Prepare to read."""
        self._read = read
        self._size = size
        self._state = state
        self._whole = whole
        self.left_out: dict[tuple[str, str], Tombstone] = {}
        """Maps source and text hash of a shortened unit to the tombstone or correction."""
        self.missing: set[str] = set()
        """Requested blobs that are not in the repository. They are read as empty."""
        self._current = {text.resource: text for text in texts}
        self._claims: dict[tuple[str, str], Scan] = {}
        self._held: dict[tuple[str, str], frozenset[str]] = {}
        self._holding: dict[frozenset[str], tuple[Source, ...]] = {}
        self._notes: dict[tuple[str, str], tuple[tuple[NoteUnit, ...], tuple[Problem, ...]]] = {}

    def claims(self, name: str, blob: str) -> Scan:
        """Return the claim units in one version of a source file."""
        key = (name, blob)
        if key not in self._claims:
            found = scan(name, self.data(blob), self._known.get(name, ()))
            self._claims[key] = replace(found, units=self._allowed(found.units))
        return self._claims[key]

    def notes(self, name: str, blob: str) -> tuple[tuple[NoteUnit, ...], tuple[Problem, ...]]:
        """Return the note units in one version of a daily log."""
        key = (name, blob)
        if key not in self._notes:
            units, problems = scan_notes(name, self.data(blob))
            self._notes[key] = (self._allowed(self._remembered(units)), problems)
        return self._notes[key]

    def states(self, text: SourceText) -> tuple[NoteUnit, ...]:
        """Return the note of a file about current work, or nothing for another file."""
        found = scan_state(text.name, self.data(text.blob))
        if not found or self.file_kind(text).kind.name not in kinds().groups["states"]:
            return ()
        return self._allowed(self._remembered(found))

    def _remembered(self, notes: tuple[NoteUnit, ...]) -> tuple[NoteUnit, ...]:
        """Remove statements whose memory was forgotten. A note with no other statement is left out.

        The notes retain their hashes, which identify them.
        """
        gone = forgotten_in(self._state) if self._state is not None else None
        if not gone:
            return notes
        found = []
        for note in notes:
            lost = gone.stated(note.text)
            rest = leave_out(note.text, lost) if lost else note.text
            found += [replace(note, text=rest) if lost else note] if rest else []
        return tuple(found)

    def _allowed(self, units: tuple[UnitT, ...]) -> tuple[UnitT, ...]:
        state = self._state
        if state is None or not (units and decided_against(state)):
            return units
        return tuple(self._shortened(state, unit) for unit in units)

    def _shortened(self, state: State, unit: UnitT) -> UnitT:
        """Remove rejected statements, and statements corrected elsewhere, from a unit.

        The unit retains its hashes, which identify it. If nothing would remain, the unit is
        returned unchanged.
        """
        names = (*unit.headings, *filter(None, (getattr(unit, "lead", ""),)))
        if isinstance(unit, NoteUnit):  # a log is the record of its day
            stated = tombstones_in(state).stated(unit.text)
        else:
            places = [t.resource for t in self._current.values() if t.name == unit.resource]
            resource = places[0] if places else unit.resource
            stated = [
                (one, stone)
                for one, stone in decided_against(state).stated(unit.text, names)
                if binds(stone, resource, unit.captured, whole=self._whole)
            ]
        rest = leave_out(unit.text, (one for one, _ in stated)) if stated else ""
        if not rest:
            return unit
        self.left_out[unit.resource, unit.text_hash] = stated[0][1]
        if isinstance(unit, NoteUnit):
            return replace(unit, text=rest)
        named = unit.value in rest
        return replace(
            unit, text=rest, key=unit.key if named else "", value=unit.value if named else ""
        )

    @cached_property
    def owners(self) -> dict[str, str]:
        """Return the names of people and agents by their profile files."""
        profiles = (t for t in self._current.values() if is_profile(t.name))
        return read_owners((t.name, self.data(t.blob)) for t in profiles)

    def subject(self, text: SourceText) -> str:
        """Return who a profile describes, or the person or project of a note."""
        if is_profile(text.name):
            return self.owners.get(text.name, "")
        heads = next((u.headings for u in self.units(text.resource) if u.headings), ())
        return subject_of(text.name, note_header(text.name, self.data(text.blob)), heads)

    def file_kind(self, text: SourceText) -> FileKind:
        """Return the file kind of a source file."""
        units = self.claims(text.name, text.blob).units
        shown = self.data(text.blob).decode("utf-8", "replace")
        found = file_kind(text.name, shown, units, text.as_kind, self._others)
        if (
            found.kind.name == "page"
            and "/" not in in_workspace(text.name)
            and not self._has_memory
        ):
            why = "is at the top of a workspace without a file of memories"
            return FileKind(kind=kinds().named("memory"), reason=why)
        return found

    def is_inert(self, text: SourceText) -> bool:
        """Return whether a file changes, supports and ends no memory, such as a backup."""
        return self.file_kind(text).kind.name in kinds().groups["inert"]

    def is_of_other_agent(self, text: SourceText) -> bool:
        """Return whether a file is another agent's, which no memory is made of."""
        return self.file_kind(text).kind.name == OTHER_AGENT

    def ranks(self, text: SourceText, open_: frozenset[str]) -> dict[str, RankedUnit]:
        """Return the ranks of a file's statements by hash. New statements compete for its share."""
        units = self.claims(text.name, text.blob).units
        return rank_file(
            self.file_kind(text),
            units,
            names=spoken_names(self.owners),
            open_=open_,
            size=self._size,
            sources=self._names,
        )

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(text.name for text in self._current.values() if text.blob)

    @cached_property
    def _has_memory(self) -> bool:
        """Return whether the workspace has a file in which an agent keeps what lasts."""
        own = (name for name in self._names if is_profile(name) or path_kind(name) != "profile")
        return not kinds().groups["homes"].isdisjoint(map(path_kind, own))

    @cached_property
    def _others(self) -> frozenset[str]:
        """Return the folders of other agents than the owner's."""
        return other_agents(self._names)

    def standing(self, resource: str) -> frozenset[str]:
        """Return the text hashes of the current version of a source file."""
        text = self._current.get(resource)
        return self.held(resource, text.blob) if text is not None else frozenset()

    def held(self, resource: str, blob: str) -> frozenset[str]:
        """Return the text hashes of the units in one version of a source file."""
        text = self._current.get(resource)
        if text is None or not blob:
            return frozenset()
        if (resource, blob) not in self._held:
            units = self.claims(text.name, blob).units
            self._held[resource, blob] = frozenset(u.text_hash for u in units)
        return self._held[resource, blob]

    def unstated(self, resource: str, last: str) -> tuple[Unit, ...]:
        """Return the memories of a source that no line of its last version states, as units.

        They stay because their removal was reverted. A line that resembles one is its new wording,
        except of one that a person stated or confirmed.
        """
        read = self.held(resource, last) | self.standing(resource)
        return tuple(
            Unit(
                resource=resource,
                kind="item",
                text=m.body,
                lines=s.lines,
                text_hash=s.text_hash,
                hash=s.text_hash,
            )
            for m in self._of_file.get(resource, ())
            for s in m.sources
            if s.resource == resource and s.text_hash and read.isdisjoint(m.wordings(s))
            if m.standing != RETIRED and not is_held_by_person(m) and not self.is_stated(m)
        )

    @cached_property
    def _known(self) -> Mapping[str, tuple[str, ...]]:
        """Return the texts of several lines that memories state, by the names of their files."""
        return {
            text.name: tuple(m.body for m in self._of_file.get(resource, ()) if "\n" in m.body)
            for resource, text in self._current.items()
        }

    @cached_property
    def _of_file(self) -> Mapping[str, Sequence[Memory]]:
        """Return the active memories, except notes, by the files that they list."""
        found: dict[str, list[Memory]] = {}
        for memory in self._state.active if self._state is not None else ():
            for resource in () if memory.is_note else memory.files:
                found.setdefault(resource, []).append(memory)
        return found

    def is_stated(self, memory: Memory) -> bool:
        """Return whether a source that a memory lists contains its text, or cannot be compared."""
        return any(
            not source.text_hash
            or source.resource not in self._current
            or self.is_at(memory, source)
            for source in memory.sources
        )

    def is_at(self, memory: Memory, source: Source) -> bool:
        """Return whether the file of a source still states a memory.

        Of a text that a file stated under two headings, each memory has its own heading. Below a
        heading of none of them, the text is that of each.
        """
        hashes = memory.wordings(source) & self.standing(source.resource)
        twins = [
            other
            for other in (self._of_file.get(source.resource, ()) if hashes else ())
            if other.own_hash == memory.own_hash and are_apart(memory.context, other.context)
        ]
        if not twins:
            return bool(hashes)
        under = {one for hash_ in hashes for one in self.headings_of(source.resource, hash_)}
        stated = [memory.context, *(twin.context for twin in twins)]
        has_moved = any(all(are_apart(one, now) for one in stated) for now in under)
        return has_moved or not all(are_apart(memory.context, now) for now in under)

    def headings_of(self, resource: str, hash_: str) -> frozenset[str]:
        """Return under which headings the current version of a source file states a text."""
        same = (unit for unit in self.units(resource) if unit.text_hash == hash_)
        return frozenset(" › ".join(unit.headings) for unit in same)

    def units(self, resource: str) -> tuple[Unit, ...]:
        """Return the units in the current version of a source file."""
        text = self._current.get(resource)
        return self.claims(text.name, text.blob).units if text is not None and text.blob else ()

    def tags(self, resource: str) -> tuple[str, ...]:
        """Return the tags in the header of the current version of a source file."""
        text = self._current.get(resource)
        return note_header(text.name, self.data(text.blob)).tags if text and text.blob else ()

    def holding(self, hashes: frozenset[str]) -> tuple[Source, ...]:
        """Return the places that contain any of the given texts, sorted by path.

        All sources are searched, so only search for a line whose listed places are gone.
        """
        if hashes not in self._holding:
            found: dict[tuple[str, str], Source] = {}
            for resource, text in sorted(self._current.items()):
                if hashes & self.standing(resource) and not self.is_inert(text):
                    for unit in self.claims(text.name, text.blob).units:
                        if unit.text_hash in hashes:
                            place = place_unit(unit, text, Revision()).source()
                            found.setdefault((resource, unit.text_hash), place)
            self.forget()
            self._holding[hashes] = tuple(found.values())
        return self._holding[hashes]

    def forget(self) -> None:
        """Discard the cached units. Sources that are needed later are read again."""
        self._claims.clear()

    def leave_out(self, text: SourceText, last: str, error: Exception) -> Problem:
        """Use the version of a source file that runs consumed before. Return the warning.

        The current version could not be read. The next run tries again.
        """
        self._current[text.resource] = replace(text, blob=last)
        return Problem(
            path=text.resource,
            rule="source-unreadable",
            severity="warning",
            message=f"found text that cannot be read ({type(error).__name__}): it is left out",
            fix="report it, with the file if it may be shown",
        )

    def data(self, blob: str) -> bytes:
        """Return the bytes of a version of a source file, or nothing if it is missing."""
        if not blob:
            return b""
        try:
            return self._read(blob)
        except (KeyError, ValueError):
            self.missing.add(blob)
            return b""


def lines_of(data: bytes) -> frozenset[str]:
    """Return the lines of a file that contain words, except headings."""
    rows = map(str.strip, data.decode("utf-8", "replace").splitlines())
    return frozenset(r for r in rows if not r.startswith("#") and any(map(str.isalnum, r)))


def is_mostly_in(lines: frozenset[str], others: Collection[str]) -> bool:
    """Return whether more than half of `lines` are among `others`."""
    return 2 * sum(line in others for line in lines) > len(lines)


def find_moves(
    texts: Iterable[SourceText], cursor: Mapping[str, Cursor], read: Read
) -> dict[str, str]:
    """Map the new path of each moved or renamed source file to its former path.

    A moved source is a new source with the same bytes as a deleted one, or with most of its lines.
    An edited daily log must have its old file name, since logs of two days often share a template.
    """
    gone, new = list[SourceText](), list[SourceText]()
    for text in texts:
        last = cursor.get(text.resource, Cursor()).last
        if last and not text.blob:
            gone.append(replace(text, blob=last))
        elif text.blob and not last:
            new.append(text)
    found: dict[str, str] = {}
    tests: tuple[Callable[[SourceText, SourceText], bool], ...] = (
        lambda old, now: old.blob == now.blob and _file(old) == _file(now),
        lambda old, now: old.blob == now.blob,
        lambda old, now: _file(old) == _file(now) and _is_like(old, now, read),
        lambda old, now: old.kind == "claims" and _is_like(old, now, read),
    )
    for is_same in tests:
        for now in new if gone else ():
            same = (old for old in gone if old.kind == now.kind and is_same(old, now))
            if now.resource not in found and (old := next(same, None)):
                found[now.resource] = old.resource
                gone.remove(old)
    return found


def _file(text: SourceText) -> str:
    return text.name.rpartition("/")[2]


def _is_like(old: SourceText, now: SourceText, read: Read) -> bool:
    try:
        return is_mostly_in(lines_of(read(old.blob)), lines_of(read(now.blob)))
    except (KeyError, ValueError):
        return False


def relocate(state: State, moves: Mapping[str, str]) -> tuple[Step, ...]:
    """Return a step that updates the sources of memories to new paths, or no step."""
    former = {old: now for now, old in moves.items()}
    changes = tuple(
        Update(id=memory.id, fields=_relocated(memory, former))
        for memory in (state.memories.values() if moves else ())
        if any(s.resource in former for s in memory.sources)
    )
    if not changes:
        return ()
    reason = f"moved or renamed: {', '.join(sorted(former)[:NAMED])}"
    return (Step(op="confirm", reason=reason, changes=changes),)


def _relocated(memory: Memory, former: Mapping[str, str]) -> dict[str, object]:
    """Return the fields that say where a memory is from, with the new paths and names of files."""
    sources = [replace(s, resource=former.get(s.resource, s.resource)) for s in memory.sources]
    named = {title_of(s.resource): title_of(former.get(s.resource, "")) for s in memory.sources}
    parts = [named.get(part) or part for part in memory.context.split(_BETWEEN)]
    subject = named.get(memory.subject) or memory.subject or None
    return {"sources": tuple(sources), "context": _BETWEEN.join(parts) or None, "subject": subject}


_BETWEEN = " › "


def take_in(
    texts: Sequence[SourceText],
    cursor: Mapping[str, Cursor],
    reader: Reader,
    *,
    whole: bool,
    days: bool = True,
    moves: Mapping[str, str] = MappingProxyType({}),
) -> Intake:
    """Compare every source file with its consumed versions. `whole` reads all claims again.

    Notes are captured once and not judged, so `whole` does not apply to them. With `days`, the
    units of daily logs are candidates too, but only once. `moves` maps moved sources to their
    former paths, whose versions `cursor` has for both.
    """
    intake = Intake(whole=whole)
    left = frozenset(moves.values())
    for text in texts:
        at = cursor.get(text.resource, Cursor())
        if text.resource in left:
            intake.consumed.append(Consumed(resource=text.resource, from_=at.read, to=""))
            continue
        if text.resource in moves:
            intake.consumed.append(Consumed(resource=text.resource, to=at.read))
        if {*at} == {text.blob} and (not whole or text.kind == "notes" or not text.blob):
            continue
        one = Intake(whole=whole)
        try:
            _take(one, text, at, reader, days=days)
        except Exception as error:  # noqa: BLE001 a fault in one file must not stop a run
            intake.problems.append(reader.leave_out(text, at.last, error))
            continue
        for name in ("placed", "notes", "ended", "consumed", "problems"):
            getattr(intake, name).extend(getattr(one, name))
        intake.revisions |= one.revisions
    intake.alarms |= _alarms(intake, texts, reader)
    return intake


def _take(intake: Intake, text: SourceText, at: Cursor, reader: Reader, *, days: bool) -> None:
    """Add the unconsumed units of a source file, and the notes of a daily log, to the intake.

    With `days`, a daily log has units too. A deleted log
    was rotated, so its statements remain.
    """
    is_log, name = text.kind == "notes", text.name
    whole = intake.whole and not is_log

    def units_of(blob: str) -> tuple[Unit, ...]:
        return reader.claims(name, blob).units if not is_log or days else ()

    def notes_of(blob: str) -> tuple[NoteUnit, ...]:
        if is_log:
            return reader.notes(name, blob)[0]
        return reader.states(replace(text, blob=blob)) if days else ()

    def hashes_of(blob: str) -> frozenset[str]:
        if not blob:
            return frozenset()
        return frozenset((*(u.hash for u in units_of(blob)), *map(note_hash, notes_of(blob))))

    known, _ = map(hashes_of, at)  # this records missing blobs
    if lost := reader.missing.intersection(at):
        intake.problems.append(_missing(text, min(lost)))
        at, known = Cursor(), frozenset()
    if not at.read:  # later versions often forget to say when they were written
        day = date_updated(reader.data(text.blob).decode("utf-8", "replace"))
        if not (day or text.is_dated):
            day = note_header(name, reader.data(text.blob)).day
        text = replace(text, updated=min(day, text.committed))
    units, notes, new = units_of(text.blob), notes_of(text.blob), hashes_of(text.blob)
    if not is_log and (before := notes_of(at.last)):
        intake.ended += [] if notes else [text.resource]
        if notes and notes[0].captured == before[0].captured:  # they forgot to say when
            notes = (replace(notes[0], captured="", captured_from=""),)
    notes = tuple(note for note in notes if note_hash(note) not in known)
    if {*at} != {text.blob}:
        intake.consumed.append(Consumed(resource=text.resource, from_=at.read, to=text.blob))
    open_ = new if whole else new - known
    revision = Revision()
    former = [blob for blob in dict.fromkeys(at) if blob not in ("", text.blob)]
    if former and (not is_log or (days and text.blob)):
        found = [revise(units_of(blob), units, is_log=is_log) for blob in former]
        edited = {hash_: unit for one in found for hash_, unit in one.edited.items()}
        gone = frozenset[str]().union(*(one.gone for one in found))
        if is_log:  # a line that leaves a log was rotated, summed up or overwritten
            gone = frozenset()
        revision = replace(found[-1], edited=edited, gone=gone)
        intake.revisions[text.resource] = revision
    if not is_log and at.last and (left_over := reader.unstated(text.resource, at.last)):
        came = [unit for unit in units if unit.hash in open_ and unit.hash not in revision.edited]
        edited = _pairs(left_over, came, {u.hash for u in left_over}, len(units))
        revision = replace(revision, edited={**edited, **revision.edited})
    _place(intake, text, reader, units, notes, open_, revision)


def _place(
    intake: Intake,
    text: SourceText,
    reader: Reader,
    units: Sequence[Unit],
    notes: Sequence[NoteUnit],
    open_: frozenset[str],
    revision: Revision,
) -> None:
    """Add the open units and notes of a source file, with their ranks, to the intake."""
    if text.kind == "notes":
        intake.problems += reader.notes(text.name, text.blob)[1]
    else:
        intake.problems += reader.claims(text.name, text.blob).problems
    intake.notes += [
        PlacedNote(
            unit=u,
            resource=text.resource,
            blob=text.blob,
            committed=text.committed,
            is_state=text.kind != "notes",
        )
        for u in notes
        if note_hash(u) in open_
    ]
    if units and reader.is_inert(text):
        return
    ranks = reader.ranks(text, open_) if any(u.hash in open_ for u in units) else {}
    about = reader.subject(text)
    intake.placed += (
        place_unit(unit, text, revision, about, ranks[unit.hash])
        for unit in units
        if unit.hash in open_
    )


def place_unit(
    unit: Unit,
    text: SourceText,
    revision: Revision = _UNCHANGED,
    about: str = "",
    ranked: RankedUnit | None = None,
) -> Placed:
    """Return a unit with its place in the repository."""
    return Placed(
        unit=unit,
        resource=text.resource,
        blob=text.blob,
        committed=text.committed,
        updated=text.updated,
        former=revision.edited.get(unit.hash),
        about=about,
        ranked=ranked,
    )


def _alarms(
    intake: Intake, texts: Iterable[SourceText], reader: Reader
) -> Iterator[tuple[str, str]]:
    """Yield each source that lost so much at once that a person must decide, and what it lost.

    Units that are now in another source are not lost.
    """
    arrived = {p.unit.text_hash for p in intake.placed}
    for text in texts:
        found = intake.revisions.get(text.resource, _UNCHANGED)
        if text.kind == "notes" or not found.gone:
            continue  # logs are rotated
        edited = _text_hashes(found.edited.values())
        lost = found.gone - arrived - edited - reader.standing(text.resource)
        if not lost or (text.blob and not is_much(len(lost), found.before)):
            continue
        lost -= {source.text_hash for source in reader.holding(lost)}
        if lost and not text.blob:
            what = counted(len(lost), "statement", "statements")
            yield text.resource, f"{text.name} was deleted, with {what}"
        elif is_much(len(lost), found.before):
            yield text.resource, f"{text.name} lost {len(lost)} of its {found.before} statements"


def is_much(lost: int, before: int) -> bool:
    """Return whether a source lost so many of its statements at once that a person must decide.

    That is more than half, or more than 30 percent if these are more than five.
    """
    return 2 * lost > before or (lost > FREE_LOSSES and lost * 100 > MAX_LOST_PCT * before)


def _missing(text: SourceText, blob: str) -> Problem:
    """Return the warning that what a run consumed is unknown, so its input is read again."""
    return Problem(
        path=text.resource,
        rule="manifest-blob-missing",
        severity="warning",
        message=f"a run consumed version {blob[:12]}, which is not in the repository",
        fix="fetch the missing history; until then, runs read the input of that run again",
    )

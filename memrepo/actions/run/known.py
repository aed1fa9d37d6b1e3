"""Index memories by everything that identifies a claim, while a run assembles its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import TypeVar

import msgspec

from memrepo.core.changes import Update
from memrepo.core.corrections import corrections_of
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import normal_claim
from memrepo.core.judge import PriorClaim, Statement
from memrepo.core.memory import (
    MAX_LISTED,
    SOURCE_COUNT,
    Memory,
    Source,
    hashes_of,
    listed_places,
    places_of,
)
from memrepo.core.state import State
from memrepo.policies import matching
from memrepo.policies.claims import (
    SHORT,
    have_two_roles,
    is_by_person,
    is_held_by_person,
    is_worded_by_person,
    merge_sources,
)
from memrepo.policies.rules import ContradictionRules
from memrepo.text.words import content_words


def normal_text(text: str) -> str:
    """Normalise a text for comparison, without case, list marker and final full stops."""
    return normal_claim(text).rstrip(" .!。！")


class Marks:
    """An index of memories by text hash, by subject, and by normalised text."""

    def __init__(self, memories: Mapping[str, Memory]) -> None:
        """Store the memories. Each index is built at the first look-up."""
        self._memories = memories

    @cached_property
    def _by_hash(self) -> Mapping[str, list[Memory]]:
        return self._by(lambda m: {m.own_hash, *m.former_hashes, *(s.text_hash for s in m.sources)})

    @cached_property
    def _by_subject(self) -> Mapping[str, list[Memory]]:
        return self._by(
            lambda m: {matching.normal_subject(m.text("subject"))} if m.status == "active" else ()
        )

    @cached_property
    def _by_words(self) -> Mapping[str, list[Memory]]:
        return self._by(lambda m: {normal_text(m.body)})

    def _by(self, marks: Callable[[Memory], Iterable[str]]) -> Mapping[str, list[Memory]]:
        found: dict[str, list[Memory]] = {}
        for memory in sorted(self._memories.values(), key=lambda memory: memory.path):
            for mark in () if memory.is_note else marks(memory):
                found.setdefault(mark, []).append(memory)
        return found

    def with_hash(self, hash_: str) -> Sequence[Memory]:
        """Return the memories that have this text, or a source with this text, sorted by path."""
        return self._by_hash.get(hash_, ())

    def with_hashes(self, hashes: Iterable[str]) -> list[Memory]:
        """Return the memories with any of these texts, or a source with one, sorted by path."""
        found = {m.id: m for hash_ in hashes for m in self.with_hash(hash_)}
        return sorted(found.values(), key=lambda memory: memory.path)

    def about(self, subject: str) -> Sequence[Memory]:
        """Return the active memories with a normalised subject, sorted by path."""
        return self._by_subject.get(subject, ())

    def with_words(self, words: str) -> Sequence[Memory]:
        """Return the memories whose `normal_text` equals `words`, sorted by path."""
        return self._by_words.get(words, ())


T = TypeVar("T")
ALIKE = 0.3
"""Minimum share of common words for a part of a unit to reword a memory."""


def prior_of(memory: Memory) -> PriorClaim:
    """Convert a memory to the form that rules compare. The result is cached in the memory."""
    return memory.made(_prior_of)


def _prior_of(memory: Memory) -> PriorClaim:
    return PriorClaim(
        memory_id=memory.id,
        type=memory.type,
        standing=memory.standing,
        subject=memory.text("subject"),
        predicate=memory.text("predicate"),
        object=memory.text("object"),
        text=memory.body,
        home=memory.text("home"),
        sources=memory.sources,
        by=_person(memory),
        under=memory.text("context"),
    )


class Former(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of the sources, now and before.

    `standing` returns the text hashes in the current version of a source. `before` returns those in
    the version consumed last. `holding` returns the places that currently contain one of some text
    hashes.
    """

    standing: Callable[[str], frozenset[str]] = lambda _: frozenset()
    before: Callable[[str], frozenset[str]] = lambda _: frozenset()
    holding: Callable[[frozenset[str]], tuple[Source, ...]] = lambda _: ()


def fault_of(error: Exception) -> str:
    """Return why one statement could not be handled, after an error that nobody expected."""
    if isinstance(error, MemrepoError):
        return error.message
    return f"an internal error ({type(error).__name__}: {error}); please report it"


class Known(msgspec.Struct):
    """The memories that a run knows, indexed by everything that identifies a claim.

    New memories are added while the run assembles.
    """

    state: State
    former: Former
    now: datetime
    marks: Marks
    rules: ContradictionRules = msgspec.field(default_factory=ContradictionRules)
    fresh: dict[str, Memory] = msgspec.field(default_factory=dict)
    grown: dict[str, tuple[Source, ...]] = msgspec.field(default_factory=dict)
    by_text: dict[str, str] = msgspec.field(default_factory=dict)
    """Maps the hash of a text to the memory it identifies. Filled on demand."""
    index: matching.PriorIndex = msgspec.field(default_factory=matching.PriorIndex)
    paths: set[str] = msgspec.field(default_factory=set)
    edited: dict[str, Memory] = msgspec.field(default_factory=dict)
    reworded: dict[str, Update] = msgspec.field(default_factory=dict)
    replaced: dict[str, str] = msgspec.field(default_factory=dict)
    disputed: dict[str, str] = msgspec.field(default_factory=dict)
    spoken: set[str] = msgspec.field(default_factory=set)
    """Bare texts that this run adds to active memories."""
    by_evidence: dict[tuple[str, str], list[str]] = msgspec.field(default_factory=dict)
    """Maps a unit of a source to the memories that have it as a source. Filled on demand."""
    made: dict[str, str] = msgspec.field(default_factory=dict)
    """Maps a statement of this run to the memory that contains it."""
    by_object: bool = True
    """Whether claims with equal subject, predicate and home differ if their objects differ."""
    stated: set[str] = msgspec.field(default_factory=set)
    """Memories that a part of an edited unit still states, so no other part rewords them."""

    faults: dict[str, str] = msgspec.field(default_factory=dict)
    """Maps a memory whose changes failed to the reason."""

    def __post_init__(self) -> None:
        # A reference to `self` would create a cycle, and runs disable garbage collection.
        self.index = matching.PriorIndex(of_subject=partial(_of_subject, self.marks))

    def safely(self, id_: str, decide: Callable[[], Iterable[T]]) -> Sequence[T]:
        """Return what a decision about a memory yields, or nothing if it fails.

        What it had changed is undone, and the failure is named in `faults`.
        """
        before = dict(self.edited)
        try:
            return [*decide()]
        except Exception as error:  # noqa: BLE001 one statement must not stop a run
            self.edited = before
            self.faults[id_] = fault_of(error)
            return []

    def resting(self, resource: str, hash_: str) -> list[str]:
        """Return the ids of the memories that list a unit as a source."""
        if (resource, hash_) not in self.by_evidence:
            self.by_evidence[resource, hash_] = [
                memory.id
                for memory in self.marks.with_hash(hash_)
                for source in memory.sources
                if source.resource == resource and hash_ in memory.wordings(source)
            ]
        return self.by_evidence[resource, hash_]

    def known_by(self, hash_: str) -> str:
        """Return the id of the memory that a text hash identifies, or an empty string if none.

        Parts of one unit are identified by their own texts, not by the unit's.
        """
        if hash_ not in self.by_text:
            known = [m for m in self.marks.with_hash(hash_) if _is_known_by_text(m)]
            own = [m for m in known if m.own_hash == hash_]
            shared = len({m.id for m in known}) > 1
            self.by_text[hash_] = own[0].id if own else "" if shared or not known else known[0].id
        return self.by_text[hash_]

    def stands(self, memory: Memory) -> bool:
        """Return whether a memory is still stated by a line of a source or by a note."""
        noted = any(self.state.layout.is_memory(s.resource) for s in memory.sources)
        return noted or self._has_line(memory)

    def _has_line(self, memory: Memory) -> bool:
        """Return whether a memory is still stated by a line of a source."""
        return self._is_at(memory) or bool(find_other_places(memory, self.former.holding))

    def _is_at(self, memory: Memory) -> bool:
        """Return whether any place that a memory lists still contains the memory's text."""
        standing = self.former.standing
        return any(memory.wordings(s) & standing(s.resource) for s in memory.sources)

    def learn(self, memory: Memory) -> None:
        """Index a new memory by text, source and keys."""
        texts = {memory.own_hash}
        for hash_ in (s.text_hash for s in memory.sources if s.text_hash):
            other = self.memory(self.known_by(hash_))
            if other is None:
                texts.add(hash_)
            elif other.own_hash != hash_:
                self.by_text[hash_] = ""  # parts of one unit
        for source in memory.sources:
            self.resting(source.resource, source.text_hash).append(memory.id)
        if _is_known_by_text(memory):
            self.by_text.update(
                dict.fromkeys((t for t in texts if not self.known_by(t)), memory.id)
            )
        if memory.status == "active":
            self.index.add(prior_of(memory))
            self.spoken.add(normal_text(memory.body))

    def _person_replaced(self, memory: Memory) -> bool:
        """Return whether a person wrote the replacement of a memory, or decided on replacing it."""
        for id_ in memory.texts("superseded_by"):
            successor = self.state.memories.get(id_)
            if successor is not None and is_by_person(successor):
                return True
            case = corrections_of(self.state).between(id_, memory.id)
            if case is not None and case.by.startswith("human:"):
                return True
        return False

    def memory(self, id_: str) -> Memory | None:
        """Return a memory with this run's changes so far, or None if it does not exist."""
        return self.edited.get(id_) or self.fresh.get(id_) or self.state.memories.get(id_)

    def current(self, id_: str) -> Memory:
        """Return a memory with this run's changes so far. Raises KeyError if it does not exist."""
        memory = self.memory(id_)
        if memory is None:
            raise KeyError(id_)
        return memory

    def is_active(self, id_: str) -> bool:
        """Return whether a memory is active after this run's changes so far."""
        memory = self.memory(id_)
        return memory is not None and memory.status == "active"

    def text(self, id_: str) -> str:
        """Return the text of a memory, as reworded by this run."""
        update = self.reworded.get(id_)
        return self.current(id_).body if update is None or update.body is None else update.body

    def has_news(self, id_: str) -> bool:
        """Return whether this run found new sources or a new wording for a memory."""
        return id_ in self.fresh or id_ in self.grown or id_ in self.reworded

    def edit(self, id_: str, fields: Mapping[str, object]) -> Update:
        """Return an update of a memory, and apply the update for the rest of this run."""
        self.edited[id_] = self.current(id_).with_fields(fields)
        return Update(id=id_, fields=fields)

    def recognise(self, claim: Statement, texts: Iterable[str], id_: str) -> tuple[str, str]:
        """Find the memory that states the same as a claim. Return its id and how it was found.

        Return two empty strings if there is none.
        """
        if self.memory(id_):
            return id_, "same_id"
        for text in texts:
            same = self.known_by(text)
            if same and not have_two_roles(self.current(same).type, claim.type):
                return same, "same_text"
        if (held := self._decided(normal_text(claim.text))) is not None:
            subjects = {matching.normal_subject(s) for s in (claim.subject, held.text("subject"))}
            if len(subjects - {""}) < 2 or len(claim.text) >= SHORT:
                return held.id, "decided_before"
        for prior in self.index.with_key(matching.statement_of(claim)):
            equal = matching.normal_subject(prior.object) == matching.normal_subject(claim.object)
            if (equal and claim.object) or not self.by_object:
                return prior.memory_id, "exact_normalized_match"
        return "", ""

    def _decided(self, words: str) -> Memory | None:
        """Return the memory with a given text that a person has replaced or rejected, or None.

        If such a text is stated again, the memory remains superseded.
        """
        same = self.marks.with_words(words)
        if words in self.spoken or any(memory.status == "active" for memory in same):
            return None
        decided = (m for m in same if m.status == "superseded" and self._person_replaced(m))
        return next(decided, None)

    def imported(self, sources: Iterable[Source]) -> tuple[str, str]:
        """Find the imported memory with one of these sources, because it was judged elsewhere.

        Return its id and how it was recognised, or two empty strings.
        """
        for source in sources:
            for id_ in self.resting(source.resource, source.text_hash):
                memory = self.memory(id_)
                if memory is not None and memory.text("origin") == "import":
                    return memory.id, "same_evidence"
        return "", ""

    def _may_rest(self, resource: str, hash_: str) -> Iterator[Memory]:
        """Yield the memories that may have a unit as a source, even if they do not list it."""
        for memory in self.marks.with_hash(hash_):
            listed_there = any(
                s.resource == resource and hash_ in memory.wordings(s) for s in memory.sources
            )
            if listed_there or (memory.has(SOURCE_COUNT) and hash_ in hashes_of(memory)):
                yield memory

    def before_edit(self, claim: Statement) -> Memory | None:
        """Return the active memory whose only source was edited into a statement, or None.

        If several had one unit as source, return the one most similar to the new text. A text with
        another subject is no rewording.
        """
        found: dict[str, Memory] = {}
        for pair in sorted(claim.former):
            for memory in self._may_rest(*pair):
                if not _names_another(memory, claim) and self.lost_its_line(memory):
                    found.setdefault(memory.id, memory)
        if len(found) < 2 and claim.is_quoted:
            return next(iter(found.values()), None)
        words = content_words(claim.text)
        alike = [(matching.jaccard(words, content_words(m.body)), m) for m in found.values()]
        alike = [(share, m) for share, m in alike if share >= ALIKE]
        return min(alike, key=lambda one: (-one[0], one[1].path))[1] if alike else None

    def lost_its_line(self, memory: Memory) -> bool:
        """Return whether an active memory has no line any more, and nothing else took its place."""
        if memory.status != "active" or memory.id in self.reworded or memory.id in self.stated:
            return False
        if memory.id in self.replaced.values():
            return False
        return not self._has_line(memory)

    def revived(self, id_: str) -> dict[str, object]:
        """Return the fields that restore a retired memory that is stated again.

        The higher status epoch wins in a merge.
        """
        memory = self.state.memories[id_]
        if memory.standing != "retire_candidate":
            return {}
        if memory.status != "archived" or is_held_by_person(memory):
            return {"standing": None}
        epoch = int(memory.fields.get("status_epoch", 0)) + 1
        back = {"status": None, "status_epoch": epoch, "archived_at": None}
        return {"standing": None, **back}

    def add_evidence(self, id_: str, sources: Sequence[Source]) -> bool:
        """Merge sources into a memory's sources. Return whether anything was added."""
        if id_ in self.fresh:
            old = self.fresh[id_]
            united = merge_sources(old.sources, sources)
            self.fresh[id_] = old.with_fields({"sources": united})
            return united != old.sources
        old = self.state.memories[id_]
        sources = [source for source in sources if not _is_listed(old, source)]
        old_sources = self.grown.get(id_, old.sources)
        united = merge_sources(old_sources, sources)
        if not self.revived(id_):
            if united == old_sources:
                return False
            if old.has(SOURCE_COUNT) and old.with_fields(self.evidence(united, old)) == old:
                return False  # all these places are counted already
        self.grown[id_] = united
        return True

    def evidence(self, sources: tuple[Source, ...], old: Memory | None = None) -> dict[str, object]:
        """Return a memory's source fields: the listed places, and the count if some are unlisted.

        `old` is the memory before `sources` were merged. An unlisted place counts as new if it did
        not contain the text when its source was last consumed. If no listed place contains the text
        any more, new places are listed first.
        """
        if old is None or not old.has(SOURCE_COUNT):
            if len(sources) <= MAX_LISTED:
                return {"sources": sources}
            return {"sources": listed_places(sources), SOURCE_COUNT: len(sources)}
        met = sources[len(old.sources) :]
        new = sum(s.text_hash not in self.former.before(s.resource) for s in met)
        count = max(places_of(old) + new, len(sources))
        if not self._is_at(old):
            sources = merge_sources(met, old.sources)
        return {"sources": listed_places(sources), SOURCE_COUNT: count}

    def bounded(self, memory: Memory) -> Memory:
        """Limit the sources of a new memory to the number of places that may be listed."""
        if len(memory.sources) <= MAX_LISTED:
            return memory
        return memory.with_fields(self.evidence(memory.sources))


def _of_subject(marks: Marks, subject: str) -> Iterator[PriorClaim]:
    """Yield the active memories with a normalised subject, in the form that rules compare."""
    for memory in marks.about(subject):
        if memory.status == "active" and not memory.is_note:
            yield prior_of(memory)


def _person(memory: Memory) -> str:
    """Return how a person supports a memory, as text for a judge, or an empty string."""
    if is_worded_by_person(memory):
        return "worded by a person"
    return "confirmed by a person" if is_by_person(memory) else ""


def _is_listed(memory: Memory, source: Source) -> bool:
    """Return whether a memory lists a source, under its current or an earlier wording."""
    of_file = (one for one in memory.sources if one.resource == source.resource)
    return any(source.text_hash in memory.wordings(one) for one in of_file)


def _is_known_by_text(memory: Memory) -> bool:
    """Return whether the text of a memory is sufficient to identify the memory.

    A short text has other meanings elsewhere.
    """
    return len(memory.body) >= SHORT and not memory.text("object")


def _names_another(memory: Memory, claim: Statement) -> bool:
    """Return whether a text and a memory mention different subjects."""
    sides = ((memory.text("subject"), memory.body), (claim.subject, claim.text))
    named = all(
        subject and content_words(subject) <= content_words(text) for subject, text in sides
    )
    subjects = [matching.normal_subject(subject) for subject, _ in sides]
    return named and subjects[0] != subjects[1]


def find_other_places(
    memory: Memory, holding: Callable[[frozenset[str]], tuple[Source, ...]]
) -> tuple[Source, ...]:
    """Find the current places of a memory that lists only a part of its sources.

    Return nothing for a memory that lists all sources.
    """
    return holding(hashes_of(memory)) if memory.has(SOURCE_COUNT) else ()

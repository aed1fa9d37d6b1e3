"""Turn answers into the steps of a run, in one pass: statements, notes, lost lines.

Each statement becomes a new memory, more evidence for one, a new wording of one, or replaces one.
Notes of daily logs, removed lines and ticked boxes need no judge.

Lineage: memory-purifier, assembly. Deliberate differences: evidence is merged, never replaced. A
claim with another object is another claim. Claims of one run are also compared with each other. A
superseded memory that is found again remains superseded.

Tiers, archive, first page, summaries and links of the other memories follow. A reconciliation skips
them: its review is about content, and ageing follows from rules. Equal states, times and answers
give equal steps. Applied to their own result, they give none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any

import msgspec

from memrepo.actions.run.gather import Answers, Input, Nominee, RunPlan
from memrepo.actions.run.known import Known, is_listed
from memrepo.actions.run.settle import (
    OUTDATED,
    end_contradictions,
    find_requests,
    restore_outdated,
    retire,
    settle,
    tick_boxes,
)
from memrepo.actions.run.shelf import arrange
from memrepo.actions.work import Work
from memrepo.checks.rules import Wants, is_known_tag
from memrepo.core.errors import MemrepoError, Problem
from memrepo.core.ids import as_tag, claim_id, digest, note_id, text_hash
from memrepo.core.judge import Statement
from memrepo.core.layout import Layout
from memrepo.core.manifest import Consumed, Judged, Receipt
from memrepo.core.memory import MAX_LISTED, OWN_ACTOR, Memory, Source, Stamp, hashes_of, of_types
from memrepo.core.messages import counted
from memrepo.core.state import (
    Change,
    Create,
    Remove,
    State,
    Step,
    Update,
    apply_steps,
    is_decided,
    traits_of,
)
from memrepo.core.times import format_time
from memrepo.policies.claims import (
    SHORT,
    claim_keys,
    have_two_roles,
    is_by_person,
    jaccard,
    merge_sources,
    normal_subject,
    normal_text,
    present_ids,
    probable_duplicate,
    reuse_key,
    storage_fault,
    words_of,
)
from memrepo.policies.gists import (
    candidates,
    compressed,
    groups,
    summary_id,
    summary_of,
)
from memrepo.policies.hotcache import compose_hot
from memrepo.policies.importance import score_of
from memrepo.policies.latest import lines_of_logs
from memrepo.policies.links import link_step
from memrepo.policies.rules import CompressionRules
from memrepo.policies.upkeep import archive, upkeep
from memrepo.read.intake import is_mostly_in, lines_of
from memrepo.read.notes import PlacedNote
from memrepo.store.run_files import Ledger
from memrepo.text.dates import date_until
from memrepo.text.sentences import chunks
from memrepo.text.words import content_words

EDITED = "line edited in the source"
"""Reason of the commit that gives memories the new words of their lines."""
KEPT = "stated in the source, and worth keeping"
"""Reason of the commit that adds memories in a run."""
ALIKE = 0.3
"""Minimum share of common words for a part of a unit to reword a memory."""


class Decisions(msgspec.Struct, kw_only=True):
    """The steps of a run and what its manifest records. Each stage after `decide` adds to it.

    `warnings` are recorded in the manifest, `problems` are only shown. `run` is empty if there is
    nothing to write. `wait` is the reason for review, or empty if the run may be committed.
    """

    steps: tuple[Step, ...] = ()
    consumed: tuple[Consumed, ...] = ()
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    judgements: Mapping[str, Sequence[Judged]] = msgspec.field(default_factory=dict)
    quarantined: tuple[Mapping[str, str], ...] = ()
    warnings: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    run: str = ""
    base: str = ""
    wait: str = ""

    @property
    def lands(self) -> bool:
        """Return whether there is something to commit, and nobody needs to review it first."""
        return bool(self.run) and not self.wait

    @property
    def decisions(self) -> tuple[Step, ...]:
        """Return all steps except those for pages and the run's record."""
        return tuple(step for step in self.steps if step.op not in ("view", "run"))


def decide(plan: RunPlan, given: Input, answers: Answers, run: str = "") -> Decisions:
    """Return the steps and files that follow from the answers and from changes in the sources.

    `run` is the id of the run, which retirements and corrections name.
    """
    known, waits, intake = given.known, answers.waiting, given.intake
    known.run = run
    found = Decisions(
        warnings=(*given.warnings, *answers.warnings),
    )
    judged = take_statements(plan, known, answers.statements)
    take_notes(known, intake.notes, intake.ended)
    known.add_bulk("create", KEPT)
    known.add_bulk("create", "written in a daily log, or in a file about current work", notes=True)
    known.add_bulk("reword", "its section of the daily log or its file changed", notes=True)
    known.add_bulk("reword", EDITED)
    known.add_bulk("confirm", "the sources state it in another place too")
    settle(plan, known, answers.statements)
    touched = frozenset((*known.made.values(), *known.changed, *known.settled))
    found.receipt = arrange(plan, known, answers) if answers.may_arrange else answers.receipt
    if given.reader is not None:
        # While some sources are unjudged, the replacement of a removed line is unknown.
        gone = {name: lost for name, lost in intake.gone.items() if name not in waits}
        is_whole = intake.whole and not waits
        tick_boxes(known, intake, given.texts, given.reader)
        retire(plan, known, None if is_whole else gone, touched, intake.alarms)
        end_contradictions(known)
        restore_outdated(known)
        if not waits:
            nominate(known, given.nominees, answers.statements)
        found.consumed = tuple(one for one in intake.consumed if one.resource not in waits)
        found.warnings += tuple(find_requests(given))
        found.counts = _counts(given, known, judged)
    found.steps = (*given.moved, *known.steps)
    found.warnings += (*known.left_out(), *known.unstated())
    found.judgements = judged
    refused = {**answers.unusable, **known.faults}
    found.quarantined = tuple({"id": id_, "reason": why} for id_, why in sorted(refused.items()))
    return found


def _counts(given: Input, known: Known, judged: dict[str, Any]) -> dict[str, int]:
    """Return the counts that are not in the steps of a run."""
    barred = {"barred": len(known.barred)} if known.barred else {}
    return {
        **barred,
        "left": len(given.candidates) - len(given.choice.shelf),
        "sources": len({entry.resource for entry in given.intake.consumed}),
        "units": len(given.intake.placed),
        "candidates": len(given.candidates),
        "promoted": sum(map(len, judged.values())),
        "memories_met_again": sum(op == "confirm" for op in known.ops.values()),
    }


def take_statements(
    plan: RunPlan, known: Known, statements: Sequence[Statement]
) -> dict[str, list[Judged]]:
    """Find or make the memory of each statement. Return by memory what was decided, and why."""
    judged: dict[str, list[Judged]] = {}
    # What a line states is not reworded by the edit of another line, whichever is read first.
    has_edits = any(one.former or one.op == "replace" for one in statements)
    for one in statements if has_edits else ():
        if one.op != "close" and one.text:
            known.settled |= {_recognise(plan, known, one, _claim_of(known, one))[1]}
    for one in statements:
        if one.op == "close":
            continue
        with known.attempt(one.id):
            id_, disposition, reason = _take(plan, known, one)
            known.made[one.id] = id_
            record = Judged(
                disposition=disposition, reason=reason, rank=round(one.rank, 2), signs=one.signs
            )
            judged.setdefault(id_, []).append(record)
    return judged


def _take(plan: RunPlan, known: Known, one: Statement) -> tuple[str, str, str]:
    """Return the memory that contains a statement from now on, how it came about, and why."""
    target = known.made.get(one.memory, one.memory)
    claim, id_, same, how = _claim_of(known, one), "", target, "restated"
    if one.text:
        id_, same, how = _recognise(plan, known, one, claim)
    elif known.memory(target) is None:
        raise MemrepoError("its memory is gone")
    if one.text and one.op == "same" and known.is_active(target):
        if _extend_memory(known, target, one):
            return target, "reworded", "grown"
        same, how = target, "restated"
    if not same:
        same, how = _find_import(known, one.sources)
    reused = _with_other_object(known, same, claim) if how == "exact_normalized_match" else None
    if same and _has_former_words_again(known, same, one):
        new = _reworded(known, known.current(same), one, one.sources)
        if not storage_fault(new):
            known.reword(new)
            return same, "reworded", "edited_in_place"
    if reused is None and same and (same != target or one.op != "replace"):
        known.add_evidence(same, one.sources)
        return same, "reuse_existing", how
    sources = merge_sources(reused.sources, one.sources) if reused is not None else one.sources
    old = reused or _before_edit(known, one)
    named = known.memory(target) if one.op == "replace" and not one.still else None
    if old is None and named is not None and known.lost_its_line(named):
        old = named  # the line was edited: the same memory, in its new words
    if old is not None:
        known.settled.add(old.id)  # even if the new words are refused
    if old is not None and not is_by_person(old):
        new = _reworded(known, old, one, sources)
        if (reused is not None or not _has_other_value(old, claim)) and not storage_fault(new):
            known.reword(new)
            return old.id, "reworded", how if reused is not None else "edited_in_place"
    if old is not None:
        known.replaced[one.id] = old.id
    twin, likeness = probable_duplicate(claim, known.find(claim_keys, claim_keys(claim)))
    wants = Wants(tags=plan.config.tags.vocabulary, tag_pattern=plan.config.tag_pattern)
    noted = (tag for tag in known.tags_of(sources) if is_known_tag(tag, wants))
    claim = claim.with_fields({"tags": tuple(dict.fromkeys((*claim.tags, *noted))) or None})
    known.create(_memory(known, one, claim, id_, sources, twin))
    if twin:
        return id_, "probable_duplicate", likeness
    return id_, "new_claim", "no_candidates_above_threshold"


# -- which memory states the same ------------------------------------------------------------------


def _recognise(plan: RunPlan, known: Known, one: Statement, claim: Memory) -> tuple[str, str, str]:
    """Return a statement's id, the id of a memory stating the same, and how it was found.

    The latter two are empty if there is none. A wording is recognised by its own text, because
    several may rest on the same lines. A milestone and an episode with the same wording have
    different ids.
    """
    id_ = ""
    for kind in ("", one.type):
        id_ = claim_id(
            scope=f"{claim.scope}{kind}",
            subject=one.subject,
            predicate=one.predicate,
            object_=one.object,
            text=one.text,
        )
        held = known.memory(id_)
        if held is None or not have_two_roles(held.type, one.type):
            break
    if known.memory(id_) is not None:
        return id_, id_, "same_id"
    # A memory that was reworded has the id of its first words.
    reworded = [m for m in known.find(present_ids, [id_]) if m.status == "active"]
    if reworded:
        return id_, reworded[0].id, "same_text"
    texts = [s.text_hash for s in one.sources] if not one.object else []
    if texts and not one.is_quoted:
        texts = [text_hash(one.text)]
    for text in texts:
        same = _known_by(known, text, claim)
        if same is None or have_two_roles(same.type, one.type):
            continue
        # A judge that cites a line for one text and quotes it in another means two memories.
        if known.ops.get(same.id) != "create" or same.own_hash in texts:
            return id_, same.id, "same_text"
    if (held := _decided_before(known, claim)) is not None:
        return id_, held.id, "decided_before"
    key = reuse_key(claim)
    priors = known.find(claim_keys, [key]) if key else []
    for prior in sorted(
        sorted(priors, key=attrgetter("id")), key=attrgetter("captured"), reverse=True
    ):
        equal = normal_subject(prior.object) == normal_subject(one.object)
        if (equal and one.object) or plan.config.is_classic:
            return id_, prior.id, "exact_normalized_match"
    return id_, "", ""


def _known_by(known: Known, hash_: str, claim: Memory) -> Memory | None:
    """Return the memory that a text hash identifies, or None. For a note's scope, none of another.

    Parts of one unit are identified by their own texts, not by the unit's. A short text has other
    meanings elsewhere, and so has a text that its file states under two headings.
    """
    found = known.find_text([hash_]) if len(claim.body) >= SHORT else []
    found = [m for m in found if not m.object]
    found = [m for m in found if not claim.scope or m.scope in ("", claim.scope)]
    found = [m for m in found if not known.is_of_other_heading(m, claim, hash_)]
    own = [m for m in found if m.own_hash == hash_]
    return own[0] if own else found[0] if len(found) == 1 else None


def _decided_before(known: Known, claim: Memory) -> Memory | None:
    """Return the memory with the text of a claim that a person has replaced or rejected, or None.

    If such a text is stated again, the memory remains superseded.
    """
    same = known.find(words_of, [normal_text(claim.body)])
    if any(memory.status == "active" for memory in same):
        return None
    for memory in same:
        if memory.status == "superseded" and known.is_decided_by_person(memory):
            subjects = {normal_subject(m.subject) for m in (claim, memory)} - {""}
            return memory if len(subjects) < 2 or len(claim.body) >= SHORT else None
    return None


def _find_import(known: Known, sources: Sequence[Source]) -> tuple[str, str]:
    """Return the imported memory with one of these sources, because it was judged elsewhere."""
    for source in sources:
        for memory in known.find_text([source.text_hash]):
            if memory.origin == "import" and is_listed(memory, source.resource, source.text_hash):
                return memory.id, "same_evidence"
    return "", ""


def _before_edit(known: Known, one: Statement) -> Memory | None:
    """Return the active memory whose only source was edited into a statement, or None.

    A memory that was stored by hand in the words of the line had the line as its source too.
    If several had one unit as source, return the one most similar to the new text. A text with
    another subject is no rewording.
    """
    found: dict[str, Memory] = {}
    for resource, hash_ in sorted(one.former):
        for memory in known.find_text([hash_]):
            is_unlisted = len(memory.sources) >= MAX_LISTED and hash_ in hashes_of(memory)
            is_stored = not memory.sources and memory.own_hash == hash_
            if not (is_unlisted or is_stored or is_listed(memory, resource, hash_)):
                continue
            is_lost = known.lost_its_line(memory) or _is_edited_twin(known, memory, one)
            if is_lost and not _names_another(memory, one):
                found.setdefault(memory.id, memory)
    if len(found) < 2 and one.is_quoted:
        return next(iter(found.values()), None)
    words = content_words(one.text)
    alike = [(jaccard(words, content_words(m.body)), m) for m in found.values()]
    alike = [(share, m) for share, m in alike if share >= ALIKE]
    return min(alike, key=lambda pair: (-pair[0], pair[1].path))[1] if alike else None


def _has_former_words_again(known: Known, id_: str, one: Statement) -> bool:
    """Return whether the line of a memory was edited back to words that the memory had before."""
    memory = known.memory(id_)
    if memory is None or not known.is_active(id_) or is_by_person(memory) or not one.is_quoted:
        return False
    left = {hash_ for resource, hash_ in one.former if is_listed(memory, resource, hash_)}
    now = frozenset[str]().union(*(known.reader.standing(s.resource) for s in memory.sources))
    return bool(left) and left.isdisjoint(now) and text_hash(one.text) in memory.former


def _is_edited_twin(known: Known, memory: Memory, one: Statement) -> bool:
    """Return whether an edited line is that of a memory whose text another heading still has."""
    same = known.find_text([memory.own_hash])
    has_twin = any(m.own_hash == memory.own_hash and m.context != memory.context for m in same)
    is_open = known.is_active(memory.id) and memory.id not in known.settled
    return has_twin and is_open and memory.context == one.context


def _names_another(memory: Memory, one: Statement) -> bool:
    """Return whether a text and a memory mention different subjects."""
    sides = ((memory.subject, memory.body), (one.subject, one.text))
    named = all(
        subject and content_words(subject) <= content_words(text) for subject, text in sides
    )
    subjects = [normal_subject(subject) for subject, _ in sides]
    return named and subjects[0] != subjects[1]


def _has_other_value(old: Memory, claim: Memory) -> bool:
    """Return whether an edited statement gives another value for the same subject and key.

    This is a new statement.
    """
    key = reuse_key(claim)
    values = {normal_subject(m.object) for m in (old, claim)}
    return key is not None and key == reuse_key(old) and len(values) > 1 and "" not in values


def _with_other_object(known: Known, id_: str, claim: Memory) -> Memory | None:
    """Return the memory with an id whose object differs from a claim with the same key, or None."""
    old = known.memory(id_)
    if old is None or known.ops.get(id_) in ("create", "reword"):
        return None
    return old if len({normal_subject(m.object) for m in (claim, old)}) > 1 else None


# -- the memory of a statement ---------------------------------------------------------------------


def _claim_of(known: Known, one: Statement) -> Memory:
    """Return a statement as a memory that is not stored yet: without id, path and sources.

    What only sources or notes of one scope state is of that scope.
    """
    places = {s.resource for s in one.sources}
    notes = {m.path: m.scope for m in known.state.memories.values()} if one.is_nominated else {}
    scopes = {notes.get(place) or known.scope_of(place) for place in places}
    fields: dict[str, object] = {
        "scope": scopes.pop() if len(scopes) == 1 else "",
        "type": one.type,
        "title": one.title,
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "context": one.context,
        "standing": one.standing,
        "tags": tuple(filter(None, map(as_tag, one.tags))),
        "valid_until": one.until,
        "sources": one.sources,
    }
    return Memory.of("", {key: value or None for key, value in fields.items()}, body=one.text)


def _memory(
    known: Known,
    one: Statement,
    claim: Memory,
    id_: str,
    sources: tuple[Source, ...],
    twin: str,
) -> Memory:
    """Return the new memory of a statement. `twin` is the memory that it may duplicate, or ""."""
    dated = [s.captured[:10] for s in sources if s.captured and s.captured_from != "commit"]
    doubt = {"standing": "probable_duplicate"} if twin and one.standing == "resolved" else {}
    fields = {
        **claim.fields,
        "id": id_,
        "created": known.now,
        "sources": sources,
        "duplicate_of": twin or None,
        "origin": "promotion" if one.is_nominated else None,
        **doubt,
    }
    path = known.state.layout.memory(
        id_=id_, type_=one.type, text=one.title or one.text, captured=max(dated, default="")
    )
    return Memory.of(path, fields, body=one.text)


def _reworded(known: Known, old: Memory, one: Statement, sources: tuple[Source, ...]) -> Memory:
    """Return a memory with the words of a statement.

    The id remains. The hash of the old text becomes an alias.
    """
    gone = (s.text_hash for s in old.sources if s.text_hash)
    fields: dict[str, object] = {
        "title": one.title or None,
        "subject": one.subject or None,
        "predicate": one.predicate or None,
        "object": one.object or None,
        "context": one.context or None,
        **_end_after_edit(old, one),
        **({"standing": None} if old.standing == OUTDATED else {}),
        "former": tuple(dict.fromkeys((*old.former, text_hash(old.body), *gone))),
        "sources": sources,
        "generated": Stamp(by=OWN_ACTOR, at=known.now),
    }
    return old.with_fields(fields, one.text)


def _end_after_edit(old: Memory, one: Statement) -> dict[str, object]:
    """Return the field by which an edited statement ends, or no longer ends, on a day."""
    stated = date_until(old.body, old.captured[:10]) if old.valid_until else ""
    is_gone = stated != "" and old.valid_until == stated != date_until(one.text, old.captured[:10])
    return {"valid_until": one.until or None} if one.until or is_gone else {}


def _extend_memory(known: Known, id_: str, one: Statement) -> bool:
    """Give a memory the longer text of a statement. Return whether that is possible."""
    old = known.current(id_)
    one = msgspec.structs.replace(one, subject=one.subject or old.subject)
    grown = _reworded(known, old, one, merge_sources(old.sources, one.sources))
    if is_by_person(old) or storage_fault(grown):
        return False
    known.reword(grown)
    return True


# -- notes of daily logs ---------------------------------------------------------------------------


def take_notes(known: Known, placed: Sequence[PlacedNote], ended: Sequence[str] = ()) -> None:
    """Add a note for each new section of a daily log, or its text to the note that it continues.

    `ended` are the files that are no longer about current work: their notes are archived, as is
    that of a file which states again what a person forgot.
    """
    copies, left = _copies(known, placed), {*ended}
    forgotten = {(m.own_hash, file) for m in known.state.every if _is_lost(m) for file in m.files}
    for one in placed:
        unit = one.unit
        id_ = note_id(resource=unit.resource, text=unit.text, occurrence=unit.occurrence)
        old = _note_to_extend(known, one)
        if one.is_state and (unit.text_hash, one.resource) in forgotten:
            left.add(one.resource)
            continue
        if one.hash in copies or (known.memory(id_) and not (one.is_state and old)):
            continue
        with known.attempt(one.hash):
            if old is not None and old.own_hash == unit.text_hash and old.status == "active":
                continue  # a run that was not reverted extended it before
            if old is not None:
                former = dict.fromkeys((*old.former, old.sources[-1].text_hash))
                fields = {
                    "title": unit.title,
                    "status": None,
                    "archived_at": None,
                    "generated": Stamp(by=OWN_ACTOR, at=known.now),
                    "former": old.former if one.is_state else tuple(former),
                    "sources": (_note_source(one),),
                }
                known.reword(old.with_fields(fields, unit.text))
            else:
                known.create(_note(known, one, id_))
    for note in of_types(known.state.active if left else (), ("note",)):
        if not is_by_person(note) and (files := left.intersection(note.files)):
            known.add(archive(note, known.now, f"{min(files)} is no longer about current work"))


def _is_lost(memory: Memory) -> bool:
    return memory.is_note and memory.status == "forgotten"


def _copies(known: Known, placed: Sequence[PlacedNote]) -> frozenset[str]:
    """Return the hashes of note units that repeat another file's note of the same day."""
    units = {(one.unit.text_hash, _note_source(one).captured): one for one in placed}
    found = set()
    for memory in of_types(known.state.active, ("note",)) if units else ():
        source = memory.sources[-1] if memory.sources else None
        one = units.get((source.text_hash, source.captured)) if source else None
        if one is not None and source is not None and source.resource != one.resource:
            found.add(one.hash)
    return frozenset(found)


def _note_to_extend(known: Known, one: PlacedNote) -> Memory | None:
    """Return the active note of the same section that a unit continues, or None.

    A section that has most of the note's lines continues it. A section that was overwritten is a
    new note, and the old one remains; so does one that a person worded or confirmed. The state of
    work continues the note of its file, also one that was archived when the file was gone, but none
    that a person forgot: its status is what keeps its text out.
    """
    lines = lines_of(one.unit.text.encode())
    notes = known.state.every if one.is_state else known.state.active
    for memory in of_types(notes, ("note",)):
        if memory.id in known.ops or one.resource not in memory.files or is_by_person(memory):
            continue
        if memory.status not in ("active", "archived"):
            continue
        is_same = memory.title == one.unit.title
        if one.is_state or (is_same and is_mostly_in(lines_of(memory.body.encode()), lines)):
            return memory
    return None


def _note_source(one: PlacedNote) -> Source:
    dated = bool(one.unit.captured)
    return Source(
        resource=one.resource,
        lines=one.unit.lines,
        text_hash=one.unit.text_hash,
        captured=one.unit.captured if dated else one.committed,
        captured_from=one.unit.captured_from if dated else "commit",
    )


def _note(known: Known, one: PlacedNote, id_: str) -> Memory:
    source = _note_source(one)
    day = source.captured if source.captured_from != "commit" else ""
    path = known.state.layout.memory(
        id_=id_, type_="note", text=one.unit.title or one.unit.text, captured=day
    )
    fields = {
        "id": id_,
        "type": "note",
        "title": one.unit.title,
        "scope": known.scope_of(one.resource),
        "created": known.now,
        "sources": (source,),
    }
    return Memory.of(path, {k: v for k, v in fields.items() if v}, body=one.unit.text)


def nominate(known: Known, nominees: Iterable[Nominee], statements: Sequence[Statement]) -> None:
    """Add a step for each judged nominee. It names the memories made from the nominee.

    One that produced no memory can be nominated again after more retrievals.
    """
    for nominee in nominees:
        note = nominee.note
        made = (
            known.made[one.id]
            for one in statements
            if one.id in known.made and any(s.resource == note.path for s in one.sources)
        )
        ids = tuple(dict.fromkeys((*nominee.stated_by, *made)))
        end = f"became {', '.join(ids)}" if ids else "not stored"
        fields = {"promoted": True, "nominated": None} if ids else {"nominated": known.now}
        known.add(
            Step(
                op="nominate",
                reason=f"{nominee.nomination.record}: {end}",
                changes=(Update(id=note.id, fields=fields),),
                memories=(note.id, *ids),
            )
        )


PACED = ("pruned", "archived", "summarised")
"""Counts in a manifest that use up the limit on removals at one moment."""


def add_upkeep(work: Work, plan: RunPlan, found: Decisions) -> None:
    """Add maintenance steps, each computed on the state that the previous steps lead to."""
    state = apply_steps(plan.state, found.steps)
    lost = _drop_lost_links(state)
    state = apply_steps(state, lost)
    earlier = [m.counts for m in plan.manifests if m.now == format_time(plan.now)]
    due = upkeep(
        state,
        Ledger(work.store).accesses(),
        plan.now,
        work.config.rules,
        spent=sum(counts.get(name, 0) for counts in earlier for name in PACED),
        allowed=lambda step: not is_decided(traits_of(state.memories, step.changes), plan.decided),
    )
    found.problems += due.problems
    found.steps += (*lost, *due.steps)
    # Compress at most once per moment, because the groups depend on all remaining memories.
    room = 0 if any(counts.get("summaries") for counts in earlier) else due.room
    after = due.state
    for part in (partial(_summaries, room), _links, _chunk_files):
        more = part(work, plan, after)
        after = apply_steps(after, more)
        found.steps += more


def _drop_lost_links(state: State) -> tuple[Step, ...]:
    """Return a step that removes links to memories whose files were deleted by hand.

    While a file is unreadable, nothing is removed: it may be the target.
    """
    changes: list[Change] = []
    if state.problems:
        return ()
    for memory in state.every:
        links = memory.links
        left = tuple(link for link in links if link.target in state.memories)
        if len(left) < len(links):
            changes.append(Update(id=memory.id, fields={"links": left or None}))
    what, reason = "Remove links to deleted memories", "their files were deleted by hand"
    return (Step(op="link", what=what, reason=reason, changes=tuple(changes)),) if changes else ()


def first_page_steps(work: Work, state: State) -> tuple[Step, ...]:
    """Return the steps that update the first page to match a state."""
    rules, accesses = work.config.rules, Ledger(work.store).accesses()
    now, lately = work.call.now, lines_of_logs(state)
    return compose_hot(state.active, accesses, now, rules.hot, rules.decay, lately).steps


# -- consolidation: summaries, links and chunks ----------------------------------------------------


def _summaries(room: int, work: Work, plan: RunPlan, state: State) -> tuple[Step, ...]:
    """Return steps that combine the oldest groups of memories of low importance into summaries.

    `room` is how many memories may leave recall. If a person reverted a summary, its memories are
    not compressed again. What this run made is not compressed by it.
    """
    if room <= 0:
        return ()
    rules, lexicon = work.config.compression, work.config.lexicon
    undone = (one.partition(" compressed_into ") for one in plan.decided)
    spared = frozenset(id_ for id_, key, _ in undone if key)
    spared |= state.memories.keys() - plan.state.memories.keys()
    steps = list[Step]()
    for group in groups(candidates(state, rules, lambda m: score_of(m, lexicon), spared)):
        if summary_id(group) in state.memories:
            continue
        room -= len(group)
        if room < 0:
            break
        summary = summary_of(group)
        why = _why_compressed(rules, group)
        step = compressed(group, summary, state.layout, plan.now, by=OWN_ACTOR, why=why)
        steps.append(step)
    return tuple(steps)


def _why_compressed(rules: CompressionRules, group: Sequence[Memory]) -> str:
    """Return why a group is compressed."""
    return (
        f"more than {rules.trigger - 1} memories are active; {len(group)} of importance"
        f" below {rules.below:g}, older than the {rules.keep} newest, are near in time"
    )


def _links(work: Work, plan: RunPlan, state: State) -> tuple[Step, ...]:
    """Link claims that mention the same names, in one commit."""

    def step() -> Step | None:
        return link_step(state.active, plan.decided)

    areas = [state.layout.area(name).rstrip("/") for name in ("memories", "tombstones")]
    if state is plan.state and work.answer("linked", bool, lambda: step() is None, of=areas):
        return ()
    return (found,) if (found := step()) else ()


def _chunk_files(work: Work, _: RunPlan, state: State) -> tuple[Step, ...]:
    """Write the chunks of long memories as files, and remove outdated chunk files.

    The files are for other programs that index them. Search does not need them.
    """
    there = {m.id: m for m in state.memories.values() if m.type == "chunk"}
    wanted: dict[str, Memory] = {}
    if work.config.chunking.materialise:
        texts = [m for m in state.active if m.type != "chunk"]
        wanted = {c.id: c for m in texts for c in _chunks_of(m, state.layout)}
    new = [wanted[id_] for id_ in sorted(wanted.keys() - there.keys())]
    old = sorted(there.keys() - wanted.keys())
    if not new and not old:
        return ()
    step = Step(
        op="view",
        what=f"Write {counted(len(wanted), 'chunk', 'chunks')} of long memories",
        reason="`chunking.materialise` is on: chunks are files",
        changes=(*(Remove(id=id_) for id_ in old), *(Create(memory=m) for m in new)),
    )
    return (step,)


def _chunks_of(memory: Memory, layout: Layout) -> Iterator[Memory]:
    """Yield a memory's chunks, each as a separate memory; none if there is only one."""
    found, created = chunks(memory.body), memory.created
    for chunk in found if len(found) > 1 else ():
        id_ = f"mem-{digest(['chunk', memory.id, chunk.index, chunk.text])[:16]}"
        fields = {
            "id": id_,
            "type": "chunk",
            "scope": memory.fields.get("scope"),
            "created": created,
            "parent": memory.id,
            "chunk": chunk.index,
        }
        path = layout.memory(
            id_=id_,
            type_="chunk",
            text=f"{memory.id}-chunk-{chunk.index}",
            captured=format_time(created) if created else "",
        )
        fields = {key: value for key, value in fields.items() if value is not None}
        yield Memory.of(path, fields, body=chunk.text)

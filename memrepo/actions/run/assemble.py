"""Turn statements into changes: new memories, more evidence, new wordings, replacements.

Lineage: memory-purifier, assembly. Deliberate differences: evidence is merged, never replaced. A
claim with another object is another claim. Claims of one run are also compared with each other. A
superseded memory that is found again remains superseded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.known import Former, Known, Marks, fault_of, prior_of
from memrepo.actions.run.overtake import (
    SURE,
    UNSURE,
    FoundChange,
    StatementIndex,
    changed_pairs,
    compared_in,
    find_change,
    is_compared,
)
from memrepo.core import corrections
from memrepo.core.changes import Step, Update, Write
from memrepo.core.corrections import Correction, Side, contradiction_id, corrections_of
from memrepo.core.ids import as_tag, claim_id, text_hash
from memrepo.core.judge import Statement
from memrepo.core.memory import (
    BY_NAME,
    OWN_ACTOR,
    SOURCE_COUNT,
    Link,
    Memory,
    Source,
    Stamp,
)
from memrepo.core.state import State
from memrepo.policies import matching
from memrepo.policies.change import newer_of
from memrepo.policies.claims import (
    find_reflecting,
    free_path,
    have_two_roles,
    is_by_person,
    is_held_by_person,
    is_worded_by_person,
    merge_sources,
    storage_fault,
)
from memrepo.policies.rules import ContradictionRules
from memrepo.policies.standing import contradicts, links_of, still_contested
from memrepo.policies.upkeep import archive
from memrepo.text.dates import date_until

_USUAL = ContradictionRules()
OUTDATED = "stale"
"""The standing of a memory that was true until a newer statement."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a statement: the memory that now contains it, and the reason."""

    statement: Statement
    memory_id: str
    disposition: str
    reason: str


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """Changes in commit order, an outcome per statement, and what could not be stored."""

    creates: tuple[Memory, ...] = ()
    rewords: tuple[Update, ...] = ()
    updates: tuple[Update, ...] = ()
    singles: tuple[Step, ...] = ()
    decisions: tuple[Outcome, ...] = ()
    quarantined: tuple[Outcome, ...] = ()
    faults: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Memories whose changes failed, with the reason."""

    @property
    def touched(self) -> frozenset[str]:
        """Return the ids of all memories that this run creates or changes."""
        ids = {d.memory_id for d in self.decisions}
        return frozenset(ids.union(*(step.memory_ids for step in self.singles)))


def assemble(
    state: State,
    statements: Sequence[Statement],
    former: Former,
    now: datetime,
    marks: Marks | None = None,
    rules: ContradictionRules = _USUAL,
    compared: StatementIndex | None = None,
    *,
    by_object: bool = True,
    never: Collection[str] = (),
) -> Assembled:
    """Decide for each statement whether it is known, reworded, a probable duplicate, or new.

    Without `by_object`, the triple of subject, predicate and home identifies a claim. The memory
    then receives the wording and object of the newer statement. `compared` is an index of the
    memories, which may be reused, and `never` has the decisions that a person reverted.
    """
    known = Known(
        state=state,
        former=former,
        now=now,
        marks=marks or Marks(state.memories),
        rules=rules,
        by_object=by_object,
    )
    outcomes: list[Outcome] = []
    quarantined: list[Outcome] = []
    stating = [one for one in statements if one.op != "close" and one.text]
    for one in stating:
        if not one.is_quoted:
            known.stated |= {_known_as(known, one)[1]}
    for one in statements:
        if one.op == "close":
            continue
        try:
            outcome = _decide(known, one) if one.text else _confirm(known, one)
        except Exception as error:  # noqa: BLE001 one statement must not stop a run
            outcome = Outcome(
                statement=one, memory_id="", disposition="quarantined", reason=fault_of(error)
            )
        if outcome.memory_id:
            known.made[one.id] = outcome.memory_id
        (outcomes if outcome.memory_id else quarantined).append(outcome)
    singles = tuple(_single_steps(known, statements, outcomes, compared, never))
    return Assembled(
        creates=tuple(map(known.bounded, known.fresh.values())),
        rewords=tuple(known.reworded.values()),
        updates=tuple(
            Update(
                id=id_,
                fields={**known.evidence(sources, state.memories[id_]), **known.revived(id_)},
            )
            for id_, sources in known.grown.items()
        ),
        singles=singles,
        decisions=tuple(outcomes),
        quarantined=tuple(quarantined),
        faults=known.faults,
    )


def _confirm(known: Known, one: Statement) -> Outcome:
    """Add the lines of a statement to the memory that states the same."""
    outcome = partial(Outcome, statement=one)
    id_ = known.made.get(one.memory, one.memory)
    if known.memory(id_) is None:
        return outcome(memory_id="", disposition="quarantined", reason="its memory is gone")
    known.add_evidence(id_, with_roles(one.sources, known.current(id_).sources))
    return outcome(memory_id=id_, disposition="reuse_existing", reason="restated")


def _decide(known: Known, one: Statement) -> Outcome:
    outcome = partial(Outcome, statement=one)
    id_, same, how = _known_as(known, one)
    target = known.made.get(one.memory, one.memory)
    if one.op == "same" and known.is_active(target):
        grown = _grow(known, target, one)
        if grown:
            return outcome(memory_id=target, disposition="reworded", reason="grown")
        same, how = target, "restated"
    if not same:
        same, how = known.imported(one.sources)
    sources = one.sources
    reused = _with_other_object(known, same, one) if how == "exact_normalized_match" else None
    if reused is not None:
        same, sources = "", merge_sources(reused.sources, sources)
    if same and same != target:
        known.add_evidence(same, with_roles(sources, known.current(same).sources))
        return outcome(memory_id=same, disposition="reuse_existing", reason=how)
    if same and one.op != "replace":
        known.add_evidence(same, with_roles(sources, known.current(same).sources))
        return outcome(memory_id=same, disposition="reuse_existing", reason=how)
    old = reused or known.before_edit(one)
    if old is None and one.op == "replace" and not one.still:
        named = known.memory(target)
        if named is not None and known.lost_its_line(named):
            old = named  # the line was edited: the same memory, in its new words
    if old is not None and is_worded_by_person(old):
        # A program does not overwrite a person's text. Both remain, and contest each other.
        known.disputed[one.id] = old.id
    elif old is not None:
        reword = _reword(known, old, one, sources)
        kept = reused is not None or not _other_value(old, one)
        if kept and not storage_fault(old.with_fields(reword.fields, one.text)):
            known.reworded[old.id] = reword
            known.stated.add(old.id)
            if one.is_quoted:
                known.by_text.update(dict.fromkeys((s.text_hash for s in sources), old.id))
            how = "edited_in_place" if reused is None else how
            return outcome(memory_id=old.id, disposition="reworded", reason=how)
        known.replaced[one.id] = old.id
    twin = matching.probable_duplicate(matching.statement_of(one), known.index)
    memory = _memory(known, one, id_, sources, twin)
    if why := storage_fault(known.bounded(memory)):
        return outcome(memory_id="", disposition="quarantined", reason=why)
    known.paths.add(memory.path)
    known.fresh[id_] = memory
    known.learn(memory)
    disposition = "probable_duplicate" if twin else "new_claim"
    reason = twin.reason if twin else "no_candidates_above_threshold"
    return outcome(memory_id=id_, disposition=disposition, reason=reason)


def _grow(known: Known, id_: str, one: Statement) -> bool:
    """Give a memory the longer text of a statement. Return whether that is possible."""
    old, before = known.memory(id_), known.reworded.get(id_)
    if old is None or is_worded_by_person(old):
        return False
    if before is not None:
        old = old.with_fields(before.fields, before.body)
    sources = merge_sources(known.grown.get(id_, old.sources), one.sources)
    update = _reword(known, old, one, sources)
    grown = old.with_fields(update.fields, one.text)
    if storage_fault(grown):
        return False
    if id_ in known.fresh:
        known.fresh[id_] = grown
        known.learn(grown)
    else:
        known.reworded[id_] = update
    known.stated.add(id_)
    return True


def _known_as(known: Known, one: Statement) -> tuple[str, str, str]:
    """Return a statement's id, the id of a memory stating the same, and how it was found.

    A wording is recognised by its own text, because several may rest on the same lines. A milestone
    and an episode with the same wording have different ids.
    """
    id_ = ""
    for scope in ("", one.type):
        id_ = claim_id(
            scope=scope,
            subject=one.subject,
            predicate=one.predicate,
            object_=one.object,
            text=one.text,
        )
        held = known.memory(id_)
        if held is None or not have_two_roles(held.type, one.type):
            break
    texts = [s.text_hash for s in one.sources] if not one.object else []
    if not one.is_quoted and texts:
        texts = [text_hash(one.text)]
    return id_, *known.recognise(one, texts, id_)


def with_roles(sources: Sequence[Source], known: Sequence[Source]) -> tuple[Source, ...]:
    """Return sources, marking those as `inferred` that only reflect on other or known ones."""
    reflecting = find_reflecting([*known, *sources])
    return tuple(replace(s, kind="inferred") if s.resource in reflecting else s for s in sources)


def _other_value(old: Memory, one: Statement) -> bool:
    """Return whether an edited statement gives another value for the same subject and key.

    This is a new statement.
    """
    was = old.fields
    same = matching.reuse_key(one.subject, one.predicate, one.home)
    keyed = same is not None and same == matching.reuse_key(
        was.get("subject", ""), was.get("predicate", ""), was.get("home", "")
    )
    values = matching.normal_subject(one.object), matching.normal_subject(was.get("object", ""))
    return keyed and all(values) and values[0] != values[1]


def _with_other_object(known: Known, id_: str, one: Statement) -> Memory | None:
    """Return the memory with an id whose object differs from a claim with the same key, or None."""
    old = known.state.memories.get(id_)
    if old is None or id_ in known.reworded:
        return None
    objects = {matching.normal_subject(o) for o in (one.object, old.text("object"))}
    return old if len(objects) > 1 else None


def _reword(known: Known, old: Memory, one: Statement, sources: tuple[Source, ...]) -> Update:
    """Return the update that gives a memory the words of a statement.

    The id remains. The hash of the old text becomes an alias.
    """
    gone = tuple(s.text_hash for s in old.sources if s.text_hash)
    former = dict.fromkeys((*old.former_hashes, text_hash(old.body), *gone))
    spoken = {
        "title": one.title,
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "context": one.context,
    }
    return Update(
        id=old.id,
        fields={
            **{key: value or None for key, value in spoken.items()},
            **_end_after_edit(old, one),
            **({"standing": None} if old.standing == OUTDATED else {}),
            "former": tuple(former),
            **({SOURCE_COUNT: None} if old.has(SOURCE_COUNT) else {}),
            **known.evidence(sources),
            "generated": Stamp(by=OWN_ACTOR, at=known.now),
        },
        body=one.text,
    )


def _end_after_edit(old: Memory, one: Statement) -> dict[str, object]:
    """Return the field by which an edited statement ends, or no longer ends, on a day."""
    stated = date_until(old.body, old.captured[:10]) if old.has("valid_until") else ""
    was_stated = bool(stated) and old.text("valid_until") == stated
    return {"valid_until": one.until or None} if one.until or was_stated else {}


def _memory(
    known: Known,
    one: Statement,
    id_: str,
    sources: tuple[Source, ...],
    twin: matching.Duplicate | None,
) -> Memory:
    dated = [s.captured[:10] for s in sources if s.captured and s.captured_from != "commit"]
    standing = "probable_duplicate" if twin and one.standing == "resolved" else one.standing
    fields: dict[str, object] = {
        "id": id_,
        "type": one.type,
        "title": one.title,
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "context": one.context,
        "standing": standing,
        "home": one.home,
        "tags": tuple(filter(None, map(as_tag, one.tags))),
        "valid_until": one.until,
        "created": known.now,
        "generated": Stamp(by=OWN_ACTOR, at=known.now),
        "sources": sources,
        "duplicate_of": twin.memory_id if twin else None,
        "origin": "promotion" if one.is_nominated else "purifier",
    }
    path = known.state.layout.memory(
        id_=id_, type_=one.type, text=one.title or one.text, captured=max(dated, default="")
    )
    memory = Memory.of(path, _sparse(fields), body=one.text)
    return replace(memory, path=free_path(known.state, known.paths, memory))


def _sparse(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields without empty values and schema defaults, which files do not contain."""
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", ()) and value != BY_NAME[name].default
    }


PENDING = "pending"
"""A placeholder for the run's id until the run is planned."""


def case_of(
    known: Known, new: str, old: str, *, kept: str, reason: str, sure: float | None
) -> tuple[Write, ...]:
    """Return the write that records a correction about two memories.

    `kept` is the memory that replaced the other, or empty if the pair is only flagged. An earlier
    correction about the pair is overwritten, and its date remains.
    """
    id_, before = contradiction_id(new, old), corrections_of(known.state).between(new, old)
    case = Correction(
        id=id_,
        verdict="superseded" if kept else "flagged",
        kept=kept,
        sides=(Side(memory=new, text=known.text(new)), Side(memory=old, text=known.text(old))),
        confidence=sure,
        reason=reason,
        by=OWN_ACTOR,
        run=PENDING,
        at=(before.at if before else None) or known.now,
        decided=known.now if kept else None,
    )
    path = corrections_of(known.state).place(known.state.layout, case)
    return (Write(path=path, data=corrections.written(path, case)),)


def is_resolved(known: Known, new: str, old: str) -> bool:
    """Return whether a decision on two memories is still valid for their current texts.

    A person's decision is valid until one of the texts changes. A run's decision is valid until the
    superseded memory is stated again.
    """
    case = corrections_of(known.state).between(new, old)
    texts = {id_: known.text(id_) for id_ in (new, old)}
    if case is None or case.status == "open" or not case.about(texts):
        return False
    return case.by.startswith(("human:", "process:")) or not known.has_news(new)


class _Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories between which a person must choose, and why a run cannot choose."""

    new: str
    old: str
    why: str
    sure: float | None = None


def _single_steps(
    known: Known,
    statements: Sequence[Statement],
    outcomes: Sequence[Outcome],
    compared: StatementIndex | None,
    never: Collection[str],
) -> Iterator[Step]:
    """Yield a step for each decision that needs a separate commit.

    What operations replace or close comes first, then what rules find about the new statements.
    Doubts follow at the end.
    """
    doubts: list[_Doubt] = []
    for outcome in outcomes:
        for decided in known.safely(outcome.memory_id, partial(_followed_up, known, outcome)):
            if isinstance(decided, Step):
                yield decided
            else:
                doubts.append(decided)
    for one in statements:
        if one.op == "close":
            yield from known.safely(one.memory, partial(_close, known, one))
    news = [d.memory_id for d in outcomes if d.disposition in NEWS]
    for decided in _overtaken(known, news, compared, never) if known.rules.enabled else ():
        if isinstance(decided, Step):
            yield decided
        else:
            doubts.append(decided)
    for doubt in doubts:
        yield from known.safely(doubt.new, partial(_settle_doubt, known, doubt))


def _settle_doubt(known: Known, doubt: _Doubt) -> Iterator[Step]:
    if step := _left_behind(known, doubt) or _flag(known, doubt):
        yield step


def _followed_up(known: Known, outcome: Outcome) -> Iterator[Step | _Doubt]:
    yield from _replacing(known, outcome)
    yield from _stated_again(known, outcome.memory_id)


NEWS = ("new_claim", "probable_duplicate", "reworded")
"""Dispositions of statements that no memory contained before."""


def _overtaken(
    known: Known,
    news: Sequence[str],
    compared: StatementIndex | None,
    never: Collection[str],
) -> Iterator[Step | _Doubt]:
    """Yield what rules find about new statements: which memory each of them overtakes."""
    if not news:
        return
    memories = dict(compared_in(known.state))
    for id_ in (*known.fresh, *known.reworded, *known.edited):
        memory = known.current(id_)
        if update := known.reworded.get(id_):
            memory = memory.with_fields(update.fields, update.body)
        memories.pop(id_, None)
        if is_compared(memory):
            memories[id_] = memory
    index = compared or StatementIndex()
    for first, second, change in changed_pairs(known.state, memories, news, index, never):
        is_open = known.is_active(first) and known.is_active(second)
        if is_open:
            pair = partial(_decide_pair, known, first, second, change)
            yield from known.safely(first, pair)


def _replacing(known: Known, outcome: Outcome) -> Iterator[Step | _Doubt]:
    """Yield the steps by which a statement replaces memories, after an edit or an operation."""
    one, new = outcome.statement, outcome.memory_id
    if disputed := known.disputed.get(one.id):
        why = "its source was edited, and a person had worded it"
        yield _Doubt(new=new, old=disputed, why=why)
    replaced = known.replaced.get(one.id, "")
    if replaced and known.current(replaced).status == "active":
        yield _supersede(known, new, replaced, "the line that stated it was edited")
    old = known.made.get(one.memory, one.memory)
    if one.op != "replace" or old in (replaced, new) or not known.is_active(old):
        return
    if is_resolved(known, new, old):
        return
    if is_by_person(known.current(old)) and not is_by_person(known.current(new)):
        why = "a newer statement, but a person stated the older one"
        yield _Doubt(new=new, old=old, why=why, sure=UNSURE)
    elif one.still:
        yield _shorten(known, new, old, one)
    else:
        why = _dated(known, new, old) or "a newer answer to the same question"
        yield _supersede(known, new, old, why, SURE)


def _shorten(known: Known, new: str, old: str, one: Statement) -> Step:
    """Return the step that leaves of a memory only what a newer answer did not replace."""
    before = known.current(old)
    former = tuple(dict.fromkeys((*before.former_hashes, before.own_hash)))
    fields = {"former": former, "generated": Stamp(by=OWN_ACTOR, at=known.now), "object": None}
    known.edit(old, fields)
    return Step(
        op="reword",
        reason=f"a newer statement replaced a part of it: {known.text(new)}",
        changes=(Update(id=old, fields=fields, body=one.still),),
        memories=(old, new),
    )


def _close(known: Known, one: Statement) -> Iterator[Step]:
    """Yield the step that archives a memory which its sources declare over."""
    memory = known.memory(known.made.get(one.memory, one.memory))
    if memory is None or memory.status != "active" or is_held_by_person(memory):
        return
    place = next((f"{s.resource}:{s.lines[0]}" for s in one.sources), "a source")
    if memory.id not in known.fresh:
        yield archive(memory, known.now, f"{place} states that it is over")


def _dated(known: Known, new: str, old: str) -> str:
    """Return the dates of two memories as a reason, or "" unless `new` has a later date."""
    later, earlier = (known.current(id_).captured[:10] for id_ in (new, old))
    return f"stated on {later}, newer than {earlier}" if later > earlier > "" else ""


def _stated_again(known: Known, id_: str) -> Iterator[_Doubt]:
    """Yield a doubt about each replacement of a superseded memory that is stated again."""
    memory = known.current(id_)
    if memory.status != "superseded" or not known.has_news(id_):
        return
    again = prior_of(memory.with_fields({"sources": known.grown.get(id_, memory.sources)}))
    for other in filter(known.is_active, memory.texts("superseded_by")):
        # A statement that declares the other wrong remains valid if the other is repeated.
        seen = find_change(again, prior_of(known.current(other)))
        if seen is not None and not seen.change.stated and seen.newer != "second":
            yield _Doubt(new=id_, old=other, why="a superseded statement was made again")


def _left_behind(known: Known, doubt: _Doubt) -> Step | None:
    """Return the step that replaces a contradicted memory that no source states any more.

    Return None if a person worded or confirmed the older memory, or if the rules do not permit it.
    """
    new, old = known.current(doubt.new), known.current(doubt.old)
    if not (new.status == old.status == "active" and doubt.sure is not None) or is_by_person(old):
        return None
    if not known.rules.auto_resolve:
        return None
    if not old.sources or known.stands(old) or not known.stands(new):
        return None
    why = f"{doubt.why}; the older statement is in no source any more"
    return _supersede(known, doubt.new, doubt.old, why, doubt.sure)


def compare_memories(
    state: State,
    now: datetime,
    changed: Collection[str],
    rules: ContradictionRules,
    index: StatementIndex,
    never: Collection[str],
    faults: dict[str, str],
) -> tuple[Step, ...]:
    """Return the steps that follow from what rules find about changed memories.

    A pair that cannot be decided is left out, and named in `faults`.
    """
    known = Known(state=state, former=Former(), now=now, marks=Marks(state.memories), rules=rules)
    steps = []
    for one, other, change in changed_pairs(state, compared_in(state), changed, index, never):
        if not (known.is_active(one) and known.is_active(other)):
            continue
        if not is_resolved(known, one, other):
            for decided in known.safely(one, partial(_decide_pair, known, one, other, change)):
                step = _flag(known, decided) if isinstance(decided, _Doubt) else decided
                steps += [step] if step is not None else []
    faults.update(known.faults)
    return tuple(steps)


def _decide_pair(
    known: Known, first: str, second: str, found: FoundChange
) -> Iterator[Step | _Doubt]:
    """Yield the step that replaces or outdates the older of two memories, or a doubt."""
    sure, why = found.confidence, found.change.reason or "contradiction"
    newer, older = (second, first) if found.newer == "second" else (first, second)
    if not found.is_certain:
        yield _Doubt(new=first, old=second, why=why, sure=sure)
        return
    if found.change.is_next and is_held_by_person(known.current(older)):
        return
    dated = _dated(known, newer, older)
    if _is_held(known, newer, older):
        held = f"{why}; a person stated the older one"
        yield _Doubt(new=newer, old=older, why=held, sure=sure)
    elif _not_sure(known, newer, older, sure):
        yield _Doubt(new=first, old=second, why=why, sure=sure)
    elif found.change.is_next:
        yield _outdate(known, newer, older, f"{why}; {dated}" if dated else why)
    else:
        yield _supersede(known, newer, older, f"{why}; {dated}" if dated else why, sure)


def _is_held(known: Known, newer: str, older: str) -> bool:
    """Return whether a person supports the older memory, and no date shows that it is over."""
    if not is_by_person(known.current(older)) or is_by_person(known.current(newer)):
        return False
    sides = known.current(newer).sources, known.current(older).sources
    return newer_of(*sides) != ("first", "dated")


def _not_sure(known: Known, new: str, old: str, sure: float) -> bool:
    """Return whether a run may only flag a replacement.

    A superseded memory that is stated again is never restored automatically, since nobody decided
    so.
    """
    states = known.current(new).status, known.current(old).status
    permitted = sure > known.rules.confidence and known.rules.auto_resolve
    return states != ("active", "active") or old == new or not permitted


def _with(ids: tuple[str, ...], id_: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*ids, id_)))


def _supersede(known: Known, new: str, old: str, reason: str, sure: float | None = None) -> Step:
    """Return the step by which the memory `new` supersedes the memory `old`."""
    before, after = known.current(old), known.current(new)
    gains: dict[str, object] = {"supersedes": _with(after.texts("supersedes"), old)}
    doubted = new in known.fresh or contradicts(after, before)
    if (
        after.standing == "contested"
        and doubted
        and not still_contested(after, known.is_active, old)
    ):
        gains["standing"] = None
    if after.text("duplicate_of") == old:
        gains["duplicate_of"] = None  # a replacement is not a duplicate
        if after.standing == "probable_duplicate":
            gains["standing"] = None
    return Step(
        op="supersede",
        reason=reason,
        changes=(
            known.edit(
                old,
                {
                    "status": "superseded",
                    "superseded_by": _with(before.texts("superseded_by"), new),
                    "superseded_at": known.now,
                },
            ),
            known.edit(new, gains),
            *case_of(known, new, old, kept=new, reason=reason, sure=sure),
        ),
    )


def _outdate(known: Known, new: str, old: str, reason: str) -> Step:
    """Return the step that makes a memory history, because a newer one replaced it."""
    links = links_of(known.current(new))
    follows = Link(target=old, type="follows")
    changes = [known.edit(old, {"standing": OUTDATED})]
    if follows not in links:
        changes.append(known.edit(new, {"links": (*links, follows)}))
    return Step(op="flag", reason=reason, changes=tuple(changes), memories=(new, old))


def _flag(known: Known, doubt: _Doubt) -> Step | None:
    """Return the step that marks two memories as contradicting, or None if not needed."""
    new, old = doubt.new, doubt.old
    if new == old or not known.is_active(old) or is_resolved(known, new, old):
        return None
    changes = []
    for id_, other in ((new, old), (old, new)):
        memory = known.current(id_)
        links = links_of(memory)
        linked = any((x.target, x.type) == (other, "contradicts") for x in links)
        if linked and memory.standing == "contested":
            continue
        edge = () if linked else (Link(target=other, type="contradicts"),)
        changes.append(known.edit(id_, {"standing": "contested", "links": (*links, *edge)}))
    if not changes:
        return None
    case = case_of(known, new, old, kept="", reason=doubt.why, sure=doubt.sure)
    return Step(
        op="flag",
        reason=doubt.why,
        changes=(*changes, *case),
        memories=(new, old),
    )

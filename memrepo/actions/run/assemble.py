"""Turn judged claims into changes: new memories, more evidence, new wordings, replacements.

Lineage: memory-purifier, assembly. Deliberate differences: evidence is merged, never replaced. A
claim with another object is another claim. Claims of one run are also compared with each other. A
superseded memory that is found again remains superseded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import chain
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.known import Former, Known, Marks, prior_of
from memrepo.core import corrections
from memrepo.core.changes import Step, Update, Write
from memrepo.core.corrections import Correction, Side, contradiction_id, corrections_of
from memrepo.core.ids import as_tag, claim_id, text_hash
from memrepo.core.judge import (
    SUGGESTED,
    CanonicalClaim,
    Cluster,
    Contradiction,
    Finding,
)
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
from memrepo.judges.offline import find_change
from memrepo.policies import matching
from memrepo.policies.change import (
    newer_of,
)
from memrepo.policies.claims import (
    find_reflecting,
    free_path,
    have_two_roles,
    is_by_person,
    is_worded_by_person,
    merge_sources,
    storage_fault,
)
from memrepo.policies.entities import held
from memrepo.policies.rules import ContradictionRules
from memrepo.policies.standing import contradicts, links_of, still_contested
from memrepo.read.thoughts import spelled_context

_USUAL = ContradictionRules()


class ClaimOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome for a cluster of claims: the memory that now contains it, and the reason."""

    cluster_id: str
    memory_id: str
    disposition: str
    reason: str


class Assembled(msgspec.Struct, frozen=True, kw_only=True):
    """Changes in commit order, one decision per cluster, and claims that could not be stored."""

    creates: tuple[Memory, ...] = ()
    rewords: tuple[Update, ...] = ()
    updates: tuple[Update, ...] = ()
    singles: tuple[Step, ...] = ()
    decisions: tuple[ClaimOutcome, ...] = ()
    quarantined: tuple[ClaimOutcome, ...] = ()

    @property
    def touched(self) -> frozenset[str]:
        """Return the ids of all memories that this run creates or changes."""
        ids = {d.memory_id for d in self.decisions}
        return frozenset(ids.union(*(step.memory_ids for step in self.singles)))


def assemble(
    state: State,
    clusters: Sequence[Cluster],
    claims: Sequence[CanonicalClaim],
    former: Former,
    now: datetime,
    findings: Findings = MappingProxyType({}),
    marks: Marks | None = None,
    rules: ContradictionRules = _USUAL,
    *,
    by_object: bool = True,
) -> Assembled:
    """Decide for each claim whether it is known, reworded, a probable duplicate, or new.

    Without `by_object`, the triple of subject, predicate and home identifies a claim. The memory
    then receives the wording and object of the newer statement.
    """
    marks = marks or Marks(state.memories)
    known = Known(
        state=state, former=former, now=now, marks=marks, rules=rules, by_object=by_object
    )
    members = {cluster.cluster_id: cluster for cluster in clusters}
    decisions: list[ClaimOutcome] = []
    quarantined: list[ClaimOutcome] = []
    for claim in claims:
        if members[claim.cluster_id].part:
            known.stated |= {_known_as(known, members[claim.cluster_id], claim)[1]}
    for claim in claims:
        decision = _decide(known, members[claim.cluster_id], claim)
        (decisions if decision.memory_id else quarantined).append(decision)
    became = {d.cluster_id: d.memory_id for d in decisions}
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
        singles=tuple(single_decisions(known, claims, became, findings)),
        decisions=tuple(decisions),
        quarantined=tuple(quarantined),
    )


def _decide(known: Known, cluster: Cluster, claim: CanonicalClaim) -> ClaimOutcome:
    outcome = partial(ClaimOutcome, cluster_id=cluster.cluster_id)
    more_pages = (tag for tag in cluster.tags if tag != claim.home)
    claim = replace(claim, tags=tuple(dict.fromkeys((*claim.tags, *more_pages))))
    wording, sources = claim.wording, _sources(cluster)
    id_, same, how = _known_as(known, cluster, claim)
    if claim.restates and known.is_active(claim.restates):
        same, how = claim.restates, "restated"
    if not same:
        same, how = known.imported(sources)
    reused = _with_other_object(known, same, claim) if how == "exact_normalized_match" else None
    if reused is not None:
        same, sources = "", merge_sources(reused.sources, sources)
    if same:
        known.add_evidence(same, _sources(cluster, known.current(same).sources))
        return outcome(memory_id=same, disposition="reuse_existing", reason=how)
    old = reused or known.before_edit(cluster, wording)
    if old is not None and is_worded_by_person(old):
        # A program does not overwrite a person's text. Both remain, and contest each other.
        known.disputed[cluster.cluster_id] = old.id
    elif old is not None:
        reword = _reword(known, old, claim, sources, context_of(cluster))
        kept = reused is not None or not _other_value(old, claim)
        if kept and not storage_fault(old.with_fields(reword.fields, wording.text)):
            known.reworded[old.id] = reword
            known.stated.add(old.id)
            if not cluster.part:
                known.by_text.update(dict.fromkeys((s.text_hash for s in sources), old.id))
            how = "edited_in_place" if reused is None else how
            return outcome(memory_id=old.id, disposition="reworded", reason=how)
        known.replaced[cluster.cluster_id] = old.id
    twin = matching.probable_duplicate(matching.statement_of(claim), known.index)
    evidence = [text for c in cluster.candidates for text in (c.text, *c.context)]
    names = held(claim.entities, evidence)
    made: dict[str, object] = {"entities": names or None}
    if any(c.retrieved for c in cluster.candidates):
        made["origin"] = "promotion"
    memory = _memory(known, claim, id_, sources, twin, context_of(cluster)).with_fields(made)
    if why := storage_fault(known.bounded(memory)):
        return outcome(memory_id="", disposition="quarantined", reason=why)
    known.paths.add(memory.path)
    known.fresh[id_] = memory
    known.learn(memory)
    disposition = "probable_duplicate" if twin else "new_claim"
    reason = twin.reason if twin else "no_candidates_above_threshold"
    return outcome(memory_id=id_, disposition=disposition, reason=reason)


def _known_as(known: Known, cluster: Cluster, claim: CanonicalClaim) -> tuple[str, str, str]:
    """Return a claim's id, the id of a memory stating the same, and how that memory was found.

    A part is recognised by its own text, because all parts share the text of their unit. A
    milestone and an episode with the same wording have different ids.
    """
    wording, id_ = claim.wording, ""
    for scope in ("", claim.type):
        id_ = claim_id(
            scope=scope,
            subject=wording.subject,
            predicate=wording.predicate,
            object_=wording.object,
            text=wording.text,
        )
        held = known.memory(id_)
        if held is None or not have_two_roles(held.type, claim.type):
            break
    texts = [s.text_hash for s in _sources(cluster)] if not wording.object else []
    if cluster.part and texts:
        texts = [text_hash(wording.text)]
    return id_, *known.recognise(claim, texts, id_)


def context_of(cluster: Cluster) -> str:
    """Return the context of a claim in its source: subject, file, headings, lead-in."""
    best = max(cluster.candidates, key=lambda c: (c.rank, c.captured, c.candidate_id))
    first = next(iter(best.sources), None)
    name = first.resource.rpartition("/")[2].removesuffix(".md") if first else ""
    return spelled_context((best.about, name, *best.context))


def _other_value(old: Memory, claim: CanonicalClaim) -> bool:
    """Return whether an edited claim gives another value for the same subject and key.

    This is a new statement.
    """
    wording, was = claim.wording, old.fields
    same = matching.reuse_key(wording.subject, wording.predicate, claim.home)
    keyed = same is not None and same == matching.reuse_key(
        was.get("subject", ""), was.get("predicate", ""), was.get("home", "")
    )
    values = matching.normal_subject(wording.object), matching.normal_subject(was.get("object", ""))
    return keyed and all(values) and values[0] != values[1]


def _with_other_object(known: Known, id_: str, claim: CanonicalClaim) -> Memory | None:
    """Return the memory with an id whose object differs from a claim with the same key, or None."""
    old = known.state.memories.get(id_)
    if old is None or id_ in known.reworded:
        return None
    objects = {matching.normal_subject(o) for o in (claim.wording.object, old.text("object"))}
    return old if len(objects) > 1 else None


def _reword(
    known: Known, old: Memory, claim: CanonicalClaim, sources: tuple[Source, ...], context: str
) -> Update:
    """Return the update that rewords a memory after its line was edited.

    The id remains. The hash of the old text becomes an alias.
    """
    wording = claim.wording
    gone = tuple(s.text_hash for s in old.sources if s.text_hash)
    aliases = dict.fromkeys((*old.texts("aliases"), text_hash(old.body), *gone))
    spoken = {
        "title": wording.title,
        "subject": wording.subject,
        "predicate": wording.predicate,
        "object": wording.object,
        "context": context,
    }
    return Update(
        id=old.id,
        fields={
            **{key: value or None for key, value in spoken.items()},
            "aliases": tuple(aliases),
            **({SOURCE_COUNT: None} if old.has(SOURCE_COUNT) else {}),
            **known.evidence(sources),
            "generated": Stamp(by=OWN_ACTOR, at=known.now),
        },
        body=wording.text,
    )


def _sources(cluster: Cluster, known: Sequence[Source] = ()) -> tuple[Source, ...]:
    """Return the evidence of a cluster. Sources with other words are marked `merged`.

    A source that only reflects on another source, or on one of `known`, is marked `inferred`.
    """
    first = cluster.candidates[0].candidate_id
    every = [(c.candidate_id, s) for c in cluster.candidates for s in c.sources]
    reflecting = find_reflecting([*known, *(s for _, s in every)])
    found = []
    for id_, source in every:
        if source.resource in reflecting:
            found.append(replace(source, kind="inferred"))
        else:
            found.append(source if id_ == first else replace(source, kind="merged"))
    return tuple(dict.fromkeys(found))


def _memory(
    known: Known,
    claim: CanonicalClaim,
    id_: str,
    sources: tuple[Source, ...],
    twin: matching.Duplicate | None,
    context: str,
) -> Memory:
    wording = claim.wording
    dated = [s.captured[:10] for s in sources if s.captured and s.captured_from != "commit"]
    standing = "probable_duplicate" if twin and claim.standing == "resolved" else claim.standing
    fields: dict[str, object] = {
        "id": id_,
        "type": claim.type,
        "title": wording.title,
        "subject": wording.subject,
        "predicate": wording.predicate,
        "object": wording.object,
        "context": context,
        "standing": standing,
        "home": claim.home,
        "tags": tuple(filter(None, map(as_tag, claim.tags))),
        "created": known.now,
        "generated": Stamp(by=OWN_ACTOR, at=known.now),
        "sources": sources,
        "links": _links(known, claim, id_),
        "duplicate_of": twin.memory_id if twin else None,
        "origin": "purifier",
    }
    path = known.state.layout.memory(
        id_=id_,
        type_=claim.type,
        text=wording.title or wording.own_text,
        captured=max(dated, default=""),
    )
    memory = Memory.of(path, _sparse(fields), body=wording.text)
    return replace(memory, path=free_path(known.state, known.paths, memory))


_MAX_LINKS = 5
"""Maximum number of a judge's suggested links per claim."""


def _links(known: Known, claim: CanonicalClaim, id_: str) -> tuple[Link, ...]:
    """Return the links to other active memories that the judge suggested.

    Memories that the claim replaces or contradicts are left out.
    """
    apart = {id_, *claim.supersedes, *(c.memory_id for c in claim.contradictions)}
    found = {
        x.memory_id: Link(target=x.memory_id, type=x.type, strength=round(x.link_strength, 2))
        for x in claim.links
        if x.type in SUGGESTED
        if 0 < x.link_strength <= 1 and x.memory_id not in apart and known.is_active(x.memory_id)
    }
    return tuple(found.values())[:_MAX_LINKS]


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
        kind="contradiction",
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


UNNAMED = "contradiction"
"""The reason if none was given."""
Findings = Mapping[tuple[str, str], Finding]
"""Findings of the comparison, by cluster id and the id of the compared memory."""


class _Doubt(msgspec.Struct, frozen=True, kw_only=True):
    """Two memories between which a person must choose, and why a run cannot choose."""

    new: str
    old: str
    why: str
    sure: float | None = None


def single_decisions(
    known: Known,
    claims: Sequence[CanonicalClaim],
    became: Mapping[str, str],
    findings: Findings,
) -> Iterable[Step]:
    """Yield a step for each decision that needs a separate commit.

    For each claim, supersessions come first, then contradictions, and doubts follow at the end.
    """
    stated = [(became[c.cluster_id], c) for c in claims if c.cluster_id in became]
    doubts: list[_Doubt] = []
    for new, claim in stated:
        for decided in chain(
            _replacing(known, new, claim),
            _contradicting(known, new, claim, findings),
            _stated_again(known, new),
        ):
            if isinstance(decided, Step):
                yield decided
            else:
                doubts.append(decided)
    for doubt in doubts:
        if step := _left_behind(known, doubt) or _flag(known, doubt):
            yield step


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


def _replacing(known: Known, new: str, claim: CanonicalClaim) -> Iterator[Step | _Doubt]:
    """Yield the steps by which a claim replaces memories, after an edit or a judge's answer."""
    if disputed := known.disputed.get(claim.cluster_id):
        why = "its source was edited, and a person had worded it"
        yield _Doubt(new=new, old=disputed, why=why)
    replaced = known.replaced.get(claim.cluster_id, "")
    if replaced and known.current(replaced).status == "active":
        yield _supersede(known, new, replaced, "the line that stated it was edited")
    sure = claim.scores.supersession_confidence
    for old in claim.supersedes:
        if old == replaced or is_resolved(known, new, old):
            continue
        if why := _not_sure(known, new, old, sure):
            yield _Doubt(new=new, old=old, why=why, sure=sure)
        else:
            why = _dated(known, new, old) or "a newer statement of the same matter"
            yield _supersede(known, new, old, why, sure)


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


def _contradicting(
    known: Known, new: str, claim: CanonicalClaim, findings: Findings
) -> Iterator[Step | _Doubt]:
    """Yield the steps for contradictions that can be resolved, and a doubt for each other one."""
    # If the new memory was replaced already, a stale older value is no news.
    over = known.current(new).status != "active"
    named = {c.memory_id: c for c in claim.contradictions if not (over and c.relation == "stale")}
    for cluster, other in findings:
        if cluster == claim.cluster_id:
            named.setdefault(other, Contradiction(memory_id=other, relation="contested"))
    for other, contradiction in named.items():
        if known.memory(other) is None or is_resolved(known, new, other):
            continue
        found = findings.get((claim.cluster_id, other))
        if found is not None:
            found = replace(found, reasoning=found.reasoning or contradiction.reason)
            yield _decided(known, new, other, found)
        else:
            sure = claim.scores.supersession_confidence or None
            yield _Doubt(new=new, old=other, why=contradiction.reason or UNNAMED, sure=sure)


def decided_pair(known: Known, first: str, second: str, found: Finding) -> Step | None:
    """Return the step that follows from a finding about two active memories, or None if none."""
    if is_resolved(known, first, second) or not (
        known.is_active(first) and known.is_active(second)
    ):
        return None
    decided = _decided(known, first, second, found)
    return decided if isinstance(decided, Step) else _flag(known, decided)


def replaced_pair(known: Known, new: str, old: str, reason: str) -> Step | None:
    """Return the step by which a memory replaces another, or None if that is not allowed."""
    if is_resolved(known, new, old) or not (known.is_active(new) and known.is_active(old)):
        return None
    return _supersede(known, new, old, reason)


def _decided(known: Known, first: str, second: str, found: Finding) -> Step | _Doubt:
    """Return the step that replaces the older of two memories, or a doubt if uncertain."""
    sure, why = found.confidence, found.reasoning or UNNAMED
    newer, older = (second, first) if found.newer == "second" else (first, second)
    if found.newer != "unknown" and _is_held(known, newer, older):
        return _Doubt(new=newer, old=older, why=f"{why}; a person stated the older one", sure=sure)
    if found.model and found.newer != "unknown" and (wait := _waits(known, newer, older, found)):
        return _Doubt(new=newer, old=older, why=f"{why}; {wait}", sure=sure)
    if found.newer == "unknown" or _not_sure(known, newer, older, sure):
        return _Doubt(new=first, old=second, why=why, sure=sure)
    if dated := _dated(known, newer, older):
        why = f"{why}; {dated}"
    return _supersede(known, newer, older, why, sure)


def _waits(known: Known, newer: str, older: str, found: Finding) -> str:
    """Return why a model's finding needs a person's decision, or an empty string if it does not.

    A person decides about statements by a person, about statements that are still partly true, and
    about statements that no date shows to be over.
    """
    one, two = known.current(newer), known.current(older)
    if is_by_person(two) and not is_by_person(one):
        return "a person stated the older one"
    if found.still:
        return f"a part of it still holds: {found.still}"
    if newer_of(one.sources, two.sources) == ("first", "dated"):
        return ""
    seen = find_change(prior_of(one), prior_of(two))
    if seen is not None and seen.is_certain and seen.newer == "first":
        return ""
    return "" if known.rules.undated else "no date shows that it has ended"


def _is_held(known: Known, newer: str, older: str) -> bool:
    """Return whether a person supports the older memory, and no date shows that it is over."""
    if not is_by_person(known.current(older)) or is_by_person(known.current(newer)):
        return False
    sides = known.current(newer).sources, known.current(older).sources
    return newer_of(*sides) != ("first", "dated")


def _not_sure(known: Known, new: str, old: str, sure: float) -> str:
    """Return why a run may only flag a replacement, or an empty string if it may replace.

    A superseded memory that is stated again is never restored automatically, since nobody decided
    so.
    """
    if known.current(new).status != "active":
        return f"a {known.current(new).status} statement was made again"
    if sure <= known.rules.confidence:
        return "a newer statement, but with low confidence"
    if not known.rules.auto_resolve:
        return "a newer statement, left to a person (`contradictions.auto_resolve`)"
    return "" if known.current(old).status == "active" and old != new else "superseded already"


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

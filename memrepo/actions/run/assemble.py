"""Turn judged claims into changes: new memories, more evidence, new wordings, replacements.

Lineage: memory-purifier, assembly. Deliberate differences: evidence is merged, never replaced. A
claim with another object is another claim. Claims of one run are also compared with each other. A
superseded memory that is found again remains superseded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Step, Update
from memrepo.core.ids import as_tag, claim_id, note_id, text_hash
from memrepo.core.judge import SUGGESTED, CanonicalClaim, Cluster
from memrepo.core.memory import OWN_ACTOR, SOURCE_COUNT, Link, Memory, Source, Stamp, of_types
from memrepo.core.schema import BY_NAME
from memrepo.core.state import State
from memrepo.policies import matching
from memrepo.policies.entities import held
from memrepo.policies.rules import ContradictionRules
from memrepo.purify.clusters import only_reflecting, two_roles
from memrepo.purify.decisions import Findings, single_decisions
from memrepo.purify.known import Former, Known, Marks, free_path, storable, unite, worded_by_person
from memrepo.read.notes import NoteUnit, PlacedNote
from memrepo.read.thoughts import spelled_context

_USUAL = ContradictionRules()


class Decision(msgspec.Struct, frozen=True, kw_only=True):
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
    decisions: tuple[Decision, ...] = ()
    quarantined: tuple[Decision, ...] = ()

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
    decisions: list[Decision] = []
    quarantined: list[Decision] = []
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


def _decide(known: Known, cluster: Cluster, claim: CanonicalClaim) -> Decision:
    beside = (tag for tag in cluster.tags if tag != claim.home)
    claim = replace(claim, tags=tuple(dict.fromkeys((*claim.tags, *beside))))
    said, sources = claim.wording, _sources(cluster)
    id_, same, how = _known_as(known, cluster, claim)
    if claim.restates and known.is_active(claim.restates):
        same, how = claim.restates, "restated"
    if not same:
        same, how = known.imported(sources)
    reused = _with_other_object(known, same, claim) if how == "exact_normalized_match" else None
    if reused is not None:
        same, sources = "", unite(reused.sources, sources)
    if same:
        known.add_evidence(same, _sources(cluster, known.current(same).sources))
        return Decision(
            cluster_id=cluster.cluster_id, memory_id=same, disposition="reuse_existing", reason=how
        )
    old = reused or known.before_edit(cluster, said)
    if old is not None and worded_by_person(old):
        # A program does not overwrite a person's text. Both remain, and contest each other.
        known.disputed[cluster.cluster_id] = old.id
    elif old is not None:
        reword = _reword(known, old, claim, sources, context_of(cluster))
        kept = reused is not None or not _other_value(old, claim)
        if kept and not storable(old.with_fields(reword.fields, said.text)):
            known.reworded[old.id] = reword
            known.stated.add(old.id)
            if not cluster.part:
                known.by_text.update(dict.fromkeys((s.text_hash for s in sources), old.id))
            return Decision(
                cluster_id=cluster.cluster_id,
                memory_id=old.id,
                disposition="reworded",
                reason="edited_in_place" if reused is None else how,
            )
        known.replaced[cluster.cluster_id] = old.id
    twin = matching.probable_duplicate(matching.statement_of(claim), known.index)
    evidence = [text for c in cluster.candidates for text in (c.text, *c.context)]
    names = held(claim.entities, evidence)
    made: dict[str, object] = {"entities": names or None}
    if any(c.retrieved for c in cluster.candidates):
        made["origin"] = "promotion"
    memory = _memory(known, claim, id_, sources, twin, context_of(cluster)).with_fields(made)
    if why := storable(known.bounded(memory)):
        return Decision(
            cluster_id=cluster.cluster_id, memory_id="", disposition="quarantined", reason=why
        )
    known.paths.add(memory.path)
    known.fresh[id_] = memory
    known.learn(memory)
    disposition = "probable_duplicate" if twin else "new_claim"
    reason = twin.reason if twin else "no_candidates_above_threshold"
    return Decision(
        cluster_id=cluster.cluster_id, memory_id=id_, disposition=disposition, reason=reason
    )


def _known_as(known: Known, cluster: Cluster, claim: CanonicalClaim) -> tuple[str, str, str]:
    """Return a claim's id, the id of a memory stating the same, and how that memory was found.

    A part is recognised by its own text, because all parts share the text of their unit. A
    milestone and an episode with the same wording have different ids.
    """
    said, id_ = claim.wording, ""
    for scope in ("", claim.type):
        id_ = claim_id(
            scope=scope,
            subject=said.subject,
            predicate=said.predicate,
            object_=said.object,
            text=said.text,
        )
        held = known.memory(id_)
        if held is None or not two_roles(held.type, claim.type):
            break
    texts = [s.text_hash for s in _sources(cluster)] if not said.object else []
    if cluster.part and texts:
        texts = [text_hash(said.text)]
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
    said, was = claim.wording, old.fields
    same = matching.reuse_key(said.subject, said.predicate, claim.home)
    keyed = same is not None and same == matching.reuse_key(
        was.get("subject", ""), was.get("predicate", ""), was.get("home", "")
    )
    values = matching.normal_subject(said.object), matching.normal_subject(was.get("object", ""))
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
    said = claim.wording
    gone = tuple(s.text_hash for s in old.sources if s.text_hash)
    aliases = dict.fromkeys((*old.texts("aliases"), text_hash(old.body), *gone))
    spoken = {
        "title": said.title,
        "subject": said.subject,
        "predicate": said.predicate,
        "object": said.object,
        "context": context,
        "lead": "",
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
        body=said.text,
    )


def _sources(cluster: Cluster, known: Sequence[Source] = ()) -> tuple[Source, ...]:
    """Return the evidence of a cluster. Sources with other words are marked `merged`.

    A source that only reflects on another source, or on one of `known`, is marked `inferred`.
    """
    first = cluster.candidates[0].candidate_id
    every = [(c.candidate_id, s) for c in cluster.candidates for s in c.sources]
    reflecting = only_reflecting([*known, *(s for _, s in every)])
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
    said = claim.wording
    dated = [s.captured[:10] for s in sources if s.captured and s.captured_from != "commit"]
    standing = "probable_duplicate" if twin and claim.standing == "resolved" else claim.standing
    fields: dict[str, object] = {
        "id": id_,
        "type": claim.type,
        "title": said.title,
        "subject": said.subject,
        "predicate": said.predicate,
        "object": said.object,
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
        id_=id_, type_=claim.type, text=said.title or said.said, captured=max(dated, default="")
    )
    memory = Memory(path=path, fields=_sparse(fields), body=said.text)
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


# -- notes of daily logs ---------------------------------------------------------------------------


class Captured(msgspec.Struct, frozen=True, kw_only=True):
    """New notes, extended notes, and notes that could not be stored, as (hash, reason) pairs."""

    creates: tuple[Memory, ...]
    rewords: tuple[Update, ...]
    quarantined: tuple[tuple[str, str], ...]


def capture(
    state: State, placed: Sequence[PlacedNote], standing: Iterable[NoteUnit], now: datetime
) -> Captured:
    """Turn note units in scope into notes.

    `standing` are all note units of the sources in scope. A section extends an existing note only
    if the note's recorded text is in none of them.
    """
    creates: dict[str, Memory] = {}
    rewords: dict[str, Update] = {}
    quarantined = []
    taken: set[str] = set()
    grown = _growing(state, standing, {one.resource for one in placed})
    copies = _copies(state, placed)
    for one in placed:
        id_ = note_id(
            resource=one.unit.resource, text=one.unit.text, occurrence=one.unit.occurrence
        )
        if id_ in state.memories or id_ in creates or one.hash in copies:
            continue
        if olds := grown.get((one.resource, one.unit.title)):
            old = olds.pop(0)
            reword = _grow(old, one, now)
            if why := storable(old.with_fields(reword.fields, one.unit.text)):
                quarantined.append((one.hash, why))
            else:
                rewords[old.id] = reword
            continue
        memory = _note(state, one, id_, now)
        memory = replace(memory, path=free_path(state, taken, memory))
        if why := storable(memory):
            quarantined.append((one.hash, why))
            continue
        taken.add(memory.path)
        creates[id_] = memory
    return Captured(
        creates=tuple(creates.values()),
        rewords=tuple(rewords.values()),
        quarantined=tuple(quarantined),
    )


def _copies(state: State, placed: Sequence[PlacedNote]) -> frozenset[str]:
    """Return the hashes of note units that repeat another file's note of the same day."""
    units = {(one.unit.text_hash, _note_source(one).captured): one for one in placed}
    found = set()
    for memory in of_types(state.active, ("note",)) if units else ():
        source = memory.sources[-1] if memory.sources else None
        one = units.get((source.text_hash, source.captured)) if source else None
        if one is not None and source is not None and source.resource != one.resource:
            found.add(one.hash)
    return frozenset(found)


def _growing(
    state: State, standing: Iterable[NoteUnit], resources: Collection[str]
) -> dict[tuple[str, str], list[Memory]]:
    """Return active notes whose recorded text left its source, by (source, heading).

    Notes with the same heading are in line order, so they are matched in that order.
    """
    still = {unit.text_hash for unit in standing}
    found: dict[tuple[str, str], list[Memory]] = {}
    notes = of_types(state.active, ("note",)) if resources else ()
    notes = [memory for memory in notes if memory.first[0] in resources]
    for memory in sorted(notes, key=lambda m: m.sources[-1].lines if m.sources else (0, 0)):
        if memory.sources and memory.sources[-1].text_hash not in still:
            key = (memory.sources[0].resource, memory.text("title"))
            found.setdefault(key, []).append(memory)
    return found


def _note_source(one: PlacedNote) -> Source:
    dated = bool(one.unit.captured)
    return Source(
        resource=one.resource,
        blob=one.blob,
        lines=one.unit.lines,
        text_hash=one.unit.text_hash,
        captured=one.unit.captured if dated else one.committed,
        captured_from=one.unit.captured_from if dated else "commit",
    )


def _note(state: State, one: PlacedNote, id_: str, now: datetime) -> Memory:
    source = _note_source(one)
    day = source.captured if source.captured_from != "commit" else ""
    path = state.layout.memory(
        id_=id_, type_="note", text=one.unit.title or one.unit.text, captured=day
    )
    fields = {
        "id": id_,
        "type": "note",
        "title": one.unit.title,
        "created": now,
        "generated": Stamp(by=OWN_ACTOR, at=now),
        "sources": (source,),
        "origin": "purifier",
    }
    return Memory(path=path, fields={k: v for k, v in fields.items() if v}, body=one.unit.text)


def _grow(old: Memory, one: PlacedNote, now: datetime) -> Update:
    former = old.sources[-1].text_hash
    return Update(
        id=old.id,
        fields={
            "generated": Stamp(by=OWN_ACTOR, at=now),
            "aliases": tuple(dict.fromkeys((*old.texts("aliases"), former))),
            "sources": (_note_source(one),),
        },
        body=one.unit.text,
    )

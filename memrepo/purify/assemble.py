"""From judged claims to changes: what is known already, what is new, what replaces what.

Lineage: memory-purifier, assembly. Deliberate differences: evidence is united, never replaced; a
claim with another object is another claim; claims of one run are compared with each other too; a
superseded memory that is met again stays superseded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memrepo import __version__
from memrepo.core import codec
from memrepo.core.changes import Step, Update
from memrepo.core.ids import claim_id, text_hash
from memrepo.core.judging import CanonicalClaim, Cluster, PriorClaim
from memrepo.core.memory import Link, Memory, Source, Stamp
from memrepo.core.schema import BY_NAME
from memrepo.core.state import State
from memrepo.policies import matching
from memrepo.purify.gather import SHORT
from memrepo.purify.overtaken import overtaken

ACTOR = f"memrepo/{__version__}"
SURE = 0.9
"""A supersession is taken above this confidence (the engram lineage's revised value)."""


def prior_of(memory: Memory) -> PriorClaim:
    """Return a memory as Pass 2 sees it."""
    return PriorClaim(
        memory_id=memory.id, type=memory.type, standing=memory.standing,
        subject=memory.text("subject"), predicate=memory.text("predicate"),
        object=memory.text("object"), text=memory.body, home=memory.text("home"),
        sources=memory.sources,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What became of one cluster: the memory that carries it now, and why."""

    cluster_id: str
    memory_id: str
    disposition: str
    reason: str


@dataclass(frozen=True, slots=True)
class Former:
    """What candidates were before an edit: (resource, text hash) by candidate id.

    `standing` gives the text hashes that a source holds now.
    """

    of: Mapping[str, frozenset[tuple[str, str]]] = field(default_factory=dict)
    standing: Callable[[str], frozenset[str]] = lambda _: frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Assembled:
    """Changes in the order of the chain, a decision a cluster, and what could not be stored."""

    creates: tuple[Memory, ...] = ()
    rewords: tuple[Update, ...] = ()
    updates: tuple[Update, ...] = ()
    singles: tuple[Step, ...] = ()
    decisions: tuple[Decision, ...] = ()
    quarantined: tuple[Decision, ...] = ()

    @property
    def touched(self) -> frozenset[str]:
        """Return the ids of all memories that this run has something to say of."""
        ids = {d.memory_id for d in self.decisions}
        return frozenset(ids.union(*(step.memory_ids for step in self.singles)))


@dataclass(slots=True)
class _Known:
    """Memories by everything by which a claim may be recognised; grows while a run assembles."""

    state: State
    former: Former
    now: datetime
    fresh: dict[str, Memory] = field(default_factory=dict)
    grown: dict[str, tuple[Source, ...]] = field(default_factory=dict)
    by_text: dict[str, str] = field(default_factory=dict)
    index: matching.PriorIndex = field(default_factory=matching.PriorIndex)
    paths: set[str] = field(default_factory=set)
    edited: dict[str, Memory] = field(default_factory=dict)
    reworded: dict[str, Update] = field(default_factory=dict)
    replaced: dict[str, str] = field(default_factory=dict)
    by_evidence: dict[tuple[str, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for memory in sorted(self.state.memories.values(), key=lambda m: m.path):
            if not memory.is_note:
                self.learn(memory)

    def learn(self, memory: Memory) -> None:
        texts = {text_hash(memory.body), *memory.texts("aliases")}
        texts |= {s.text_hash for s in memory.sources if s.text_hash}
        if len(memory.body) >= SHORT and not memory.text("object"):
            for text in texts:
                self.by_text.setdefault(text, memory.id)
        for source in memory.sources:
            self.by_evidence.setdefault((source.resource, source.text_hash), memory.id)
        if memory.status == "active":
            self.index.add(prior_of(memory))

    def memory(self, id_: str) -> Memory | None:
        return self.edited.get(id_) or self.fresh.get(id_) or self.state.memories.get(id_)

    def current(self, id_: str) -> Memory:
        """Return a memory that must exist: one of the state's, or one new in this run."""
        memory = self.memory(id_)
        if memory is None:
            raise KeyError(id_)
        return memory

    def edit(self, id_: str, fields: Mapping[str, Any]) -> Update:
        """Return the update, and see it in what comes after in this run."""
        self.edited[id_] = self.current(id_).with_fields(fields)
        return Update(id=id_, fields=fields)

    def recognise(self, claim: CanonicalClaim, texts: Iterable[str], id_: str) -> tuple[str, str]:
        """Return the id of the memory that says the same, and how it was recognised."""
        if self.memory(id_):
            return id_, "same_id"
        for text in texts:
            if text in self.by_text:
                return self.by_text[text], "same_text"
        said = matching.statement_of(claim)
        for prior in self.index.with_key(said):
            same = matching.normal_subject(prior.object) == matching.normal_subject(said.object)
            if same and said.object:
                return prior.memory_id, "exact_normalized_match"
        return "", ""

    def imported(self, sources: Iterable[Source]) -> tuple[str, str]:
        """Return the imported memory that rests on this very evidence: judged before, elsewhere."""
        for source in sources:
            memory = self.memory(self.by_evidence.get((source.resource, source.text_hash), ""))
            if memory is not None and memory.text("origin") == "import":
                return memory.id, "same_evidence"
        return "", ""

    def before_edit(self, cluster: Cluster) -> Memory | None:
        """Return the active memory whose only evidence was edited into this cluster, if any."""
        for candidate in cluster.candidates:
            for pair in sorted(self.former.of.get(candidate.candidate_id, ())):
                memory = self.state.memories.get(self.by_evidence.get(pair, ""))
                if memory is None or memory.status != "active" or memory.id in self.reworded:
                    continue
                if not any(s.text_hash in self.former.standing(s.resource) for s in memory.sources):
                    return memory
        return None

    def revived(self, id_: str) -> dict[str, Any]:
        """Return what changes when a memory about to be retired is stated again."""
        memory = self.state.memories[id_]
        return {"standing": None} if memory.standing == "retire_candidate" else {}

    def add_evidence(self, id_: str, sources: Sequence[Source]) -> bool:
        """Unite evidence by resource and text; tell whether there was anything to add."""
        if id_ in self.fresh:
            old = self.fresh[id_]
            united = unite(old.sources, sources)
            self.fresh[id_] = old.with_fields({"sources": united})
            return united != old.sources
        old_sources = self.grown.get(id_, self.state.memories[id_].sources)
        united = unite(old_sources, sources)
        if united == old_sources and not self.revived(id_):
            return False
        self.grown[id_] = united
        return True


def unite(old: Sequence[Source], new: Sequence[Source]) -> tuple[Source, ...]:
    """Unite evidence: one entry a resource and text, recorded once and then left as it is.

    Its blob can be read for ever, so that a line which only moved needs no new record.
    """
    found: dict[tuple[str, str], Source] = {}
    for source in (*old, *new):
        found.setdefault((source.resource, source.text_hash), source)
    return tuple(found.values())


def storable(memory: Memory) -> str:
    """Return why a memory could not be read back once written, or an empty string."""
    try:
        codec.encode(memory)
    except codec.CodecError as error:
        return error.problem.message
    return ""


def assemble(
    state: State,
    clusters: Sequence[Cluster],
    claims: Sequence[CanonicalClaim],
    former: Former,
    now: datetime,
) -> Assembled:
    """Decide for every claim whether it is known, reworded, a probable duplicate, or new."""
    known = _Known(state=state, former=former, now=now)
    members = {cluster.cluster_id: cluster for cluster in clusters}
    decisions: list[Decision] = []
    quarantined: list[Decision] = []
    for claim in claims:
        decision = _settle(known, members[claim.cluster_id], claim)
        (decisions if decision.memory_id else quarantined).append(decision)
    became = {d.cluster_id: d.memory_id for d in decisions}
    return Assembled(
        creates=tuple(known.fresh.values()),
        rewords=tuple(known.reworded.values()),
        updates=tuple(
            Update(id=id_, fields={"sources": sources, **known.revived(id_)})
            for id_, sources in known.grown.items()
        ),
        singles=tuple(_singles(known, claims, became)),
        decisions=tuple(decisions),
        quarantined=tuple(quarantined),
    )


def _settle(known: _Known, cluster: Cluster, claim: CanonicalClaim) -> Decision:
    said = claim.wording
    id_ = claim_id(
        scope="", subject=said.subject, predicate=said.predicate, object_=said.object,
        text=said.text,
    )  # fmt: skip
    sources = _sources(cluster)
    texts = [s.text_hash for s in sources] if not said.object else []
    same, how = known.recognise(claim, texts, id_)
    if not same:
        same, how = known.imported(sources)
    if same:
        known.add_evidence(same, sources)
        return Decision(
            cluster_id=cluster.cluster_id, memory_id=same, disposition="reuse_existing", reason=how
        )
    if old := known.before_edit(cluster):
        reword = _reword(known, old, claim, sources)
        if not _other_value(old, claim) and not storable(old.with_fields(reword.fields, said.text)):
            known.reworded[old.id] = reword
            known.by_text.update(dict.fromkeys((s.text_hash for s in sources), old.id))
            return Decision(
                cluster_id=cluster.cluster_id, memory_id=old.id, disposition="reworded",
                reason="edited_in_place",
            )  # fmt: skip
        known.replaced[cluster.cluster_id] = old.id
    twin = matching.probable_duplicate(matching.statement_of(claim), known.index)
    memory = _memory(known, claim, id_, sources, twin)
    if why := storable(memory):
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


def _other_value(old: Memory, claim: CanonicalClaim) -> bool:
    """Tell whether an edit changed the value of the same subject and key: a new statement."""
    said, was = claim.wording, old.fields
    same = matching.reuse_key(said.subject, said.predicate, claim.home)
    keyed = same is not None and same == matching.reuse_key(
        was.get("subject", ""), was.get("predicate", ""), was.get("home", "")
    )
    values = matching.normal_subject(said.object), matching.normal_subject(was.get("object", ""))
    return keyed and all(values) and values[0] != values[1]


def _reword(
    known: _Known, old: Memory, claim: CanonicalClaim, sources: tuple[Source, ...]
) -> Update:
    """Reword a memory whose line was edited: the id stays, the old text's hash is an alias."""
    said = claim.wording
    gone = tuple(s.text_hash for s in old.sources if s.text_hash)
    aliases = dict.fromkeys((*old.texts("aliases"), text_hash(old.body), *gone))
    spoken = {"title": said.title, "subject": said.subject, "predicate": said.predicate,
              "object": said.object}  # fmt: skip
    return Update(
        id=old.id,
        fields={
            **{key: value or None for key, value in spoken.items()},
            "aliases": tuple(aliases), "sources": sources, "scores": claim.scores,
            "generated": Stamp(by=ACTOR, at=known.now),
        },
        body=said.text,
    )  # fmt: skip


def _sources(cluster: Cluster) -> tuple[Source, ...]:
    """Return a cluster's evidence; texts that only say the same in other words are `merged`."""
    first = cluster.candidates[0].candidate_id
    found = [
        s if c.candidate_id == first else replace(s, kind="merged")
        for c in cluster.candidates
        for s in c.sources
    ]
    return tuple(dict.fromkeys(found))


def _memory(
    known: _Known,
    claim: CanonicalClaim,
    id_: str,
    sources: tuple[Source, ...],
    twin: matching.Duplicate | None,
) -> Memory:
    said = claim.wording
    dated = [s.captured[:10] for s in sources if s.captured and s.captured_from != "commit"]
    standing = "probable_duplicate" if twin and claim.standing == "resolved" else claim.standing
    fields: dict[str, Any] = {
        "id": id_, "type": claim.type, "title": said.title, "subject": said.subject,
        "predicate": said.predicate, "object": said.object, "standing": standing,
        "home": claim.home, "tags": claim.tags, "created": known.now,
        "generated": Stamp(by=ACTOR, at=known.now), "sources": sources, "scores": claim.scores,
        "duplicate_of": twin.memory_id if twin else None, "origin": "purifier",
    }  # fmt: skip
    path = known.state.layout.memory(
        id_=id_, type_=claim.type, text=said.title or said.text, captured=max(dated, default="")
    )
    memory = Memory(path=path, fields=_sparse(fields), body=said.text)
    return replace(memory, path=free_path(known.state, known.paths, memory))


def free_path(state: State, taken: set[str], memory: Memory) -> str:
    """Return a path that neither the tree nor this run's new memories use."""
    path = state.free_path(memory)
    stem, tail = memory.path[: -len("-000000.md")], memory.path[-len("-000000.md") :]
    turn = 2
    while path in taken or path in state.files:
        path, turn = f"{stem}-{turn}{tail}", turn + 1
    return path


def _sparse(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Drop what equals the schema's default, empty texts and None: defaults are not written."""
    return {
        name: value
        for name, value in fields.items()
        if value not in (None, "", ()) and value != BY_NAME[name].default
    }


def _singles(
    known: _Known, claims: Sequence[CanonicalClaim], became: Mapping[str, str]
) -> Iterable[Step]:
    """Yield the decisions that are a commit of their own: supersessions, then contradictions."""
    stated = [(became[c.cluster_id], c) for c in claims if c.cluster_id in became]
    rest: list[tuple[str, str, str]] = []
    for new, old in overtaken(claims, became, known.current):
        if known.current(old).status == known.current(new).status == "active":
            yield _supersede(known, new, old, "a newer value of the same key in the same run")
    for new, claim in stated:
        replaced = known.replaced.get(claim.cluster_id, "")
        if replaced and known.current(replaced).status == "active":
            yield _supersede(known, new, replaced, "the line that said it was edited")
        for old in claim.supersedes:
            if old == replaced:
                continue
            if why := _not_sure(known, new, old, claim):
                rest.append((new, old, why))
            else:
                sure = claim.scores.supersession_confidence
                why = f"a newer statement of the same matter ({claim.rationale}; {sure:.2f} sure)"
                yield _supersede(known, new, old, why)
        # That an older value is older than today's is no news once it has been replaced.
        over = known.current(new).status != "active"
        rest += [
            (new, other.memory_id, other.reason)
            for other in claim.contradictions
            if not (over and other.relation == "stale")
        ]
    for new, old, why in rest:
        if new != old and known.current(old).status == "active":
            yield _flag(known, new, old, why)


def _not_sure(known: _Known, new: str, old: str, claim: CanonicalClaim) -> str:
    """Return why a supersession is only flagged, or an empty string.

    A value that was superseded before and is stated again never comes back by itself: that would
    be a resurrection nobody decided on.
    """
    if known.current(new).status != "active":
        return f"a {known.current(new).status} statement was made again"
    if claim.scores.supersession_confidence <= SURE:
        return "a newer statement, but not a sure one"
    return "" if known.current(old).status == "active" and old != new else "superseded already"


def _supersede(known: _Known, new: str, old: str, reason: str) -> Step:
    before, after = known.current(old), known.current(new)
    return Step(
        op="supersede",
        what=f"{before.label} by {after.label}",
        reason=reason,
        changes=(
            known.edit(
                old,
                {
                    "status": "superseded",
                    "superseded_by": (*before.texts("superseded_by"), new),
                    "superseded_at": known.now,
                },
            ),
            known.edit(new, {"supersedes": (*after.texts("supersedes"), old)}),
        ),
    )


def _flag(known: _Known, new: str, old: str, reason: str) -> Step:
    changes = []
    for id_, other in ((new, old), (old, new)):
        edge = Link(target=other, type="contradicts")
        links = known.current(id_).fields.get("links", ())
        changes.append(known.edit(id_, {"standing": "contested", "links": (*links, edge)}))
    return Step(
        op="flag",
        what=f"{known.current(new).label} against {known.current(old).label}",
        reason=reason or "contradiction",
        changes=tuple(changes),
    )

"""One purifier run, pure: sources at a commit in, steps and a manifest's contents out.

Order: scan, scope, collapse exact duplicates, Pass 1, clusters, Pass 2, contradictions, assembly.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import chain
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from memrepo.core.changes import Change, Create, Delete, Op, Step, Write
from memrepo.core.ids import text_hash
from memrepo.core.judge import CanonicalClaim, Cluster, Judge, Profile, Shown, Usage, Verdict
from memrepo.core.manifest import Consumed, Judged, JudgedCandidate, Receipt
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, of_types
from memrepo.core.problems import Problem
from memrepo.core.state import State, apply
from memrepo.merge.tombstones import describe_bar
from memrepo.policies.retrieval import Near, Reach, Retrieval
from memrepo.policies.rules import ContradictionRules, Size
from memrepo.purify.answers import Kept
from memrepo.purify.assemble import Assembled, Decision
from memrepo.purify.batches import Asked, Choose, Failure, ask_claims, ask_promotions
from memrepo.purify.candidate_files import set_aside
from memrepo.purify.candidates import (
    Nominee,
    in_scope,
    nominations,
    without_repeats,
)
from memrepo.purify.capture import Captured, capture
from memrepo.purify.clusters import clusters as cluster
from memrepo.purify.clusters import defer_dreams, divide
from memrepo.purify.contradictions import calmed, verified
from memrepo.purify.decisions import Statements
from memrepo.purify.gather import Gathered, Placed
from memrepo.purify.intake import (
    Cursor,
    Intake,
    Reader,
    SourceText,
    find_moves,
    follow,
    relocate,
    take_in,
)
from memrepo.purify.known import Former, Marks, Priors, prior_of
from memrepo.purify.retire import Said, lost_by, may_ask, relisted, requests, retire, ticking
from memrepo.purify.routes import affinity
from memrepo.read.notes import PlacedNote
from memrepo.read.shelf import choose, shelf_size

UNLIMITED = 10**6
WIDE = Reach(per_cluster=10, per_request=120)
Mode = Literal["incremental", "reconciliation"]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a run is given beside the state: time, judge, profile and a reader of blobs."""

    now: datetime
    judge: Judge
    profile: Profile
    read: Callable[[str], bytes]
    zone: tzinfo = UTC
    """Where the calendar days are those of the repository."""
    run: str = "pending"
    mode: Mode = "incremental"
    near: Near | None = None
    """A search index over the memories, where there is one."""
    kept: Kept | None = None
    """Answers of a run that broke off, where the judge's cost money."""
    nominees: tuple[Nominee, ...] = ()
    """Notes that were looked for so often that they are judged like what is new."""
    afresh: bool = False
    """Judge what was rejected before as well: the rules have changed since."""
    days: bool = True
    """Whether daily logs yield claims besides notes."""
    statements: Statements = msgspec.field(default_factory=Statements)
    """The words of what stands, which later stages of a run ask for as well."""
    shelf: Size = "normal"
    """How many claims the repository is to hold."""
    by_object: bool = True
    """Whether claims of one triple are two where their objects differ (`reuse.object`)."""
    learn: bool = True
    """Whether the owner's decisions move the ranks of similar statements."""
    contradictions: ContradictionRules = msgspec.field(default_factory=ContradictionRules)
    """Which pairs are compared, and what is decided without a person."""
    comparer: Judge | None = None
    """Who looks at contradictions, where that is not the judge."""

    @property
    def local_now(self) -> datetime:
        """Return the time of the run in the repository's zone: its date is today's."""
        return self.now.astimezone(self.zone)


class Purified(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome: steps without view and manifest, and what the manifest will hold."""

    steps: tuple[Step, ...] = ()
    files: tuple[Write | Delete, ...] = ()
    returned: Mapping[str, frozenset[str]] = msgspec.field(default_factory=dict)
    """From the file of a candidate that was set aside to the memories that it became."""
    consumed: tuple[Consumed, ...] = ()
    behind: Mapping[str, Collection[tuple[str, str]]] = msgspec.field(default_factory=dict)
    """From memory id to the (resource, unit hash) pairs that speak for it in this run."""
    counts: Mapping[str, int] = msgspec.field(default_factory=dict)
    left_out: Mapping[tuple[str, str], str] = msgspec.field(default_factory=dict)
    """By source and text hash: the tombstone by which a unit was shortened."""
    judgements: Mapping[str, Any] = msgspec.field(default_factory=dict)
    quarantined: tuple[Mapping[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()
    alarms: tuple[str, ...] = ()
    """Why a person must look first: a claim source is gone or lost much of what it held."""
    receipt: Receipt = msgspec.field(default_factory=Receipt)
    failures: tuple[Failure, ...] = ()


def purify(
    state: State, texts: Sequence[SourceText], cursor: Mapping[str, Cursor], setting: Setting
) -> Purified:
    """Take in what the cursor has not consumed; the same arguments give the same outcome."""
    whole = setting.mode == "reconciliation"
    moves = find_moves(texts, cursor, setting.read)
    relocated = relocate(state, moves)
    state = apply(state, (change for step in relocated for change in step.changes))
    size, learn = setting.shelf, setting.learn
    reader = Reader(texts, setting.read, state, whole=whole, size=size, learn=learn)
    cursor = follow(moves, texts, cursor, reader, days=setting.days)
    intake = take_in(texts, cursor, reader, whole=whole, days=setting.days, moves=moves)
    carried = setting.kept.unbilled if setting.kept else Usage()
    if not (intake.consumed or intake.placed or setting.nominees):
        return Purified(problems=tuple(intake.problems), receipt=Receipt(usage=carried))
    nominees = without_repeats(state, setting.nominees)
    scope = in_scope(
        state,
        intake,
        texts,
        reader,
        nominees=nominees,
        afresh=setting.afresh,
        near=setting.statements,
    )
    shortened = (*_shortened(intake, reader),)
    marks = Marks(state.memories)
    gathered, left = _on_shelf(state, scope.gathered, texts, marks, setting)
    read = _read(intake)
    reader.forget()
    before = setting.judge.usage
    judged = ask_promotions(gathered.candidates, setting, scope.beside)
    verdicts = tuple(judged.answers)
    groups, verdicts = defer_dreams(cluster(gathered.candidates, verdicts), verdicts)
    worded = ask_claims(groups, _choosing(state, groups, setting), setting)
    groups, verdicts = _dropped(groups, verdicts, worded)
    former = Former(gathered.former, reader.standing, _before(cursor, reader), reader.holding)
    parts, answers = divide(groups, tuple(worded.answers))
    looked = verified(
        state,
        parts,
        answers,
        former,
        setting,
        setting.statements,
        marks,
        setting.contradictions,
        setting.comparer,
    )
    claims, made, compared = looked.claims, looked.made, looked.asked
    whole_ones = {group.cluster_id: group for group in groups}
    asked_of = (*groups, *(p for p in parts if whole_ones.get(p.cluster_id) != p))
    left_open = _left_open(gathered, asked_of, judged.open, worded.open | compared.open)
    receipt = _receipt((judged, worded, compared), setting.judge, before, carried)
    receipt = replace(receipt, compared=looked.harmless)
    if receipt.partial:
        _withhold(intake, read, left_open)
    groups = parts
    noted = capture(state, intake.notes, intake.standing, setting.now)
    # With part of the sources unjudged nobody can say yet what replaced a line that is gone.
    gone = None if whole and not receipt.partial else intake.gone
    spared = made.touched
    retired = retire(state, gone, reader, spared, setting.run, setting.now, marks=marks)
    listed = relisted(state, gone, reader, spared, marks)
    boxes, boxed = ticking(intake, texts, reader, setting.now, marks)
    behind = {
        **boxed,
        **_behind(gathered, groups, made.decisions, noted, intake.notes),
        **_behind_retired(state, retired, intake),
    }
    steps = (*_steps(made, noted), *listed, *retired, *boxes)
    return Purified(
        steps=(
            *relocated,
            *steps,
            *calmed(state, steps, setting.now),
            *nominations(nominees, verdicts, groups, made.decisions, setting.now),
        ),
        files=set_aside(state, gathered.candidates, verdicts, setting.now),
        returned=_returned(state, groups, made.decisions),
        consumed=tuple(_except(entry, left_open) for entry in intake.consumed),
        behind=behind,
        counts={
            **_counts(intake, read, gathered, verdicts, made, noted, retired),
            "left": left,
            "rejected_before": scope.rejected,
            "came_back": scope.came_back,
        },
        left_out=reader.left_out,
        judgements=_judgements(verdicts, groups, claims, made.decisions),
        quarantined=_quarantined(
            judged.refused, worded.refused | compared.refused, made.quarantined, noted
        ),
        problems=(
            *intake.problems,
            *shortened,
            *_verbatim(asked_of, {c.cluster_id: c.refused for c in worded.answers if c.refused}),
            *_suspicious(asked_of, claims),
            *requests(_said(intake, read, behind), state.memories),
        ),
        alarms=tuple(intake.alarms),
        receipt=receipt,
        failures=(*judged.failures, *worded.failures, *compared.failures),
    )


def _shortened(intake: Intake, reader: Reader) -> Iterator[Problem]:
    """Yield a warning for each new unit or note from which a rejected statement was left out."""
    told: set[tuple[str, int, str]] = set()
    new: list[Placed | PlacedNote] = [*intake.placed, *intake.notes]
    for one in new:
        key = reader.left_out.get((one.unit.resource, one.unit.text_hash), "")
        place = (one.resource, one.unit.lines[0], key)
        if key and place not in told:
            told.add(place)
            what, way = describe_bar(key)
            is_rejected = what.startswith("rejected")
            yield Problem(
                path=one.resource,
                line=one.unit.lines[0],
                rule="rejected-left-out" if is_rejected else "corrected-left-out",
                severity="warning",
                message=f"a statement here was {what}: it is left out, the rest is kept",
                fix=way,
            )


def _on_shelf(
    state: State,
    gathered: Gathered,
    texts: Sequence[SourceText],
    marks: Marks,
    setting: Setting,
) -> tuple[Gathered, int]:
    """Choose the candidates that are judged, and count those left in their sources.

    What a memory rests on already, what such a line became, what was nominated and what changes a
    memory is judged whatever its rank.
    """
    always = {
        c.candidate_id
        for c in gathered.candidates
        if c.retrieved
        or c.changes
        or any(marks.with_hash(source.text_hash) for source in c.sources)
        or any(marks.with_hash(h) for _, h in gathered.former.get(c.candidate_id, ()))
    }
    choice = choose(
        gathered.candidates,
        size=shelf_size(sum(bool(t.blob) for t in texts), setting.shelf),
        existing=len(of_types(state.active, CLAIM_TYPES)),
        always=always,
    )
    asked = tuple(
        replace(
            c,
            chosen=c.candidate_id in choice.shelf,
            same_as=choice.same.get(c.candidate_id, ""),
        )
        for c in gathered.candidates
        if c.candidate_id in choice.shelf or c.candidate_id in choice.beside
    )
    return replace(gathered, candidates=asked), len(gathered.candidates) - len(asked)


def _before(cursor: Mapping[str, Cursor], reader: Reader) -> Callable[[str], frozenset[str]]:
    """Return what tells the texts that a source held when it was taken in last."""
    return lambda resource: reader.held(resource, cursor.get(resource, Cursor()).last)


def _dropped(
    groups: Sequence[Cluster], verdicts: tuple[Verdict, ...], worded: Asked[CanonicalClaim]
) -> tuple[tuple[Cluster, ...], tuple[Verdict, ...]]:
    """Reject what the second look found nothing to remember in: its reason is kept, as any is."""
    why = {claim.cluster_id: claim.drop for claim in worded.answers if claim.drop}
    if not why:
        return tuple(groups), verdicts
    worded.answers = [claim for claim in worded.answers if not claim.drop]
    reasons = {c.candidate_id: why.get(g.cluster_id, "") for g in groups for c in g.candidates}
    for verdict in verdicts:
        if verdict.compress_into and (reason := reasons.get(verdict.compress_into)):
            reasons[verdict.candidate_id] = reason
    changed = (
        replace(v, verdict="reject", rationale=reason, merge_with=(), compress_into="")
        if (reason := reasons.get(v.candidate_id))
        else v
        for v in verdicts
    )
    return tuple(g for g in groups if g.cluster_id not in why), tuple(changed)


def _choosing(state: State, groups: Sequence[Cluster], setting: Setting) -> Choose:
    """Return how priors are chosen: a judge that takes all clusters at once is shown them all."""
    claims = of_types(state.active, CLAIM_TYPES) if groups else []
    if setting.judge.batch[1] >= UNLIMITED:
        every = Shown(claims, prior_of)
        return lambda _: every
    priors = Priors({memory.id: memory for memory in claims})
    retrieval = Retrieval(priors, setting.local_now.date(), setting.near)
    reach = WIDE if setting.mode == "reconciliation" else Reach()
    return lambda batch: retrieval.select(batch, reach)


def _receipt(asked: Sequence[Asked[Any]], judge: Judge, before: Usage, carried: Usage) -> Receipt:
    """Return what was spent: in this run, and by one that broke off and left no manifest."""
    return Receipt(
        usage=carried + judge.usage.since(before),
        prompt_hash=judge.prompt_hash,
        batches_done=sum(one.batches_done for one in asked),
        batches_left=sum(one.batches_left for one in asked),
        partial=next(filter(None, (one.partial for one in asked)), ""),
    )


class _Read(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of the units that were read, once candidates are made of them.

    `hashes` holds those of each source's units, `asking` the units that may ask for something.
    """

    hashes: Mapping[str, Sequence[str]]
    asking: tuple[Placed, ...]
    count: int


def _read(intake: Intake) -> _Read:
    """Take the units from an intake: a first run has many, and it needs no more of them."""
    hashes: dict[str, list[str]] = {}
    for one in intake.placed:
        hashes.setdefault(one.resource, []).append(one.unit.hash)
    asking = () if intake.whole else tuple(p for p in intake.placed if may_ask(p.unit.text))
    count = len(intake.placed)
    intake.placed.clear()
    return _Read(hashes=hashes, asking=asking, count=count)


def _withhold(intake: Intake, read: _Read, left_open: frozenset[tuple[str, str]]) -> None:
    """Take a source in later, whole, where what became of its former text is not judged yet.

    Else the old line of an edited pair would retire while the new one waits for a judge. A source
    of which nothing was judged is not consumed at all: a failed run advances no cursor.
    """
    judged = {
        resource
        for resource, hashes in read.hashes.items()
        if any((resource, hash_) not in left_open for hash_ in hashes)
    }
    waits = {r for r, _ in left_open if r not in judged or intake.gone.get(r)}
    intake.consumed = [entry for entry in intake.consumed if entry.resource not in waits]
    for resource in waits:
        intake.revisions.pop(resource, None)


# -- the outcome ---------------------------------------------------------------------------------


def _steps(made: Assembled, noted: Captured) -> tuple[Step, ...]:
    """Order the chain: bulk creates, bulk evidence, then single decisions (rulings, 11)."""
    steps = []
    bulk: tuple[tuple[Op, Sequence[Change], str], ...] = (
        ("create", tuple(Create(memory=m) for m in made.creates), KEPT),
        (
            "create",
            tuple(Create(memory=m) for m in noted.creates),
            "written in a daily log",
        ),
        ("reword", noted.rewords, "its section of the daily log was continued"),
        ("reword", made.rewords, "its line was edited in the source"),
        ("confirm", made.updates, "the sources state it in another place too"),
    )
    for op, changes, reason in bulk:
        if changes:
            steps.append(Step(op=op, reason=reason, changes=tuple(changes)))
    return (*steps, *made.singles)


KEPT = "stated in the source, and kept by both passes of the judge"
"""Why a run adds memories."""


def _left_open(
    gathered: Gathered,
    groups: Sequence[Cluster],
    unjudged: frozenset[str],
    unclaimed: frozenset[str],
) -> frozenset[tuple[str, str]]:
    """Return the units whose judgement failed: they stay open for the next run."""
    failed = set(unjudged)
    for group in groups:
        if group.cluster_id in unclaimed:
            failed |= {c.candidate_id for c in group.candidates}
    return frozenset(pair for id_ in failed for pair in gathered.units.get(id_, ()))


def _except(entry: Consumed, open_: frozenset[tuple[str, str]]) -> Consumed:
    hashes = {hash_ for resource, hash_ in open_ if entry.resource == resource}
    if not hashes:
        return entry
    return Consumed(
        resource=entry.resource,
        from_=entry.from_,
        to=entry.to,
        except_=tuple(sorted(hashes)),
        also=tuple(h for h in entry.also if h not in hashes),
    )


def _behind(
    gathered: Gathered,
    groups: Sequence[Cluster],
    decisions: Sequence[Decision],
    noted: Captured,
    notes: Sequence[PlacedNote],
) -> dict[str, Collection[tuple[str, str]]]:
    members = {g.cluster_id: g for g in groups}
    found: dict[str, Collection[tuple[str, str]]] = {}
    for decision in decisions:
        own = members[decision.cluster_id].candidates
        speak = [found.get(decision.memory_id, ())]
        speak += [gathered.units.get(candidate.candidate_id, ()) for candidate in own]
        speak = [pairs for pairs in speak if pairs]
        # Mostly it is one, and nothing new is made for it.
        found[decision.memory_id] = speak[0] if len(speak) == 1 else {*chain(*speak)}
    by_text = {(n.resource, n.unit.text_hash): (n.resource, n.hash) for n in notes}
    told = [(memory.id, memory.sources[0]) for memory in noted.creates]
    told += [(update.id, update.fields["sources"][0]) for update in noted.rewords]
    for id_, source in told:
        found[id_] = frozenset({by_text[source.resource, source.text_hash]})
    return found


def _verbatim(groups: Sequence[Cluster], refused: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a warning for each wording that was refused twice: its evidence stands instead."""
    for group in groups:
        if (why := refused.get(group.cluster_id)) and (sources := group.candidates[0].sources):
            yield Problem(
                path=sources[0].resource,
                line=sources[0].lines[0],
                column=1,
                rule="wording-refused",
                severity="warning",
                message=f"its wording was refused twice, so the line is quoted: {why}",
                fix="read the line; change the text with `memrepo edit`",
            )


def _suspicious(groups: Sequence[Cluster], claims: Sequence[CanonicalClaim]) -> Iterator[Problem]:
    """Yield a warning for each claim whose home hardly suits its type."""
    odd = {c.cluster_id: c for c in claims if affinity(c.type, c.home) == "suspicious"}
    for group in groups if odd else ():
        if (claim := odd.get(group.cluster_id)) and (sources := group.candidates[0].sources):
            yield Problem(
                path=sources[0].resource,
                line=sources[0].lines[0],
                column=1,
                rule="home-suspicious",
                severity="warning",
                message=f"its claim, a {claim.type}, went to {claim.home}, which hardly suits it",
                fix=f"if it is wrong: `memrepo edit ID --set home={HOME_OF_TYPE[claim.type]}`",
            )


def _said(
    intake: Intake, read: _Read, behind: Mapping[str, Collection[tuple[str, str]]]
) -> Iterator[Said]:
    """Yield what this run read for the first time, with the memories that it speaks for."""
    became: dict[tuple[str, str], list[str]] = {}
    for id_, pairs in behind.items() if read.asking else ():
        for pair in pairs:
            became.setdefault(pair, []).append(id_)
    for one in read.asking:
        ids = tuple(became.get((one.resource, one.unit.hash), ()))
        yield Said(path=one.resource, line=one.unit.lines[0], text=one.unit.text, became=ids)
    for note in intake.notes:
        yield Said(path=note.resource, line=note.unit.lines[0], text=note.unit.text)


def _returned(
    state: State, groups: Sequence[Cluster], decisions: Sequence[Decision]
) -> dict[str, frozenset[str]]:
    """Return which memories speak for a file that is dropped: while they wait it must stay."""
    members = {g.cluster_id: g for g in groups}
    found: dict[str, frozenset[str]] = {}
    for decision in decisions:
        for candidate in members[decision.cluster_id].candidates:
            hash_ = text_hash(candidate.text)
            for folder in ("deferred", "rejected"):
                path = state.layout.candidate(folder, hash_)
                if path in state.files:
                    found[path] = found.get(path, frozenset()) | {decision.memory_id}
    return found


def _behind_retired(
    state: State, retired: Sequence[Step], intake: Intake
) -> dict[str, frozenset[tuple[str, str]]]:
    """Return, for each memory retired, the sources that lost it; an empty hash means all of one."""
    gone = intake.gone
    return {
        id_: frozenset((resource, "") for resource in lost_by(state.memories[id_], gone))
        for step in retired
        for id_ in step.memory_ids
    }


def _counts(
    intake: Intake,
    read: _Read,
    gathered: Gathered,
    verdicts: Sequence[Verdict],
    made: Assembled,
    noted: Captured,
    retired: Sequence[Step],
) -> dict[str, int]:
    words = [v.verdict for v in verdicts]
    ops = [step.op for step in made.singles]
    return {
        "sources": len({entry.resource for entry in intake.consumed}),
        "units": read.count,
        "candidates": len(gathered.candidates),
        "rejected": words.count("reject"),
        "deferred": words.count("defer"),
        "compressed": words.count("compress"),
        "merged": words.count("merge"),
        "promoted": words.count("promote"),
        "memories_new": len(made.creates),
        "memories_met_again": len(made.updates),
        "memories_reworded": len(made.rewords),
        "memories_retired": sum(len(step.changes) for step in retired),
        "superseded": ops.count("supersede"),
        "contested": ops.count("flag"),
        "notes_new": len(noted.creates),
        "notes_grown": len(noted.rewords),
    }


def _judgements(
    verdicts: Sequence[Verdict],
    groups: Sequence[Cluster],
    claims: Sequence[CanonicalClaim],
    decisions: Sequence[Decision],
) -> dict[str, object]:
    """Return, by memory, the judgement that has no place in frontmatter."""
    by_candidate = {v.candidate_id: v for v in verdicts}
    by_cluster = {c.cluster_id: c for c in claims}
    members = {g.cluster_id: g for g in groups}
    found: dict[str, Any] = {}
    for decision in decisions:
        claim = by_cluster[decision.cluster_id]
        found.setdefault(decision.memory_id, []).append(
            Judged(
                cluster=decision.cluster_id,
                disposition=decision.disposition,
                reason=decision.reason,
                rationale=claim.rationale,
                route=claim.route_rationale,
                freshness=claim.freshness_posture,
                confidence=claim.confidence_posture,
                scores=claim.scores.told(),
                verdicts=tuple(
                    JudgedCandidate(
                        candidate=c.candidate_id,
                        verdict=by_candidate[c.candidate_id].verdict,
                        strength=by_candidate[c.candidate_id].strength,
                        rationale=by_candidate[c.candidate_id].rationale,
                    )
                    for c in members[decision.cluster_id].candidates
                ),
            )
        )
    return found


def _quarantined(
    unjudged: Mapping[str, str],
    unclaimed: Mapping[str, str],
    unstorable: Sequence[Decision],
    noted: Captured,
) -> tuple[Mapping[str, str], ...]:
    found = [*unjudged.items(), *unclaimed.items(), *noted.quarantined]
    found += [(d.cluster_id, d.reason) for d in unstorable]
    return tuple({"id": id_, "reason": reason} for id_, reason in sorted(found))

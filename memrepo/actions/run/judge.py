"""The questions to the judge: what to store (pass 1), how to word it (pass 2), contradictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.contradictions import verify_claims
from memrepo.actions.run.known import Former, prior_of
from memrepo.actions.run.plan import Answers, Decisions, Input, RunPlan
from memrepo.core.changes import Step, Update
from memrepo.core.errors import MemrepoError
from memrepo.core.ids import visible
from memrepo.core.judge import (
    BadReply,
    BudgetReached,
    CanonicalClaim,
    Cluster,
    GistRequest,
    Judge,
    JudgeFailed,
    Summary,
    SummaryRequest,
    Usage,
    Verdict,
    VerificationRequest,
    WordingCheck,
)
from memrepo.core.manifest import Receipt
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, Gist, Memory, of_types
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.judges.asking import Choose, PassResult, ask_claims, ask_promotions
from memrepo.judges.clusters import clusters as cluster
from memrepo.judges.clusters import defer_dreams, divide
from memrepo.judges.grounding import Grounds, find_unsupported
from memrepo.policies import gists
from memrepo.policies.claims import affinity
from memrepo.policies.entities import LONGEST
from memrepo.policies.gists import Group, gist_of, summary_of
from memrepo.policies.matching import Reach, Retrieval

UNLIMITED = 10**6
WIDE = Reach(per_cluster=10, per_request=120)


def judge(plan: RunPlan, given: Input) -> Answers:
    """Ask about all candidates. Those without an answer remain open for the next run."""
    unbilled = plan.stored.unbilled if plan.stored else Usage()
    reader, state = given.reader, given.state
    if reader is None:
        return Answers(receipt=Receipt(usage=unbilled))
    candidates, before = given.gathered.candidates, plan.judge.usage
    asking = plan.asking
    first = ask_promotions(candidates, asking)
    verdicts = tuple(first.answers)
    groups, verdicts = defer_dreams(cluster(candidates, verdicts), verdicts)
    second = ask_claims(groups, _choosing(state, groups, plan), asking)
    groups, verdicts = _dropped(groups, verdicts, second)
    parts, claims = divide(groups, tuple(second.answers))
    former = Former(given.gathered.former, reader.standing, given.previously, reader.holding)
    looked = verify_claims(
        state,
        parts,
        claims,
        former,
        asking,
        given.statements,
        given.marks,
        plan.contradictions,
        plan.comparer,
    )
    third = looked.asked
    whole = {group.cluster_id: group for group in groups}
    asked_of = (*groups, *(p for p in parts if whole.get(p.cluster_id) != p))
    asked = (first, second, third)
    refused = {c.cluster_id: c.refused for c in second.answers if c.refused}
    return Answers(
        verdicts=verdicts,
        clusters=parts,
        asked_of=asked_of,
        claims=looked.claims,
        made=looked.made,
        open_units=_open_units(given, asked_of, first.open, second.open | third.open),
        unusable={**first.refused, **second.refused, **third.refused},
        failures=(*first.failures, *second.failures, *third.failures),
        receipt=Receipt(
            usage=unbilled + plan.judge.usage.since(before),
            prompt_hash=plan.judge.prompt_hash,
            batches_done=sum(one.batches_done for one in asked),
            batches_left=sum(one.batches_left for one in asked),
            partial=next(filter(None, (one.partial for one in asked)), ""),
            compared=looked.harmless,
        ),
        warnings=(*_verbatim(asked_of, refused), *_unusual(asked_of, looked.claims)),
    )


def _choosing(state: State, groups: Sequence[Cluster], plan: RunPlan) -> Choose:
    """Return a function that selects the known claims to show with a batch of clusters.

    A judge without batch limits receives all claims.
    """
    claims = of_types(state.active, CLAIM_TYPES) if groups else []
    if plan.judge.batch[1] >= UNLIMITED:
        every = tuple(map(prior_of, claims))
        return lambda _: every
    retrieval = Retrieval(
        {memory.id: prior_of(memory) for memory in claims}, plan.local_now.date(), plan.near
    )
    reach = WIDE if plan.mode == "reconciliation" else Reach()
    return lambda batch: retrieval.select(batch, reach)


def _dropped(
    groups: Sequence[Cluster], verdicts: tuple[Verdict, ...], worded: PassResult[CanonicalClaim]
) -> tuple[tuple[Cluster, ...], tuple[Verdict, ...]]:
    """Return groups and verdicts, rejecting the clusters in which pass 2 found no statement."""
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


def _open_units(
    given: Input,
    asked_of: Sequence[Cluster],
    unjudged: frozenset[str],
    unclaimed: frozenset[str],
) -> frozenset[tuple[str, str]]:
    """Return the units of the candidates that received no answer."""
    failed = set(unjudged)
    for group in asked_of:
        if group.cluster_id in unclaimed:
            failed |= {c.candidate_id for c in group.candidates}
    return frozenset(pair for id_ in failed for pair in given.gathered.units.get(id_, ()))


def _verbatim(groups: Sequence[Cluster], refused: Mapping[str, str]) -> Iterator[Problem]:
    """Yield a warning for each wording that was refused twice and replaced by the source's text."""
    for group in groups:
        if why := refused.get(group.cluster_id):
            yield from _warning(
                group,
                "wording-refused",
                f"the judge's wording was rejected twice, so the line is quoted: {why}",
                "read the line; change the text with `memrepo edit`",
            )


def _unusual(groups: Sequence[Cluster], claims: Sequence[CanonicalClaim]) -> Iterator[Problem]:
    """Yield a warning for each claim on a page that is unusual for the claim's type."""
    odd = {c.cluster_id: c for c in claims if affinity(c.type, c.home) == "suspicious"}
    for group in groups:
        if claim := odd.get(group.cluster_id):
            yield from _warning(
                group,
                "home-suspicious",
                f"its claim, a {claim.type}, went to {claim.home}, an unusual page for this type",
                f"if it is wrong: `memrepo edit ID --set home={HOME_OF_TYPE[claim.type]}`",
            )


def _warning(group: Cluster, rule: str, message: str, fix: str) -> Iterator[Problem]:
    for source in group.candidates[0].sources[:1]:
        yield Problem(
            path=source.resource,
            line=source.lines[0],
            column=1,
            rule=rule,
            severity="warning",
            message=message,
            fix=fix,
        )


W = TypeVar("W", Gist, Summary)
MAX_GISTS = 20
"""Maximum gists requested from a judge per run. Other notes get the offline gist."""
MAX_NOTE_LENGTH = 40_000
"""Maximum length of a note sent to a judge, in characters. Longer notes get the offline gist."""
MAX_SUMMARIES = 20
"""Maximum summaries requested from a judge per run. Others are worded offline."""
MAX_TAG_LENGTH = 40
_GIST_BOUNDS = {"title": gists.TITLE, "summary": gists.LENGTH, "tags": MAX_TAG_LENGTH}
_SUMMARY_BOUNDS = {
    "title": gists.TITLE,
    "text": gists.SUMMARY_LENGTH,
    "facts": gists.FACT,
    "entities": LONGEST,
}


class Clerk(msgspec.Struct, kw_only=True):
    """A requester of wordings from a judge. After a failure, it makes no further requests.

    `name` is the kind of question. `rule` and `what` are used in warnings about offline wordings.
    """

    found: Decisions
    """The decisions to which failures and warnings are added."""
    now: datetime
    judge: Judge
    name: str
    rule: str
    what: str
    stopped: bool = False
    asked: int = 0

    def word(self, memories: Sequence[Memory], ask: Callable[[str], W], offline: W) -> W:
        """Return the first answer about some memories without faults, or the offline wording.

        `ask` receives the fault of the previous attempt.
        """
        if self.stopped:
            return offline
        from memrepo.judges.services import NoCredentials

        self.asked += 1
        fault = ""
        try:
            for _ in range(2):
                try:
                    answer = ask(fault)
                    fault = wording_fault(answer, offline, memories, self.judge, self.now)
                    if not fault:
                        return answer
                    last = BadReply(fault, raw=repr(answer))
                except BadReply as failed:
                    last, fault = failed, failed.message
                self._record(last)
            self._report(memories[0].path, last)
        except (JudgeFailed, BudgetReached, NoCredentials) as failed:
            self.stopped = True
            self._report(memories[0].path, failed)
            if isinstance(failed, JudgeFailed):
                self._record(failed)
        return offline

    def _record(self, failed: JudgeFailed) -> None:
        asked: PassResult[None] = PassResult(name=self.name)
        asked.fail(self.asked, failed)
        self.found.failures += tuple(asked.failures)

    def _report(self, path: str, failed: MemrepoError) -> None:
        rest = ", like the questions after it" if self.stopped else ""
        problem = Problem(
            path=path,
            rule=self.rule,
            severity="warning",
            fix=failed.fix,
            message=f"{self.what}{rest}: {failed.message}",
        )
        self.found.warnings += (problem,)


def with_worded_gists(
    found: Decisions, state: State, steps: Sequence[Step], judge: Judge, now: datetime
) -> tuple[Step, ...]:
    """Return the steps with gists by the judge for the notes that they move to gist tier."""
    clerk = Clerk(
        found=found,
        now=now,
        judge=judge,
        name="gist",
        rule="gist-offline",
        what="its gist was made without a model",
    )
    tiers = {
        change.id: change.fields.get("tier")
        for step in steps
        for change in step.changes
        if step.op == "tier" and isinstance(change, Update)
    }
    notes = [state.memories[id_] for id_, tier in tiers.items() if tier == "gist"]
    notes = [note for note in notes if len(note.body) <= MAX_NOTE_LENGTH][:MAX_GISTS]
    worded: dict[str, Gist] = {}
    for note in notes:
        gist = clerk.word([note], partial(_ask_gist, judge, note), gist_of(note))
        if gist != gist_of(note):
            worded[note.id] = gist
    return tuple(_with_gists(step, worded) for step in steps)


def _ask_gist(judge: Judge, note: Memory, fault: str) -> Gist:
    return judge.gist(GistRequest(note=note, fault=fault))


def _with_gists(step: Step, worded: Mapping[str, Gist]) -> Step:
    if step.op != "tier":
        return step
    changes = tuple(
        replace(change, fields={**change.fields, "gist": worded[change.id]})
        if isinstance(change, Update) and "gist" in change.fields and change.id in worded
        else change
        for change in step.changes
    )
    return replace(step, changes=changes)


def worded_summary(group: Group, clerk: Clerk | None) -> Summary:
    """Return the summary of a group, by the judge if the answer is valid, otherwise offline."""
    offline = summary_of(group.topic, group.memories)
    if clerk is None or clerk.asked >= MAX_SUMMARIES:
        return offline
    request = partial(SummaryRequest, topic=group.topic, memories=group.memories)
    judge = clerk.judge
    return clerk.word(group.memories, lambda fault: judge.summarise(request(fault=fault)), offline)


def wording_fault(
    answer: Gist | Summary,
    offline: Gist | Summary,
    memories: Sequence[Memory],
    judge: Judge,
    now: datetime,
) -> str:
    """Return the fault of a wording, as feedback for the judge, or "" if the wording is valid.

    Exact checks are done in code. Then the judge verifies that the memories support the wording.
    """
    if answer == offline:
        return ""
    names: tuple[str, ...]
    if isinstance(answer, Gist):
        names, bounds = ("title", "summary", "tags"), _GIST_BOUNDS
        if len(answer.tags) > gists.TAGS or len(set(answer.tags)) < len(answer.tags):
            return f"tags: expected at most {gists.TAGS}, each once"
    else:
        names, bounds = ("title", "text", "facts", "entities"), _SUMMARY_BOUNDS
        if not 0 < len(answer.facts) <= gists.FACTS:
            return f"facts: {len(answer.facts)}, expected 1 to {gists.FACTS}"
        if len(answer.entities) > gists.ENTITIES:
            return f"entities: {len(answer.entities)}, expected at most {gists.ENTITIES}"
    fields: list[tuple[str, str]] = []
    for name in names:
        value = getattr(answer, name)
        fields += [(name, text) for text in ((value,) if isinstance(value, str) else value)]
    for name, text in fields:
        if text != " ".join(visible(text).split()):
            return f"{name}: more than one line, or invisible characters"
        if not 0 < len(text) <= bounds[name]:
            return f"{name}: {len(text)} characters, expected 1 to {bounds[name]}"
    evidence = tuple(m.body for m in memories)
    known = ((m.text("title"), *m.texts("tags"), m.text("subject")) for m in memories)
    context = tuple(dict.fromkeys(part for parts in known for part in parts if part))
    days = tuple(sorted({m.captured[:10] for m in memories if m.captured}))
    grounds = Grounds(evidence=evidence, context=context, days=days)
    if found := [*find_unsupported(fields, grounds)]:
        return "; ".join(map(str, found[:4]))
    check = WordingCheck(
        evidence=evidence,
        context=context,
        stated_on=max(days, default=""),
        wording=tuple((name, text) for name, text in fields if text),
    )
    answers = judge.verify(VerificationRequest(now=now, checks=(check,)))
    own = [answer for answer in answers if answer.check_id == check.check_id]
    if not own or own[0].fault:
        return own[0].fault if own else "it was not verified"
    return "" if all(a.stated for a in own) else own[0].reason or "not what the evidence states"

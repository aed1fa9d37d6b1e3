"""The questions to the judge: what to store (pass 1), how to word it (pass 2), contradictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from memrepo.actions.run.contradictions import verified
from memrepo.actions.run.plan import RunPlan
from memrepo.core.judge import CanonicalClaim, Cluster, Verdict
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE, of_types
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.judges.asking import Asked, Choose, ask_claims, ask_promotions
from memrepo.policies.matching import Reach, Retrieval
from memrepo.purify.clusters import clusters as cluster
from memrepo.purify.clusters import defer_dreams, divide
from memrepo.purify.known import Former, prior_of
from memrepo.purify.routes import affinity

UNLIMITED = 10**6
WIDE = Reach(per_cluster=10, per_request=120)


def judge(plan: RunPlan) -> None:
    """Ask about all candidates. Those without an answer remain open for the next run."""
    reader, state = plan.reader, plan.follows
    if reader is None or state is None:
        return
    candidates, before = plan.gathered.candidates, plan.judge.usage
    first = ask_promotions(candidates, plan, plan.beside)
    verdicts = tuple(first.answers)
    groups, verdicts = defer_dreams(cluster(candidates, verdicts), verdicts)
    second = ask_claims(groups, _choosing(state, groups, plan), plan)
    groups, verdicts = _dropped(groups, verdicts, second)
    parts, claims = divide(groups, tuple(second.answers))
    former = Former(plan.gathered.former, reader.standing, plan.previously, reader.holding)
    looked = verified(
        state,
        parts,
        claims,
        former,
        plan,
        plan.statements,
        plan.marks,
        plan.contradictions,
        plan.comparer,
    )
    third = looked.asked
    whole = {group.cluster_id: group for group in groups}
    plan.verdicts, plan.clusters, plan.claims, plan.made = (
        verdicts,
        parts,
        looked.claims,
        looked.made,
    )
    plan.asked_of = (*groups, *(p for p in parts if whole.get(p.cluster_id) != p))
    plan.open_units = _open_units(plan, first.open, second.open | third.open)
    plan.unusable = {**first.refused, **second.refused, **third.refused}
    plan.failures = (*first.failures, *second.failures, *third.failures)
    asked = (first, second, third)
    plan.receipt = replace(
        plan.receipt,
        usage=plan.receipt.usage + plan.judge.usage.since(before),
        prompt_hash=plan.judge.prompt_hash,
        batches_done=sum(one.batches_done for one in asked),
        batches_left=sum(one.batches_left for one in asked),
        partial=next(filter(None, (one.partial for one in asked)), ""),
        compared=looked.harmless,
    )
    refused = {c.cluster_id: c.refused for c in second.answers if c.refused}
    plan.warnings += (*_verbatim(plan.asked_of, refused), *_unusual(plan.asked_of, plan.claims))


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
    groups: Sequence[Cluster], verdicts: tuple[Verdict, ...], worded: Asked[CanonicalClaim]
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
    plan: RunPlan, unjudged: frozenset[str], unclaimed: frozenset[str]
) -> frozenset[tuple[str, str]]:
    """Return the units of the candidates that received no answer."""
    failed = set(unjudged)
    for group in plan.asked_of:
        if group.cluster_id in unclaimed:
            failed |= {c.candidate_id for c in group.candidates}
    return frozenset(pair for id_ in failed for pair in plan.gathered.units.get(id_, ()))


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

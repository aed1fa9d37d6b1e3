"""Ask the judge in batches: one second question for what was refused, then item by item.

A judge that fails, or a budget that is reached, costs no finished batch: what was not judged is
left open for the next run (memory-purifier gave up every finished batch, its defect P2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec
from msgspec.structs import asdict, replace

from memrepo.core.judge import (
    BadReply,
    BudgetReached,
    Candidate,
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
    ComparisonRequest,
    Finding,
    Judge,
    JudgeFailed,
    PriorClaim,
    Profile,
    PromotionRequest,
    Suspicion,
    Usage,
    Verdict,
)
from memrepo.core.secrets import secret_fault
from memrepo.purify.answers import (
    Kept,
    claim_key,
    claims_record,
    finding_key,
    finding_record,
    known_claims,
    known_finding,
    known_verdicts,
    verdict_key,
    verdict_record,
)
from memrepo.purify.passes import check_claims, check_verdicts, with_postures
from memrepo.purify.verbatim import verbatim

PAIRS = 20
"""Pairs that one question to a model holds."""
_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
_T = TypeVar("_T")


class Asking(Protocol):
    """What a request says beside its items: who judges, when, for whom."""

    @property
    def now(self) -> datetime:
        """Return the time of the run."""

    @property
    def judge(self) -> Judge:
        """Return the judge."""

    @property
    def profile(self) -> Profile:
        """Return the profile."""

    @property
    def run(self) -> str:
        """Return the run's id, as far as it is known."""

    @property
    def kept(self) -> Kept | None:
        """Return the answers of a run that broke off, and where those of this one are kept."""


@runtime_checkable
class Ahead(Protocol):
    """A judge that is told of all questions of a pass before the first is asked."""

    def ahead(
        self, requests: Sequence[PromotionRequest | CanonicalRequest | ComparisonRequest]
    ) -> None:
        """Take them in; raises what asking raises."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A question that brought no answer: pass, batch from 1, why, and what the judge said."""

    name: str
    batch: int
    reason: str
    raw: str = ""


class Asked(msgspec.Struct, Generic[_T], kw_only=True):
    """What one pass came to; ids in `refused` and `left` have no answer and stay open."""

    name: str
    answers: list[_T] = msgspec.field(default_factory=list)
    refused: dict[str, str] = msgspec.field(default_factory=dict)
    left: set[str] = msgspec.field(default_factory=set)
    routes: list[dict[str, str]] = msgspec.field(default_factory=list)
    verbatim: dict[str, str] = msgspec.field(default_factory=dict)
    """Clusters whose wording was refused twice, and why: their evidence stands in its own words."""
    failures: list[Failure] = msgspec.field(default_factory=list)
    stopped: str = ""
    """Why no further question was asked."""
    batches_done: int = 0
    batches_left: int = 0

    @property
    def open(self) -> frozenset[str]:
        """Return every id without an answer."""
        return frozenset(self.refused) | self.left

    @property
    def partial(self) -> str:
        """Return why the pass is not whole, or an empty string; single refusals do not count."""
        return self.stopped or (self.failures[-1].reason if self.batches_left else "")


class _Checked(msgspec.Struct, Generic[_T], frozen=True, kw_only=True):
    answers: tuple[_T, ...]
    refused: Mapping[str, str]
    instead: Mapping[str, _T] = msgspec.field(default_factory=dict)
    """What may stand for a refused answer, where its words alone were wrong."""
    routes: tuple[dict[str, str], ...] = ()


class _Pass(msgspec.Struct, Generic[_Request, _Answer], frozen=True, kw_only=True):
    """How one of the two passes asks, checks, and asks again."""

    ask: Callable[[_Request], Sequence[_Answer]]
    check: Callable[[_Request, Sequence[_Answer]], _Checked[_Answer]]
    ids: Callable[[_Request], list[str]]
    again: Callable[[_Request, Mapping[str, str]], _Request]
    id_of: Callable[[_Answer], str]
    keep: Callable[[Sequence[_Answer], Usage], None]
    usage: Callable[[], Usage]
    judge: Judge


def ask_promotions(
    candidates: Sequence[Candidate], setting: Asking, beside: Mapping[str, str]
) -> Asked[Verdict]:
    """Ask Pass 1 over all candidates: a model in the order of their lines, rules by their ids.

    A candidate that `beside` names stands next to the one that it is to be judged with.
    """
    judge, kept = setting.judge, setting.kept
    keys: dict[str, str] = {}
    known: dict[str, Verdict] = {}
    if kept is not None:
        keys = {c.candidate_id: verdict_key(c, judge, setting.profile) for c in candidates}
        known = known_verdicts(candidates, kept, keys)
    rest = [c for c in candidates if c.candidate_id not in known]

    def keep(verdicts: Sequence[Verdict], usage: Usage) -> None:
        if kept is not None:
            kept.keep({keys[v.candidate_id]: verdict_record(v) for v in verdicts}, usage)

    asked = _ask(
        "promotion",
        [
            PromotionRequest(
                run=setting.run, profile=setting.profile, now=setting.now, candidates=tuple(batch)
            )
            for batch in _side_by_side(
                _in_order(rest) if judge.prompt_hash else _by_id(rest), beside, judge.batch[0]
            )
        ],
        _Pass(
            ask=judge.promote,
            check=_checked_verdicts,
            ids=lambda r: [c.candidate_id for c in r.candidates],
            again=lambda r, faults: replace(
                r,
                faults=faults,
                candidates=tuple(c for c in r.candidates if c.candidate_id in faults),
            ),
            id_of=lambda v: v.candidate_id,
            keep=keep,
            usage=lambda: judge.usage,
            judge=judge,
        ),
    )
    asked.answers = sorted((*known.values(), *asked.answers), key=lambda v: v.candidate_id)
    return asked


Choose = Callable[[Sequence[Cluster]], Sequence[PriorClaim]]
"""From the clusters of one request to the priors that it shows."""


def ask_claims(groups: Sequence[Cluster], choose: Choose, setting: Asking) -> Asked[CanonicalClaim]:
    """Ask Pass 2 over all clusters, in their order."""
    judge, kept = setting.judge, setting.kept
    keys: dict[str, str] = {}
    known: dict[str, tuple[CanonicalClaim, ...]] = {}
    if kept is not None:
        near = {g.cluster_id: choose([g]) for g in groups}
        keys = {
            g.cluster_id: claim_key(g, near[g.cluster_id], judge, setting.profile) for g in groups
        }
        known = known_claims(groups, kept, keys)

    def keep(claims: Sequence[CanonicalClaim], usage: Usage) -> None:
        if kept is not None:
            of: dict[str, list[CanonicalClaim]] = {}
            for claim in claims:
                of.setdefault(claim.cluster_id, []).append(claim)
            kept.keep({keys[id_]: claims_record(own) for id_, own in of.items()}, usage)

    asked = _ask(
        "purifier",
        [
            CanonicalRequest(
                run=setting.run,
                profile=setting.profile,
                now=setting.now,
                clusters=tuple(batch),
                priors=choose(batch),
            )
            for batch in _batches(
                _as_they_stand([g for g in groups if g.cluster_id not in known], judge),
                judge.batch[1],
            )
        ],
        _Pass(
            ask=judge.canonicalise,
            check=lambda r, given: _checked_claims(r, given, grounded=bool(judge.prompt_hash)),
            ids=lambda r: [c.cluster_id for c in r.clusters],
            again=lambda r, faults: replace(
                r, faults=faults, clusters=tuple(c for c in r.clusters if c.cluster_id in faults)
            ),
            id_of=lambda c: c.cluster_id,
            keep=keep,
            usage=lambda: judge.usage,
            judge=judge,
        ),
    )
    every = (*(c for own in known.values() for c in own), *asked.answers)
    order = {g.cluster_id: n for n, g in enumerate(groups)}
    asked.answers = sorted(every, key=lambda c: order[c.cluster_id])
    return asked


def ask_pairs(
    pairs: Sequence[Suspicion], now: datetime, judge: Judge, kept: Kept | None
) -> Asked[Finding]:
    """Ask which of some pairs contradict each other; what is kept is not asked again."""
    keys = {one.pair: finding_key(one, judge) for one in pairs} if kept is not None else {}
    known: dict[str, Finding] = {}
    if kept is not None:
        found = ((one.pair, known_finding(one, kept, judge)) for one in pairs)
        known = {id_: finding for id_, finding in found if finding is not None}
    size = PAIRS if judge.prompt_hash else max(len(pairs), 1)

    def keep(findings: Sequence[Finding], usage: Usage) -> None:
        if kept is not None:
            kept.keep({keys[f.pair]: finding_record(f) for f in findings}, usage)

    asked = _ask(
        "contradiction",
        [
            ComparisonRequest(now=now, pairs=tuple(batch))
            for batch in _batches([p for p in pairs if p.pair not in known], size)
        ],
        _Pass(
            ask=judge.compare,
            check=_checked_findings,
            ids=lambda r: [p.pair for p in r.pairs],
            again=lambda r, faults: replace(
                r, faults=faults, pairs=tuple(p for p in r.pairs if p.pair in faults)
            ),
            id_of=lambda f: f.pair,
            keep=keep,
            usage=lambda: judge.usage,
            judge=judge,
        ),
    )
    asked.answers = [*known.values(), *asked.answers]
    return asked


def _checked_findings(request: ComparisonRequest, given: Sequence[Finding]) -> _Checked[Finding]:
    """Take what answers each pair once, without a fault, a secret or words of nobody's."""
    answers: dict[str, list[Finding]] = {p.pair: [] for p in request.pairs}
    for one in given:
        if one.pair in answers:
            answers[one.pair].append(one)
    refused = {}
    for id_, own in answers.items():
        if len(own) != 1:
            refused[id_] = f"answered {len(own)} times" if own else "no finding"
        elif why := own[0].fault or secret_fault(own[0].reasoning, own[0].still):
            refused[id_] = why
    return _Checked(
        answers=tuple(own[0] for id_, own in answers.items() if id_ not in refused),
        refused=refused,
    )


def _side_by_side(
    candidates: Sequence[Candidate], beside: Mapping[str, str], size: int
) -> list[list[Candidate]]:
    """Return batches in which what belongs together is not parted, as far as one batch holds it."""
    groups: dict[str, list[Candidate]] = {}
    for one in candidates:
        groups.setdefault(beside.get(one.candidate_id, one.candidate_id), []).append(one)
    # As few batches as hold all, and of about one length: 41 are 21 and 20.
    even = -(-len(candidates) // max(1, -(-len(candidates) // size)))
    batches: list[list[Candidate]] = []
    for group in groups.values():
        for part in _batches(group, size):
            if not batches or len(batches[-1]) + len(part) > min(size, max(even, len(part))):
                batches.append([])
            batches[-1] += part
    return batches


def _by_id(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: c.candidate_id)


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return candidates as their lines follow each other: a line is read after the one above it."""
    return sorted(candidates, key=lambda c: (_place(c), c.candidate_id))


def _as_they_stand(groups: Sequence[Cluster], judge: Judge) -> Sequence[Cluster]:
    """Return clusters in the order of their lines, for a model; rules read each by itself."""
    if not judge.prompt_hash:
        return groups
    return sorted(groups, key=lambda g: (min(map(_place, g.candidates)), g.cluster_id))


def _place(candidate: Candidate) -> tuple[str, int]:
    return min(((s.resource, s.lines[0]) for s in candidate.sources), default=("", 0))


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield as few batches as hold the items, all of about one length: 41 are 21 and 20."""
    count = -(-len(items) // size)
    for n in range(count):
        yield items[n * len(items) // count : (n + 1) * len(items) // count]


def _checked_verdicts(request: PromotionRequest, given: Sequence[Verdict]) -> _Checked[Verdict]:
    found = check_verdicts(request, given)
    return _Checked(
        answers=found.verdicts, refused={r.candidate_id: r.reason for r in found.rejected}
    )


def _checked_claims(
    request: CanonicalRequest, given: Sequence[CanonicalClaim], *, grounded: bool
) -> _Checked[CanonicalClaim]:
    found = check_claims(request, given, grounded=grounded)
    clusters = {c.cluster_id: c for c in request.clusters}
    instead = {}
    for one in found.rejected:
        if one.wording:
            own = [c for c in given if c.cluster_id == one.cluster_id]
            claim = verbatim(own, clusters[one.cluster_id])
            if claim is not None and check_claims(_only(request, one.cluster_id), [claim]).claims:
                instead[one.cluster_id] = with_postures(claim)
    return _Checked(
        answers=found.claims,
        refused={r.cluster_id: r.reason for r in found.rejected},
        instead=instead,
        routes=tuple(asdict(w) for w in found.warnings),
    )


def _only(request: CanonicalRequest, cluster_id: str) -> CanonicalRequest:
    kept = tuple(c for c in request.clusters if c.cluster_id == cluster_id)
    return replace(request, clusters=kept)


def _ask(name: str, requests: Sequence[_Request], how: _Pass[_Request, _Answer]) -> Asked[_Answer]:
    asked: Asked[_Answer] = Asked(name=name)
    if requests and isinstance(how.judge, Ahead):
        _tell(asked, requests, how.judge)
    for number, request in enumerate(requests, start=1):
        if asked.stopped:
            asked.left |= set(how.ids(request))
            asked.batches_left += 1
            continue
        before, done = how.usage(), len(asked.answers)
        _one_batch(asked, number, request, how)
        how.keep(asked.answers[done:], how.usage().since(before))
    return asked


def _tell(asked: Asked[_Answer], requests: Sequence[Any], judge: Ahead) -> None:
    try:
        judge.ahead(requests)
    except JudgeFailed as failed:
        asked.failures.append(_failure(asked, 0, failed))
        asked.stopped = failed.message
    except BudgetReached as reached:
        asked.stopped = reached.message


def _one_batch(
    asked: Asked[_Answer], number: int, request: _Request, how: _Pass[_Request, _Answer]
) -> None:
    """Ask once, ask again for what was refused, and take what is sound."""
    known = frozenset(how.ids(request))
    given = _answers(asked, number, request, how)
    if given is None:
        asked.left |= known
        asked.batches_left += 1
        return
    first: Sequence[_Answer] = () if isinstance(given, BadReply) else given
    checked: _Checked[_Answer] = (
        _Checked(answers=(), refused=dict.fromkeys(known, given.message))
        if isinstance(given, BadReply)
        else how.check(request, given)
    )
    faults = {id_: why for id_, why in checked.refused.items() if id_ in known}
    again: Sequence[_Answer] | BadReply | None = first
    if faults:
        again = _answers(asked, number, how.again(request, faults), how)
    if again is None:
        asked.left |= faults.keys()
        checked = replace(checked, refused=_without(checked.refused, faults))
    elif faults and not isinstance(again, BadReply):
        joined = _joined(request, first, again, checked.refused, how)
        checked = replace(joined, instead={**checked.instead, **joined.instead})
    stands = {id_: one for id_, one in checked.instead.items() if id_ in checked.refused}
    asked.verbatim |= {id_: checked.refused[id_] for id_ in stands}
    asked.answers += (*checked.answers, *stands.values())
    asked.refused |= _without(checked.refused, dict.fromkeys(stands, ""))
    asked.routes += checked.routes
    if isinstance(given, BadReply) and (again is None or isinstance(again, BadReply)):
        asked.batches_left += 1
    else:
        asked.batches_done += 1


def _joined(
    request: _Request,
    first: Sequence[_Answer],
    again: Sequence[_Answer],
    refused: Mapping[str, str],
    how: _Pass[_Request, _Answer],
) -> _Checked[_Answer]:
    """Judge both answers as one: a second answer may link to a sound first one."""
    known = dict.fromkeys(how.ids(request), "")
    sound = [answer for answer in first if how.id_of(answer) not in refused]
    second = how.check(request, (*sound, *again))
    return replace(second, refused={**_without(refused, known), **second.refused})


def _without(refused: Mapping[str, str], ids: Mapping[str, str]) -> dict[str, str]:
    return {id_: why for id_, why in refused.items() if id_ not in ids}


def _answers(
    asked: Asked[_Answer], number: int, request: _Request, how: _Pass[_Request, _Answer]
) -> Sequence[_Answer] | BadReply | None:
    """Ask; None says that the judge gives no more answers in this run."""
    try:
        return tuple(how.ask(request))
    except BadReply as failed:
        asked.failures.append(_failure(asked, number, failed))
        return failed
    except JudgeFailed as failed:
        asked.failures.append(_failure(asked, number, failed))
        asked.stopped = failed.message
    except BudgetReached as reached:
        asked.stopped = reached.message
    return None


def _failure(asked: Asked[_Answer], number: int, failed: JudgeFailed) -> Failure:
    return Failure(name=asked.name, batch=number, reason=failed.message, raw=failed.raw)

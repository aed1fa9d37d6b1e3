"""Ask the judge about items in batches, and repeat the question once for refused answers.

If the judge fails or a budget is reached, all finished batches remain valid. Items without an
answer are left for the next run. (memory-purifier lost every finished batch, its defect P2.)

Paid answers are stored until the run lands. The key of an answer consists of the text of its item,
the prompts and the judge's name. If any of these changes, the item is judged again. Elapsed days do
not affect the key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import digest
from memrepo.core.judge import (
    Assessment,
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
    VerificationRequest,
    Wording,
    WordingCheck,
    named,
)
from memrepo.core.memory import CLAIM_TYPES, HOME_OF_TYPE
from memrepo.core.secrets import secret_fault
from memrepo.judges.grounding import Grounds, fields_of, grounds_of
from memrepo.judges.passes import check_claims, check_verdicts, with_postures
from memrepo.text.words import content_words

PAIRS = 50
"""Maximum pairs in one question to a model."""
CHECKS = 40
"""Maximum wordings in one verification question."""
NEIGHBOUR_LINES = 3
"""Maximum distance, in lines, to a neighbour that may name a statement's subject."""
VERBATIM_LIMIT = 400
"""Maximum characters of several lines quoted together. Beyond it, only the first line is quoted."""
MAX_KNOWN_LINES = 4
"""Maximum neighbouring lines and prior claims shown with one item of a verification question."""
REPEATED_SHARE = 0.6
"""A line adds nothing if at least this share of its words was stated before."""
_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
_T = TypeVar("_T")


class Kept(Protocol):
    """A store that keeps a judge's paid answers from one run to the next."""

    @property
    def unbilled(self) -> Usage:
        """Return the cost of stored answers that no run's manifest has recorded yet."""

    def find(self, key: str) -> Mapping[str, object] | None:
        """Return the stored record for an answer's key, or None."""

    def keep(self, answers: Mapping[str, Mapping[str, object]], usage: Usage) -> None:
        """Store the answers to one question by key, together with the question's cost."""


class Asking(Protocol):
    """The settings for asking the judge: the judge itself, the time, the profile and the store."""

    @property
    def now(self) -> datetime:
        """Return the time of the run."""

    @property
    def local_now(self) -> datetime:
        """Return the run's time in the repository's time zone, which determines today's date."""

    @property
    def judge(self) -> Judge:
        """Return the judge that answers the questions."""

    @property
    def profile(self) -> Profile:
        """Return the profile for which the judge answers, `personal` or `business`."""

    @property
    def by_object(self) -> bool:
        """Return whether the object distinguishes claims with the same subject and predicate."""

    @property
    def kept(self) -> Kept | None:
        """Return the store for paid answers, or None if the judge costs nothing."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failed question: its pass, its batch number (from 1), the reason, and the judge's reply.

    `tried` has the reason for each attempt to parse the reply that failed.
    """

    name: str
    batch: int
    reason: str
    raw: str = ""
    tried: tuple[str, ...] = ()


class Asked(msgspec.Struct, Generic[_T], kw_only=True):
    """The result of one pass. The items in `refused` and `left` have no answer and remain open."""

    name: str
    answers: list[_T] = msgspec.field(default_factory=list)
    refused: dict[str, str] = msgspec.field(default_factory=dict)
    left: set[str] = msgspec.field(default_factory=set)
    failures: list[Failure] = msgspec.field(default_factory=list)
    stopped: str = ""
    """Why the pass asked no more questions."""
    too_large: bool = False
    """Whether a smaller question might fit the budget."""
    batches_done: int = 0
    batches_left: int = 0

    @property
    def open(self) -> frozenset[str]:
        """Return the ids of all items without an accepted answer."""
        return frozenset(self.refused) | self.left

    @property
    def partial(self) -> str:
        """Return why the pass is incomplete, or an empty string. Refused answers do not count."""
        return self.stopped or (self.failures[-1].reason if self.batches_left else "")

    def join(self, other: Asked[Any]) -> None:
        """Add the failures and batch counts of another pass to this result."""
        self.failures += other.failures
        self.stopped = self.stopped or other.stopped
        self.batches_done += other.batches_done
        self.batches_left += other.batches_left


class _Checked(msgspec.Struct, Generic[_T], frozen=True, kw_only=True):
    answers: tuple[_T, ...]
    refused: Mapping[str, str]
    instead: Mapping[str, _T] = msgspec.field(default_factory=dict)
    """Replacements for refused answers whose only fault was the wording."""


class _Pass(msgspec.Struct, Generic[_Request, _Answer], frozen=True, kw_only=True):
    """One kind of question, with the functions that send it, check its answers and store them.

    `items` names the request field that contains the items. `id` names the field that identifies an
    item and its answers. `shown` maps the id of each item to the data shown to the judge.
    """

    name: str
    items: str
    id: str
    judge: Judge
    ask: Callable[[_Request], Sequence[_Answer]]
    check: Callable[[_Request, Sequence[_Answer]], _Checked[_Answer]]
    kept: Kept | None
    answer: type[_Answer]
    shown: Mapping[str, object]

    def ids(self, request: _Request) -> list[str]:
        """Return the ids of the items in a request."""
        return [getattr(item, self.id) for item in getattr(request, self.items)]

    def some(self, request: _Request, faults: Mapping[str, str], *, again: bool) -> _Request:
        """Return a copy of a request that contains only the items in `faults`.

        If `again` is true, the request includes the fault of each item.
        """
        items = tuple(i for i in getattr(request, self.items) if getattr(i, self.id) in faults)
        more: dict[str, Any] = {self.items: items, "faults": faults if again else {}}
        return replace(request, **more)  # type: ignore[type-var]

    def known(self) -> dict[str, list[_Answer]]:
        """Return the stored answers, grouped by item id.

        A damaged record is ignored, so its item is judged again.
        """
        found: dict[str, list[_Answer]] = {}
        for id_, shown in self.shown.items() if self.kept else ():
            record = self.kept.find(self._key(shown)) if self.kept else None
            try:
                rows: list[_Answer] = msgspec.convert(
                    (record or {}).get("answers", []),
                    list[self.answer],  # type: ignore[name-defined]
                )
            except msgspec.ValidationError:
                continue
            own = [r for r in rows if getattr(r, self.id) == id_ and not getattr(r, "fault", "")]
            if rows and len(own) == len(rows):
                found[id_] = rows
        return found

    def store(self, answers: Sequence[_Answer], usage: Usage) -> None:
        """Store the answers to one question by item id, together with the question's cost."""
        if self.kept is not None:
            rows: dict[str, dict[str, list[object]]] = {}
            for one in answers:
                key = self._key(self.shown[getattr(one, self.id)])
                rows.setdefault(key, {"answers": []})["answers"].append(msgspec.to_builtins(one))
            self.kept.keep(rows, usage)

    def _key(self, shown: object) -> str:
        return digest([self.name, self.judge.name, self.judge.prompt_hash, shown])


def ask_promotions(
    candidates: Sequence[Candidate], setting: Asking, beside: Mapping[str, str]
) -> Asked[Verdict]:
    """Ask for verdicts on all candidates (Pass 1). Return the verdicts, sorted by candidate id.

    A model gets the candidates in line order, rules get them in id order. `beside` maps a candidate
    to the one in whose batch it must be judged.
    """
    judge = setting.judge
    how: _Pass[PromotionRequest, Verdict] = _Pass(
        name="promotion",
        items="candidates",
        id="candidate_id",
        judge=judge,
        ask=judge.promote,
        check=_checked_verdicts,
        kept=setting.kept,
        answer=Verdict,
        shown={c.candidate_id: [setting.profile, _shown(c)] for c in candidates},
    )
    known = {id_: rows[0] for id_, rows in how.known().items()}
    # A stored verdict that links to a candidate without a stored verdict is judged again.
    while loose := [id_ for id_, v in known.items() if not known.keys() >= _links(v)]:
        for id_ in loose:
            del known[id_]
    rest = [c for c in candidates if c.candidate_id not in known]
    # A model reads each line after the line above it.
    rest.sort(key=lambda c: (_place(c) if judge.prompt_hash else (), c.candidate_id))
    requests = [
        PromotionRequest(profile=setting.profile, now=setting.local_now, candidates=tuple(batch))
        for batch in _side_by_side(rest, beside, judge.batch[0])
    ]
    asked = _ask(requests, how)
    asked.answers = sorted((*known.values(), *asked.answers), key=lambda v: v.candidate_id)
    return asked


def _links(verdict: Verdict) -> set[str]:
    return {*verdict.merge_with, *filter(None, (verdict.compress_into,))}


def _shown(c: Candidate) -> list[object]:
    """Return those fields of a candidate that the judge sees."""
    context = list(c.context)
    return [
        *(c.candidate_id, c.text, context, c.type_hint, c.key, c.value, c.task),
        *(c.captured, c.days, c.resources),
    ]


Choose = Callable[[Sequence[Cluster]], Sequence[PriorClaim]]
"""Choose the prior claims to show with the clusters of one request."""


def ask_claims(groups: Sequence[Cluster], choose: Choose, setting: Asking) -> Asked[CanonicalClaim]:
    """Ask for the claims of all clusters (Pass 2), and verify the wordings written by a model.

    Return the claims in the order of the clusters.
    """
    judge = setting.judge
    priors = {g.cluster_id: choose([g]) for g in groups} if setting.kept is not None else {}
    how = _Wording(setting, groups, priors)
    known = how.asking.known()
    rest = [g for g in groups if g.cluster_id not in known]
    if judge.prompt_hash:  # a model reads clusters in line order
        rest.sort(key=lambda g: (min(map(_place, g.candidates)), g.cluster_id))
    requests = [
        CanonicalRequest(
            profile=setting.profile,
            now=setting.local_now,
            clusters=tuple(batch),
            priors=choose(batch),
        )
        for batch in _batches(rest, judge.batch[1])
    ]
    how.priors |= {c.cluster_id: r.priors for r in requests for c in r.clusters}
    asked = _ask(requests, how.asking)
    asked.answers += (with_postures(claim) for own in known.values() for claim in own)
    if judge.prompt_hash:
        _verify(asked, how)
    order = {g.cluster_id: n for n, g in enumerate(groups)}
    asked.answers.sort(key=lambda c: order[c.cluster_id])
    return asked


class _Wording:
    """The requests for claims and their checks, used for the first and the second attempt."""

    def __init__(
        self,
        setting: Asking,
        groups: Sequence[Cluster],
        priors: Mapping[str, Sequence[PriorClaim]],
    ) -> None:
        self.judge, self.setting = setting.judge, setting
        self.clusters = {g.cluster_id: g for g in groups}
        self.priors = dict(priors)
        self._near = _neighbours(groups) if self.judge.prompt_hash else {}
        self._grounds: dict[str, Grounds] = {}
        self.asking: _Pass[CanonicalRequest, CanonicalClaim] = _Pass(
            name="purifier",
            items="clusters",
            id="cluster_id",
            judge=self.judge,
            ask=self.judge.canonicalise,
            check=self._checked,
            kept=setting.kept,
            answer=CanonicalClaim,
            shown={
                g.cluster_id: [
                    *(setting.profile, g.cluster_id, g.strength, g.type_hint, list(g.tags)),
                    [_shown(c) for c in g.candidates],
                    sorted([p.memory_id, p.text, p.standing] for p in priors[g.cluster_id]),
                ]
                for g in groups
                if g.cluster_id in priors
            },
        )

    def grounds(self, cluster_id: str) -> Grounds:
        """Return the texts on which the claims of a cluster may be based."""
        if cluster_id not in self._grounds:
            self._grounds[cluster_id] = grounds_of(
                self.clusters[cluster_id], self.priors[cluster_id], self._near[cluster_id]
            )
        return self._grounds[cluster_id]

    def again(self, faults: Mapping[str, str]) -> list[CanonicalRequest]:
        """Return requests that repeat the question for the clusters in `faults`, with the fault."""
        return [
            CanonicalRequest(
                profile=self.setting.profile,
                now=self.setting.local_now,
                clusters=tuple(self.clusters[id_] for id_ in some),
                priors=_united(self.priors[id_] for id_ in some),
                faults={id_: faults[id_] for id_ in some},
            )
            for some in _batches(sorted(faults), self.judge.batch[1])
        ]

    def in_own_words(
        self, given: Sequence[CanonicalClaim], cluster_id: str, why: str
    ) -> CanonicalClaim | None:
        """Return a claim that quotes a cluster's evidence, or None if such a claim is invalid."""
        claim = _quoted(given, self.clusters[cluster_id])
        if claim is None:
            return None
        (request,) = self.again({cluster_id: ""})
        if not check_claims(request, [claim]).claims:
            return None
        return replace(with_postures(claim), refused=why)

    def _checked(
        self, request: CanonicalRequest, given: Sequence[CanonicalClaim]
    ) -> _Checked[CanonicalClaim]:
        grounds = self.grounds if self.judge.prompt_hash else None
        found = check_claims(request, given, grounds=grounds)
        instead = {}
        for one in found.rejected:
            own = [c for c in given if c.cluster_id == one.cluster_id]
            if one.wording and (claim := self.in_own_words(own, one.cluster_id, one.reason)):
                instead[one.cluster_id] = claim
        again = bool(request.faults)
        return _Checked(
            answers=tuple(replace(claim, asked_again=again) for claim in found.claims),
            refused={r.cluster_id: r.reason for r in found.rejected},
            instead=instead,
        )


def _quoted(given: Sequence[CanonicalClaim], cluster: Cluster) -> CanonicalClaim | None:
    """Return a claim that quotes the cluster's evidence, with the type of the first refused claim.

    Return None without evidence or refused claims.
    """
    text = _evidence_of(cluster)
    if not text or not given:
        return None
    first = given[0]
    kind = first.type if first.type in CLAIM_TYPES else cluster.type_hint
    if kind not in CLAIM_TYPES:
        return None
    return replace(
        first,
        type=kind,
        home=HOME_OF_TYPE[kind],
        wording=Wording(text=text),
        standing="unresolved" if first.standing == "unresolved" else "resolved",
        contradictions=(),
        supersedes=(),
        entities=(),
        tags=(),
        quote="",
        restates="",
        fault="",
    )


def _evidence_of(cluster: Cluster) -> str:
    """Return a cluster's statements as one quotation, in source order and without repetitions."""
    first, *others = sorted(cluster.candidates, key=_place)
    texts, known = [first.text.strip()], content_words(first.text)
    for one in others:
        words = content_words(one.text)
        if len(words & known) < REPEATED_SHARE * len(words):
            texts.append(one.text.strip())
            known |= words
    joined = "\n".join(texts)
    return joined if len(joined) <= VERBATIM_LIMIT else texts[0]


def _united(several: Iterator[Sequence[PriorClaim]]) -> tuple[PriorClaim, ...]:
    return tuple({prior.memory_id: prior for priors in several for prior in priors}.values())


def _neighbours(groups: Sequence[Cluster]) -> dict[str, tuple[str, ...]]:
    """Map each cluster id to the texts of nearby candidates and the headings of its files.

    A first heading often names the subject of the whole file, which later lines only call "it".
    """
    lines: dict[str, dict[int, tuple[str, str]]] = {}
    headings: dict[str, dict[str, None]] = {}
    for group in groups:
        for one in group.candidates:
            resource, line = _place(one)
            lines.setdefault(resource, {})[line] = (group.cluster_id, one.text)
            headings.setdefault(resource, {}).update(dict.fromkeys(one.context))
    found: dict[str, dict[str, None]] = {g.cluster_id: {} for g in groups}
    for group in groups:
        for one in group.candidates:
            resource, line = _place(one)
            for near in range(line - NEIGHBOUR_LINES, line + NEIGHBOUR_LINES + 1):
                owner, text = lines[resource].get(near, (group.cluster_id, ""))
                if owner != group.cluster_id:
                    found[group.cluster_id][text] = None
            found[group.cluster_id].update(headings[resource])
    return {id_: tuple(texts) for id_, texts in found.items()}


def _verify(asked: Asked[CanonicalClaim], how: _Wording) -> None:
    """Ask whether the evidence supports each claim's wording. Ask again for claims that fail.

    A claim that fails twice is replaced by a quotation of the evidence. A claim without an answer
    from the judge remains open.
    """
    faults = _unstated(asked, how)
    given = {c.cluster_id: c for c in asked.answers}
    _without_answers(asked, faults)
    if not faults or asked.stopped:
        asked.left |= faults.keys()
        return
    first = {id_: why for id_, why in faults.items() if not given[id_].asked_again}
    second = _ask(how.again(first), how.asking)
    twice = _unstated(second, how)
    _without_answers(second, twice)
    refused = second.refused | twice | _without(faults, first)
    own_words = [
        claim for id_, why in refused.items() if (claim := how.in_own_words([given[id_]], id_, why))
    ]
    how.asking.store(own_words, Usage())
    asked.answers += (*second.answers, *own_words)
    asked.refused |= _without(refused, {c.cluster_id: "" for c in own_words})
    asked.left |= second.left
    asked.join(second)


def _without_answers(asked: Asked[CanonicalClaim], ids: Collection[str]) -> None:
    asked.answers = [claim for claim in asked.answers if claim.cluster_id not in ids]


def _unstated(asked: Asked[CanonicalClaim], how: _Wording) -> dict[str, str]:
    """Return the reasons why evidence does not support a wording, by cluster id.

    Claims that could not be verified are removed from the answers and remain open.
    """
    checks: dict[str, list[tuple[WordingCheck, CanonicalClaim]]] = {}
    for claim in asked.answers:
        id_ = claim.cluster_id
        if claim.refused:
            continue  # a quotation of the evidence
        if (check := check_of(claim, how.grounds(id_), how.priors[id_])) is not None:
            checks.setdefault(id_, []).append((check, claim))
    items = tuple(check for own in checks.values() for check, _ in own)
    found = ask_checks(items, how.setting.local_now, how.judge, how.setting.kept)
    asked.join(found)
    said = {a.check_id: a for a in found.answers}
    faults: dict[str, str] = {}
    waiting = set()
    for id_, own in checks.items():
        for check, claim in own:
            if check.check_id in found.left:
                waiting.add(id_)
            elif check.check_id in found.refused:
                faults[id_] = f"nobody verified it: {found.refused[check.check_id]}"
            elif not (answer := said[check.check_id]).stated:
                text = " ".join(claim.wording.text.split())[:300]
                faults[id_] = f"{answer.reason or 'not what it states'} (your text was: {text})"
    asked.left |= waiting
    _without_answers(asked, waiting)
    return {id_: why for id_, why in faults.items() if id_ not in waiting}


def check_of(
    claim: CanonicalClaim, grounds: Grounds, priors: Sequence[PriorClaim]
) -> WordingCheck | None:
    """Return the question that verifies a claim, or None if the claim needs no verification."""
    if claim.drop or (not claim.restates and _is_copied(claim, grounds)):
        return None
    if prior := named(priors, claim.restates):
        return WordingCheck(
            evidence=(prior.text,),
            context=tuple(filter(None, (prior.subject, prior.under))),
            wording=tuple(("text", text) for text in grounds.evidence),
        )
    told = [(name, text) for name, text in fields_of(claim) if text and name != "tags"]
    if claim.tags:
        told.append(("tags", ", ".join(claim.tags)))
    said = (word for _, text in told for word in text.split() if not word.islower())
    drawn = content_words(" ".join(said)) - content_words(
        " ".join((*grounds.evidence, *grounds.context))
    )
    known = [text for text in grounds.beyond if not drawn.isdisjoint(content_words(text))]
    return WordingCheck(
        evidence=grounds.evidence,
        context=grounds.context,
        known=tuple(known[:MAX_KNOWN_LINES]),
        stated_on=max(grounds.days, default=""),
        wording=tuple(told),
    )


def _is_copied(claim: CanonicalClaim, grounds: Grounds) -> bool:
    """Return whether a claim quotes its evidence and its other fields use only shown words."""
    shown = content_words(" ".join((*grounds.evidence, *grounds.context)))
    others = [text for name, text in fields_of(claim) if name != "text"]
    return claim.wording.text in grounds.evidence and content_words(" ".join(others)) <= shown


def ask_checks(
    checks: Sequence[WordingCheck], now: datetime, judge: Judge, kept: Kept | None
) -> Asked[Assessment]:
    """Ask whether the evidence supports each wording. Return one assessment per wording.

    Stored answers are not requested again.
    """
    every = {check.check_id: check for check in checks}
    how: _Pass[VerificationRequest, Assessment] = _Pass(
        name="verification",
        items="checks",
        id="check_id",
        judge=judge,
        ask=judge.verify,
        check=_checked_assessments,
        kept=kept,
        answer=Assessment,
        shown={id_: [id_, check.stated_on] for id_, check in every.items()},
    )
    known = how.known()
    # The order must not depend on which answers were stored.
    rest = [every[id_] for id_ in sorted(every) if id_ not in known]
    requests = [
        VerificationRequest(now=now, checks=tuple(batch)) for batch in _batches(rest, CHECKS)
    ]
    asked = _ask(requests, how)
    asked.answers = [*(one for own in known.values() for one in own), *asked.answers]
    return asked


def _checked_assessments(
    request: VerificationRequest, given: Sequence[Assessment]
) -> _Checked[Assessment]:
    """Accept one assessment per wording. If several differ, the wording counts as unsupported."""
    answers: dict[str, list[Assessment]] = {c.check_id: [] for c in request.checks}
    for one in given:
        if one.check_id in answers:
            answers[one.check_id].append(one)
    refused = {
        id_: next((a.fault or secret_fault(a.reason) for a in own), "no answer")
        for id_, own in answers.items()
    }
    refused = {id_: why for id_, why in refused.items() if why}
    return _Checked(
        answers=tuple(
            min(own, key=lambda a: a.stated) for id_, own in answers.items() if id_ not in refused
        ),
        refused=refused,
    )


def ask_pairs(
    pairs: Sequence[Suspicion], now: datetime, judge: Judge, kept: Kept | None
) -> Asked[Finding]:
    """Ask which pairs of statements contradict each other. Return one finding per pair.

    Stored answers are not requested again.
    """
    how: _Pass[ComparisonRequest, Finding] = _Pass(
        name="contradiction",
        items="pairs",
        id="pair",
        judge=judge,
        ask=judge.compare,
        check=_checked_findings,
        kept=kept,
        answer=Finding,
        shown={one.pair: _shown_pair(one) for one in pairs},
    )
    known = how.known()
    size = PAIRS if judge.prompt_hash else max(len(pairs), 1)
    rest = [pair for pair in pairs if pair.pair not in known]
    requests = [ComparisonRequest(now=now, pairs=tuple(batch)) for batch in _batches(rest, size)]
    asked = _ask(requests, how)
    asked.answers = [*(one for own in known.values() for one in own), *asked.answers]
    return asked


def _shown_pair(one: Suspicion) -> list[object]:
    """Return what the judge sees of a pair: the reason for suspicion, and both dated statements."""
    return [
        one.why,
        *(
            [
                *(p.memory_id, p.type, p.text, p.subject, p.predicate, p.object),
                sorted([s.resource, s.captured, s.captured_from] for s in p.sources),
            ]
            for p in (one.first, one.second)
        ),
    ]


def _checked_findings(request: ComparisonRequest, given: Sequence[Finding]) -> _Checked[Finding]:
    """Accept a finding if it is the only one for its pair and contains no fault or secret."""
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
    """Return candidates in batches. Only groups that are larger than a batch are split."""
    groups: dict[str, list[Candidate]] = {}
    for one in candidates:
        groups.setdefault(beside.get(one.candidate_id, one.candidate_id), []).append(one)
    # Use the fewest batches of about equal size: 41 candidates make 21 and 20.
    even = -(-len(candidates) // max(1, -(-len(candidates) // size)))
    batches: list[list[Candidate]] = []
    for group in groups.values():
        for part in _batches(group, size):
            if not batches or len(batches[-1]) + len(part) > min(size, max(even, len(part))):
                batches.append([])
            batches[-1] += part
    return batches


def _place(candidate: Candidate) -> tuple[str, int]:
    return min(((s.resource, s.lines[0]) for s in candidate.sources), default=("", 0))


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield as few batches as possible, of about equal size: 41 items may give 21 and 20."""
    count = -(-len(items) // size)
    for n in range(count):
        yield items[n * len(items) // count : (n + 1) * len(items) // count]


def _checked_verdicts(request: PromotionRequest, given: Sequence[Verdict]) -> _Checked[Verdict]:
    found = check_verdicts(request, given)
    return _Checked(
        answers=found.verdicts, refused={r.candidate_id: r.reason for r in found.rejected}
    )


def _ask(requests: Sequence[_Request], how: _Pass[_Request, _Answer]) -> Asked[_Answer]:
    asked: Asked[_Answer] = Asked(name=how.name)
    waiting, number = [*requests], 0
    while waiting:
        request, number = waiting.pop(0), number + 1
        ids = how.ids(request)
        if asked.stopped:
            asked.left.update(ids)
            asked.batches_left += 1
            continue
        before, done = how.judge.usage, len(asked.answers)
        _one_batch(asked, number, request, how)
        if asked.too_large and len(ids) > 1 and not asked.answers and how.judge.usage == before:
            # Nothing fits the budget, and the next run would send the same. Split the question.
            asked.stopped, asked.too_large = "", False
            asked.left.difference_update(ids)
            asked.batches_left -= 1
            halves = _batches(ids, -(-len(ids) // 2))
            waiting[:0] = [how.some(request, dict.fromkeys(h, ""), again=False) for h in halves]
            continue
        how.store(asked.answers[done:], how.judge.usage.since(before))
    return asked


def _one_batch(
    asked: Asked[_Answer], number: int, request: _Request, how: _Pass[_Request, _Answer]
) -> None:
    """Send a request, ask again about refused items, and record the accepted answers."""
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
        again = _answers(asked, number, how.some(request, faults, again=True), how)
    if again is None:
        asked.left |= faults.keys()
        checked = replace(checked, refused=_without(checked.refused, faults))
    elif faults and not isinstance(again, BadReply):
        joined = _joined(request, first, again, checked.refused, how)
        checked = replace(joined, instead={**checked.instead, **joined.instead})
    stands = {id_: one for id_, one in checked.instead.items() if id_ in checked.refused}
    asked.answers += (*checked.answers, *stands.values())
    asked.refused |= _without(checked.refused, dict.fromkeys(stands, ""))
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
    """Check the answers of both attempts together, since a later one may link to an earlier one."""
    known = dict.fromkeys(how.ids(request), "")
    sound = [answer for answer in first if getattr(answer, how.id) not in refused]
    second = how.check(request, (*sound, *again))
    return replace(second, refused={**_without(refused, known), **second.refused})


def _without(refused: Mapping[str, str], ids: Mapping[str, str]) -> dict[str, str]:
    return {id_: why for id_, why in refused.items() if id_ not in ids}


def _answers(
    asked: Asked[_Answer], number: int, request: _Request, how: _Pass[_Request, _Answer]
) -> Sequence[_Answer] | BadReply | None:
    """Return a request's answers, a bad reply, or None if the judge stops answering in this run."""
    try:
        return tuple(how.ask(request))
    except BadReply as failed:
        asked.failures.append(_failure(asked, number, failed))
        return failed
    except JudgeFailed as failed:
        asked.failures.append(_failure(asked, number, failed))
        asked.stopped = failed.message
    except BudgetReached as reached:
        asked.stopped, asked.too_large = reached.message, reached.too_large
    return None


def _failure(asked: Asked[_Answer], number: int, failed: JudgeFailed) -> Failure:
    return Failure(
        name=asked.name, batch=number, reason=failed.message, raw=failed.raw, tried=failed.tried
    )

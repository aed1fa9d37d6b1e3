"""Ask the judge about items in batches, and repeat the question once for refused answers.

If the judge fails or a budget is reached, all finished batches remain valid. Items without an
answer are left for the next run. (memory-purifier lost every finished batch, its defect P2.)

Paid answers are stored until the run lands. The key of an answer consists of the text of its item,
the prompts and the judge's name. If any of these changes, the item is judged again. Elapsed days do
not affect the key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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
from memrepo.judges.passes import CheckedAnswers, check_claims, check_verdicts, with_postures
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


class AnswerStore(Protocol):
    """A store that keeps a judge's paid answers from one run to the next."""

    @property
    def unbilled(self) -> Usage:
        """Return the cost of stored answers that no run's manifest has recorded yet."""

    def find(self, key: str) -> Mapping[str, object] | None:
        """Return the stored record for an answer's key, or None."""

    def keep(self, answers: Mapping[str, Mapping[str, object]], usage: Usage) -> None:
        """Store the answers to one question by key, together with the question's cost."""


class Asking(msgspec.Struct, frozen=True, kw_only=True):
    """The settings for asking the judge.

    `local_now` is `now` in the repository's time zone, which determines today's date. `by_object`
    is whether the object distinguishes claims with the same subject and predicate. `stored` is None
    if the judge costs nothing.
    """

    judge: Judge
    now: datetime
    local_now: datetime
    profile: Profile = "personal"
    by_object: bool = True
    stored: AnswerStore | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """A failed question: its pass, its batch number (from 1), the reason, and the judge's reply.

    `tried` has the reason for each attempt to parse the reply that failed.
    """

    name: str
    batch: int
    reason: str
    raw: str = ""
    tried: tuple[str, ...] = ()


class PassResult(msgspec.Struct, Generic[_T], kw_only=True):
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

    def join(self, other: PassResult[Any]) -> None:
        """Add the failures and batch counts of another pass to this result."""
        self.failures += other.failures
        self.stopped = self.stopped or other.stopped
        self.batches_done += other.batches_done
        self.batches_left += other.batches_left

    def fail(self, batch: int, failed: JudgeFailed) -> None:
        """Record a failed question."""
        self.failures.append(
            Failure(
                name=self.name,
                batch=batch,
                reason=failed.message,
                raw=failed.raw,
                tried=failed.tried,
            )
        )


class _Pass(msgspec.Struct, Generic[_Request, _Answer], frozen=True, kw_only=True):
    """One kind of question, with the functions that send it and check its answers.

    `items` names the request field that contains the items. `id` names the field that identifies an
    item and its answers. `shown` maps the id of each item to the data shown to the judge.
    """

    name: str
    items: str
    id: str
    judge: Judge
    ask: Callable[[_Request], Sequence[_Answer]]
    check: Callable[[_Request, Sequence[_Answer]], CheckedAnswers[_Answer]]
    stored: AnswerStore | None
    answer: type[_Answer]
    shown: Mapping[str, object]

    def ids(self, request: _Request) -> list[str]:
        """Return the ids of the items in a request."""
        return [getattr(item, self.id) for item in getattr(request, self.items)]

    def some(self, request: _Request, ids: Collection[str], **faults: object) -> _Request:
        """Return a copy of a request that contains only some items, with `faults` if given."""
        items = tuple(i for i in getattr(request, self.items) if getattr(i, self.id) in ids)
        more: dict[str, Any] = {self.items: items, "faults": {}, **faults}
        return replace(request, **more)  # type: ignore[type-var]

    def known(self) -> dict[str, list[_Answer]]:
        """Return the stored answers, grouped by item id.

        A damaged record is ignored, so its item is judged again.
        """
        found: dict[str, list[_Answer]] = {}
        for id_, shown in self.shown.items() if self.stored else ():
            record = self.stored.find(self._key(shown)) if self.stored else None
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
        if self.stored is not None:
            rows: dict[str, dict[str, list[object]]] = {}
            for one in answers:
                key = self._key(self.shown[getattr(one, self.id)])
                rows.setdefault(key, {"answers": []})["answers"].append(msgspec.to_builtins(one))
            self.stored.keep(rows, usage)

    def _key(self, shown: object) -> str:
        return digest([self.name, self.judge.name, self.judge.prompt_hash, shown])


def ask_promotions(candidates: Sequence[Candidate], asking: Asking) -> PassResult[Verdict]:
    """Ask for verdicts on all candidates (Pass 1). Return the verdicts, sorted by candidate id.

    A model gets the candidates in line order, rules get them in id order.
    """
    judge = asking.judge
    how: _Pass[PromotionRequest, Verdict] = _Pass(
        name="promotion",
        items="candidates",
        id="candidate_id",
        judge=judge,
        ask=judge.promote,
        check=check_verdicts,
        stored=asking.stored,
        answer=Verdict,
        shown={c.candidate_id: [asking.profile, _shown(c)] for c in candidates},
    )
    known = {id_: rows[0] for id_, rows in how.known().items()}
    # A stored verdict that links to a candidate without a stored verdict is judged again.
    while loose := [
        id_
        for id_, v in known.items()
        if not known.keys() >= {*v.merge_with, *filter(None, (v.compress_into,))}
    ]:
        for id_ in loose:
            del known[id_]
    rest = [c for c in candidates if c.candidate_id not in known]
    # A model reads each line after the line above it.
    rest.sort(key=lambda c: (_place(c) if judge.prompt_hash else (), c.candidate_id))
    requests = [
        PromotionRequest(profile=asking.profile, now=asking.local_now, candidates=tuple(batch))
        for batch in _batches(rest, judge.batch[0])
    ]
    asked = _ask(requests, how)
    asked.answers = sorted((*known.values(), *asked.answers), key=lambda v: v.candidate_id)
    return asked


def _shown(c: Candidate) -> list[object]:
    """Return those fields of a candidate that the judge sees."""
    return [
        *(c.candidate_id, c.text, list(c.context), c.type_hint, c.key, c.value, c.task),
        *(c.captured, c.days, c.resources),
    ]


Choose = Callable[[Sequence[Cluster]], Sequence[PriorClaim]]
"""Choose the prior claims to show with the clusters of one request."""


def ask_claims(
    groups: Sequence[Cluster], choose: Choose, asking: Asking
) -> PassResult[CanonicalClaim]:
    """Ask for the claims of all clusters (Pass 2), and verify the wordings written by a model.

    Return the claims in the order of the clusters.
    """
    judge = asking.judge
    priors = {g.cluster_id: choose([g]) for g in groups} if asking.stored is not None else {}
    words = _Wording(asking, groups, priors)
    known = words.how.known()
    rest = [g for g in groups if g.cluster_id not in known]
    if judge.prompt_hash:  # a model reads clusters in line order
        rest.sort(key=lambda g: (min(map(_place, g.candidates)), g.cluster_id))
    requests = [words.request(batch, choose(batch)) for batch in _batches(rest, judge.batch[1])]
    words.priors |= {c.cluster_id: r.priors for r in requests for c in r.clusters}
    asked = _ask(requests, words.how)
    asked.answers += (with_postures(claim) for own in known.values() for claim in own)
    if judge.prompt_hash:
        _verify(asked, words)
    order = {g.cluster_id: n for n, g in enumerate(groups)}
    asked.answers.sort(key=lambda c: order[c.cluster_id])
    return asked


class _Wording:
    """The requests for claims and their checks, used for the first and the second attempt."""

    def __init__(
        self,
        asking: Asking,
        groups: Sequence[Cluster],
        priors: Mapping[str, Sequence[PriorClaim]],
    ) -> None:
        self.judge, self.asking = asking.judge, asking
        self.clusters = {g.cluster_id: g for g in groups}
        self.priors = dict(priors)
        self._near = _neighbours(groups) if self.judge.prompt_hash else {}
        self._grounds: dict[str, Grounds] = {}
        self.how: _Pass[CanonicalRequest, CanonicalClaim] = _Pass(
            name="purifier",
            items="clusters",
            id="cluster_id",
            judge=self.judge,
            ask=self.judge.canonicalise,
            check=self._checked,
            stored=asking.stored,
            answer=CanonicalClaim,
            shown={
                g.cluster_id: [
                    *(asking.profile, g.cluster_id, g.strength, g.type_hint, list(g.tags)),
                    [_shown(c) for c in g.candidates],
                    sorted([p.memory_id, p.text, p.standing] for p in priors[g.cluster_id]),
                ]
                for g in groups
                if g.cluster_id in priors
            },
        )

    def request(
        self,
        groups: Sequence[Cluster],
        priors: Sequence[PriorClaim],
        faults: Mapping[str, str] | None = None,
    ) -> CanonicalRequest:
        """Return the request for the claims of some clusters."""
        asking = self.asking
        return CanonicalRequest(
            profile=asking.profile,
            now=asking.local_now,
            clusters=tuple(groups),
            priors=priors,
            faults=faults or {},
        )

    def again(self, faults: Mapping[str, str]) -> list[CanonicalRequest]:
        """Return requests that repeat the question for the clusters in `faults`, with the fault."""
        found = []
        for ids in _batches(sorted(faults), self.judge.batch[1]):
            priors = {prior.memory_id: prior for id_ in ids for prior in self.priors[id_]}
            found.append(
                self.request(
                    [self.clusters[id_] for id_ in ids],
                    tuple(priors.values()),
                    faults={id_: faults[id_] for id_ in ids},
                )
            )
        return found

    def grounds(self, cluster_id: str) -> Grounds:
        """Return the texts on which the claims of a cluster may be based."""
        if cluster_id not in self._grounds:
            self._grounds[cluster_id] = grounds_of(
                self.clusters[cluster_id], self.priors[cluster_id], self._near[cluster_id]
            )
        return self._grounds[cluster_id]

    def quote(
        self, given: Sequence[CanonicalClaim], cluster_id: str, why: str
    ) -> CanonicalClaim | None:
        """Return a claim that quotes a cluster's evidence, or None if such a claim is invalid.

        It has the type of the first refused claim.
        """
        cluster = self.clusters[cluster_id]
        first = next((c for c in given if c.cluster_id == cluster_id), None)
        text = _evidence_of(cluster)
        if first is None or not text:
            return None
        kind = first.type if first.type in CLAIM_TYPES else cluster.type_hint
        if kind not in CLAIM_TYPES:
            return None
        claim = replace(
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
        (request,) = self.again({cluster_id: ""})
        is_valid = bool(check_claims(request, [claim]).answers)
        return replace(with_postures(claim), refused=why) if is_valid else None

    def _checked(
        self, request: CanonicalRequest, given: Sequence[CanonicalClaim]
    ) -> CheckedAnswers[CanonicalClaim]:
        found = check_claims(
            request,
            given,
            grounds=self.grounds if self.judge.prompt_hash else None,
            quote=lambda id_, why: self.quote(given, id_, why),
        )
        again = bool(request.faults)
        return replace(found, answers=tuple(replace(c, asked_again=again) for c in found.answers))


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


def _neighbours(groups: Sequence[Cluster]) -> dict[str, tuple[str, ...]]:
    """Map each cluster id to the texts of nearby candidates and the headings of its files.

    A first heading often names the subject of the whole file, which later lines only call "it".
    """
    lines: dict[tuple[str, int], tuple[str, str]] = {}
    headings: dict[str, dict[str, None]] = {}
    for group in groups:
        for one in group.candidates:
            lines[_place(one)] = (group.cluster_id, one.text)
            headings.setdefault(_place(one)[0], {}).update(dict.fromkeys(one.context))
    found: dict[str, tuple[str, ...]] = {}
    for group in groups:
        texts: dict[str, None] = {}
        for one in group.candidates:
            resource, line = _place(one)
            for near in range(line - NEIGHBOUR_LINES, line + NEIGHBOUR_LINES + 1):
                owner, text = lines.get((resource, near), (group.cluster_id, ""))
                if owner != group.cluster_id:
                    texts[text] = None
            texts |= headings[resource]
        found[group.cluster_id] = tuple(texts)
    return found


def _verify(asked: PassResult[CanonicalClaim], words: _Wording) -> None:
    """Ask whether the evidence supports each claim's wording. Ask again for claims that fail.

    A claim that fails twice is replaced by a quotation of the evidence. A claim without an answer
    from the judge remains open.
    """
    given = {c.cluster_id: c for c in asked.answers}
    faults = _take_unsupported(asked, words)
    if not faults or asked.stopped:
        asked.left |= faults.keys()
        return
    first = {id_: why for id_, why in faults.items() if not given[id_].asked_again}
    second = _ask(words.again(first), words.how)
    twice = _take_unsupported(second, words)
    refused = second.refused | twice | _without(faults, first)
    quotes = [c for id_, why in refused.items() if (c := words.quote([given[id_]], id_, why))]
    words.how.store(quotes, Usage())
    asked.answers += (*second.answers, *quotes)
    asked.refused |= _without(refused, {c.cluster_id for c in quotes})
    asked.left |= second.left
    asked.join(second)


def _take_unsupported(asked: PassResult[CanonicalClaim], words: _Wording) -> dict[str, str]:
    """Remove the claims from the answers that evidence does not support. Return why, by cluster.

    Claims that could not be verified are removed too, and remain open.
    """
    checks: dict[str, list[WordingCheck]] = {}
    texts: dict[str, str] = {}
    for claim in asked.answers:
        id_ = claim.cluster_id
        if claim.refused:
            continue  # a quotation of the evidence
        if (check := check_of(claim, words.grounds(id_), words.priors[id_])) is not None:
            checks.setdefault(id_, []).append(check)
            texts[check.check_id] = " ".join(claim.wording.text.split())[:300]
    found = ask_checks([check for own in checks.values() for check in own], words.asking)
    asked.join(found)
    assessments = {a.check_id: a for a in found.answers}
    faults: dict[str, str] = {}
    waiting: set[str] = set()
    for id_, own in checks.items():
        for key in (check.check_id for check in own):
            if key in found.left:
                waiting.add(id_)
            elif key in found.refused:
                faults[id_] = f"it was not verified: {found.refused[key]}"
            elif not (answer := assessments[key]).stated:
                why = answer.reason or "not what it states"
                faults[id_] = f"{why} (your text was: {texts[key]})"
    asked.left |= waiting
    asked.answers = [c for c in asked.answers if c.cluster_id not in waiting | faults.keys()]
    return _without(faults, waiting)


def check_of(
    claim: CanonicalClaim, grounds: Grounds, priors: Sequence[PriorClaim]
) -> WordingCheck | None:
    """Return the question that verifies a claim, or None if the claim needs no verification.

    A claim that quotes its evidence needs none, if its other fields use only shown words.
    """
    if claim.drop:
        return None
    if prior := named(priors, claim.restates):
        return WordingCheck(
            evidence=(prior.text,),
            context=tuple(filter(None, (prior.subject, prior.under))),
            wording=tuple(("text", text) for text in grounds.evidence),
        )
    shown = content_words(" ".join((*grounds.evidence, *grounds.context)))
    fields = [*fields_of(claim)]
    others = " ".join(text for name, text in fields if name != "text")
    is_quoted = claim.wording.text in grounds.evidence and content_words(others) <= shown
    if is_quoted and not claim.restates:
        return None
    wording = [(name, text) for name, text in fields if text and name != "tags"]
    if claim.tags:
        wording.append(("tags", ", ".join(claim.tags)))
    capitalised = (word for _, text in wording for word in text.split() if not word.islower())
    outside = content_words(" ".join(capitalised)) - shown
    known = [text for text in grounds.beyond if not outside.isdisjoint(content_words(text))]
    return WordingCheck(
        evidence=grounds.evidence,
        context=grounds.context,
        known=tuple(known[:MAX_KNOWN_LINES]),
        stated_on=max(grounds.days, default=""),
        wording=tuple(wording),
    )


def ask_checks(checks: Sequence[WordingCheck], asking: Asking) -> PassResult[Assessment]:
    """Ask whether the evidence supports each wording. Return one assessment per wording."""
    every = {check.check_id: check for check in checks}
    how: _Pass[VerificationRequest, Assessment] = _Pass(
        name="verification",
        items="checks",
        id="check_id",
        judge=asking.judge,
        ask=asking.judge.verify,
        check=_checked_assessments,
        stored=asking.stored,
        answer=Assessment,
        shown={id_: [id_, check.stated_on] for id_, check in every.items()},
    )
    # The order must not depend on which answers were stored.
    return _ask_rest(
        sorted(every),
        CHECKS,
        how,
        lambda ids: VerificationRequest(
            now=asking.local_now, checks=tuple(every[id_] for id_ in ids)
        ),
    )


def _checked_assessments(
    request: VerificationRequest, given: Sequence[Assessment]
) -> CheckedAnswers[Assessment]:
    """Accept one assessment per wording. If several differ, the wording counts as unsupported."""
    answers: dict[str, Assessment] = {}
    refused = {}
    for id_, own in _by_id([c.check_id for c in request.checks], given, "check_id").items():
        if why := next((a.fault or secret_fault(a.reason) for a in own), "no answer"):
            refused[id_] = why
        else:
            answers[id_] = min(own, key=lambda a: a.stated)
    return CheckedAnswers(answers=tuple(answers.values()), refused=refused)


def ask_pairs(pairs: Sequence[Suspicion], asking: Asking) -> PassResult[Finding]:
    """Ask which pairs of statements contradict each other. Return one finding per pair."""
    every = {one.pair: one for one in pairs}
    how: _Pass[ComparisonRequest, Finding] = _Pass(
        name="contradiction",
        items="pairs",
        id="pair",
        judge=asking.judge,
        ask=asking.judge.compare,
        check=_checked_findings,
        stored=asking.stored,
        answer=Finding,
        shown={id_: _shown_pair(one) for id_, one in every.items()},
    )
    return _ask_rest(
        list(every),
        PAIRS if asking.judge.prompt_hash else max(len(pairs), 1),
        how,
        lambda ids: ComparisonRequest(now=asking.local_now, pairs=tuple(every[id_] for id_ in ids)),
    )


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


def _checked_findings(
    request: ComparisonRequest, given: Sequence[Finding]
) -> CheckedAnswers[Finding]:
    """Accept a finding if it is the only one for its pair and contains no fault or secret."""
    answers, refused = [], {}
    for id_, own in _by_id([p.pair for p in request.pairs], given, "pair").items():
        if len(own) != 1:
            refused[id_] = f"answered {len(own)} times" if own else "no finding"
        elif why := own[0].fault or secret_fault(own[0].reasoning, own[0].still):
            refused[id_] = why
        else:
            answers += own
    return CheckedAnswers(answers=tuple(answers), refused=refused)


def _by_id(ids: Iterable[str], given: Sequence[_T], name: str) -> dict[str, list[_T]]:
    """Group answers by item id. Answers about unknown items are ignored."""
    found: dict[str, list[_T]] = {id_: [] for id_ in ids}
    for one in given:
        if (id_ := getattr(one, name)) in found:
            found[id_].append(one)
    return found


def _place(candidate: Candidate) -> tuple[str, int]:
    return min(((s.resource, s.lines[0]) for s in candidate.sources), default=("", 0))


def _batches(items: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    """Yield as few batches as possible, of about equal size: 41 items may give 21 and 20."""
    count = -(-len(items) // size)
    for n in range(count):
        yield items[n * len(items) // count : (n + 1) * len(items) // count]


def _ask_rest(
    ids: Sequence[str],
    size: int,
    how: _Pass[_Request, _Answer],
    request: Callable[[Sequence[str]], _Request],
) -> PassResult[_Answer]:
    """Ask about the items without a stored answer. Return the stored and the new answers."""
    known = how.known()
    rest = [id_ for id_ in ids if id_ not in known]
    asked = _ask([request(batch) for batch in _batches(rest, size)], how)
    asked.answers = [*(one for own in known.values() for one in own), *asked.answers]
    return asked


def _ask(requests: Sequence[_Request], how: _Pass[_Request, _Answer]) -> PassResult[_Answer]:
    asked: PassResult[_Answer] = PassResult(name=how.name)
    waiting, number = [*requests], 0
    while waiting:
        request, number = waiting.pop(0), number + 1
        ids = how.ids(request)
        if asked.stopped:
            asked.left.update(ids)
            asked.batches_left += 1
            continue
        before, done = how.judge.usage, len(asked.answers)
        _ask_batch(asked, number, request, how)
        if asked.too_large and len(ids) > 1 and not asked.answers and how.judge.usage == before:
            # Nothing fits the budget, and the next run would send the same. Split the question.
            asked.stopped, asked.too_large = "", False
            asked.left.difference_update(ids)
            asked.batches_left -= 1
            waiting[:0] = [how.some(request, half) for half in _batches(ids, -(-len(ids) // 2))]
            continue
        how.store(asked.answers[done:], how.judge.usage.since(before))
    return asked


def _ask_batch(
    asked: PassResult[_Answer], number: int, request: _Request, how: _Pass[_Request, _Answer]
) -> None:
    """Send a request, ask again about refused items, and record the accepted answers."""
    known = frozenset(how.ids(request))
    given = _answers(asked, number, request, how)
    if given is None:
        asked.left |= known
        asked.batches_left += 1
        return
    if isinstance(given, BadReply):
        checked: CheckedAnswers[_Answer] = CheckedAnswers(
            answers=(), refused=dict.fromkeys(known, given.message)
        )
    else:
        checked = how.check(request, given)
    faults = {id_: why for id_, why in checked.refused.items() if id_ in known}
    again: Sequence[_Answer] | BadReply | None = ()
    if faults:
        again = _answers(asked, number, how.some(request, faults, faults=faults), how)
    if again is None:
        asked.left |= faults.keys()
        checked = replace(checked, refused=_without(checked.refused, faults))
    elif faults and not isinstance(again, BadReply):
        # Check the answers of both attempts together: a later one may link to an earlier one.
        first: Sequence[_Answer] = () if isinstance(given, BadReply) else given
        sound = [one for one in first if getattr(one, how.id) not in checked.refused]
        second = how.check(request, (*sound, *again))
        checked = replace(
            second,
            refused={**_without(checked.refused, known), **second.refused},
            instead={**checked.instead, **second.instead},
        )
    instead = {id_: one for id_, one in checked.instead.items() if id_ in checked.refused}
    asked.answers += (*checked.answers, *instead.values())
    asked.refused |= _without(checked.refused, instead)
    if isinstance(given, BadReply) and (again is None or isinstance(again, BadReply)):
        asked.batches_left += 1
    else:
        asked.batches_done += 1


def _without(refused: Mapping[str, str], ids: Collection[str]) -> dict[str, str]:
    return {id_: why for id_, why in refused.items() if id_ not in ids}


def _answers(
    asked: PassResult[_Answer], number: int, request: _Request, how: _Pass[_Request, _Answer]
) -> Sequence[_Answer] | BadReply | None:
    """Return a request's answers, a bad reply, or None if the judge stops answering in this run."""
    try:
        return tuple(how.ask(request))
    except BadReply as failed:
        asked.fail(number, failed)
        return failed
    except JudgeFailed as failed:
        asked.fail(number, failed)
        asked.stopped = failed.message
    except BudgetReached as reached:
        asked.stopped, asked.too_large = reached.message, reached.too_large
    return None

"""The judge that needs no model: documented rules, the same answer every time.

It scores by named signals (`judges.scores`), words a claim with the evidence's own text and reads
triples in three shapes (`judges.wording`), and takes the type from the words, with the kind of the
source as prior. Two statements are opposites only where they are equal but for one turn of a word:
other names, numbers and nouns make other statements ("likes tea" and "likes coffee" both hold).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.ids import normalise
from memrepo.core.judge import (
    Assessment,
    Candidate,
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
    ComparisonRequest,
    Finding,
    GistRequest,
    Profile,
    PromotionRequest,
    PromotionScores,
    Summary,
    SummaryRequest,
    Suspicion,
    Usage,
    Verdict,
    VerdictWord,
    VerificationRequest,
    Wording,
)
from memrepo.core.memory import Gist
from memrepo.core.patterns import regex
from memrepo.judges import sameness, wordlists
from memrepo.judges.kinds import has_address, heading_kind, kind_of, opens_with_step
from memrepo.judges.pointers import pointed, told_by
from memrepo.judges.scores import is_hedged, measure, score
from memrepo.judges.statements import parts_of, steps_of, whole
from memrepo.judges.successions import (
    CONTESTED_CONFIDENCE,
    Said,
    Succession,
    succession,
    two_values,
    values_by_key,
)
from memrepo.judges.wording import (
    Triple,
    cap,
    extract,
    lead_of,
    read_document,
    read_triple,
    split_title,
    stated,
    tidy,
)
from memrepo.policies.gists import gist_of
from memrepo.policies.matching import PriorIndex, tokens
from memrepo.policies.summaries import summary_of
from memrepo.purify.decisions import noticed
from memrepo.purify.leads import answer_of
from memrepo.purify.passes import with_postures
from memrepo.purify.routes import affinity, recast, route

_TURNS = frozenset(
    "not no never cannot can don doesn didn isn aren won wasn t do does did longer any more"
    " nicht kein keine keinen nie mehr".split()
)
"""Words of a negation, with the auxiliaries that English takes for it."""
_PAIRS = """
love hate, love dislike, like dislike, like hate, enjoy hate, prefer avoid, want refuse,
enable disable, enabled disabled, allow forbid, allowed forbidden, accept reject, open closed,
open shut, on off, always never, start stop, started stopped, win lose, true false, married single,
vegetarian carnivore, early late, public private, liebt hasst, mag hasst, immer nie, an aus,
erlaubt verboten, offen geschlossen
"""


def _stem(word: str) -> str:
    """Return a word without the s of the third person."""
    plain = len(word) > 3 and word.endswith("s") and word[-2] not in "siu"
    return word[:-1] if plain else word


_OPPOSITES = frozenset(
    frozenset(map(_stem, pair.split()))
    for pair in _PAIRS.replace("\n", " ").split(",")
    if pair.split()
)


def opposed(one: str, other: str) -> str:
    """Return how two texts contradict each other, or an empty string."""
    first, second = _stems(one), _stems(other)
    if first ^ second in _OPPOSITES:
        return "the same statement with the opposite word"
    negated = [bool(wordlists.NEGATION.search(normalise(text))) for text in (one, other)]
    if negated[0] != negated[1] and first - _TURNS == second - _TURNS and first - _TURNS:
        return "the same statement, once negated"
    return ""


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(_stem, tokens(text)))


BATCH = 10**9  # rules have no context window
REJECT_AT, DEFER_BELOW, RESOLVED_FROM, NOISE_AT = 0.5, 1.5, 2.0, 0.8
TITLE_LENGTH = 120
DOCUMENTS = ("episode", "method", "procedure")  # hints whose unit is a titled document
_HASHTAG = regex(
    r"(?<![\w/#&(:\"'`])#(?!(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b)([^\W\d_][\w-]{1,40})"
)
"""A tag as people write it; `#fff` is a colour."""


class OfflineJudge(msgspec.Struct, frozen=True):
    """Judge both passes by rules; implements `core.judge.Judge`."""

    @property
    def name(self) -> str:
        """Return the name and version of the rules."""
        return "offline/1"

    @property
    def batch(self) -> tuple[int, int]:
        """Return that any number fits in one request."""
        return BATCH, BATCH

    @property
    def usage(self) -> Usage:
        """Return that rules cost nothing."""
        return Usage()

    @property
    def prompt_hash(self) -> str:
        """Return that rules have no prompt."""
        return ""

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1: one verdict a candidate, in the request's order.

        Merge goes before promote, and compress before anything that is not resolved by itself
        (memory-purifier, Pass 1, which leaves open what "weak" is: here a strength below 2.0).
        """
        scored = {c.candidate_id: score(c) for c in request.candidates}
        words = {key: word_of(scores) for key, (scores, _) in scored.items()}
        strengths = {key: scores.strength for key, (scores, _) in scored.items()}
        merges = sameness.equal_groups(
            [c for c in request.candidates if words[c.candidate_id] != "reject"], words
        )
        promoted = {key for key, word in words.items() if word == "promote"}
        fuller_of = sameness.fuller_texts(request.candidates, promoted)
        for key, fuller in (fuller_of | pointed(request.candidates, promoted)).items():
            merges[key] = tuple(sorted({*merges.get(key, ()), fuller}))
            merges[fuller] = tuple(sorted({*merges.get(fuller, ()), key}))
        surviving = promoted | merges.keys()
        weak = {
            key
            for key, (scores, _) in scored.items()
            if scores.strength < RESOLVED_FROM and key not in merges and sameness.may_fold(scores)
        }
        folded = sameness.fold_targets(request.candidates, weak, surviving, strengths)
        return tuple(
            _verdict(c, *scored[c.candidate_id], words[c.candidate_id], merges, folded)
            for c in request.candidates
        )

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2: a claim for each statement of a cluster, in the request's order."""
        told = map(told_by, request.clusters)
        drafts = [d for cluster in told for d in _drafts(cluster, request.profile)]
        values = values_by_key((d.said for d in drafts), PriorIndex(request.priors))
        claims = [_claim(d, succession(d.said, values), request) for d in drafts]
        standing = sameness.Standing(request.priors, len(claims))
        return tuple(
            claim if draft.quote else _restating(claim, draft.said.cluster, standing)
            for draft, claim in zip(drafts, claims, strict=True)
        )

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Say that evidence states each wording: rules word with words of the evidence only."""
        return [Assessment(check_id=one.check_id, stated=True) for one in request.checks]

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Answer each pair by itself."""
        return [replace(_compared(one), pair=one.pair) for one in request.pairs]

    def gist(self, request: GistRequest) -> Gist:
        """Return the note's heading, its tags and its most telling sentences."""
        return gist_of(request.note)

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return the most telling sentences of the memories, and the names in them."""
        return summary_of(request.topic, request.memories)


def _compared(suspicion: Suspicion) -> Finding:
    """Flag what its own rules named, and statements that differ in a negation or an opposite.

    Sure of a change that the newer statement tells itself, and of two values of one matter
    where the days are explicit; else two statements are left to a person.
    """
    match suspicion.why:
        case "claimed" | "replaced":
            return _unsure(suspicion.reason, found=True)
        case "changed":
            found = noticed(suspicion.first, suspicion.second)
            return found.finding if found else _unsure("")
        case "same_key":
            return two_values(suspicion.first, suspicion.second)
        case "similar":
            return _unsure(opposed(suspicion.first.text, suspicion.second.text))


def _unsure(why: str, *, found: bool = False) -> Finding:
    return Finding(
        is_contradiction=found or bool(why), confidence=CONTESTED_CONFIDENCE, reasoning=why
    )


def word_of(scores: PromotionScores) -> VerdictWord:
    """Return the verdict of scores alone: reject, defer or promote.

    Noise of 0.8 or a strength of 0.5 and below is rejected, below 1.5 deferred; 1.5 to 2.0 is
    promoted and stands unresolved in Pass 2 (the lineage has no rule for that interval).
    """
    if scores.noise_risk >= NOISE_AT or scores.strength <= REJECT_AT:
        return "reject"
    return "defer" if scores.strength < DEFER_BELOW else "promote"


def _verdict(
    candidate: Candidate,
    scores: PromotionScores,
    codes: tuple[str, ...],
    word: VerdictWord,
    merges: Mapping[str, tuple[str, ...]],
    folded: Mapping[str, str],
) -> Verdict:
    key = candidate.candidate_id
    if key in merges:
        word, codes = "merge", (*codes, "equal_text")
    elif key in folded:
        word, codes = "compress", (*codes, "said_more_fully")
    elif word == "promote" and scores.strength < RESOLVED_FROM:
        codes = (*codes, "unresolved")
    return Verdict(
        candidate_id=key,
        scores=scores,
        strength=scores.strength,
        verdict=word,
        rationale=",".join(codes),
        merge_with=merges.get(key, ()),
        compress_into=folded.get(key, ""),
    )


def spokesman_of(cluster: Cluster) -> Candidate:
    """Return the member whose text words the claim: longest, then newest, then smallest id.

    Where one kind of source says what the cluster is, the others only support it.
    """
    own = [c for c in cluster.candidates if c.type_hint == cluster.type_hint]
    members = sorted(own or cluster.candidates, key=lambda c: c.candidate_id)
    return max(members, key=lambda c: (len(tidy(c.text)), c.captured))


class _Draft(msgspec.Struct, frozen=True, kw_only=True):
    """What a cluster says before priors are considered."""

    said: Said
    type: str
    code: str
    wording: Wording
    tags: tuple[str, ...]
    quote: str = ""


def _drafts(cluster: Cluster, profile: Profile) -> list[_Draft]:
    """Return what a cluster says, one draft a statement."""
    spokesman = spokesman_of(cluster)
    if cluster.type_hint == "episode":
        return [_draft(cluster, spokesman, profile)]
    if spokesman.detail:
        return [_draft(cluster, spokesman, profile)]
    parts = (steps_of if cluster.type_hint in DOCUMENTS else parts_of)(spokesman)
    whole = _draft(cluster, spokesman, profile)
    if len(parts) == 1:  # it said one thing several times
        return [_draft(cluster, parts[0].candidate, profile)]
    made = [replace(_draft(cluster, p.candidate, profile), quote=p.quote) for p in parts]
    return [_under(one, whole, cluster) for one in made] or [whole]


def _under(part: _Draft, whole: _Draft, cluster: Cluster) -> _Draft:
    """Give a part what only the whole says: the type of a document, and who a sentence is about."""
    if cluster.type_hint in DOCUMENTS:
        return replace(part, type=whole.type, code=whole.code)
    if part.said.triple.shape == 3 and whole.said.triple.shape == 2:
        subject = whole.said.triple.subject
        return replace(
            part,
            wording=replace(part.wording, subject=subject),
            said=replace(part.said, triple=replace(part.said.triple, subject=subject)),
        )
    return part


def _draft(cluster: Cluster, spokesman: Candidate, profile: Profile) -> _Draft:
    kind, code = _kind(cluster, spokesman)
    kind = recast(kind, profile)
    wording, triple = _word(spokesman, cluster.type_hint)
    return _Draft(
        said=Said(triple=triple, home=route(kind, profile), cluster=cluster),
        type=kind,
        code=code,
        wording=wording,
        tags=tuple(dict.fromkeys(tag.lower() for tag in _HASHTAG.findall(spokesman.text))),
    )


def _kind(cluster: Cluster, spokesman: Candidate) -> tuple[str, str]:
    """Return the type of a cluster; its detail explains and decides nothing.

    What a profile says right under its title is who somebody is, and numbered steps are steps.
    """
    said = stated(spokesman)
    listed = opens_with_step(spokesman.detail) and not said
    if listed and cluster.type_hint == "fact":
        return heading_kind("", spokesman.context[-1:]) or "procedure", "type_steps"
    text, key = tidy(said or spokesman.text), lead_of(spokesman)[0]
    if (answer := answer_of(spokesman.detail if said else "")) is not None:
        text, key = tidy(answer), ""
    kind, code = kind_of(
        text,
        hint=cluster.type_hint,
        key=key,
        task=spokesman.task,
        context=spokesman.context,
    )
    files = {s.resource.rsplit("/", 1)[-1] for s in spokesman.sources}
    if (
        code == "type_default"
        and (files == {"IDENTITY.md"} or (files == {"USER.md"} and len(spokesman.context) < 2))
        and not has_address(text)
    ):
        return "identity", "type_source"
    return kind, code


def _word(spokesman: Candidate, hint: str) -> tuple[Wording, Triple]:
    """Return the wording in the evidence's own text and its context's, and the triple it holds."""
    if hint in DOCUMENTS and not spokesman.detail:
        title, body = split_title(tidy(spokesman.text))
        triple = read_document(spokesman)
        text = extract(body)
        return Wording(text=text, subject=triple.subject, title=cap(title, TITLE_LENGTH)), triple
    triple = read_triple(spokesman)
    statement = stated(spokesman)
    lead, text = whole(replace(spokesman, text=statement))
    return Wording(
        text=text,
        subject=triple.subject,
        predicate=triple.predicate,
        object=triple.object,
        lead=lead,
    ), triple


def _claim(draft: _Draft, found: Succession, request: CanonicalRequest) -> CanonicalClaim:
    cluster, said = draft.said.cluster, draft.said
    hedged = is_hedged(draft.wording.text) and cluster.type_hint not in DOCUMENTS
    claim = CanonicalClaim(
        cluster_id=cluster.cluster_id,
        type=draft.type,
        standing=_standing(draft.type, cluster.strength, hedged, found),
        wording=draft.wording,
        home=said.home,
        scores=measure(said, draft.type, found, now=request.now, hedged=hedged),
        tags=draft.tags,
        contradictions=found.contradictions,
        supersedes=found.supersedes,
        rationale=",".join(filter(None, (draft.code, f"shape_{said.triple.shape}", found.code))),
        route_rationale=affinity(draft.type, said.home),
        quote=draft.quote,
    )
    return with_postures(claim)


def _restating(
    claim: CanonicalClaim, cluster: Cluster, standing: sameness.Standing
) -> CanonicalClaim:
    """Let the evidence of a claim join the memory of another file that says the same."""
    if claim.supersedes or claim.contradictions or cluster.type_hint in DOCUMENTS:
        return claim
    if not (same := standing.says(spokesman_of(cluster))):
        return claim
    return replace(claim, restates=same, rationale=f"{claim.rationale},said_before")


def _standing(kind: str, strength: float, hedged: bool, found: Succession) -> str:
    """Contradictions first, then age, then doubt: strength under 2.0, a hedge, an open question."""
    if found.contradictions:
        return found.contradictions[0].relation
    if found.overtaken:
        return "stale"
    doubtful = strength < RESOLVED_FROM or hedged or kind == "open_question"
    return "unresolved" if doubtful else "resolved"

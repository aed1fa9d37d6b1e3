"""The judge that needs no model: documented rules, the same answer every time.

It scores by named signals (`judges.signals`), words a claim with the evidence's own text
(`judges.wording`) and reads triples in three shapes (`judges.triples`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec.structs import replace

from memrepo.core.judging import (
    Candidate,
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
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
    Wording,
)
from memrepo.core.memory import Gist
from memrepo.core.patterns import regex
from memrepo.judges import folding
from memrepo.judges.kinds import kind_of
from memrepo.judges.leads import whole
from memrepo.judges.measures import measure
from memrepo.judges.opposites import opposed
from memrepo.judges.parting import parts_of, steps_of
from memrepo.judges.signals import is_hedged, score
from memrepo.judges.successions import (
    CONTESTED_CONFIDENCE,
    Said,
    Succession,
    succession,
    two_values,
    values_by_key,
)
from memrepo.judges.triples import Triple, lead_of, read_document, read_triple
from memrepo.judges.wording import cap, extract, split_title, tidy
from memrepo.policies.gists import gist_of
from memrepo.policies.matching import PriorIndex
from memrepo.policies.summaries import summary_of
from memrepo.purify.noticing import noticed
from memrepo.purify.pass2 import with_postures
from memrepo.purify.routing import affinity, recast, route

BATCH = 10**9  # rules have no context window
REJECT_AT, DEFER_BELOW, RESOLVED_FROM, NOISE_AT = 0.5, 1.5, 2.0, 0.8
TITLE_LENGTH = 120
DOCUMENTS = ("episode", "method", "procedure")  # hints whose unit is a titled document
_HASHTAG = regex(
    r"(?<![\w/#&(:\"'`])#(?!(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b)([^\W\d_][\w-]{1,40})"
)
"""A tag as people write it; `#fff` is a colour."""


class OfflineJudge(msgspec.Struct, frozen=True):
    """Judge both passes by rules; implements `core.judging.Judge`."""

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
        merges = folding.equal_groups(
            [c for c in request.candidates if words[c.candidate_id] != "reject"], words
        )
        surviving = {key for key, word in words.items() if word == "promote"} | merges.keys()
        weak = {
            key
            for key, (scores, _) in scored.items()
            if scores.strength < RESOLVED_FROM and key not in merges and folding.may_fold(scores)
        }
        folded = folding.fold_targets(request.candidates, weak, surviving, strengths)
        return tuple(
            _verdict(c, *scored[c.candidate_id], words[c.candidate_id], merges, folded)
            for c in request.candidates
        )

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2: a claim for each statement of a cluster, in the request's order."""
        drafts = [d for cluster in request.clusters for d in _drafts(cluster, request.profile)]
        values = values_by_key((d.said for d in drafts), PriorIndex(request.priors))
        return tuple(_claim(d, succession(d.said, values), request) for d in drafts)

    def verify(self, suspicion: Suspicion) -> Finding:
        """Flag what its own rules named, and statements that differ in a negation or an opposite.

        Sure of a change that the newer statement tells itself, and of two values of one matter
        where the days are explicit; else two statements are left to a person.
        """
        match suspicion.why:
            case "claimed":
                return _unsure(suspicion.reason, found=True)
            case "changed":
                found = noticed(suspicion.first, suspicion.second)
                return found.finding if found else _unsure("")
            case "same_key":
                return two_values(suspicion.first, suspicion.second)
            case "similar":
                return _unsure(opposed(suspicion.first.text, suspicion.second.text))

    def gist(self, request: GistRequest) -> Gist:
        """Return the note's heading, its tags and its most telling sentences."""
        return gist_of(request.note)

    def summarise(self, request: SummaryRequest) -> Summary:
        """Return the most telling sentences of the memories, and the names in them."""
        return summary_of(request.topic, request.memories)


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
    said = spokesman.text.removesuffix(spokesman.detail).strip()
    if spokesman.detail and not said and cluster.type_hint == "fact":
        return "procedure", "type_steps"
    kind, code = kind_of(
        tidy(said or spokesman.text),
        hint=cluster.type_hint,
        key=lead_of(spokesman)[0],
        task=spokesman.task,
        context=spokesman.context,
    )
    files = {s.resource.rsplit("/", 1)[-1] for s in spokesman.sources}
    if code == "type_default" and (
        files == {"IDENTITY.md"} or (files == {"USER.md"} and len(spokesman.context) < 2)
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
    statement = spokesman.text.removesuffix(spokesman.detail).strip()
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


def _standing(kind: str, strength: float, hedged: bool, found: Succession) -> str:
    """Contradictions first, then age, then doubt: strength under 2.0, a hedge, an open question."""
    if found.contradictions:
        return found.contradictions[0].relation
    if found.overtaken:
        return "stale"
    doubtful = strength < RESOLVED_FROM or hedged or kind == "open_question"
    return "unresolved" if doubtful else "resolved"

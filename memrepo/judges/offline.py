"""Judge by fixed rules, without a model. The same question always gets the same answer.

The judge promotes the candidates on the shelf (`read.shelf`) and quotes them. A claim's text is its
evidence, and its type is the one the sentence states. No text is composed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec
from msgspec.structs import replace

from memrepo.core.judge import (
    Assessment,
    Candidate,
    CanonicalClaim,
    CanonicalRequest,
    Cluster,
    ComparisonRequest,
    Finding,
    GistRequest,
    Newer,
    PriorClaim,
    PromotionRequest,
    Scores,
    Summary,
    SummaryRequest,
    Suspicion,
    Usage,
    Verdict,
    VerdictWord,
    VerificationRequest,
    Wording,
)
from memrepo.core.memory import Gist, Source
from memrepo.core.patterns import regex
from memrepo.judges.passes import measure, promotion_scores, with_postures
from memrepo.policies.change import (
    StatementChange,
    change_of,
    is_dated,
    newer_of,
    same_place,
)
from memrepo.policies.claims import SHORT, affinity, route, type_in_profile
from memrepo.policies.gists import gist_of, summary_of
from memrepo.read.kinds import section_kind
from memrepo.read.shelf import POOR
from memrepo.text.dates import is_time_heading

BATCH = 10**9  # rules have no context window
TITLE_LENGTH, EXTRACT_LENGTH, SUBJECT_LENGTH, OBJECT_LENGTH = 120, 400, 80, 300
UNSURE_CONFIDENCE = 0.5
DOCUMENTS = ("episode", "method")
"""Types whose statement is a document with a title."""
_HASHTAG = regex(
    r"(?<![\w/#&(:\"'`])#(?!(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b)([^\W\d_][\w-]{1,40})"
)
"""A tag as people write it. `#fff` is a colour and not a tag."""
_HEADING = regex(r"^ {0,3}#{1,6}\s+(?P<title>.*?)\s*#*$")
_SENTENCE_END = regex(r"[.!?…](?=\s)|[。！？]|\n")


class OfflineJudge(msgspec.Struct, frozen=True):
    """A judge that promotes candidates by their rank. It implements `core.judge.Judge`."""

    name: str = "offline/2"
    batch: tuple[int, int] = (BATCH, BATCH)
    usage: Usage = Usage()
    prompt_hash: str = ""

    def promote(self, request: PromotionRequest) -> Sequence[Verdict]:
        """Answer Pass 1 with one verdict per candidate, in the request's order."""
        chosen = {c.candidate_id for c in request.candidates if c.chosen}
        joined: dict[str, set[str]] = {}
        for one in request.candidates:
            if one.same_as in chosen:
                joined.setdefault(one.candidate_id, set()).add(one.same_as)
                joined.setdefault(one.same_as, set()).add(one.candidate_id)
        return tuple(_verdict(c, joined.get(c.candidate_id, ())) for c in request.candidates)

    def canonicalise(self, request: CanonicalRequest) -> Sequence[CanonicalClaim]:
        """Answer Pass 2 with one claim per cluster, in the request's order."""
        return tuple(_claim(cluster, request) for cluster in request.clusters)

    def verify(self, request: VerificationRequest) -> Sequence[Assessment]:
        """Report that the evidence supports each wording, since the rules only quote evidence."""
        return [Assessment(check_id=one.check_id, stated=True) for one in request.checks]

    def compare(self, request: ComparisonRequest) -> Sequence[Finding]:
        """Return one finding per pair, in the request's order."""
        return [replace(_compared(one), pair=one.pair) for one in request.pairs]

    def gist(self, request: GistRequest) -> Gist:
        """Return a note's heading, tags and most informative sentences as its gist."""
        return gist_of(request.note)

    def summarise(self, request: SummaryRequest) -> Summary:
        """Summarise memories by their most informative sentences and the names in them."""
        return summary_of(request.topic, request.memories)


def _verdict(candidate: Candidate, joined: Sequence[str] | set[str]) -> Verdict:
    """Return the verdict on one candidate, given its near duplicates (`joined`)."""
    word: VerdictWord = "promote" if candidate.chosen else "defer"
    if joined:
        word = "merge"
    elif not candidate.chosen and candidate.rank <= POOR:
        word = "reject"
    scores = promotion_scores(candidate, word)
    return Verdict(
        candidate_id=candidate.candidate_id,
        scores=scores,
        strength=scores.strength,
        verdict=word,
        rationale=",".join(candidate.signs),
        merge_with=tuple(sorted(joined)),
    )


def spokesman_of(cluster: Cluster) -> Candidate:
    """Choose the member whose text becomes the claim: highest rank, then newest, then longest."""
    own = [c for c in cluster.candidates if c.type_hint == cluster.type_hint]
    members = sorted(own or cluster.candidates, key=lambda c: c.candidate_id)
    return max(members, key=lambda c: (c.rank, c.captured, len(c.text)))


def _claim(cluster: Cluster, request: CanonicalRequest) -> CanonicalClaim:
    spokesman = spokesman_of(cluster)
    kind = type_in_profile(spokesman.type_hint, request.profile)
    home = route(kind, request.profile)
    hedged = "unsure" in spokesman.signs
    claim = CanonicalClaim(
        cluster_id=cluster.cluster_id,
        type=kind,
        standing="unresolved" if hedged or kind == "open_question" else "resolved",
        wording=_wording(spokesman, kind),
        home=home,
        scores=Scores(),
        tags=tuple(dict.fromkeys(tag.lower() for tag in _HASHTAG.findall(spokesman.text))),
        rationale=f"type_{kind}",
        route_rationale=affinity(kind, home),
    )
    scores = measure(claim, cluster, request.now, hedged=hedged)
    return with_postures(replace(claim, scores=scores))


def _wording(candidate: Candidate, kind: str) -> Wording:
    """Return a wording that quotes the evidence, or only its beginning for an episode."""
    text, title = candidate.text, ""
    if kind in DOCUMENTS and (match := _HEADING.match(text.partition("\n")[0])):
        title, text = match["title"][:TITLE_LENGTH], text.partition("\n")[2].strip() or text
    if kind == "episode":
        text = extract(text)
    return Wording(
        text=text,
        title=title,
        subject=subject_of(candidate),
        predicate=candidate.key,
        object=candidate.value[:OBJECT_LENGTH],
    )


def extract(text: str) -> str:
    """Return the beginning of a long text, cut after a sentence or between words."""
    if len(text) <= EXTRACT_LENGTH:
        return text
    ends = [m.end() for m in _SENTENCE_END.finditer(text[: EXTRACT_LENGTH + 1])]
    cut = ends[-1] if ends else text.rfind(" ", 0, EXTRACT_LENGTH)
    return text[: cut if cut > 0 else EXTRACT_LENGTH].strip()


def subject_of(candidate: Candidate) -> str:
    """Return the thing named above a statement, the subject of its file, or an empty string.

    A heading of a known kind ("Preferences"), a date and the file's first heading are not subjects.
    The first heading is used only for a short text without another subject.
    """
    for heading in reversed(candidate.context[1:]):
        plain = len(heading) <= SUBJECT_LENGTH and not heading.rstrip().endswith((".", "!", "?"))
        if plain and not section_kind([heading]) and not is_time_heading(heading):
            return heading
    title = next(iter(candidate.context), "")
    if candidate.about or len(candidate.text) >= SHORT or is_time_heading(title):
        return candidate.about
    stems = {PurePosixPath(s.resource).stem.casefold() for s in candidate.sources}
    if title.casefold() in stems:  # "Memory" of MEMORY.md is no subject
        return ""
    return title[:SUBJECT_LENGTH]  # a short text needs its heading


def _compared(suspicion: Suspicion) -> Finding:
    """Return the finding about two statements, as determined by the comparison rules."""
    if suspicion.why in ("claimed", "replaced"):
        return Finding(
            is_contradiction=True, confidence=UNSURE_CONFIDENCE, reasoning=suspicion.reason
        )
    found = find_change(suspicion.first, suspicion.second)
    if found is not None:
        return found.finding
    return Finding(is_contradiction=False, confidence=UNSURE_CONFIDENCE)


SURE_CHANGE, UNSURE = 0.95, 0.5


class FoundChange(msgspec.Struct, frozen=True, kw_only=True):
    """A change between two statements, which of them is newer, and whether that is certain."""

    change: StatementChange
    newer: Newer
    is_certain: bool

    @property
    def finding(self) -> Finding:
        """Return the change in the form of a judge's answer to a comparison.

        The confidence is high if no person needs to check.
        """
        return Finding(
            is_contradiction=True,
            confidence=SURE_CHANGE if self.is_certain else UNSURE,
            reasoning=self.change.reason,
            newer=self.newer if self.is_certain else "unknown",
        )


def find_change(first: PriorClaim, second: PriorClaim) -> FoundChange | None:
    """Return how one of two statements changes the other, or None if both may be true.

    A statement that declares the other over is certain if a date or git shows that it is newer. A
    statement that only gives another value is certain if a date shows it.
    """
    if same_place(first.sources, second.sources):
        return None
    newer, basis = newer_of(first.sources, second.sources)
    pairs: list[tuple[PriorClaim, PriorClaim, Newer]] = [
        (second, first, "first"),
        (first, second, "second"),
    ]
    if newer != "unknown":
        pairs.sort(key=lambda pair: pair[2] != newer)
    together = _are_together(first.sources, second.sources)
    for old, new, side in pairs:
        is_order_known = newer in (side, "unknown")
        # An undated statement may have existed long before it was first seen.
        if not is_order_known and (
            basis == "dated" or is_dated(old.sources) or not is_dated(new.sources)
        ):
            continue
        change = change_of(old, new, together=together)
        if change is None:
            continue
        if change.is_event and is_of_a_day(old.sources) and is_of_a_day(new.sources):
            continue  # each describes its own day
        certain = newer == side and (
            basis == "dated" or (change.stated and _is_later_line(old.sources, new.sources))
        )
        return FoundChange(change=change, newer=side if certain else newer, is_certain=certain)
    return None


def is_of_a_day(sources: Sequence[Source]) -> bool:
    """Return whether the date of a statement comes from a daily log or a heading."""
    return any(s.captured_from in ("heading", "file") for s in sources)


def _are_together(first: Sequence[Source], second: Sequence[Source]) -> bool:
    """Return whether two statements are different lines of one file, written on the same day."""
    return any(
        (one.resource, one.captured[:10]) == (other.resource, other.captured[:10])
        and one.lines != other.lines
        for one in first
        for other in second
        if one.captured
    )


def _is_later_line(old: Sequence[Source], new: Sequence[Source]) -> bool:
    """Return whether, according to git, a new statement was added later to the same file."""
    seen = {s.resource: s.captured[:10] for s in old if s.captured}
    return any(s.captured[:10] > seen[s.resource] for s in new if s.resource in seen)

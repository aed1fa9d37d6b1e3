"""`memrepo search`: find memories by words, with the source lines of each hit."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.lookup import HITS, heading, touch, work_at
from memrepo.actions.recall.recall import (
    EXCERPT,
    EXPIRED,
    RECALL_STATUSES,
    Answer,
    Hit,
    Later,
    Recall,
    by_words_alone,
    index_of,
)
from memrepo.actions.work import At, NoTouch, VerbResult, Work, option
from memrepo.core.errors import Exit, UsageError
from memrepo.core.memory import STATUSES, TYPES, Memory
from memrepo.core.messages import counted
from memrepo.core.secrets import without_secrets
from memrepo.policies.ageing import TIERS
from memrepo.policies.ranking import Found, kind_asked
from memrepo.policies.rules import Weights
from memrepo.store.index import Filter, Index
from memrepo.text.sentences import CHARS_PER_TOKEN, excerpt, token_count
from memrepo.text.words import ENGLISH, query_terms, telling_words, terms

_ALIKE = 0.85
"""Minimum share of common words at which two texts count as equal."""
_HEADINGS = 5
_LEAST = 160
"""Minimum length of an excerpt in characters."""
_BY_MEANING = "`pip install '.[dense]'` in memrepo's checkout adds search by meaning"
_NEAREST = "nothing contains most of these words: only the closest texts are listed"
LAYERED_WORDS, MAX_LAYERED = (2, 5), 3
"""Minimum and maximum words of a layered search, and the maximum notes it shows."""
_LIMITS = ("types", "scopes", "statuses")
"""Options that restrict a search to memories, because passages have none of these properties."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `search`."""

    words: Annotated[tuple[str, ...], option("any of these words", metavar="WORD", least=1)]
    also: Annotated[
        tuple[str, ...],
        option("other words for the same question (repeatable)", "--also", metavar="TEXT"),
    ] = ()
    limit: Annotated[int, option("at most N hits (10)", "-k", metavar="N", ge=1)] = 10
    types: Annotated[tuple[str, ...], option("only this type", "--type", choices=TYPES)] = ()
    tags: Annotated[
        tuple[str, ...], option("only memories and notes with this tag", "--tag", metavar="TAG")
    ] = ()
    scopes: Annotated[
        tuple[str, ...],
        option("only this scope and memories without a scope", "--scope", metavar="SCOPE"),
    ] = ()
    statuses: Annotated[
        tuple[str, ...],
        option("status to include (default: active)", "--status", choices=RECALL_STATUSES),
    ] = ()
    max_tokens: Annotated[
        int | None, option("maximum size of all texts together", "--max-tokens", metavar="N", ge=1)
    ] = None
    layered: Annotated[
        bool,
        option(
            "notes only: hot, warm, gist, forgotten; stop at the first tier that answers",
            "--layered",
        ),
    ] = False
    recency_weight: Annotated[
        float | None,
        option(
            "weight of age in a score, 0 to 1 (recall.recency)",
            "--recency-weight",
            metavar="W",
            ge=0,
            le=1,
        ),
    ] = None
    explain: Annotated[bool, option("explain each score", "--explain")] = False
    no_touch: NoTouch = False
    at: At = ""


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A source passage that answers the query. It supports no memory, so it has no id."""

    resource: str
    lines: tuple[int, int]
    blob: str
    context: str
    text: str
    truncated: bool
    captured: str
    after: int
    """Number of hits ranked before it."""
    later: Later | None = None
    """The latest newer statement about the same."""


class Result(VerbResult, frozen=True, kw_only=True):
    """The results, best first. `why` explains an empty or weak result."""

    query: str
    hits: tuple[Hit, ...]
    passages: tuple[Passage, ...] = ()
    """Source passages that answer the query, if the search is not restricted."""
    tokens: int
    """Token count of all texts together."""
    commit: str
    """The commit that was searched."""
    archived: int = 0
    """Number of matching archived memories, if only active ones were searched."""
    left_out: int = 0
    """Hits that did not fit into `max_tokens`."""
    why: str = ""
    heading: tuple[str, ...] = ()
    """The date or commit the answer refers to, if not the present."""
    suggestions: tuple[str, ...] = ()
    """What to try next, if nothing answers the query with confidence."""
    hint: str = ""
    """How to find more, if nothing answers the query."""


class LayeredResult(Result, frozen=True, kw_only=True):
    """The notes of the first tier that matched, or none if too many notes matched."""

    tier: str
    count: int
    too_many: bool
    recovered: bool
    """Whether forgotten notes were counted as retrieved, and are warm again."""
    partly: int
    """Number of notes that contain some of the words, if none contains all."""
    others: int
    """Number of memories that contain all of the words but are not notes."""


def do(work: Work, request: Request) -> Result:
    """Search the memories at HEAD, or those that were known at another time."""
    if request.layered:
        return _layered(work, request)
    there = work_at(work, request.at)
    is_unrestricted = not (work.call.scope or any(getattr(request, name) for name in _LIMITS))
    index = index_of(there, past=bool(request.at), passages=is_unrestricted, tick=work.call.tick)
    only, recall = _filter(request), Recall(there, work.call.now, index)

    def find() -> tuple[Answer, int]:
        found = recall.find(request.words, only, _weights(there, request), request.also)
        return found, _archived(index, request, only)

    answer, archived = index.together(find)
    query, every, kind = " ".join(request.words), answer.hits, ""
    if is_unrestricted and not (request.at or request.tags):  # all languages are slow to read
        kind = kind_asked(query, answer.languages) or ("" if every else kind_asked(query))
    first = recall.of_kind(kind, request.limit) if kind else []
    if not (first or answer.answers or request.statuses or request.at):
        first = recall.successors(request.words, only, request.also)
        if not first:
            first = recall.ended(request.words, only, request.also)
            archived = max(0, archived - len(first))
    if first:
        ids = {hit.id for hit in first}
        every = [*first, *(hit for hit in every if hit.id not in ids)][: request.limit]
    hits, tokens = bounded(every, request.max_tokens, asked_of(request))
    passages = _passages(answer.passages, request, tokens)
    why = _NEAREST
    if not (every or passages):
        why = _why_nothing(index, request, only)
    elif answer.answers or first:
        why = ""
    is_sure = not why and any(hit.answer_confidence in ("high", "medium") for hit in hits[:1])
    if not (why or request.no_touch or request.at):
        touch(work, [hit.id for hit in hits[:HITS]])
    return Result(
        query=query,
        hits=tuple(hits),
        passages=tuple(passages),
        tokens=tokens + sum(token_count(passage.text) for passage in passages),
        commit=there.tree.commit,
        archived=archived,
        left_out=len(every) - len(hits),
        why=why,
        suggestions=() if is_sure else _suggestions(answer, every, passages),
        exit=Exit.NO if why else Exit.DONE,
        hint=_BY_MEANING if why and by_words_alone(work) else "",
        heading=tuple(heading(there, request.at)),
    )


def asked_of(request: Request) -> tuple[str, ...]:
    """Return the search terms of a query and of its other phrasings, without duplicates."""
    texts = (" ".join(request.words), *request.also)
    return tuple(dict.fromkeys(term for text in texts for term in query_terms(text)))


def _passages(
    found_passages: Sequence[tuple[int, Found, Later | None]], request: Request, spent: int
) -> list[Passage]:
    """Return as many source passages as fit into `max_tokens`."""
    asked = asked_of(request)
    found: list[Passage] = []
    for after, match, later in found_passages:
        one = match.block
        text = excerpt(one.text, asked, EXCERPT)
        spent += token_count(text)
        if request.max_tokens is not None and spent > request.max_tokens:
            break
        found.append(
            Passage(
                resource=one.path,
                lines=one.lines,
                blob=one.blob,
                context=without_secrets(one.context),
                text=without_secrets(text),
                truncated=text != one.text,
                captured=one.day,
                after=after,
                later=later,
            )
        )
    return found


def _suggestions(
    answer: Answer, hits: Sequence[Hit], passages: Sequence[Passage]
) -> tuple[str, ...]:
    """Return what to try next: the languages of the texts, and the nearest headings."""
    found = ["ask again with 6 to 12 other words for it (`--also TEXT`)"]
    if languages := [name.title() for name in answer.languages if name != ENGLISH]:
        found.append(f"the notes are also in {', '.join(languages)}: add words of that language")
    contexts = [*(hit.context for hit in hits), *(one.context for one in passages)]
    headings = list(dict.fromkeys(filter(None, contexts)))[:_HEADINGS]
    if headings:
        found.append(f"nearest headings: {'; '.join(headings)}")
    return tuple(found)


def _weights(work: Work, request: Request) -> Weights:
    weights = work.config.recall
    if request.recency_weight is None:
        return weights
    return replace(weights, recency=request.recency_weight)


def _filter(request: Request) -> Filter:
    """Return the search filter of a request."""
    return Filter(
        statuses=tuple(request.statuses or ("active",)),
        types=tuple(request.types or ()),
        tags=tuple(request.tags or ()),
        scopes=tuple(request.scopes or ()),
        limit=request.limit,
    )


# -- layered search --------------------------------------------------------------------------------


def _layered(work: Work, request: Request) -> LayeredResult:
    """Search notes tier by tier: hot, warm, gist, forgotten. Stop at the first tier that matches.

    A note matches if it contains every word, in any inflection. Function words are ignored. In the
    gist tier, tags are searched before texts. Lineage: context-clear, layered search.
    """
    others = {
        "--type": request.types,
        "--status": request.statuses,
        "--at": request.at,
    }
    if other := next((flag for flag, given in others.items() if given), ""):
        raise UsageError(
            f"--layered searches only current active notes: it does not combine with {other}",
            fix=f"leave out {other}, or --layered",
        )
    query = " ".join(request.words)
    telling = len(telling_words(query))
    if not LAYERED_WORDS[0] <= telling <= LAYERED_WORDS[1]:
        raise UsageError(
            f"found {counted(telling, 'distinctive word', 'distinctive words')} in the query,"
            f" expected {LAYERED_WORDS[0]} to {LAYERED_WORDS[1]}",
            fix="name the words that matter most, from the question and the conversation",
        )
    index, only = index_of(work, tick=work.call.tick), _filter(request)
    notes, recall = replace(only, types=("note",)), Recall(work, work.call.now, index)
    asked, tier, found, best = query.split(), "", list[Memory](), list[Hit]()
    every = recall.holding(asked, notes)
    for tier in TIERS:
        mine = [memory for memory, its in every if its == tier]
        found = (_tagged(mine, query) if tier == "gist" else []) or mine
        if found:
            break
    too_many = len(found) > MAX_LAYERED
    if found and not too_many:
        limited = replace(notes, paths=frozenset(memory.path for memory in found))
        best = recall.find(asked, limited, _weights(work, request)).hits
    hits, tokens = bounded(best, request.max_tokens, query_terms(query))
    if not request.no_touch:
        touch(work, [hit.id for hit in hits])
    partly = 0 if found else index.count(asked, notes)[0]
    rest = 0 if found else len(index.holding(asked, only))
    return LayeredResult(
        query=query,
        hits=tuple(hits),
        tokens=tokens,
        commit=work.tree.commit,
        left_out=len(best) - len(hits),
        why="" if best else _why_no_note(query, tier, len(found), partly, rest),
        tier=tier if found else "",
        count=len(found),
        too_many=too_many,
        recovered=bool(hits) and tier == "forgotten" and not request.no_touch,
        partly=partly,
        others=rest,
    )


def _tagged(found: Sequence[Memory], query: str) -> list[Memory]:
    """Return the notes with tags that contain every word."""
    from memrepo.policies.gists import gist_of

    asked, hits = query_terms(query), []
    for memory in found:
        gist = memory.gist or gist_of(memory)
        if set(terms(" ".join((*gist.tags, *memory.tags)))).issuperset(asked):
            hits.append(memory)
    return hits


def _why_no_note(query: str, tier: str, count: int, partly: int, others: int) -> str:
    """Return why a layered search found no notes."""
    if count:
        return (
            f"{count} notes of tier {tier} match {query!r}, more than {MAX_LAYERED}:"
            " use narrower words; none was read"
        )
    lines = [
        f"no note about {query!r} was found. Possible reasons:",
        "- it was never stored",
        "- it was forgotten and has left the tree (`memrepo log --op prune` and git have it)",
        "- it uses other words: try synonyms",
    ]
    if partly:
        notes = counted(partly, "note holds", "notes hold")
        lines.append(f"{notes} some of the words (`memrepo search --type note`)")
    if others:
        memories = counted(others, "other memory holds", "other memories hold")
        lines.append(f"{memories} them all (`memrepo search`)")
    return "\n".join(lines)


# -- hits ------------------------------------------------------------------------------------------


def _archived(index: Index, request: Request, only: Filter) -> int:
    """Count the archived memories that match, if the search covered only active ones."""
    if request.statuses or "archived" in only.statuses:
        return 0
    return index.count(request.words, replace(only, statuses=("archived",)))[0]


def _why_nothing(index: Index, request: Request, only: Filter) -> str:
    """Return why a search found nothing."""
    asked = " ".join(request.words)
    if not query_terms(asked):
        return "the question contains no words"
    stored = tuple({"active" if s == EXPIRED else s for s in only.statuses})
    kept, same, every = index.count(
        (*request.words, *request.also),
        replace(only, statuses=stored),
        Filter(statuses=stored),
        Filter(statuses=STATUSES),
    )
    if kept and EXPIRED in only.statuses:
        return f"{counted(kept, 'memory matches', 'memories match')}, none is expired"
    if kept:
        what = counted(kept, "memory matches, but is expired", "memories match, but are expired")
        return f"{what} (`--status expired`)"
    if same:
        limits = [f"--{name}" for name in ("type", "tag", "scope") if getattr(request, f"{name}s")]
        what = counted(same, "memory matches", "memories match")
        return f"{what} without {', '.join(limits)}"
    if every:
        what = counted(
            every, "memory of another status matches", "memories of another status match"
        )
        return f"{what} (`--status`)"
    if request.tags:
        tagged = "this tag" if len(request.tags) == 1 else "all of these tags"
        return f"no memory or note with {tagged} contains any of these words"
    return "no memory contains any of these words"


def group_by_wording(hits: Sequence[Hit]) -> list[list[Hit]]:
    """Group hits with nearly identical wording, keeping the order of their ranks."""
    groups: list[tuple[frozenset[str], list[Hit]]] = []
    for hit in hits:
        words = frozenset(terms(hit.text))
        alike = (g for other, g in groups if len(words & other) >= _ALIKE * len(words | other) > 0)
        group = next(alike, None)
        if group is None:
            groups.append((words, [hit]))
        else:
            group.append(hit)
    return [group for _, group in groups]


def shortened(hit: Hit, asked: Collection[str], most: int = EXCERPT) -> Hit:
    """Return a hit with a long text cut to the part that answers. `truncated` is then true."""
    text = excerpt(hit.text, asked, most)
    return hit if text == hit.text else replace(hit, text=text, truncated=True)


def bounded(
    hits: Sequence[Hit], limit: int | None, asked: Collection[str]
) -> tuple[list[Hit], int]:
    """Return the hits whose texts fit into `limit` tokens together, and the tokens they use.

    Each hit receives an equal share of the remaining tokens. A longer text is reduced to the part
    with most of the terms `asked`. A hit that still does not fit is skipped.
    """
    kept, total = list[Hit](), 0
    for place, whole in enumerate(hits):
        hit, cost = whole, token_count(whole.text)
        if limit is not None:
            share = (limit - total) // (len(hits) - place)
            if cost > share:
                hit = shortened(whole, asked, max(_LEAST, share * CHARS_PER_TOKEN))
                cost = token_count(hit.text)
            if total + cost > limit:
                continue
        kept.append(hit)
        total += cost
    return kept, total

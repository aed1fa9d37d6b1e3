"""`memrepo search`: find memories by words, each hit traced to its source line."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.recall.recalling import EXPIRED, RECALL_STATUSES, Recalled, index_of, recall
from memrepo.actions.recall.touching import HITS, touch
from memrepo.actions.recall.when import (
    heading,
    true_then,
    work_at,
)
from memrepo.actions.request import At, NoTouch, ValidAt, option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.memory import STATUSES, TYPES, Memory
from memrepo.core.messages import counted
from memrepo.core.secrets import without_secrets
from memrepo.policies.chunking import token_count
from memrepo.policies.excerpts import excerpt
from memrepo.policies.rules import Weights
from memrepo.policies.terms import query_terms
from memrepo.policies.trust import trust_of
from memrepo.store.index import Filter, Index

EXCERPT = 600
"""Characters of a long text that are handed over where the whole is too much."""
_LINE = 200


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `search`."""

    words: Annotated[tuple[str, ...], option("any of these words", metavar="WORD", least=1)]
    k: Annotated[int, option("at most N hits (10)", "-k", metavar="N", ge=1)] = 10
    type: Annotated[tuple[str, ...], option("only this type", "--type", choices=TYPES)] = ()
    tag: Annotated[tuple[str, ...], option("only what bears this tag", "--tag", metavar="TAG")] = ()
    scope: Annotated[
        tuple[str, ...],
        option(
            "only this scope and what holds in the whole repository", "--scope", metavar="SCOPE"
        ),
    ] = ()
    status: Annotated[
        tuple[str, ...], option("also or instead of active", "--status", choices=RECALL_STATUSES)
    ] = ()
    max_tokens: Annotated[
        int | None, option("bound of the texts together", "--max-tokens", metavar="N", ge=1)
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
            "share of a score that its age decides, from 0 to 1 (recall.recency)",
            "--recency-weight",
            metavar="W",
            ge=0,
            le=1,
        ),
    ] = None
    explain: Annotated[bool, option("say what made each score", "--explain")] = False
    no_touch: NoTouch = False
    at: At = ""
    valid_at: ValidAt = ""


def do(work: Work, request: Request) -> Answer:
    """Search the memories at HEAD, or those that were known or true at another time."""
    if request.layered:
        return _layered(work, request)
    there = work_at(work, request.at)
    past = bool(request.at)
    index = index_of(there, past=past, tick=work.call.tick)
    only, weights = _filter(there, request), _weights(there, request)
    found = recall(there, index, request.words, only, work.call.now, weights)
    commit = there.tree.commit
    hits = [hit_of(one, commit) for one in found]
    archived = _archived(index, request, only)
    why = "" if hits else _why_nothing(index, request, only)
    head = heading(there, request.at, request.valid_at)
    every = len(hits)
    asked = query_terms(" ".join(request.words))
    hits, tokens = bounded(hits, request.max_tokens, asked)
    if not (request.no_touch or request.at):
        touch(work, [hit["id"] for hit in hits[:HITS]])
    data = {"query": " ".join(request.words), "hits": hits, "tokens": tokens, "commit": commit}
    data |= {"archived": archived, "left_out": every - len(hits), "why": why}
    parts = [
        *(["\n".join(head)] if head else []),
        *(
            (_text(hit, asked, explain=request.explain) for hit in hits)
            if hits
            else [_nothing(why)]
        ),
    ]
    parts += _left_out(every - len(hits), request)
    if archived:
        more = counted(archived, "archived memory also matches", "archived memories also match")
        parts.append(f"{more} (`--status archived`)")
    return Answer(data=data, text="\n\n".join(parts))


def _weights(work: Work, request: Request) -> Weights:
    weights = work.config.weights
    if request.recency_weight is None:
        return weights
    return replace(weights, merits=replace(weights.merits, recency=request.recency_weight))


def _filter(work: Work, request: Request) -> Filter:
    """Return what is searched: what was true once is by now active or superseded."""
    only = Filter(
        statuses=tuple(request.status or ("active",)),
        types=tuple(request.type or ()),
        tags=tuple(request.tag or ()),
        scopes=tuple(request.scope or ()),
        limit=request.k,
    )
    if not request.valid_at:
        return only
    held = true_then(work, work.tree.state(), request.valid_at)
    return replace(
        only,
        paths=frozenset(m.path for m in held.values()),
        statuses=tuple(request.status or ("active", "superseded")),
    )


def _layered(work: Work, request: Request) -> Answer:
    from memrepo.actions.recall.layered import NotLayered, layered

    for name in ("type", "status", "at", "valid_at"):
        if getattr(request, name):
            raise NotLayered(f"--{name.replace('_', '-')}")
    words = " ".join(request.words)
    index, only = index_of(work, tick=work.call.tick), _filter(work, request)
    found = layered(work, index, request.words, only, work.call.now, _weights(work, request))
    commit = work.tree.commit
    every = [hit_of(one, commit) for one in found.hits]
    asked = query_terms(words)
    hits, tokens = bounded(every, request.max_tokens, asked)
    if not (request.no_touch or request.at):
        touch(work, [hit["id"] for hit in hits])
    recovered = found.tier == "forgotten" and bool(hits) and not request.no_touch
    data = {
        "query": words,
        "hits": hits,
        "tokens": tokens,
        "commit": commit,
        "tier": found.tier,
        "count": found.count,
        "too_many": found.too_many,
        "recovered": recovered,
        "left_out": len(every) - len(hits),
        "partly": found.partly,
        "others": found.others,
    }
    if not every:
        return Answer(data=data, text=found.told(words))
    parts = [f"tier {found.tier}, confidence {every[0]['answer_confidence']}"]
    parts += [_text(hit, asked, explain=request.explain) for hit in hits]
    parts += _left_out(len(every) - len(hits), request)
    if found.tier == "gist":
        parts.append("these are gists: `memrepo show ID` has the original")
    if recovered:
        parts.append("recovered: forgotten, and warm again from now on")
    return Answer(data=data, text="\n\n".join(parts))


def _left_out(count: int, request: Request) -> list[str]:
    said = counted(count, "hit does not fit", "hits do not fit")
    return [f"{said} into {request.max_tokens} tokens"] if count else []


def hit_of(found: Recalled, commit: str) -> dict[str, Any]:
    """Return what is told of a hit, as JSON; `commit` is empty where its text is none's yet."""
    memory = found.memory
    return {
        "id": memory.id,
        "path": memory.path,
        "type": memory.type,
        "title": without_secrets(_title(memory)),
        "text": without_secrets(found.text),
        "truncated": False,
        "score": found.score,
        "parts": dict(found.parts),
        "status": memory.status,
        "standing": memory.standing,
        "tier": found.tier,
        "expired": found.over,
        "trust": trust_of(memory),
        "answer_confidence": found.answer_confidence,
        "commit": "" if found.edited else commit,
        "sources": [
            {"resource": s.resource, "lines": list(s.lines), "captured": s.captured, "blob": s.blob}
            for s in memory.sources
        ],
    }


def _archived(index: Index, request: Request, only: Filter) -> int:
    """Count the archived memories that match too, where only what is active was asked for."""
    if request.status or request.valid_at:
        return 0
    return index.count(request.words, replace(only, statuses=("archived",)))[0]


def _why_nothing(index: Index, request: Request, only: Filter) -> str:
    """Say why nothing was found."""
    asked = " ".join(request.words)
    if not query_terms(asked):
        return "the question holds no word"
    stored = tuple({"active" if s == EXPIRED else s for s in only.statuses})
    kept, same, every = index.count(
        request.words,
        replace(only, statuses=stored, paths=None),
        Filter(statuses=stored),
        Filter(statuses=STATUSES),
    )
    if kept and request.valid_at:
        return f"{counted(kept, 'memory matches', 'memories match')}, none was true then"
    if kept and EXPIRED in only.statuses:
        return f"{counted(kept, 'memory matches', 'memories match')}, none is past its time"
    if kept:
        what = counted(kept, "memory matches, past its time", "memories match, past their time")
        return f"{what} (`--status expired`)"
    if same:
        limits = [f"--{name}" for name in ("type", "tag", "scope") if getattr(request, name)]
        what = counted(same, "memory matches", "memories match")
        return f"{what} without {', '.join(limits)}"
    if every:
        what = counted(
            every, "memory of another status matches", "memories of another status match"
        )
        return f"{what} (`--status`)"
    return "no memory holds any of these words"


def _nothing(why: str) -> str:
    return f"nothing found: {why}"


def _title(memory: Memory) -> str:
    parts = (memory.text("subject"), memory.text("predicate"), memory.text("object"))
    return memory.text("title") or " ".join(filter(None, parts)) or memory.slug


def shortened(hit: dict[str, Any], asked: Collection[str]) -> dict[str, Any]:
    """Return a hit of a long text with the part that answers, and say so in `truncated`."""
    text = excerpt(hit["text"], asked, EXCERPT)
    return hit if text == hit["text"] else {**hit, "text": text, "truncated": True}


def bounded(
    hits: list[dict[str, Any]], limit: int | None, asked: Collection[str]
) -> tuple[list[dict[str, Any]], int]:
    """Keep the hits whose texts together stay within `limit` tokens.

    Where the whole of a long text does not fit, the part that holds most of the terms `asked` is
    kept; a hit that does not fit so either gives way to shorter ones behind it.
    """
    kept, total = [], 0
    for whole in hits:
        hit, cost = whole, _cost(whole)
        if limit is not None and total + cost > limit:
            hit = shortened(whole, asked)
            cost = _cost(hit)
            if total + cost > limit:
                continue
        kept.append(hit)
        total += cost
    return kept, total


def _cost(hit: dict[str, Any]) -> int:
    return token_count(hit["text"])


def _text(hit: dict[str, Any], asked: Collection[str], *, explain: bool = False) -> str:
    body = " ".join(visible(excerpt(hit["text"], asked, _LINE)).split())
    flags = "".join(
        f", {hit[key]}"
        for key, usual in (("status", "active"), ("standing", "resolved"))
        if hit[key] != usual
    )
    flags += ", expired" if hit["expired"] else ""
    flags += ", not committed" if not hit["commit"] else ""
    flags += f", {hit['tier']}" if hit["tier"] in ("gist", "forgotten") else ""
    lines = [f"{hit['id']}  {hit['type']}{flags}  (score {hit['score']:.2f})", f"  {body}"]
    if explain:
        parts = (f"{name} {value:.2f}" for name, value in hit["parts"].items() if value)
        lines.append(f"  score: {' + '.join(parts)}")
    for source in hit["sources"][:3]:
        first, last = source["lines"]
        span = f":{first}" + (f"-{last}" if last > first else "") if first else ""
        lines.append(f"  from {source['resource']}{span}, {source['captured'] or 'undated'}")
    if len(hit["sources"]) > 3:
        lines.append(f"  and {len(hit['sources']) - 3} more places")
    return "\n".join(lines)

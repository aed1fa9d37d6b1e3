"""What `memrepo.actions.recall` answers, in words."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from memrepo.actions.recall.search import LayeredResult
from memrepo.core.ids import visible
from memrepo.core.messages import counted
from memrepo.policies.excerpts import excerpt
from memrepo.policies.terms import query_terms

if TYPE_CHECKING:
    from memrepo.actions.recall import search as searching
    from memrepo.actions.recall.search import Hit

LINE = 200
"""Characters that are shown of one hit."""


def search(request: searching.Request, result: searching.Result, *, colour: bool) -> str:
    """Show the hits, each with where it stands, or say why there are none."""
    del colour
    asked = query_terms(result.query)
    tiers = result if isinstance(result, LayeredResult) else None
    parts = ["\n".join(result.heading)] if result.heading else []
    if not result.hits and not result.left_out:
        said = result.why if tiers else f"nothing found: {result.why}"
        return "\n\n".join([*parts, said, *_archived(result)])
    if tiers:
        confidence = result.hits[0].answer_confidence if result.hits else "none"
        parts.append(f"tier {tiers.tier}, confidence {confidence}")
    parts += [_hit(hit, asked, explain=request.explain) for hit in result.hits]
    if result.left_out:
        said = counted(result.left_out, "hit does not fit", "hits do not fit")
        parts.append(f"{said} into {request.max_tokens} tokens")
    if tiers and tiers.tier == "gist":
        parts.append("these are gists: `memrepo show ID` has the original")
    if tiers and tiers.recovered:
        parts.append("recovered: forgotten, and warm again from now on")
    return "\n\n".join([*parts, *_archived(result)])


def _archived(result: searching.Result) -> list[str]:
    """Say how many archived memories match too."""
    one, many = "archived memory also matches", "archived memories also match"
    return [f"{counted(result.archived, one, many)} (`--status archived`)"] * bool(result.archived)


def _hit(hit: Hit, asked: Collection[str], *, explain: bool) -> str:
    body = " ".join(visible(excerpt(hit.text, asked, LINE)).split())
    flags = "".join(
        f", {found}"
        for found, usual in ((hit.status, "active"), (hit.standing, "resolved"))
        if found != usual
    )
    flags += ", expired" if hit.expired else ""
    flags += ", stale" if hit.stale else ""
    flags += ", not committed" if not hit.commit else ""
    flags += f", {hit.tier}" if hit.tier in ("gist", "forgotten") else ""
    lines = [f"{hit.id}  {hit.type}{flags}  (score {hit.score:.2f})", f"  {body}"]
    lines += [f"  {doubt}" for doubt in hit.doubts]
    if explain:
        parts = (f"{name} {value:.2f}" for name, value in hit.parts.items() if value)
        lines.append(f"  score: {' + '.join(parts)}")
    for source in hit.sources[:3]:
        first, last = source.lines
        span = f":{first}" + (f"-{last}" if last > first else "") if first else ""
        lines.append(f"  from {source.resource}{span}, {source.captured or 'undated'}")
    if len(hit.sources) > 3:
        lines.append(f"  and {len(hit.sources) - 3} more places")
    return "\n".join(lines)

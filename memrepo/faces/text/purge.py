"""What `memrepo.actions.purge` answers, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrepo.core.ids import visible
from memrepo.core.messages import counted

if TYPE_CHECKING:
    from memrepo.actions.purge import purge as purging


def purge(request: purging.Request, result: purging.Result, *, colour: bool) -> str:
    """Say where the value stood, what was done, and what is left for others to do."""
    del colour
    if result.verified is not None:
        lines = [_verified(result)]
    elif not result.hits:
        lines = ["the value stands nowhere here: nothing was changed"]
    elif request.dry_run:
        lines = _listed(result)
    else:
        total = sum(result.hits.values())
        lines = [f"purged from {counted(total, 'place', 'places')}, receipt {result.receipt}"]
        lines += [f"  {kind:<16} {hits}" for kind, hits in result.hits.items()]
        lines.append(
            f"{counted(result.commits, 'commit', 'commits')} written anew; tried before: "
            f"{', '.join(result.tried)}"
        )
    lines += [
        f"left to you: {kind}, {counted(hits, 'hit', 'hits')}" for kind, hits in result.left.items()
    ]
    lines += [f"waits for clone {c.clone}" for c in result.clones if not c.acknowledged]
    if result.collect:
        lines.append(
            f"`memrepo sync` tells the hub and the clones; then, on the hub: {result.collect}"
        )
    return "\n".join(lines)


def _verified(result: purging.Result) -> str:
    if result.verified:
        else_ = " else" if result.left else ""
        return f"{result.receipt}: found nowhere{else_}"
    where = [f"  {p.kind:<16} {visible(p.where)}  {p.hits}" for p in result.places]
    return "\n".join([f"{result.receipt}: still found", *where])


def _listed(result: purging.Result) -> list[str]:
    lines = []
    for kind in dict.fromkeys(place.kind for place in result.places):
        found = [place for place in result.places if place.kind == kind]
        lines.append(f"{kind}: {sum(place.hits for place in found)}")
        for place in found:
            via = f"  ({visible(place.via)})" if place.via else ""
            lines.append(f"  {visible(place.where)}  {place.hits}{via}")
    return [*lines, "dry run: nothing was changed"]

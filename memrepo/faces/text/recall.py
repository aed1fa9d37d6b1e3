"""Format the results of the verbs in `memrepo.actions.recall`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from memrepo.actions.recall.search import LayeredResult, asked_of, group_by_wording
from memrepo.core.ids import visible
from memrepo.core.memory import span
from memrepo.core.messages import counted, cut
from memrepo.faces.text import rows
from memrepo.text.sentences import excerpt
from memrepo.text.words import terms

if TYPE_CHECKING:
    from memrepo.actions.recall import around
    from memrepo.actions.recall import around as showing
    from memrepo.actions.recall import search as searching
    from memrepo.actions.recall.recall import Derived, Hit, Later
    from memrepo.policies.importance import Scored

LINE = 600
"""Maximum characters of a hit."""
_BOLD, _DIM, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[0m"


def search(request: searching.Request, result: searching.Result, colour: bool) -> str:
    """Format the hits of a search with their sources, or explain why nothing was found.

    Hits with equivalent statements share one entry. With colour, the words of the query are bold.
    """
    asked = asked_of(request)
    tiers = result if isinstance(result, LayeredResult) else None
    parts = ["\n".join(result.heading)] if result.heading else []
    if not result.hits and not result.left_out and not result.passages:
        message = result.why if tiers else f"nothing found: {result.why}"
        return "\n\n".join([*parts, message, *_archived(result), *_advice(result)])
    if result.why:
        parts.append("nothing found; nearest:")
    if tiers:
        confidence = result.hits[0].answer_confidence if result.hits else "none"
        parts.append(f"tier {tiers.tier}, confidence {confidence}")
    places = {hit.id: place for place, hit in enumerate(result.hits)}
    waiting = list(result.passages)
    for hit, *same in group_by_wording(result.hits):
        before = [one for one in waiting if one.after <= places[hit.id]]
        waiting = waiting[len(before) :]
        parts += _passages(before, asked, bold=colour)
        shown = hit_text(hit, asked, explain=request.explain, bold=colour)
        parts.append("\n".join([shown, *(f"  {one.id} says the same" for one in same)]))
    if result.left_out:
        message = counted(result.left_out, "hit is omitted", "hits are omitted")
        parts.append(f"{message}: the limit is {request.max_tokens} tokens")
    if tiers and tiers.tier == "gist":
        parts.append("these are summaries (`memrepo show ID` has the original)")
    if tiers and tiers.recovered:
        parts.append("recovered: was forgotten, is warm again")
    parts += [*_archived(result), *_passages(waiting, asked, bold=colour)]
    return "\n\n".join([*parts, *(_advice(result) if result.why else ())])


def _advice(result: searching.Result) -> list[str]:
    """Return what to try next, as one entry, or no entry."""
    lines = [*result.suggestions, *filter(None, [result.hint])]
    return ["\n".join(f"try: {visible(line)}" for line in lines)] if lines else []


def _archived(result: searching.Result) -> list[str]:
    """Return a line that counts archived memories matching a query, or no line if none match."""
    one, many = "archived memory also matches", "archived memories also match"
    return [f"{counted(result.archived, one, many)} (`--status archived`)"] * bool(result.archived)


def _bold(text: str, asked: Collection[str]) -> str:
    """Return a line of text in which the words of the query are bold."""
    return " ".join(
        f"{_BOLD}{word}{_PLAIN}" if not set(terms(word)).isdisjoint(asked) else word
        for word in text.split(" ")
    )


def hit_text(hit: Hit, asked: Collection[str], *, explain: bool = False, bold: bool = False) -> str:
    """Format one hit: its id and standing, the part of its text that answers, and its sources."""
    body = " ".join(visible(excerpt(hit.text, asked, LINE)).split())
    body = _bold(body, asked) if bold else body
    flags = "".join(
        f", {found}"
        for found, usual in (
            (hit.status, "active"),
            (hit.standing, "resolved"),
            (hit.trust, "unverified"),
        )
        if found != usual
    )
    flags += ", expired" if hit.expired else ""
    flags += ", stale" if hit.stale else ""
    flags += ", not committed" if not hit.commit else ""
    flags += f", {hit.tier}" if hit.tier in ("gist", "forgotten") else ""
    score = f"  (score {hit.score:.2f})" if hit.score else ""  # a listed memory has no score
    lines = [f"{hit.id}  {hit.type}{flags}{score}"]
    context = visible(hit.context)
    lines += [f"  {_DIM}{context}{_PLAIN}" if bold else f"  {context}"] if context else []
    lines.append(f"  {body}")
    room = LINE - len(body)
    if hit.nearby and room > 0:
        lines.append(f"  next to it: {cut(hit.nearby, room)}")
    lines += [f"  {doubt}" for doubt in hit.doubts]
    lines += [f"  later: {later_text(hit.later)}"] if hit.later else []
    if explain:
        parts = (f"{name} {value:.2f}" for name, value in hit.parts.items() if value)
        lines.append(f"  score: {' + '.join(parts)}")
    for source in hit.sources[:3]:
        place = f"{source.resource}{span(source.lines)}"
        lines.append(f"  from {place}, {source.captured or 'undated'}")
    if len(hit.sources) > 3:
        lines.append(f"  and {len(hit.sources) - 3} more places")
    return "\n".join(lines)


def later_text(later: Later) -> str:
    """Format a newer statement about the same: its day, its text and its place."""
    text = cut(later.text, LINE)
    return f"{later.captured} {text} ({visible(later.place)})"


def _passages(
    found: Sequence[searching.Passage], asked: Collection[str], *, bold: bool
) -> list[str]:
    """Format the found source passages that no memory covers as one entry, if there are any."""
    lines = ["in the sources, not promoted:"]
    for one in found:
        text = " ".join(visible(excerpt(one.text, asked, LINE)).split())
        context = visible(one.context)
        day = f", {one.captured}" if one.captured else ""
        if context:
            lines.append(f"  {_DIM}{context}{_PLAIN}" if bold else f"  {context}")
        lines.append(f"  {_bold(text, asked) if bold else text}")
        lines += [f"  later: {later_text(one.later)}"] if one.later else []
        lines.append(f"  from {visible(one.resource)}{span(one.lines)}{day}")
    return ["\n".join(lines)] if found else []


def show(request: showing.ShowRequest, result: showing.Shown, colour: bool) -> str:
    """Format a memory in full: its text, fields, sources, lifecycle and doubts."""
    from memrepo.actions.recall.quotes import evidence_lines
    from memrepo.actions.recall.recall import NoteFacts

    memory, derived = result.memory, result.derived
    status, standing = memory.get("status", "active"), memory.get("standing", "resolved")
    about = [*_fields(memory), ("trust", result.trust)]
    later = [*_life(memory, derived), *(("but", doubt) for doubt in result.doubts)]
    later += [("thread", visible(thread)) for thread in result.threads]
    lines = [
        *result.heading,
        f"{memory.get('id', '')}  {memory.get('type', '')}, {status}, {standing}",
        memory["path"],
        "",
        *(visible(line) for line in memory["text"].split("\n")),
        "",
        *rows(about),
        *evidence_lines(result.evidence),
        *rows(later),
    ]
    if request.explain:
        lines += _importance(result.importance)
        sizes = ", ".join(str(piece.tokens) for piece in result.chunks)
        cut = f", of {sizes} tokens" if result.chunks else ""
        lines += rows([("chunks", f"{len(result.chunks)}{cut}")])
    if isinstance(derived, NoteFacts) and derived.tier == "forgotten" and not request.no_touch:
        lines.append("recovered: this note was forgotten and is warm again")
    return "\n".join(lines)


def _fields(memory: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    from memrepo.core.times import parse_time

    names = ("title", "context", "subject", "predicate", "object", "duplicate_of")
    for name in (*names, "valid_from", "valid_until"):
        yield name, visible(memory.get(name) or "")
    for name in ("supersedes", "superseded_by", "tags", "aliases"):
        yield name, ", ".join(memory.get(name) or ())
    if memory.get("created"):
        yield "created", f"{parse_time(memory['created']):%Y-%m-%d %H:%M} UTC"


def _local(when: str, zone: str, form: str = "%Y-%m-%d %H:%M") -> str:
    from zoneinfo import ZoneInfo

    from memrepo.core.times import parse_time

    return parse_time(when).astimezone(ZoneInfo(zone)).strftime(form)


def _life(memory: Mapping[str, Any], derived: Derived) -> Iterator[tuple[str, str]]:
    """Yield a memory's lifecycle: tier or decay class, expiry, gist and retrievals."""
    from memrepo.actions.recall.recall import ClaimFacts, Facts, NoteFacts

    if isinstance(derived, NoteFacts):
        yield "tier", f"{derived.tier}, confidence {derived.answer_confidence}"
    elif isinstance(derived, ClaimFacts):
        expires = f", expires {derived.expires}" if derived.expires else ""
        if derived.stale_from:
            expires = f", stale {'since' if derived.stale else 'from'} {derived.stale_from}"
        yield "class", f"{derived.cls}{expires}"
    if (hot := memory.get("hot") or {}).get("since") and not hot.get("until"):
        yield "first page", f"since {hot['since']} ({visible(hot.get('reason', ''))})"
    if memory.get("type") == "note" and memory.get("gist"):
        yield "gist", visible(memory["gist"]["summary"])
    if isinstance(derived, Facts) and derived.retrievals:
        times = counted(derived.retrievals, "time", "times")
        yield "retrieved", f"{times}, last {derived.last}"


def _importance(found: Scored) -> Iterator[str]:
    from memrepo.policies.importance import BASE

    yield from rows([("importance", f"{found.score:.2f}, {found.level}")])
    adds = found.rule == "sum"
    if adds and found.level != "trivial":
        yield f"  {BASE:+.2f}  every text with content"
    for point in found.points:
        yield f"  {f'{point.weight:+.2f}  ' if adds else ''}{point.code}: {visible(point.words)}"
    yield from rows([("keywords", ", ".join(map(visible, found.keywords)))])


def _when(begin: str, end: str, zone: str) -> str:
    """Format the start and end times of a thread, or report that no time is known."""
    if not begin or not end:
        return "no time known"
    first, last = _local(begin, zone), _local(end, zone)
    same = _local(end, zone, "%H:%M") if first[:10] == last[:10] else last
    return first + (f" to {same}" if end != begin else "")


def thread(request: around.ThreadRequest, result: around.Threads, colour: bool) -> str:
    """Format the members of one thread in order, or the list of threads, one per line."""
    if request.id:
        return _one_thread(result)
    lines = [counted(result.count, "thread", "threads")]
    for row in result.threads:
        members = counted(len(row.members), "member", "members")
        when = _when(row.begin, row.end, result.zone)
        lines.append(f"{row.id}  {when}  {members}  {visible(row.title)}")
    return "\n".join(lines)


def _one_thread(result: around.Threads) -> str:
    asked, *linked = result.threads
    lines = [f"{asked.id}  {visible(asked.title)}", _when(asked.begin, asked.end, result.zone)]
    if asked.key:
        lines.append(f"session {visible(asked.key)}")
    lines += [f"see also {other.id}  {visible(other.title)}" for other in linked]
    for memory in result.memories:
        lines += ["", f"{memory.get('id', '')}  {visible(memory.get('title', ''))}".rstrip()]
        lines += [f"  {visible(line)}".rstrip() for line in memory["text"].split("\n")]
    return "\n".join(lines)


def topics(request: around.TopicsRequest, result: around.Topics, colour: bool) -> str:
    """Format the topics with score and count, followed by the rising and falling topics."""
    lines = [counted(len(result.topics), "topic", "topics")]
    lines += [f"  {t.score:7.3f}  {t.count:>4}  {visible(t.term)}" for t in result.topics]
    for name, found in (("rising", result.rising), ("falling", result.falling)):
        if found:
            lines.append(f"{name} since {result.since[:10]}:")
            lines += [f"  {t.change:+7.3f}  {visible(t.term)}" for t in found]
    if not result.since:
        lines.append("no trend: the repository is younger than thirty days")
    elif not result.rising and not result.falling:
        lines.append(f"no large change since {result.since[:10]}")
    return "\n".join(lines)


def related(request: around.RelatedRequest, result: around.Related, colour: bool) -> str:
    """Format the memories linked to a memory, the strongest link first."""
    lines = [f"{result.id}  {result.label}"]
    for row in result.related:
        message = row.type if row.way == "to" else f"{row.type} it"
        message += ", in the text" if row.in_body else ""
        status = "" if row.status == "active" else f" ({row.status})"
        lines.append(f"  {row.strength:.2f}  {row.id}  {message}{status}")
        lines.append(f"        {row.label}")
    if not result.related:
        lines.append("not linked (`memrepo link` links two memories)")
    return "\n".join(lines)

"""Answer the calls of tools whose reply is more than the text of a verb.

Each function is named as its tool, without `memory_`.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from memrepo.actions.lifecycle import session
from memrepo.actions.pending import all_waiting
from memrepo.actions.recall import recent as looking
from memrepo.actions.recall import related as relating
from memrepo.actions.recall import search as searching
from memrepo.actions.recall.lookup import HITS, touch
from memrepo.actions.recall.recall import in_words, recalled, work_at
from memrepo.actions.recall.search import Passage, hit_of
from memrepo.actions.recall.thread import NoSuchThread, all_threads, thread_of
from memrepo.actions.setup.survey import survey
from memrepo.actions.work import Work
from memrepo.core.memory import Memory
from memrepo.core.messages import fold
from memrepo.faces.mcp.replies import (
    LINE,
    Done,
    ListItem,
    ToolCall,
    ToolReply,
    hit_entry,
    listing,
    longest,
    place,
)
from memrepo.policies.standing import trust_of
from memrepo.store.ledger import ledger_of
from memrepo.text.words import query_terms
from memrepo.views.hot import HEAD, fenced

LIMIT = 10
MAX_TOKENS = 2000
BEGINNING = 600
"""Characters of a report in the short text."""
_QUOTED = 5
"""Maximum sources of an opened memory in the reply."""


def search(call: ToolCall) -> ToolReply:
    """Search memories and return the best matches. The first three count as retrieved."""
    request = searching.Request(
        words=(call.get("query"),),
        also=tuple(call.get("also", ())),
        types=tuple(call.get("types", ())),
        limit=call.get("limit", LIMIT),
        at=call.get("at"),
        no_touch=True,
    )
    found = searching.do(call.work, request)
    asked = query_terms(" ".join((call.get("query"), *request.also)))
    hits = []
    for first, *same in searching.group_by_wording(found.hits):
        pieces = [hit_entry(hit, asked, score=round(hit.score, 3)) for hit in (first, *same)]
        hits += [pieces[0], *map(_again, pieces[1:])]
    reply = listing(hits, found.commit, _bound(call))
    if found.why and found.hits:
        reply = replace(reply, text=f"nothing found; nearest:\n{reply.text}")
    if not found.hits:
        message = f"nothing found: {found.why}"
        if found.passages:
            nearest = "; nearest:" if found.why else ""
            message = f"no memory found{nearest}, as of commit {found.commit[:10]}. {HEAD}"
        reply = replace(reply, text=message)
    reply = _with_passages(reply, found.passages, _bound(call))
    if found.suggestions:
        advice = [fold(one, 2 * LINE) for one in found.suggestions]
        more = {**reply.data, "suggestions": [fenced(one) for one in advice]}
        message = f"{reply.text}\ntry:\n{fenced(chr(10).join(advice))}"
        longer = replace(reply, text=message, data=more)
        reply = longer if longer.tokens <= _bound(call) else reply
    if not found.why:
        _touch(call.work, request.at, [hit["id"] for hit in reply.data["hits"][:HITS]])
    return reply


def _with_passages(reply: ToolReply, found: Sequence[Passage], max_tokens: int) -> ToolReply:
    """Extend a reply with source passages that no memory covers, as many as the limit allows."""
    if not found:
        return reply
    data = [
        {
            "source": place(one.resource, one.lines),
            "captured": one.captured,
            "context": fenced(one.context),
            "text": fenced(one.text),
        }
        for one in found
    ]
    lines = [
        f"{place(one.resource, one.lines)}: {fold(f'[{one.context}] {one.text}', 2 * LINE)}"
        for one in found
    ]
    for count in range(len(found), 0, -1):
        message = f"in the sources, not promoted:\n{fenced(chr(10).join(lines[:count]))}"
        more = {**reply.data, "passages": data[:count]}
        longer = replace(reply, text=f"{reply.text}\n{message}", data=more)
        if longer.tokens <= max_tokens:
            return longer
    return reply


def _again(piece: ListItem) -> ListItem:
    """Return a hit without its text, which would repeat the statement of the previous hit."""
    _, *doubted = piece.line.split("\n")
    return replace(piece, line="\n".join([f"{piece.data['id']} says the same", *doubted]))


def get(call: ToolCall) -> ToolReply:
    """Return one memory by id, with the text and the evidence that `memrepo show` prints."""
    done = call.run("show", id=call.get("id"), at=call.get("at"))
    shown, whole = done.result, done.text
    memory = work_at(call.work, call.get("at")).tree.state().memories[shown.memory["id"]]
    found = {
        "type": memory.type,
        "status": memory.status,
        "standing": memory.standing,
        "trust": trust_of(memory),
        "supersedes": list(memory.texts("supersedes")),
        "superseded_by": list(memory.texts("superseded_by")),
        **done.data["derived"],
    }
    data = {"commit": shown.commit, "notice": HEAD, "id": memory.id}
    data |= {key: value for key, value in found.items() if value}
    gone = f", {memory.status}" if memory.status != "active" else ""
    head = f"{memory.id} ({memory.type}, {found['trust']}{gone}), as of commit {shown.commit[:10]}."

    def build(text: str) -> ToolReply:
        cut, block = len(text) < len(whole), fenced(text)
        tail = ["cut: raise max_tokens for the rest"] if cut else []
        return ToolReply(
            text="\n".join([f"{head} {HEAD}", block, *tail]),
            data={**data, "text": block, "truncated": cut},
        )

    return longest(whole, _bound(call), build)


def related(call: ToolCall) -> ToolReply:
    """Return the memories linked to or from a memory, closest and strongest links first."""
    request = relating.Request(id=call.get("id"), depth=call.get("depth", 1))
    memories = call.work.tree.state().memories
    found = relating.do(call.work, request).related
    return _listed(call.work, call, [(memories[row.id], _relation(row)) for row in found])


def _relation(row: relating.RelatedMemory) -> str:
    """Describe how a related memory is linked to the requested memory.

    "supports" is a link to the related memory, and "supports it" is a link from it.
    """
    relation = row.type if row.way == "to" else f"{row.type} it"
    return relation if row.depth == 1 else f"{relation}, by {row.via}"


def thread_context(call: ToolCall) -> ToolReply:
    """Return the memories of a thread, oldest first. The thread is named by its id or a member."""
    there = call.work
    state = there.tree.state()
    members: tuple[str, ...] = ()
    with suppress(NoSuchThread):  # a memory outside every thread has an empty context
        members = tuple(thread_of(all_threads(there), state, call.get("id")).members)
    return _listed(there, call, [(state.memories[id_], "") for id_ in members])


def _listed(there: Work, call: ToolCall, found: Sequence[tuple[Memory, str]]) -> ToolReply:
    accesses, rules = ledger_of(there.store).accesses(), there.config.rules
    hits = []
    for memory, relation in found[: call.get("limit", LIMIT)]:
        one = in_words(
            recalled(memory, accesses, call.work.call.now, rules),
            there.tree.state().memories.get,
            there.tree.files.id_of,
        )
        more = {"relation": relation} if relation else {}
        hits.append(hit_entry(hit_of(one, there.tree.commit), **more))
    return listing(hits, there.tree.commit, _bound(call))


def recent(call: ToolCall) -> ToolReply:
    """Return the memories that changed since a date, a run or a commit, newest first."""
    request = looking.RecentRequest(since=call.get("since"), limit=call.get("limit", LIMIT))
    found = looking.recent(call.work, request)
    hits = []
    for one in found.changes:
        ends = one.replaces or one.replaced_by
        way = "" if not ends else f", replaces {ends[0]}" if one.replaces else f" by {ends[0]}"
        hits.append(hit_entry(one.hit, change=f"{one.change}{way}"))
    return listing(hits, found.commit, _bound(call), found.left_out)


def hot(call: ToolCall) -> ToolReply:
    """Return the text that agents receive when a session begins, without starting a session.

    Each memory in the text counts as retrieved.
    """
    bound = int(call.get("max_tokens", session.MAX_TOKENS))
    packed, by_heart, *_ = session.context(call.work, "private", bound)
    _touch(call.work, "", [memory.id for memory in by_heart])
    data = {"commit": call.work.tree.commit, "left_out": packed.left_out}
    text = packed.text or "no memory is hot"
    return ToolReply(text=text, data={**data, "text": text})


def status(call: ToolCall) -> ToolReply:
    """Return the numbers of memories, the runs that await review and the newest commit.

    A caller restricted to a scope gets the numbers of the memories that it may see.
    """
    here, scope = call.work, call.work.call.scope
    found = survey(here)
    waiting = [] if scope else [run.branch for run in all_waiting(here)]
    counts = ", ".join(f"{n} {name}" for name, n in found.memories.items()) or "no memories"
    where = f" in the scope {scope}" if scope else ""
    waits = f"; waits for review: {', '.join(waiting)}" if waiting else ""
    return ToolReply(
        text=f"{counts}{where}, as of commit {here.tree.commit[:10]}{waits}",
        data={
            "commit": here.tree.commit,
            "memories": found.memories,
            "contradictions": found.contradictions,
            "waiting": waiting,
        },
    )


def report_of(done: Done, max_tokens: int) -> ToolReply:
    """Return the reply for a verb without a handler: what it wrote, or its text as a report."""
    data, whole, code = done.data, done.text, int(done.result.exit)
    if "id" in data and done.reason:
        return _written(done)
    commits = {key: data[key] for key in ("run", "commit", "commits") if data.get(key)}

    def build(text: str) -> ToolReply:
        cut = len(text) < len(whole)
        found = {"exit": code, **commits, "report": fenced(text), "truncated": cut}
        return ToolReply(text=f"exit {code}. {HEAD}\n{fenced(text[:BEGINNING])}", data=found)

    return longest(whole, max_tokens, build)


def _bound(call: ToolCall) -> int:
    return int(call.get("max_tokens", MAX_TOKENS))


def _touch(here: Work, at: str, ids: Sequence[str]) -> None:
    if not at:
        touch(here, ids)


def _written(done: Done) -> ToolReply:
    data, notices = done.data, done.result.notices
    found = {k: data[k] for k in ("id", "commit")}
    unchanged = str(data.get("unchanged", ""))
    text = (
        f"{data['id']} {unchanged}{'' if 'waits' in data else ': nothing written'}"
        if unchanged
        else (f"{data['op']} {data['id']} in commit {found['commit'][:10]}")
    )
    more = {"unchanged": unchanged} if unchanged else {}
    if notices:
        noticed = fenced("\n".join(str(p) for p in notices[:5]))
        return ToolReply(text=f"{text}\n{noticed}", data={**found, **more, "noticed": noticed})
    return ToolReply(text=text, data={**found, **more})

"""Answer the calls of tools: each function is named as its tool, without `memory_`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.lifecycle import session
from memrepo.actions.past.log import find_present
from memrepo.actions.recall import recent as looking
from memrepo.actions.recall import search as searching
from memrepo.actions.recall.lookup import HITS, find, touch
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.recall import facts, in_words, recalled, work_at
from memrepo.actions.recall.related import graph_of
from memrepo.actions.recall.search import Passage, hit_of
from memrepo.actions.recall.thread import NoSuchThread, all_threads, thread_of
from memrepo.actions.setup import status as standing
from memrepo.actions.work import Work
from memrepo.core.errors import MemrepoError, UsageError
from memrepo.core.memory import SOURCE_COUNT, Memory, places_of
from memrepo.core.messages import counted, fold
from memrepo.core.secrets import without_secrets
from memrepo.core.times import format_time
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
    refusal,
)
from memrepo.policies.links import Reached
from memrepo.policies.standing import counted_as, doubts, stale, trust_of
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
    """Return one or several memories by id, with text, derived facts and quoted evidence."""
    there = work_at(call.work, call.get("at"))
    if not call.get("ids"):
        if not call.get("id"):
            raise UsageError("no memory is named", fix="give its `id`, or several as `ids`")
        return _opened(call, there, call.get("id"), _bound(call))
    wanted = list(dict.fromkeys([*filter(None, [call.get("id")]), *call.get("ids")]))
    found, left = list[ToolReply](), _bound(call)
    for place_, id_ in enumerate(wanted):
        share = left // (len(wanted) - place_)
        try:
            found.append(_opened(call, there, id_, share))
        except MemrepoError as error:
            found.append(_not_there(id_, error))
        left -= found[-1].tokens
    commit = there.tree.commit
    head = f"{counted(len(found), 'memory', 'memories')}, as of commit {commit[:10]}. {HEAD}"
    suffix = f", as of commit {commit[:10]}. {HEAD}"
    memories = [
        {k: v for k, v in one.data.items() if k not in ("commit", "notice")} for one in found
    ]
    return ToolReply(
        text="\n".join([head, *(one.text.replace(suffix, ":", 1) for one in found)]),
        data={"commit": commit, "notice": HEAD, "memories": memories},
    )


def _not_there(id_: str, error: MemrepoError) -> ToolReply:
    message = fenced(fold(error.message, 200))
    return ToolReply(text=f"{id_} was not opened:\n{message}", data={"id": id_, "refused": message})


def _opened(call: ToolCall, there: Work, id_: str, bound: int) -> ToolReply:
    at, here = call.get("at"), call.work
    memory = find_present(there, there.tree.state(), id_, here)
    derived: dict[str, Any] = {}
    if not at:
        accesses = ledger_of(here.store).accesses()
        derived = msgspec.to_builtins(
            facts(memory, accesses, call.work.call.now, there.config.rules)
        )
    quotes = evidence(there, memory)
    there_now = there.tree.files.id_of
    against = [*doubts(memory, there.tree.state().memories.get, is_there=there_now)]
    if derived.get("stale"):
        against.append(stale(derived["stale_from"]))
    _touch(here, at, [memory.id])
    data = {
        "commit": there.tree.commit,
        "notice": HEAD,
        "id": memory.id,
        **_about(memory),
        **derived,
        "sources": [
            {"source": place(q.resource, q.lines), "captured": q.captured, "resolved": q.resolved}
            for q in quotes[:_QUOTED]
        ],
    }
    if memory.has(SOURCE_COUNT):
        data["source_count"] = places_of(memory)
    whole = _whole(memory, quotes, against)

    def build(text: str) -> ToolReply:
        cut = len(text) < len(whole)
        block = fenced(text)
        commit = there.tree.commit[:10]
        gone = f", {memory.status}" if memory.status != "active" else ""
        head = f"{memory.id} ({memory.type}, {data['trust']}{gone}), as of commit {commit}. {HEAD}"
        tail = ["cut: raise max_tokens for the rest"] if cut else []
        return ToolReply(
            text="\n".join([head, block, *tail]), data={**data, "text": block, "truncated": cut}
        )

    return longest(whole, bound, build)


def _about(memory: Memory) -> dict[str, Any]:
    created = memory.time("created")
    known = {
        "type": memory.type,
        "status": memory.status,
        "standing": memory.standing,
        "trust": trust_of(memory),
        "layer": memory.layer,
        "created": format_time(created) if created else "",
        "supersedes": list(memory.texts("supersedes")),
        "superseded_by": list(memory.texts("superseded_by")),
    }
    return {key: value for key, value in known.items() if value}


def _whole(memory: Memory, quotes: Sequence[Quote], against: Sequence[str]) -> str:
    names = ("title", "context", "subject", "predicate", "object", "valid_from", "valid_until")
    lines = [memory.body, "", *(f"but {fold(doubt, 300)}" for doubt in against)]
    lines += [f"{name}: {fold(memory.text(name), 300)}" for name in names if memory.text(name)]
    lines += [
        f"{name}: {', '.join(memory.texts(name))}"
        for name in ("tags", "entities")
        if memory.texts(name)
    ]
    lines += [f"evidence: {fold(q.quote, 300)}" for q in quotes[:_QUOTED] if q.quote]
    if memory.has(SOURCE_COUNT):
        lines.append(f"and {places_of(memory) - _QUOTED} more places")
    return without_secrets("\n".join(lines).strip())


def related(call: ToolCall) -> ToolReply:
    """Return the memories linked to or from a memory, closest and strongest links first."""
    there = call.work
    state = there.tree.state()
    graph = graph_of(state)
    reached = graph.related(find(state, call.get("id")).id, call.get("depth", 1))
    found = [(graph.memories[one.id], _relation(one)) for one in reached]
    return _listed(there, call, found)


def _relation(reached: Reached) -> str:
    """Describe how a related memory is linked to the requested memory.

    "supports" is a link to the related memory, and "supports it" is a link from it.
    """
    edge = reached.edge
    relation = edge.type if edge.target == reached.id else f"{edge.type} it"
    return relation if reached.depth == 1 else f"{relation}, by {reached.before}"


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
    """Return the numbers of memories, the runs that await review and the newest commit."""
    if call.work.call.scope:
        return _counts(call.work)
    found = standing.status(call.work, standing.StatusRequest())
    last = found.last_run
    data = {
        "commit": found.commit,
        "memories": found.memories,
        "notes": found.tiers,
        "sources_unread": len(found.unread),
        "waiting": list(found.waiting),
        "last_run": {"run": last.run, "when": last.when} if last else None,
        "contradictions": found.contradictions,
        "problems": len(found.problems),
        "uncommitted": len(found.uncommitted),
    }
    counts = ", ".join(f"{n} {name}" for name, n in found.memories.items()) or "no memories"
    waits = f"; waits for review: {', '.join(found.waiting)}" if found.waiting else ""
    return ToolReply(text=f"{counts}, as of commit {found.commit[:10]}{waits}", data=data)


def _counts(here: Work) -> ToolReply:
    """Return the number of visible memories by status, for a caller restricted to a scope."""
    memories = Counter(map(counted_as, here.tree.state().memories.values()))
    counts = ", ".join(f"{n} {name}" for name, n in sorted(memories.items())) or "no memories"
    commit = here.tree.commit
    return ToolReply(
        text=f"{counts} in the scope {here.call.scope}, as of commit {commit[:10]}",
        data={"commit": commit, "memories": dict(sorted(memories.items()))},
    )


def verb_report(done: Done, max_tokens: int) -> ToolReply:
    """Return the reply for a performed verb: its result as text, the data and the exit code."""
    data, whole, code = done.data, done.text, int(done.result.exit)
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


def store(call: ToolCall) -> ToolReply:
    """Store one or several memories, each in its own commit.

    For a repetition, return the id of the existing memory.
    """
    entries = [dict(entry) for entry in call.get("memories", ())]
    if not entries:
        return _written(_add(call, call.arguments))
    if call.get("text"):
        entries.insert(0, {"text": call.get("text")})
    return _several(call, entries)


def _add(call: ToolCall, entry: Mapping[str, Any]) -> Done:
    return call.write(
        "add",
        text=entry.get("text", ""),
        type=entry.get("type") or call.get("type", "fact"),
        cls=call.get("decay_class"),
        tags=tuple(entry.get("tags") or call.get("tags", ())),
        valid_until=call.get("valid_until"),
    )


def _several(call: ToolCall, entries: Sequence[Mapping[str, Any]]) -> ToolReply:
    """Store several memories in order. If one is refused, continue with the next one.

    With `expected_commit`, the first write expects that commit, and each further write expects the
    previous one.
    """
    lines, stored, commit = list[str](), list[Mapping[str, Any]](), ""
    for number, entry in enumerate(entries, 1):
        call.work.call.tick(f"{number} of {len(entries)}")
        try:
            one = _written(_add(call, entry))
        except MemrepoError as error:
            one = refusal(error)
            stored.append({"refused": one.data["error"]["message"]})
        else:
            stored.append(one.data)
            if one.data["commit"]:
                commit = one.data["commit"]
                call = _after(call, commit)
        lines.append(f"{number}. {one.text}")
    ids = [one["id"] for one in stored if "id" in one]
    return ToolReply(
        text="\n".join(lines),
        data={"id": ids[0] if ids else "", "commit": commit, "stored": stored},
        failed=not ids,
    )


def _after(call: ToolCall, commit: str) -> ToolCall:
    if not call.get("expected_commit"):
        return call
    return replace(call, arguments={**call.arguments, "expected_commit": commit})


def supersede(call: ToolCall) -> ToolReply:
    """Replace a memory with a newer statement.

    The old memory stays in history but not in recall.
    """
    return _written(call.write("supersede", id=call.get("id"), text=call.get("text")))


def forget(call: ToolCall) -> ToolReply:
    """Remove a memory from recall, but keep its file and its history."""
    return _written(call.write("forget", id=call.get("id")))


def restore(call: ToolCall) -> ToolReply:
    """Restore a memory, either in place of its successor or in addition to its successor."""
    how = {call.get("how"): True} if call.get("how") else {}
    return _written(call.write("restore", id=call.get("id"), **how))


def accept(call: ToolCall) -> ToolReply:
    """Accept a pending run."""
    return verb_report(call.write("accept", run=call.get("run")), MAX_TOKENS)


def revert(call: ToolCall) -> ToolReply:
    """Revert a run, a commit, or the last decision about a memory."""
    return verb_report(call.write("revert", target=call.get("target")), MAX_TOKENS)


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

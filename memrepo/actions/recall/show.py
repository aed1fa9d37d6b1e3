"""`memrepo show`: one memory, its fields, and the source lines it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import tzinfo
from typing import Annotated, Any

import msgspec

from memrepo.actions.past.timeline import find_present
from memrepo.actions.recall.quotes import evidence, evidence_lines
from memrepo.actions.recall.recalled import facts
from memrepo.actions.recall.usage import touch
from memrepo.actions.recall.when import heading, moment_of, work_at
from memrepo.actions.request import At, NoTouch, ValidAt, option
from memrepo.actions.work import Answer, Work
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.schema import BY_NAME, FIELDS
from memrepo.core.state import State
from memrepo.core.times import format_time, parse_duration, parse_time
from memrepo.policies.chunking import chunks
from memrepo.policies.importance import BASE, Scored, importance_of
from memrepo.policies.succession import after, before
from memrepo.policies.threads import assign, thread_id, turns_of
from memrepo.policies.validity import span_of
from memrepo.store.ledger import ledger_of


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `show`."""

    id: Annotated[str, option("id, unique prefix of one, or slug", metavar="ID")]
    explain: Annotated[
        bool, option("also its importance point by point, and how search cuts it", "--explain")
    ] = False
    no_touch: NoTouch = False
    at: At = ""
    valid_at: ValidAt = ""


def do(work: Work, request: Request) -> Answer:
    """Show a memory as it is at HEAD, or as it was at another time."""
    there = work_at(work, request.at)
    state = there.tree.state()
    memory = find_present(there, state, request.id, work)
    found = evidence(there, memory)
    held = _validity(there, state, memory, request.valid_at) if request.valid_at else {}
    head = heading(there, request.at)
    known = (
        {}
        if request.at
        else facts(memory, ledger_of(there.store).accesses(), work.call.now, there.config.rules)
    )
    if not (request.no_touch or request.at):
        touch(work, [memory.id])
    scored = importance_of(memory, there.config.lexicon)
    cut = chunks(memory.body, there.config.chunking)
    threads = threads_around(there, state, memory)
    data = {
        "memory": as_json(memory),
        "threads": threads,
        "derived": known,
        "importance": _importance(scored),
        "chunks": [{"start": c.start, "end": c.end, "tokens": c.tokens} for c in cut],
        "evidence": found,
        "commit": there.tree.commit,
        **({"validity": held} if held else {}),
    }
    lines = _validity_lines(held, request.valid_at, there.config.zone) if held else []
    told = [*head, _text(memory, found, lines), *_life(memory, known)]
    told += [f"{'thread:':<15}{visible(thread)}" for thread in threads]
    if request.explain:
        told += importance_lines(scored)
        sizes = ", ".join(str(chunk.tokens) for chunk in cut)
        told.append(f"{'chunks:':<15}{len(cut)}" + (f", of {sizes} tokens" if cut else ""))
    if known.get("tier") == "forgotten" and not request.no_touch:
        told.append("recovered: this note was forgotten and is warm again")
    return Answer(data=data, text="\n".join(told))


def threads_around(work: Work, state: State, memory: Memory) -> list[str]:
    """Return the ids of the threads that a memory is part of."""
    named = memory.texts("threads")
    if not memory.is_note:
        return list(named)
    zone, gap = work.config.zone, parse_duration(work.config.get("threads.gap"))
    parts = assign(turns_of(state.memories.values(), zone), gap)
    mine = [part[0].id for part in parts if any(turn.id == memory.id for turn in part)]
    return [*map(thread_id, mine), *named]


def _importance(scored: Scored) -> dict[str, Any]:
    """Return an importance and its points for JSON; `keywords` and `reasons` are lists."""
    found = scored.importance
    return {
        "score": found.score,
        "level": found.level,
        "reasons": list(found.reasons),
        "keywords": list(found.keywords),
        "points": [{"code": p.code, "weight": p.weight, "words": p.words} for p in scored.points],
    }


def importance_lines(scored: Scored) -> list[str]:
    """Tell an importance with each of its points, for people."""
    found = scored.importance
    lines = [f"{'importance:':<15}{found.score:.2f}, {found.level}"]
    if found.level != "trivial":
        lines.append(f"  {BASE:+.2f}  every text that says something")
    lines += [f"  {p.weight:+.2f}  {p.code}: {visible(p.words)}" for p in scored.points]
    if found.keywords:
        lines.append(f"{'keywords:':<15}{', '.join(map(visible, found.keywords))}")
    return lines


def _validity(work: Work, state: State, memory: Memory, word: str) -> dict[str, Any]:
    """Return whether a memory was true at a date, since when and until when, and what was."""
    zone = work.config.zone
    moment = moment_of(work, word)
    span = span_of(memory, state.memories, zone)
    line = (*before(memory, state.memories), *after(memory, state.memories))
    instead = [
        other.id
        for other in line
        if other.id in state.memories and span_of(other, state.memories, zone).holds(moment)
    ]
    return {
        "at": format_time(moment),
        "holds": span.holds(moment),
        **span.as_json(),
        "instead": [] if span.holds(moment) else instead,
    }


_SAID = {
    "valid_from": "valid_from",
    "valid_until": "valid_until",
    "successor": "valid_from of its successor",
    "superseded_at": "when it was replaced",
    "predecessor": "when it replaced another",
    "unknown": "when is not on record",
}


def _validity_lines(held: dict[str, Any], word: str, zone: tzinfo) -> list[str]:
    parts = ["true" if held["holds"] else "not true", f"at {word}"]
    for key in ("since", "until"):
        if held[key]:
            when = parse_time(held[key]).astimezone(zone)
            parts.append(f"{key} {when:%Y-%m-%d %H:%M} ({_SAID[held[f'{key}_from']]})")
        elif held[f"{key}_from"]:
            parts.append(f"replaced, {_SAID[held[f'{key}_from']]}")
    lines = [f"{'validity:':<15}{parts[0]} {', '.join(parts[1:])}"]
    if held["instead"]:
        lines.append(f"{'true then:':<15}{', '.join(held['instead'])}")
    return lines


def as_json(memory: Memory) -> dict[str, Any]:
    """Return a memory's path, fields and body for JSON."""
    fields = {f.name: plain(f.name, memory) for f in FIELDS if f.name in memory.fields}
    return {"path": memory.path, "layer": memory.layer, **fields, "text": memory.body}


def plain(name: str, memory: Memory) -> Any:
    """Return a field's value for JSON, None where the memory has none."""
    if name not in memory.fields:
        return None
    return _plain(BY_NAME[name].kind.write(memory.fields[name]))


def _plain(node: Any) -> Any:
    if isinstance(node, list):
        return [_plain(part) for part in node]
    if isinstance(node, dict):
        return {key: _plain(part) for key, part in node.items()}
    return str(node)


def _life(memory: Memory, known: Mapping[str, Any]) -> list[str]:
    """Tell where a memory stands in its life: tier and gist, or class and expiry; retrievals."""
    lines = []
    if "tier" in known:
        lines.append(f"{'tier:':<15}{known['tier']}, confidence {known['answer_confidence']}")
    elif "class" in known:
        expires = f", expires {known['expires']}" if known["expires"] else ""
        lines.append(f"{'class:':<15}{known['class']}{expires}")
    if memory.is_note and (gist := memory.fields.get("gist")) is not None:
        lines.append(f"{'gist:':<15}{visible(gist.summary)}")
    if known.get("retrievals"):
        times = counted(known["retrievals"], "time", "times")
        lines.append(f"{'retrieved:':<15}{times}, last {known['last']}")
    return lines


def _text(memory: Memory, found: list[dict[str, Any]], validity: list[str]) -> str:
    head = [f"{memory.id}  {memory.type}, {memory.status}, {memory.standing}", memory.path, ""]
    head += [visible(line) for line in memory.body.split("\n")]
    head.append("")
    for name in ("title", "subject", "predicate", "object", "home", "duplicate_of", "run"):
        if memory.text(name):
            head.append(f"{name + ':':<15}{visible(memory.text(name))}")
    head += [
        f"{name + ':':<15}{visible(memory.text(name))}"
        for name in ("valid_from", "valid_until")
        if memory.text(name)
    ]
    for name in ("supersedes", "superseded_by", "tags"):
        if memory.texts(name):
            head.append(f"{name + ':':<15}{', '.join(memory.texts(name))}")
    created = memory.time("created")
    if created:
        head.append(f"{'created:':<15}{created:%Y-%m-%d %H:%M} UTC")
    return "\n".join([*head, *validity, *evidence_lines(found)])

"""The shelf pass: once a run, a model arranges the memories after the new ones were read.

It joins memories that say the same, closes what was overtaken, drops what nobody will need,
corrects types, and chooses the first page. Joined texts pass the same checks as those of new
memories, and a second question confirms every join and every replacement. A pass that was not
answered is asked for by the next run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from memrepo.actions.run.gather import Answers, RunPlan
from memrepo.actions.run.known import Known
from memrepo.actions.run.settle import SURE, supersede
from memrepo.core.ids import normalise
from memrepo.core.judge import BadReply, BudgetReached, JudgeFailed
from memrepo.core.manifest import Receipt
from memrepo.core.memory import CLAIM_TYPES, OWN_ACTOR, Hot, Memory, Stamp
from memrepo.core.patterns import regex
from memrepo.core.state import Step, Update
from memrepo.core.times import format_time
from memrepo.judge.ask import Desk, why_stopped
from memrepo.judge.checks import Cited, check
from memrepo.judge.documents import day_of, pairs_alike, short_ids, tokens_of
from memrepo.judge.grounding import is_same_day, literals_of, read_dates
from memrepo.judge.interface import Assessment, Change, Operation
from memrepo.judge.questions import Proposed, is_due, memory_row, shelf_question, verify_question
from memrepo.policies.claims import akin, is_held_by_person, join_sources, storage_fault
from memrepo.policies.hotcache import (
    SYNC,
    hot_of,
    place_of,
    placed,
    was_removed,
)
from memrepo.policies.standing import superseded
from memrepo.policies.upkeep import archive

MIN_NEW, MIN_CHANGED = 5, 10
"""Minimum number of memories for the first pass, and of new ones for a later pass."""
MIN_ROOM = 2000
"""Tokens of memories that each question has room for, however little a model can read of files."""
MAX_PAGE, MAX_OPEN = 30, 5
"""Maximum lines of the first page that a model chooses, and of open questions among them."""
NEWS = ("constraint", "preference", "decision", "commitment")
"""Types of memories that are on the page from their first night."""
_FIGURE = regex(r"\d+(?:[.,:-]\d+)*")


def arrange(plan: RunPlan, known: Known, answers: Answers) -> Receipt:
    """Let a model arrange the memories, and return the receipt of a run so far.

    Nothing is asked if only a few are new. Rules, preferences, decisions and promises among these,
    and what is due, are added to the page that the model chose last.
    """
    desk, receipt = plan.desk, answers.receipt
    if desk is None:
        return receipt
    memories = [m for m in _active(known) if m.type in CLAIM_TYPES]
    last = max((m.now for m in plan.manifests if m.receipt.arranged), default="")
    new = {m.id for m in memories if _worded_at(m) > last}
    today = known.now.astimezone(plan.config.zone).date().isoformat()
    if len(new) < (MIN_CHANGED if last else MIN_NEW):
        if plan.config.rules.hot.composed:
            news = (m for m in memories if m.id in new and m.type in NEWS)
            due = (m for m in memories if is_due(m, today))
            _show_news(known, [*dict.fromkeys((*news, *due))])
        return receipt
    shown = short_ids(_concerned(memories, new, today) if last else memories)
    fresh = frozenset(id_ for id_, m in shown.items() if m.id in new)
    room = max(plan.config.judge.context, MIN_ROOM)
    try:
        items, chosen = _ask(desk, shown, fresh, answers.names, today, room)
        given = [one for one in items if isinstance(one, Change)]
        proposed = _propose(known, desk, given, shown)
        confirmed = _confirm(proposed, shown, desk)
    except BadReply:
        return replace(receipt, arranged=True)  # the memories stay as they were worded
    except (JudgeFailed, BudgetReached) as error:
        return replace(receipt, partial=why_stopped(error))
    _change(known, given, shown, confirmed, answers.names)
    for name, why in _left(known, given, shown):
        known.faults.setdefault(name, why)
        desk.refusals.append(f"{name}: left out: {known.faults[name]}")
    page = dict.fromkeys(_heir(known, shown[id_].id) for id_ in chosen)
    if page and plan.config.rules.hot.composed:
        _put_on_page(plan, known, page)
    return replace(receipt, arranged=True)


def _active(known: Known) -> list[Memory]:
    """Return the active memories after a run's changes so far, sorted by path."""
    every = {**known.state.memories, **known.changed}.values()
    return sorted((m for m in every if m.status == "active"), key=lambda m: m.path)


def _worded_at(memory: Memory) -> str:
    """Return when a memory got its words."""
    stamp = memory.stamp
    at = (stamp.at if stamp is not None else None) or memory.created
    return format_time(at) if at is not None else ""


def _concerned(memories: Sequence[Memory], new: set[str], today: str) -> list[Memory]:
    """Return the new memories, those most similar to them, those on the first page or due."""
    old = [m for m in memories if m.id not in new]
    similar = {o.id for m in memories if m.id in new for o, _ in akin(m, old)}
    found = (m for m in memories if m.id in new or m.id in similar)
    more = (m for m in memories if hot_of(m) is not None or is_due(m, today))
    return [*dict.fromkeys((*found, *more))]


def _ask(
    desk: Desk,
    shown: Mapping[str, Memory],
    fresh: frozenset[str],
    names: Sequence[str],
    today: str,
    room: int,
) -> tuple[list[object], list[str]]:
    """Return the changes to all memories, and the first page, from as many questions as needed.

    A question has at most `room` tokens of memories, what earlier ones chose for the page, and what
    is similar to its own. It shows what they joined as one memory.
    """
    pairs, page, items = pairs_alike(shown), list[str](), list[object]()
    view = dict(shown)
    for part in split_rows(shown, room):
        ids = {*part, *page, *(one for one, other in pairs if other in part)}
        some = {id_: m for id_, m in view.items() if id_ in ids}
        alike = [pair for pair in pairs if some.keys() >= {*pair}]
        answer = desk.ask(shelf_question(some, fresh, names, today, alike=alike, page=page))
        items += answer.items
        given = [one for one in answer.items if isinstance(one, Change) and one.change == "join"]
        firsts = dict[str, str]()
        for number in _find_proposals(given, view)[0]:
            members, named = _members(given[number], view), dict.fromkeys(given[number].ids)
            first, *others = (id_ for id_ in named if view.get(id_) in members)
            firsts |= dict.fromkeys(others, first)
            view[first] = view[first].with_fields({}, given[number].text)
        view = {id_: m for id_, m in view.items() if id_ not in firsts}
        chosen = [id_ for id_ in answer.page if id_ in shown] or page
        page = [*dict.fromkeys(firsts.get(id_, id_) for id_ in chosen)]
    return items, page


def split_rows(shown: Mapping[str, Memory], room: int) -> list[list[str]]:
    """Split memories into equal parts of at most some tokens each. Return their ids."""
    sizes = {id_: tokens_of(memory_row(id_, m)) + 1 for id_, m in shown.items()}
    count = -(-sum(sizes.values()) // room)
    parts: list[list[str]] = [[] for _ in range(count)]
    before = 0
    for id_, size in sizes.items():
        parts[before * count // sum(sizes.values())].append(id_)
        before += size
    return parts


def _is_fixed(memory: Memory) -> bool:
    """Return whether a person or an agent decided about a memory, so that no model changes it."""
    return is_held_by_person(memory) or memory.is_stored


def _members(change: Change, shown: Mapping[str, Memory]) -> list[Memory]:
    found = [shown[id_] for id_ in dict.fromkeys(change.ids) if id_ in shown]
    return [m for m in found if not _is_fixed(m) and m.scope == found[0].scope]


def _propose(
    known: Known, desk: Desk, given: Sequence[Change], shown: Mapping[str, Memory]
) -> dict[int, Proposed]:
    """Return the changes that a second question confirms, as operations by their number.

    Joins with faults are left out, and named to the judge.
    """
    proposed, refused = _find_proposals(given, shown)
    for number, why in refused.items():
        name = f"shelf: join {' '.join(given[number].ids)}"
        known.faults[name] = "; ".join(why)
        desk.refusals.append(f"{name}: left out: {known.faults[name]} (text: {given[number].text})")
    return proposed


def _find_proposals(
    given: Sequence[Change], shown: Mapping[str, Memory]
) -> tuple[dict[int, Proposed], dict[int, list[str]]]:
    """Return joins and replacements as operations by their number, and what is wrong with joins."""
    found: dict[int, Proposed] = {}
    refused: dict[int, list[str]] = {}
    for number, change in enumerate(given):
        members = _members(change, shown)
        texts = tuple(m.body for m in members)
        dated = tuple(f"{day} | {m.body}" if (day := day_of(m)) else m.body for m in members)
        above = tuple(dict.fromkeys(m.subject for m in members if m.subject))
        days = tuple(sorted({m.captured[:10] for m in members if m.captured}))
        id_ = f"{change.change}-{number}"
        if change.change == "join" and len(members) > 1:
            op = Operation(
                op="add", lines="", text=change.text, type=change.type, subject=change.subject
            )
            cited = Cited(own=texts, under=above, above=above, days=days)
            if faults := [*check(op, cited, {}, ()), *_lost(change.text, members)]:
                refused[number] = faults
            else:
                found[number] = Proposed(id=id_, op=op, cited=replace(cited, own=dated))
        elif change.change == "overtake" and len(members) == 2 and _may_follow(*members):
            old, new = members
            op = Operation(op="replace", lines="", text=new.body, subject=new.subject)
            cited = Cited(own=dated[1:], under=above, above=above, days=days)
            found[number] = Proposed(id=id_, op=op, cited=cited, old=old)
    return found, refused


def _lost(text: str, members: Sequence[Memory]) -> Iterator[str]:
    """Yield what a joined text loses of its members: figures, paths and other identifiers."""
    kept = normalise(text)
    whole = _FIGURE.findall(kept)
    figures = {*whole, *(part for one in whole for part in one.replace(":", "-").split("-"))}
    stated = read_dates("\n".join((text, *(m.captured[:10] for m in members))))[0]
    years = {year for year, _, _ in stated}
    for memory in members:
        days, undated = read_dates(memory.body)
        lost = [one for one in literals_of(memory.body) if not _is_kept(normalise(one), kept)]
        gone = (x for x in sorted(days) if not any(is_same_day(x, one, years) for one in stated))
        lost += ("-".join(f"{part:02}" for part in day if part) for day in gone)
        lost += (one for one in _FIGURE.findall(normalise(undated)) if one not in figures)
        if lost := [*dict.fromkeys(lost)]:
            yield f"text: it loses {', '.join(lost[:4])}: keep all, or join nothing"
            return


def _is_kept(literal: str, text: str) -> bool:
    """Return whether a text has a literal, or if it is a path, a folder of it and the rest."""
    signs = (at for at, sign in enumerate(literal) if sign == "/" and "/" in literal[:at])
    return literal in text or any(
        literal[:at] in text
        and re.search(rf"(?<![\w/-]){re.escape(literal[at + 1 :])}(?![\w-])", text)
        for at in signs
    )


def _may_follow(old: Memory, new: Memory) -> bool:
    """Return whether the dates of two memories permit that the second replaces the first."""
    return not "" < day_of(new) < day_of(old)


def _confirm(
    proposed: Mapping[int, Proposed], shown: Mapping[str, Memory], desk: Desk
) -> frozenset[int]:
    """Return the joins and replacements that a second question confirms.

    A join that takes over the text of a member needs none.
    """
    bodies = {memory.body for memory in shown.values()}
    asked = {n: o for n, o in proposed.items() if o.old is not None or o.op.text not in bodies}
    stated = {one.id for n, one in proposed.items() if n not in asked}
    if asked:
        answer = desk.ask(verify_question([*asked.values()], ()))
        stated |= {a.id for a in answer.items if isinstance(a, Assessment) and a.stated}
    return frozenset(n for n, one in proposed.items() if one.id in stated)


def _change(
    known: Known,
    given: Sequence[Change],
    shown: Mapping[str, Memory],
    confirmed: frozenset[int],
    names: Sequence[str],
) -> None:
    """Add the steps of an answer, joins first. A memory is joined, overtaken or dropped once.

    What was joined or overtaken is followed to the memory in its place, which may overtake others.
    What has overtaken a memory may be overtaken, but is not dropped.
    """
    subjects = {m.subject for m in shown.values()} | {n.partition(" ")[2] for n in names} - {""}
    joined: set[str] = set()
    newer: set[str] = set()
    for number, change in sorted(enumerate(given), key=lambda one: one[1].change != "join"):
        ids = [m.id for m in _members(change, shown)]
        free = [id_ for id_ in ids if id_ not in joined and known.is_active(id_)]
        if change.change == "overtake" and ids[:1] == free[:1]:
            heirs = {_heir(known, id_) for id_ in ids[1:]} - {ids[0]}
            free = [*ids[:1], *filter(known.is_active, heirs)]
        members = [known.current(id_) for id_ in free]
        with known.attempt(f"shelf: {change.change} {' '.join(m.id for m in members)}"):
            if change.change == "join" and number in confirmed and len(members) > 1:
                _join(known, change, members)
                joined.update(free)
            elif change.change == "overtake" and number in confirmed and len(members) == 2:
                old, new = members
                supersede(known, new.id, old.id, "a newer answer to the same question", SURE)
                newer.add(new.id)
            elif change.change == "drop":
                _drop(known, [m for m in members if m.id not in newer])
            elif change.change == "retype":
                _edit(known, members, "type", change.type)
            elif change.change == "rename" and change.subject in subjects:
                _edit(known, members, "subject", change.subject)


def _heir(known: Known, id_: str) -> str:
    """Return the memory in the place of one that was joined or overtaken; of another, itself."""
    while (memory := known.current(id_)).status == "superseded":
        id_ = memory.superseded_by[-1]
    return id_


def _left(
    known: Known, given: Sequence[Change], shown: Mapping[str, Memory]
) -> Iterator[tuple[str, str]]:
    """Yield the memories that changes name and that stay as they are, and why."""
    for change in given:
        members = _members(change, shown)
        named = (shown[id_] for id_ in dict.fromkeys(change.ids) if id_ in shown)
        for memory in (one for one in named if one not in members):
            why = "a person or an agent stored or confirmed it"
            why = why if _is_fixed(memory) else "it is of another scope"
            yield f"shelf: {change.change} {memory.id}", why
        for memory in members if change.change == "drop" else ():
            if known.is_active(memory.id):
                yield f"shelf: drop {memory.id}", "it joined or overtook another"


def _join(known: Known, change: Change, members: Sequence[Memory]) -> None:
    """Give one member the joined text, and let it replace the others."""
    best = next((m for m in members if m.body == change.text), members[0])
    others = [m for m in members if m.id != best.id]
    ends = [m.valid_until for m in members]
    ends = ends if all(ends) or change.type == "commitment" else []
    fields: dict[str, object] = {
        "type": change.type,
        "subject": change.subject or best.subject,
        "valid_until": max(ends, default="") or None,
        "sources": join_sources(s for m in (best, *others) for s in m.sources),
        "generated": Stamp(by=OWN_ACTOR, at=known.now),
        "former": tuple(dict.fromkeys((*best.former, best.own_hash))),
        "supersedes": tuple(dict.fromkeys((*best.supersedes, *(m.id for m in others)))),
    }
    if not storage_fault(best.with_fields(fields, change.text)):
        ended = (Update(id=m.id, fields=superseded(m, best.id, known.now)) for m in others)
        kept = Update(id=best.id, fields=fields, body=change.text)
        why = "they state the same, and were joined"
        known.add(Step(op="supersede", reason=why, changes=(*ended, kept)))


def _edit(known: Known, members: Sequence[Memory], field: str, value: str) -> None:
    """Correct one field of some memories, in one step."""
    updates = (
        Update(id=m.id, fields={field: value}) for m in members if getattr(m, field) != value
    )
    if changes := tuple(updates):
        known.add(Step(op="edit", reason=f"the judge corrected the {field}", changes=changes))


def _drop(known: Known, members: Sequence[Memory]) -> None:
    """Archive memories which nobody will need, in one step."""
    steps = [archive(m, known.now, "the judge found that nobody will need it") for m in members]
    changes = tuple(change for step in steps for change in step.changes)
    if steps:
        known.add(Step(op=steps[0].op, reason=steps[0].reason, changes=changes))


def _show_news(known: Known, fresh: Sequence[Memory]) -> None:
    """Add the step that puts new memories on the page below those that a model chose, if any."""
    news = [m for m in fresh if m.hot is None]
    last = max(_active(known), key=place_of, default=None)
    if news and last is not None and last.hot is not None and place_of(last):
        numbers = range(place_of(last) + 1, place_of(last) + 1 + len(news))
        hots = (replace(last.hot, reason=placed(n)) for n in numbers)
        pairs = zip(news, hots, strict=True)
        changes = tuple(Update(id=m.id, fields={"hot": hot}) for m, hot in pairs)
        known.add(Step(op="promote", reason="new since the judge chose the page", changes=changes))


def _put_on_page(plan: RunPlan, known: Known, page: Iterable[str]) -> None:
    """Add the step that puts memories on the first page in their order.

    Earlier choices of a model leave the order. What a person took off stays off.
    """
    active = {memory.id: memory for memory in _active(known)}
    chosen = [active[id_] for id_ in page if id_ in active]
    questions = (m for m in chosen if m.type == "open_question")
    older = sorted(questions, key=lambda m: m.captured, reverse=True)[MAX_OPEN:]
    chosen = [m for m in chosen if m not in older and not was_removed(m)][:MAX_PAGE]
    hots = {m.id: Hot(since=plan.now, reason=placed(n)) for n, m in enumerate(chosen, start=1)}
    for memory in active.values():
        hot = hot_of(memory) if place_of(memory) and memory.id not in hots else None
        if hot is not None:
            hots[memory.id] = Hot(since=hot.since, reason=SYNC)
    if hots:
        changes = tuple(Update(id=id_, fields={"hot": hot}) for id_, hot in hots.items())
        reason = "chosen by the judge for the first page"
        known.add(Step(op="promote", reason=reason, changes=changes))

"""`memrepo why-not`: explain why a memory is not recalled, not found, not hot, or gone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec

from memrepo.actions.landing import hot_rules
from memrepo.actions.past.log import find_past
from memrepo.actions.pending import all_waiting
from memrepo.actions.recall.lookup import NoSuchMemory, find
from memrepo.actions.recall.recall import EXPIRED, index_of, recall, recalled
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.access import Access, Accesses
from memrepo.core.changes import Op
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.layout import hot_path
from memrepo.core.memory import Hot, Memory
from memrepo.core.messages import counted
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.merge.tombstones import tombstones_in
from memrepo.policies.ageing import (
    CONFIDENCE,
    Retention,
    ahead,
    effective,
    is_over,
    is_protected,
    retention_of,
)
from memrepo.policies.hotcache import hot_of, may_be_hot, why_hot, why_over
from memrepo.policies.rules import Rules
from memrepo.policies.upkeep import archive_due
from memrepo.store import history
from memrepo.store.index import Filter, Index
from memrepo.store.ledger import ledger_of
from memrepo.text.words import telling_words
from memrepo.views.hot import hot_page

SHOWN = 10
"""Number of hits that a search shows by default."""
_DEEP = 1000
"""Number of hits among which the memory is searched."""


class UnknownMemory(MemrepoError):
    """Raised when no past or pending memory has the given name."""

    exit_code = Exit.USAGE

    def __init__(self, word: str, fix: str) -> None:
        super().__init__(
            f"no memory is or ever was called {word!r}, and no waiting run has one",
            fix=fix,
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Arguments of `why-not`."""

    id: Annotated[
        str,
        option("a memory (current, removed or pending), or its text", metavar="ID"),
    ]
    words: Annotated[
        tuple[str, ...],
        option("also explain why a search for these words misses it", metavar="WORD"),
    ] = ()


class Result(VerbResult, frozen=True, kw_only=True):
    """The explanation for a memory. `why` has one sentence per reason."""

    id: str
    path: str = ""
    """Empty if the memory left the tree."""
    why: tuple[str, ...]
    commit: str = ""
    """The commit that removed the memory from the tree, if one did."""


def do(work: Work, request: Request) -> Result:
    """Explain a memory from the state at HEAD, or from history if the memory was removed."""
    state = work.tree.state()
    try:
        memory = find(state, request.id)
    except NoSuchMemory:
        return _absent(work, state, request.id)
    case = Case(
        work=work,
        state=state,
        memory=memory,
        now=work.call.now,
        accesses=ledger_of(work.store).accesses(),
        rules=work.config.rules,
    )
    why = [*_of_recall(case), *_of_hot(case)]
    if request.words:
        why.append(_found_by(case, index_of(work, tick=work.call.tick), request.words))
    return Result(id=memory.id, path=memory.path, why=tuple(why))


def _absent(work: Work, state: State, word: str) -> Result:
    """Explain a name that no memory at HEAD has: it waits in a run, or a commit removed it."""
    waiting = _waiting(work, word)
    try:
        past = find_past(work, state, word)
    except NoSuchMemory as error:
        if waiting is None:
            raise UnknownMemory(word, error.fix) from None
        return waiting
    last = past.versions[0]
    entry = last.entry
    why = f"{visible(entry.subject)} ({entry.commit[:10]}, {format_time(entry.when)})"
    lines = [f"it is not in the tree: removed by {why}"]
    if last.unreadable:
        lines = [f"it cannot be read: {last.unreadable} is damaged since {why}; `memrepo check`"]
    if reason := entry.trailer("Reason"):
        lines.append(f"because: {visible(reason)}")
    if stone := _rejection(state, past.id):
        lines.append(stone)
    elif waiting is not None:
        lines += waiting.why
    elif not last.unreadable:
        lines.append(_restorable(past.id))
    return Result(id=past.id, why=tuple(lines), commit=entry.commit)


def _waiting(work: Work, word: str) -> Result | None:
    """Return the explanation by the pending run that contains a memory, or None."""
    for one in all_waiting(work):
        try:
            memory = find(work.store.snapshot(one.tip).state(), word)
        except NoSuchMemory:
            continue
        reason = (
            f"not in effect yet: {one.branch} contains it and is pending review"
            f" (`memrepo diff {one.run}`, `memrepo accept {one.run}`)"
        )
        return Result(id=memory.id, why=(reason,))
    return None


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One memory at a given time, with the data needed to explain its state."""

    work: Work
    state: State
    memory: Memory
    now: datetime
    accesses: Accesses
    rules: Rules

    @property
    def access(self) -> Access:
        """Return the memory's retrieval record."""
        return self.accesses.of(self.memory.id)

    def because(self, op: Op, at: datetime | None = None) -> str:
        """Return the reason of an operation's last commit in parentheses, or an empty string."""
        entry = history.last_of(self.work.store.repo, self.work.tree.commit, op, self.memory.id)
        reason = visible(entry.trailer("Reason")) if entry else ""
        reason = reason.removesuffix(f" ({format_time(at)})") if at else reason
        return f" ({reason})" if reason else ""


def _of_recall(case: Case) -> list[str]:
    """Return whether and until when recall returns a memory, and what would restore it."""
    memory = case.memory
    match memory.status:
        case "active":
            lines = _of_note(case) if memory.is_note else _of_claim(case)
        case "superseded":
            heirs = ", ".join(memory.texts("superseded_by"))
            since = _since(memory, "superseded_at")
            lines = [f"not recalled: superseded{since} by {heirs}{case.because('supersede')}"]
        case "archived":
            since = _since(memory, "archived_at")
            lines = [
                f"not recalled: archived{since}{case.because('archive')}",
                _restorable(memory.id),
            ]
        case status:
            stone = _rejection(case.state, memory.id)
            lines = [f"not recalled: {status}{'' if stone else case.because('forget')}"]
            lines.append(stone or _restorable(memory.id))
    if scope := memory.text("scope"):
        lines.append(f"its scope is {visible(scope)}: a search in another scope does not return it")
    return lines


def _since(memory: Memory, name: str) -> str:
    at = memory.time(name)
    return f" at {format_time(at)}" if at is not None else ""


def _restorable(id_: str) -> str:
    return f"`memrepo restore {id_}` brings it back"


def _rejection(state: State, id_: str) -> str:
    """Return who rejected a memory, when and why; empty if nobody did."""
    for stone in tombstones_in(state).found.values():
        if id_ in (stone.memory, *stone.forgotten):
            rejected = f"rejected by {visible(stone.by)} at {format_time(stone.at)}"
            reason = f": {visible(stone.reason)}" if stone.reason else ""
            return f"{rejected}{reason}; `memrepo reject {stone.key} --undo` lifts it"
    return ""


def _of_note(case: Case) -> list[str]:
    note, rules = case.memory, case.rules.tiers
    tier = effective(note, case.access, case.now, rules)
    last = ", after all other hits" if tier == "forgotten" and rules.last else ""
    lines = [f"recalled as a note of tier {tier}, confidence {CONFIDENCE[tier]}{last}"]
    if (move := ahead(note, case.access, case.now, rules)) is not None:
        goal, due = move
        what = f"{goal} at" if goal else "leaves the tree after"
        lines.append(f"{what} {format_time(due)}, if it is not retrieved")
    return lines


def _of_claim(case: Case) -> list[str]:
    memory = case.memory
    kept = retention_of(memory, case.access, case.now, case.rules.decay)
    if is_over(memory, kept):
        return [
            f"not recalled: {kept.reason()}; the next run prunes or archives it",
            f"`memrepo confirm {memory.id}` confirms that it is still true",
        ]
    recalled_as = f"recalled: class {kept.cls}, confidence {kept.confidence:.2f}"
    protected = is_protected(memory, kept.cls)
    over = kept.until if protected else kept.leaves
    lines = [recalled_as + (f", until {format_time(over)}" if over else "")]
    if kept.expires is not None and kept.lasts and not protected:
        lines.append(f"{'stale since' if kept.stale else 'stale from'} {format_time(kept.expires)}")
    return [*lines, *_leaves(case, kept, over)]


def _leaves(case: Case, kept: Retention, over: datetime | None) -> list[str]:
    """Return when a memory will leave recall, according to the policy that applies first."""
    lines = []
    if kept.held is not None and kept.held > case.now:
        lines.append(f"its text names a day to come: decay waits until {format_time(kept.held)}")
    rests = archive_due(case.memory, case.access, case.rules.archive)
    if rests is not None and (over is None or rests < over):
        lines.append(f"due for the archive at {format_time(rests)}, if it is not retrieved")
    elif over is not None:
        refreshed = kept.cls in case.rules.decay.refreshed
        unless = "retrieved or confirmed" if refreshed else "confirmed"
        lines.append(f"pruned after {format_time(over)}, if it is not {unless}")
    return lines


def _of_hot(case: Case) -> list[str]:
    """Return whether a memory is in the hot cache or, if not, the reason."""
    memory, rules = case.memory, case.rules
    hot = hot_of(memory)
    if hot is not None and hot.since is not None:
        lines = [f"hot since {format_time(hot.since)} ({visible(hot.reason)})"]
        return lines if _is_shown(case) else [*lines, _left_out(case)]
    if memory.type in ("note", "chunk"):
        return [f"not hot: a {memory.type} enters the cache only by nomination"]
    if over := why_over(memory, case.accesses, case.now, rules.decay):
        return [f"not hot: {over}"]
    if memory.status != "active":
        return [f"not hot: it is {memory.status}, and only active memories can be"]
    if not may_be_hot(memory, case.accesses, case.now, rules.decay):
        return [f"not hot: it is in question ({memory.standing})"]
    if why := why_hot(memory, case.accesses, case.now, rules.hot):
        return [f"not hot yet: the next run promotes it ({why}), if the budget has room"]
    return [_not_asked_for(case)]


def _not_asked_for(case: Case) -> str:
    former: Hot | None = case.memory.fields.get("hot")
    cutoff = former.until if former is not None else None
    sessions = {id_ for _, id_ in case.access.since(cutoff)}
    since = ""
    if cutoff is not None:
        since = f" since it was demoted at {format_time(cutoff)}{case.because('demote', cutoff)}"
    count = counted(len(sessions), "session", "sessions")
    needed = case.rules.hot.sessions
    return f"not hot: retrieved in {count} of {needed}{since}, each session counted once"


def _is_shown(case: Case) -> bool:
    page = hot_page(case.state, hot_rules(case.work)) or b""
    return any(f"←{name}".encode() in page for name in (case.memory.id, case.memory.path))


def _left_out(case: Case) -> str:
    rules = hot_rules(case.work)
    path = hot_path(case.state.files, case.state.layout, rules.path)
    return (
        f"left out of {path}: no room within hot.max_lines"
        f" ({rules.max_lines}) and hot.max_bytes ({rules.max_bytes})"
    )


def _found_by(case: Case, index: Index, words: Sequence[str]) -> str:
    """Return whether a search for some words finds a memory, and the memory's rank."""
    memory, telling = case.memory, telling_words(" ".join(words))
    here = Filter(statuses=(memory.status,), paths=frozenset((memory.path,)))
    held = [word for word in telling if index.holding([word], here)]
    seen = recalled(memory, case.accesses, case.now, case.rules)
    status = EXPIRED if seen.over else memory.status
    only = Filter(statuses=(status,), limit=_DEEP)
    found = recall(case.work, index, words, only, case.now).hits
    place = next((n for n, one in enumerate(found, 1) if one.memory.id == memory.id), 0)
    lacks = ", ".join(visible(word) for word in telling if word not in held)
    lacking = f"; it does not contain {lacks}" if lacks else ""
    asked = f"{visible(' '.join(words))!r}"
    if place:
        answer = f"found by {asked} as hit {place} of {len(found)}"
        answer += f", with `--status {status}`" if status != "active" else ""
        answer += f"; {SHOWN} are shown unless `-k` asks for more" if place > SHOWN else ""
    elif not held:
        answer, lacking = f"not found by {asked}: it contains none of these words", ""
    elif not found:
        answer = f"not found by {asked}: no memory contains enough of these words"
    else:
        better = counted(len(found), "other answers", "others answer")
        answer = f"not found by {asked}: {better} better"
    return answer + lacking

"""`memrepo why-not`: why a memory is not recalled, not found, not hot, or no longer there."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from memrepo.actions.past.timeline import Past, find_past
from memrepo.actions.recall.explaining import Case, found_by, of_hot, of_recall, rejection
from memrepo.actions.recall.lookup import NoSuchMemory, find
from memrepo.actions.recall.recalled import facts, index_of
from memrepo.actions.request import option
from memrepo.actions.review.waiting import all_waiting
from memrepo.actions.work import Answer, Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.ids import visible
from memrepo.core.state import State
from memrepo.core.times import format_time
from memrepo.purify.aside import Aside, all_aside
from memrepo.store.ledger import ledger_of


class NeverWas(MemrepoError):
    """No memory was ever called so, and nothing that waits or was set aside is."""

    exit_code = Exit.USAGE

    def __init__(self, word: str, fix: str) -> None:
        super().__init__(
            f"no memory is or ever was called {word!r}, no waiting run holds one and no candidate"
            " that was set aside is called so",
            fix=fix,
        )


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `why-not`."""

    id: Annotated[
        str, option("a memory, also one that is gone or waits, or a candidate", metavar="ID")
    ]
    words: Annotated[
        tuple[str, ...], option("also why a search for these does not find it", metavar="WORD")
    ] = ()


def do(work: Work, request: Request) -> Answer:
    """Explain from the state at HEAD, or from history for what is gone."""
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
    lines = [*of_recall(case), *of_hot(case)]
    data: dict[str, Any] = {
        "id": memory.id,
        "path": memory.path,
        "why": lines,
        "derived": facts(memory, case.accesses, work.call.now, case.rules),
    }
    if request.words:
        data["search"] = found_by(case, index_of(work, tick=work.call.tick), request.words)
        lines.append(data["search"]["said"])
    return Answer(data=data, text="\n".join([f"{memory.id}  {memory.path}", *lines]))


def _absent(work: Work, state: State, word: str) -> Answer:
    """Explain what no memory at HEAD is called; raises NeverWas."""
    if (aside := _candidate(state, word)) is not None:
        return aside
    waiting = _waiting(work, word)
    try:
        past = find_past(work, state, word)
    except NoSuchMemory as error:
        if waiting is None:
            raise NeverWas(word, error.fix) from None
        return waiting
    return _gone(state, past, waiting)


def _gone(state: State, past: Past, waiting: Answer | None) -> Answer:
    """Say which commit took a memory out of the tree, and what would bring it back."""
    last = past.versions[0]
    entry = last.entry
    why = f"{visible(entry.subject)} ({entry.commit[:10]}, {format_time(entry.when)})"
    lines = [f"it is not in the tree: it left with {why}"]
    if last.unreadable:
        lines = [f"it cannot be read: {last.unreadable} is damaged since {why}; `memrepo check`"]
    if reason := entry.trailer("Reason"):
        lines.append(f"because: {visible(reason)}")
    if stone := rejection(state, past.id):
        lines.append(stone)
    elif waiting is not None:
        lines += waiting.data["why"]
    elif not last.unreadable:
        lines.append(f"`memrepo restore {past.id}` brings it back")
    data = {"id": past.id, "path": "", "why": lines, "commit": entry.commit}
    return Answer(data=data, text="\n".join([past.id, *lines]))


def _waiting(work: Work, word: str) -> Answer | None:
    """Say which run that waits for review holds a memory, or return None."""
    for one in all_waiting(work):
        try:
            memory = find(work.store.snapshot(one.tip).state(), word)
        except NoSuchMemory:
            continue
        said = (
            f"not in effect yet: {one.branch} waits for review and holds it"
            f" (`memrepo diff {one.run}`, `memrepo accept {one.run}`)"
        )
        data = {"id": memory.id, "path": memory.path, "why": [said]}
        return Answer(data=data, text=f"{memory.id}\n{said}")
    return None


def _candidate(state: State, word: str) -> Answer | None:
    """Say why a statement was set aside: by the id of a candidate, or by its file."""
    for one in all_aside(state):
        if word in (*one.ids, one.path, one.path.rpartition("/")[2].removesuffix(".md")):
            lines = [_set_aside(one)]
            data = {"id": word, "path": one.path, "why": lines}
            return Answer(data=data, text="\n".join([one.path, *lines]))
    return None


def _set_aside(one: Aside) -> str:
    when = f" at {one.judged}" if one.judged else ""
    said = f"no memory: {one.verdict or 'set aside'}{when} ({visible(one.reason)})"
    if one.verdict == "reject":
        return said.replace("reject", "rejected", 1) + "; it is judged anew if its text changes"
    return said.replace("defer", "deferred", 1) + "; it comes back when new context arrives"

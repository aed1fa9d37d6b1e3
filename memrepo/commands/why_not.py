"""`memrepo why-not`: why a memory is not recalled, not hot, or no longer there."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from memrepo.commands.finding import NoSuchMemory, find
from memrepo.commands.recalling import facts
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.core.access import Accesses
from memrepo.core.memory import Hot, Memory
from memrepo.core.messages import counted
from memrepo.core.times import format_time
from memrepo.policies.archive import archive_due
from memrepo.policies.decay import is_over, keeping
from memrepo.policies.hotcache import hot_of, may_be_hot, why_hot, why_over
from memrepo.policies.rules import Rules
from memrepo.store import history
from memrepo.store.ledger import ledger_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("id", metavar="ID", help="the memory, or the whole id of one that is gone")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Explain from the state at HEAD, or from history for what is gone."""
    with opened(session) as desk:
        state = desk.tree.state()
        try:
            memory = find(state, options.id)
        except NoSuchMemory:
            return _gone(desk, options.id)
        accesses, rules = ledger_of(desk.store).accesses(), desk.config.rules
        lines = [
            *_recall(memory, accesses, session.now, rules),
            *_hot(memory, accesses, session.now, rules),
        ]  # fmt: skip
        known = facts(memory, accesses, session.now, rules)
    data: dict[str, Any] = {"id": memory.id, "path": memory.path, "why": lines, "derived": known}
    return Answer(data=data, text="\n".join([f"{memory.id}  {memory.path}", *lines]))


def _gone(desk: Desk, id_: str) -> Answer:
    """Say which commit took a memory out of the tree; raises NoSuchMemory for one never there."""
    found = list(
        history.entries(
            desk.store.repo, "-1", "--fixed-strings", f"--grep=Memrepo-Memory: {id_}",
            desk.tree.commit,
        )
    ) if id_.startswith("mem-") else []  # fmt: skip
    if not found:
        raise NoSuchMemory(id_, ())
    (last,) = found
    why = f"{last.subject} ({last.commit[:10]}, {format_time(last.when)})"
    lines = [f"it is not in the tree; the last commit about it: {why}"]
    if reason := last.trailer("Reason"):
        lines.append(f"because: {reason}")
    data = {"id": id_, "path": "", "why": lines, "commit": last.commit}
    return Answer(data=data, text="\n".join(lines))


def _recall(memory: Memory, accesses: Accesses, now: datetime, rules: Rules) -> list[str]:
    if memory.status != "active":
        return [f"not recalled: its status is {memory.status}"]
    if memory.is_note:
        tier = facts(memory, accesses, now, rules)["tier"]
        return [f"recalled, as a note of tier {tier}"]
    kept = keeping(memory, accesses.of(memory.id), now, rules.decay)
    if is_over(memory, kept):
        return [f"not recalled: {kept.told()}; the next run prunes or archives it"]
    lines = [f"recalled: class {kept.cls}, confidence {kept.confidence:.2f}"]
    if kept.expires:
        lines[0] += f", until {format_time(kept.expires)}"
    due = archive_due(memory, accesses.of(memory.id), rules.archive)
    if due is not None:
        lines.append(f"due for the archive at {format_time(due)}, if it is not retrieved")
    return lines


def _hot(memory: Memory, accesses: Accesses, now: datetime, rules: Rules) -> list[str]:
    hot = hot_of(memory)
    if hot is not None and hot.since is not None:
        return [f"hot since {format_time(hot.since)} ({hot.reason})"]
    if memory.type in ("note", "chunk"):
        return [f"not hot: a {memory.type} comes to the cache by way of nomination only"]
    if over := why_over(memory, accesses, now, rules.decay):
        return [f"not hot: {over}"]
    if not may_be_hot(memory, accesses, now, rules.decay):
        return [f"not hot: {memory.status}, {memory.standing}"]
    if why := why_hot(memory, accesses, now, rules.hot):
        return [f"not hot yet: the next run promotes it ({why}), if the budget has room"]
    former: Hot | None = memory.fields.get("hot")
    cutoff = former.until if former is not None else None
    sessions = {id_ for _, id_ in accesses.of(memory.id).since(cutoff)}
    since = f" since it was demoted at {format_time(cutoff)}" if cutoff else ""
    said = counted(len(sessions), "session", "sessions")
    return [f"not hot: retrieved in {said} of {rules.hot.sessions}{since}, in none twice"]

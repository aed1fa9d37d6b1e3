"""`memrepo diff`: what a run would change, or changed, told in memories."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import Any

from memrepo.commands.log import run_merge
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.waiting import NothingWaits, the_waiting
from memrepo.core.differences import Difference, differences
from memrepo.core.ids import visible
from memrepo.core.memory import Memory
from memrepo.store import history

TEXT = 160


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "run", nargs="?", default="", metavar="RUN",
        help="a waiting or landed run; the waiting one when left out",
    )  # fmt: skip
    parser.add_argument("--stat", action="store_true", help="only the totals")
    parser.add_argument("--git", action="store_true", help="git's own diff of the files")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Compare the tree before the run with the tree after it."""
    with opened(session) as desk:
        entry = _entry(desk, options.run)
        base = entry.parents[0]
        if options.git:
            raw = str(desk.store.repo.git.diff("--no-ext-diff", base, entry.commit, "--"))
            return Answer(data={"run": entry.run, "diff": raw}, text=raw)
        before = desk.store.snapshot(base).state()
        after = desk.store.snapshot(entry.commit).state()
    found = differences(before, after)
    totals = Counter(d.kind for d in found)
    data = {
        "run": entry.run, "base": base, "totals": dict(sorted(totals.items())),
        "changes": [_as_json(d) for d in found],
    }  # fmt: skip
    return Answer(data=data, text=_text(entry, found, totals, stat=options.stat))


def _entry(desk: Desk, run: str) -> history.Entry:
    try:
        return the_waiting(desk, run).entry
    except NothingWaits:
        if not run:
            raise
        return run_merge(desk, run)


def _as_json(found: Difference) -> dict[str, Any]:
    memory = found.memory
    return {
        "op": found.kind, "id": memory.id, "path": memory.path, "type": memory.type,
        "before": found.before.body if found.before else None,
        "after": found.after.body if found.after else None, "fields": list(found.fields),
        "superseded_by": list(memory.texts("superseded_by")),
    }  # fmt: skip


def _text(
    entry: history.Entry, found: tuple[Difference, ...], totals: Counter[Any], *, stat: bool
) -> str:
    said = ", ".join(f"{count} {kind}" for kind, count in sorted(totals.items()))
    lines = [f"{entry.run or entry.commit[:10]}: {said or 'no memory differs'}"]
    if reason := entry.trailer("Reason"):
        lines.append(f"waits because: {visible(reason)}")
    if not stat:
        after = {d.memory.id: d.after for d in found if d.after}
        for one in found:
            lines += ["", *_block(one, after)]
    return "\n".join(lines)


def _block(found: Difference, after: dict[str, Memory]) -> list[str]:
    memory = found.memory
    lines = [f"{found.kind:<11}{memory.id}  {memory.type}  {memory.path}"]
    match found.kind:
        case "added":
            lines.append(f"  + {_line(memory.body)}")
        case "removed":
            lines.append(f"  - {_line(memory.body)}")
        case "reworded":
            lines += [f"  - {_line(found.before.body if found.before else '')}",
                      f"  + {_line(memory.body)}"]  # fmt: skip
        case "superseded":
            lines.append(f"  - {_line(memory.body)}")
            lines += [f"  + {_line(after[i].body)}  ({i})" for i in memory.texts("superseded_by")
                      if i in after]  # fmt: skip
        case "retired":
            retired = memory.fields.get("retired", ())
            why = retired[-1].reason if retired else ""
            lines += [f"    {_line(memory.body)}", f"    because: {visible(why)}"]
        case _:
            lines += [f"    {_line(memory.body)}", f"    changed: {', '.join(found.fields)}"]
    return lines


def _line(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= TEXT else line[: TEXT - 1].rstrip() + "…"

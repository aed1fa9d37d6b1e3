"""`memrepo directives`: do what the `[[...]]` directives of a text ask for."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import Any

from memrepo.commands.finding import Ambiguous, NoSuchMemory, find
from memrepo.commands.session import Answer, Session, opened
from memrepo.commands.several import write_steps
from memrepo.commands.single import text_of, write_arguments
from memrepo.commands.table import call
from memrepo.commands.touching import count_restored
from memrepo.core.changes import Step
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.state import State, apply
from memrepo.policies.directives import Directive, find_directives, steps_of


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="the text; - or nothing is stdin"
    )
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Carry the directives out in order, a commit each; what is so already is left alone."""
    if options.file == "-":
        text = text_of(session, "-", "the text")
    else:
        text = (session.where / options.file).read_text(encoding="utf-8", errors="replace")
    asked = find_directives(text)
    rows: list[dict[str, Any]] = []
    with opened(session) as desk:
        wrote = write_steps(
            desk, session, options, lambda _, state: _draft(state, asked, session, rows)
        )
        restored = [s.memory_ids[0] for s in wrote.steps if s.op == "restore"]
        if wrote.commit and restored:
            count_restored(desk, session, restored)
    health = any(d.verb == "memory_health" for d in asked)
    lines = [counted(len(wrote.steps), "directive took", "directives took") + " effect"]
    lines += [f"  [[{row['directive']}]] {row['said']}" for row in rows]
    if health:
        lines.append(call(session, ["health"]).text)
    data = {
        "applied": rows,
        "commit": wrote.commit,
        "counts": {"directives": len(asked), "steps": len(wrote.steps)},
    }
    return Answer(data=data, text="\n".join(lines), problems=wrote.problems)


def _draft(
    state: State, asked: Sequence[Directive], session: Session, rows: list[dict[str, Any]]
) -> list[Step]:
    """Return the steps of all directives; each sees what the ones before it left."""
    rows.clear()  # the branch may have moved: this is another try
    made: list[Step] = []
    for directive in asked:
        steps = steps_of(
            directive,
            state.active,
            partial(_named, state),
            session.now,
        )
        rows.append(
            {
                "directive": f"{directive.verb}:{directive.target}".rstrip(":"),
                "memories": [id_ for s in steps or () for id_ in s.memory_ids],
                "said": _said(directive, steps),
            }
        )
        state = apply(state, (change for step in steps or () for change in step.changes))
        made += steps or ()
    return made


def _said(directive: Directive, steps: Sequence[Step] | None) -> str:
    if steps is None:
        return "names no memory"
    if directive.verb == "memory_health":
        return "is shown below"
    if directive.verb == "forget keyword":
        return f"took {counted(len(steps), 'memory', 'memories')} off the hot cache"
    return ", ".join(f"{s.op}: {s.what}" for s in steps) or "is so already"


def _named(state: State, key: str) -> Memory | None:
    try:
        return find(state, key)
    except (NoSuchMemory, Ambiguous):
        return None

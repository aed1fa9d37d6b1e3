"""`memrepo add`: a memory by hand, in one commit; an equal text returns the memory there is."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from memrepo.actions.write.adding import BY_HAND, Drafts, Entry, checked
from memrepo.actions.work import Answer, Desk, Session, opened
from memrepo.actions.write.single import text_of, unchanged, write, write_arguments
from memrepo.core.changes import Create, Step
from memrepo.core.ids import visible
from memrepo.core.memory import LAYERS, Memory
from memrepo.core.messages import fold
from memrepo.core.state import State
from memrepo.policies.classes import class_of
from memrepo.policies.similarity import akin


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("text", metavar="TEXT", help="the memory, or - for standard input")
    parser.add_argument("--type", choices=BY_HAND, help="kind of memory (fact)")
    parser.add_argument("--title", default="", help="display name")
    parser.add_argument("--layer", choices=LAYERS, help="layer, where not the type's own")
    parser.add_argument("--tag", action="append", default=[], help="a tag; may be repeated")
    parser.add_argument("--entity", action="append", default=[], help="a name it mentions")
    parser.add_argument("--scope", default="", help="user:..., project:... or agent:...")
    parser.add_argument("--valid-from", default="", metavar="DATE", help="true from")
    parser.add_argument("--valid-until", default="", metavar="DATE", help="true until")
    parser.add_argument("--pin", action="store_true", help="never age, evict or prune it")
    parser.add_argument("--critical", action="store_true", help="needed in every session")
    parser.add_argument("--class", dest="cls", default="", metavar="CLASS", help="decay class")
    write_arguments(parser)


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Write the memory."""
    text = text_of(session, options.text, "the text")
    with opened(session) as desk:
        near: list[tuple[Memory, float]] = []

        def draft(state: State) -> Step | Answer:
            near.clear()
            return _draft(desk, session, options, state, text, near)

        return _with_suggestions(write(desk, session, options, draft), near)


def _draft(
    desk: Desk,
    session: Session,
    options: argparse.Namespace,
    state: State,
    text: str,
    near: list[tuple[Memory, float]],
) -> Step | Answer:
    """Return the commit that writes the memory; what it is like goes to `near`."""
    memory, new = Drafts(desk, session, state).take(_entry(options, text))
    if not new:
        return _repeated(memory, options)
    near += akin(memory, state.active)
    return Step(
        op="create",
        what=f"{memory.slug} by hand",
        reason="added by hand",
        changes=(Create(memory=memory),),
    )


def _with_suggestions(answer: Answer, near: Sequence[tuple[Memory, float]]) -> Answer:
    """Add to an answer the links that a person may want to make: none is made by itself."""
    id_ = answer.data.get("id", "")
    links = [
        {"target": other.id, "type": "related", "strength": score, "text": other.body}
        for other, score in near
    ]
    lines = [answer.text]
    if links:
        lines.append("of the same matter, by their words:")
    for other, score in near:
        lines.append(f"  {score:.2f}  {other.id}  {fold(visible(other.body), 60)}")
    if links:
        lines.append(f"to link them: `memrepo link {id_} related {links[0]['target']}`")
    data = {**answer.data, "suggested": links} if "op" in answer.data else answer.data
    return replace(answer, data=data, text="\n".join(lines))


def _entry(options: argparse.Namespace, text: str) -> Entry:
    return Entry(
        text=text,
        type=options.type or "fact",
        title=options.title,
        layer=options.layer or "",
        tags=tuple(options.tag),
        entities=tuple(options.entity),
        scope=options.scope,
        valid_from=options.valid_from,
        valid_until=options.valid_until,
        pinned=options.pin,
        critical=options.critical,
        cls=options.cls,
    )


def _repeated(memory: Memory, options: argparse.Namespace) -> Answer:
    """Return the memory there is, and which options it does not answer to: none was applied."""
    given = {
        "--type": options.type in (None, memory.type),
        "--title": options.title in ("", memory.text("title")),
        "--layer": options.layer in (None, memory.layer),
        "--tag": set(options.tag) <= set(memory.texts("tags")),
        "--entity": set(options.entity) <= set(memory.texts("entities")),
        "--valid-from": _says(memory, "valid_from", options.valid_from),
        "--valid-until": _says(memory, "valid_until", options.valid_until),
        "--pin": not options.pin or bool(memory.fields.get("pinned")),
        "--critical": not options.critical or memory.flag("critical"),
        "--class": options.cls in ("", class_of(memory)),
    }
    unused = [option for option, met in given.items() if not met]
    answer = unchanged(memory, "says this already")
    text = answer.text
    if unused:
        text += f"; not applied: {', '.join(unused)} (`memrepo edit`, `pin` change a memory)"
    return replace(answer, data={**answer.data, "unused": unused}, text=text)


def _says(memory: Memory, key: str, value: str) -> bool:
    return not value or memory.fields.get(key) == checked(key, value)

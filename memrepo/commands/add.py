"""`memrepo add`: a memory by hand, in one commit; an equal text returns the memory there is."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.single import present, text_of, unchanged, write, write_arguments
from memrepo.core.changes import Create, Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.fields import ValueMismatch
from memrepo.core.ids import manual_id, text_hash
from memrepo.core.memory import LAYERS, TYPES, Decay, Memory, Stamp
from memrepo.core.schema import BY_NAME
from memrepo.core.state import State
from memrepo.policies.classes import class_of
from memrepo.purify.routing import route


class BadValue(MemrepoError):
    """A field value given on the command line is not of its field's kind."""

    exit_code = Exit.USAGE

    def __init__(self, key: str, mismatch: ValueMismatch) -> None:
        super().__init__(f"{key}: {mismatch}", fix="docs/files.md lists every field")


class NoSuchClass(MemrepoError):
    """A decay class that neither memrepo nor the configuration knows."""

    exit_code = Exit.USAGE

    def __init__(self, name: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"--class {name}: expected one of {', '.join(known)}",
            fix="`decay.ttl` in memrepo.toml names more classes",
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("text", metavar="TEXT", help="the memory, or - for standard input")
    parser.add_argument("--type", choices=TYPES[:-1], help="kind of memory (fact)")
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
        return write(
            desk, session, options, lambda state: _draft(desk, session, options, state, text)
        )


def _draft(
    desk: Desk, session: Session, options: argparse.Namespace, state: State, text: str
) -> Step | Answer:
    wanted = text_hash(text)
    for memory in state.active:
        same = wanted == text_hash(memory.body) or wanted in memory.texts("aliases")
        if same and memory.text("scope") == options.scope and memory.is_note == _is_note(options):
            return _repeated(memory, options)
    memory = _memory(desk, session, options, state, text)
    memory = replace(memory, path=state.free_path(memory))
    return Step(
        op="create", what=f"{memory.slug} by hand", reason="added by hand",
        changes=(Create(memory=memory),),
    )  # fmt: skip


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


def _is_note(options: argparse.Namespace) -> bool:
    return bool(options.type == "note")


def _memory(
    desk: Desk, session: Session, options: argparse.Namespace, state: State, text: str
) -> Memory:
    type_ = options.type or "fact"
    id_ = manual_id(
        created=session.now, text=text, scope=options.scope, type_=type_, taken=state.memories
    )
    home = "" if type_ in ("note", "summary") else route(type_, desk.config.profile)
    given = {
        "title": options.title, "scope": options.scope, "valid_from": options.valid_from,
        "valid_until": options.valid_until, "tags": options.tag, "entities": options.entity,
    }  # fmt: skip
    fields: dict[str, Any] = {
        "id": id_, "type": type_,
        **{key: checked(key, value) for key, value in given.items() if value},
        "home": home, "created": session.now, "pinned": options.pin,
        "critical": options.critical, **_decay(desk, options.cls), "origin": "manual",
        "generated": Stamp(by=desk.actor(session), at=session.now),
    }  # fmt: skip
    path = desk.tree.layout.memory(
        id_=id_, type_=type_, text=options.title or text,
        captured=session.now.date().isoformat(), layer=options.layer or "",
    )  # fmt: skip
    return Memory(path=path, fields=present(fields), body=text)


def _decay(desk: Desk, name: str) -> dict[str, Any]:
    """Return the decay field for a class that the configuration knows; raises NoSuchClass."""
    known = desk.config.rules.decay.ttl
    if name and name not in known:
        raise NoSuchClass(name, tuple(known))
    return {"decay": Decay(cls=name)} if name else {}


def checked(key: str, value: Any) -> Any:
    """Read a value given on the command line as its field's kind; raises BadValue."""
    try:
        return BY_NAME[key].kind.read(value)
    except ValueMismatch as mismatch:
        raise BadValue(key, mismatch) from mismatch

"""`memrepo edit`: reword a memory or set its fields; the id stays, the old wording is an alias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, cast

import msgspec

from memrepo.actions.recall.lookup import find
from memrepo.actions.request import DryRun, Reason, option
from memrepo.actions.work import Work
from memrepo.actions.write.commit import Unchanged, Written, said, unchanged, write
from memrepo.actions.write.drafts import checked, refuse_tags
from memrepo.core.changes import Step, Update
from memrepo.core.codec import normal_body
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.ids import normalise, text_hash
from memrepo.core.memory import CLAIM_TYPES, Memory, Stamp
from memrepo.core.schema import BY_NAME, FIELDS
from memrepo.core.state import State
from memrepo.judges.offline import OBJECT_LENGTH
from memrepo.read.thoughts import field_of

SETTABLE = tuple(f.name for f in FIELDS if f.writer == "person" and f.name != "type")
_LISTS = ("tags", "entities")


class NotSettable(MemrepoError):
    """The key is unknown, or only memrepo writes it."""

    exit_code = Exit.USAGE

    def __init__(self, key: str) -> None:
        why = "is written by memrepo only" if key in BY_NAME else "is not a field"
        why = "is fixed when a memory is made" if key == "type" else why
        super().__init__(f"{key} {why}", fix=f"you may set {', '.join(SETTABLE)}")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `edit`."""

    id: Annotated[str, option("the memory", metavar="ID")]
    text: Annotated[
        str | None, option("the new wording, or - for standard input", "--text", piped=True)
    ] = None
    fields: Annotated[
        tuple[str, ...],
        option(
            "a field; an empty value removes it, lists are separated by commas",
            "--set",
            metavar="KEY=VALUE",
        ),
    ] = ()
    dry_run: DryRun = False
    reason: Reason = ""


def do(work: Work, request: Request) -> Written | Unchanged:
    """Write what was given; without --text and --set your editor opens on the text."""
    fields = dict(_field(pair) for pair in request.fields)
    refuse_tags(work, cast("tuple[str, ...]", fields.get("tags") or ()))
    text = None if request.text is None else said(request.text, "--text")
    if text is None and not fields:
        text = _edited(work, find(work.tree.state(), request.id))
    actor = work.actor

    def draft(state: State) -> Step | Unchanged:
        memory = find(state, request.id)
        changes = _changes(memory, fields, text)
        reworded = text is not None and normal_body(text) != memory.body
        if not changes and not reworded:
            return unchanged(memory, "is like this already")
        changes["generated"] = Stamp(by=actor, at=work.call.now)
        return Step(
            op="reword" if reworded else "edit",
            reason="edited by hand",
            changes=(Update(id=memory.id, fields=changes, body=text if reworded else None),),
        )

    return write(work, request, draft)


def _field(pair: str) -> tuple[str, object]:
    key, sign, value = pair.partition("=")
    key = key.strip()
    if key not in SETTABLE:
        raise NotSettable(key)
    if not sign:
        raise UsageError(
            f"memrepo edit: --set {key}: expected KEY=VALUE", fix=f"`--set {key}=` removes it"
        )
    if not value.strip():
        return key, None
    if key in _LISTS:
        return key, checked(key, [part.strip() for part in value.split(",") if part.strip()])
    if key == "decay":
        return key, checked(key, {"class": value.strip()})
    return key, checked(key, value.strip())


def _changes(memory: Memory, fields: Mapping[str, object], text: str | None) -> dict[str, object]:
    changes = {k: v for k, v in fields.items() if memory.fields.get(k) != v}
    return changes if text is None else {**rewording(memory, text), **changes}


def rewording(memory: Memory, text: str) -> dict[str, object]:
    """Return the fields that a new wording changes: its triple, and the old wording as an alias."""
    if text_hash(text) == text_hash(memory.body):
        return {}
    former = (*memory.texts("aliases"), text_hash(memory.body))
    return {**triple_after(memory, text), "aliases": tuple(dict.fromkeys(former))}


def triple_after(memory: Memory, text: str) -> dict[str, object]:
    """Return the fields of the triple that a new wording changes; None removes one.

    A new value of a field is followed. Of any other wording, a value that it no longer has goes,
    and its predicate with it. A value that the old wording did not have was put there by a person
    or a model, and stays; no triple is made where there was none.
    """
    if memory.type not in CLAIM_TYPES:
        return {}
    stored = {key: memory.text(key) for key in ("predicate", "object")}
    value = normalise(stored["object"])
    if not value or value not in normalise(memory.body):
        return {}
    key, new = field_of(text.strip())
    if key:
        found = {"predicate": key, "object": new[:OBJECT_LENGTH]}
    else:
        found = {"predicate": "", "object": ""} if value not in normalise(text) else {}
    return {name: now or None for name, now in found.items() if now != stored[name]}


def _edited(work: Work, memory: Memory) -> str:
    found = work.call.edit(memory.body + "\n")
    if found is None:
        raise UsageError(
            "nothing to change was given, and this is no terminal to open your editor on",
            fix="use --text TEXT, --text - or --set KEY=VALUE",
        )
    return said(found, "the edited text")

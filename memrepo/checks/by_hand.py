"""Find manual changes to fields and commit trailers that only memrepo may write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from memrepo.checks.rules import Rule, Scene, place
from memrepo.core.codec import changed_keys
from memrepo.core.memory import IMPLIED, STATUSES, Memory, implied
from memrepo.core.messages import PREFIX
from memrepo.core.patterns import regex
from memrepo.core.problems import Problem
from memrepo.core.schema import BY_NAME
from memrepo.core.secrets import find_secrets

ID = Rule(
    name="id-changed",
    group="derived",
    doc="The id of a memory never changes.",
    mend="restores the old id",
)
FIELD = Rule(
    name="field-by-hand",
    group="derived",
    doc="Fields that memrepo maintains are not edited by hand: their record would be wrong.",
    mend="restores the old value",
)
TIER = Rule(
    name="tier-by-hand",
    group="derived",
    doc="memrepo sets the retention tier of a note from its use; `memrepo pin` retains a note.",
    mend="restores the old value",
)
STATUS = Rule(
    name="status-transition",
    group="derived",
    doc="When a memory is restored, increase its `status_epoch`; otherwise a merge undoes the"
    " restore.",
    mend="increases `status_epoch`",
)
RULES = (ID, FIELD, TIER, STATUS)
_TIERS = ("tier", "tier_since", "tier_written", "gist")
# Changes of status, which the rule STATUS and the module `merge.closure` check.
_STATUS = (
    "status",
    "status_epoch",
    "supersedes",
    "superseded_by",
    "superseded_at",
    "archived_at",
)
_COMMANDS: Mapping[str, str] = {
    "verified": "`memrepo confirm` does it",
    "hot": "`memrepo promote` and `promote --off` do it",
    "standing": "`memrepo resolve` does it",
    "gist": "`memrepo edit` rewords the note",
}


def find(scene: Scene) -> Iterator[Problem]:
    """Compare each checked memory with its earlier version, except during a manual merge."""
    for memory, old in () if scene.merging else pairs(scene):
        if memory.id != old.id:
            if old.id and not (memory.id in scene.earlier or old.id in scene.by_id):
                yield _found(scene, ID, memory, "id", f"the id was {old.id}")
            continue
        for key in machine_keys(memory, old):
            rule = TIER if key in _TIERS else FIELD
            yield _found(scene, rule, memory, key, f"{key} was changed by hand")
        if revived(memory, old):
            yield _found(
                scene,
                STATUS,
                memory,
                "status",
                f"{old.status} changed to {memory.status}, but status_epoch was not increased",
                f"use `memrepo restore {memory.id}`, or `memrepo check --fix`",
            )


def pairs(scene: Scene) -> Iterator[tuple[Memory, Memory]]:
    """Yield (memory, earlier version) pairs. Earlier versions are found by id or else by path."""
    at = {old.path: old for old in scene.earlier.values()}
    for memory in scene.memories:
        old = scene.earlier.get(memory.id) or at.get(memory.path)
        if old is not None:
            yield memory, old


def machine_keys(memory: Memory, old: Memory) -> list[str]:
    """Return the machine-written fields changed by hand, except those implied by other changes."""
    keys = changed_keys(old.fields, memory.fields)
    before, after = implied(old.fields), implied(memory.fields)
    followed = {
        k
        for k in IMPLIED
        if old.fields.get(k) == before.get(k) and memory.fields.get(k) == after.get(k)
    }
    own = ("id", *_STATUS, *followed)
    return [k for k in keys if BY_NAME[k].writer == "machine" and k not in own]


def revived(memory: Memory, old: Memory) -> bool:
    """Return whether a status was set back by hand, so that a merge would undo the change."""
    lower = STATUSES.index(memory.status) < STATUSES.index(old.status)
    return lower and memory.fields.get("status_epoch", 0) <= old.fields.get("status_epoch", 0)


def mended(memory: Memory, old: Memory) -> Memory:
    """Return a memory with its machine-written fields restored, and a higher epoch if needed."""
    back: dict[str, object] = {key: old.fields.get(key) for key in machine_keys(memory, old)}
    if revived(memory, old):
        back["status_epoch"] = old.fields.get("status_epoch", 0) + 1
    return memory.with_fields(back) if back else memory


def _found(
    scene: Scene, rule: Rule, memory: Memory, key: str, message: str, fix: str = ""
) -> Problem:
    line, column = place(scene.files[memory.path], key)
    how = f"; {_COMMANDS[key]}" if key in _COMMANDS else ""
    return rule.found(
        memory.path,
        message,
        line=line,
        column=column,
        key=key,
        fix=fix or f"restore the old value (`memrepo check --fix` does){how}",
    )


FORGED = Rule(
    name="message-trailer",
    group="derived",
    doc="A hand-written commit message has no memrepo trailers: memrepo reads history from them.",
)
SECRET = Rule(name="message-secret", group="secrets", doc="A commit message contains no secret.")
MESSAGE_RULES = (FORGED, SECRET)
_SCISSORS = regex(r"^. -+ >8 -+$", re.MULTILINE)
_TRAILER = regex(rf"[ \t]*{PREFIX}[A-Za-z-]+[ \t]*[:=#]", re.IGNORECASE)


def message_problems(path: str, text: str) -> Iterator[Problem]:
    """Yield the problems of a commit message as saved by the editor, including comment lines."""
    cut = _SCISSORS.search(text)
    said = text[: cut.start()] if cut else text
    for number, line in enumerate(said.split("\n"), start=1):
        if _TRAILER.match(line):
            yield FORGED.found(
                path,
                f"found {line.strip().split(':')[0][:40]}, which only memrepo may write",
                line=number,
                column=1,
                fix="remove the line; the commands write it themselves",
            )
    for secret in find_secrets(said):
        yield SECRET.found(
            path,
            f"found a secret ({secret.kind})",
            line=secret.line,
            column=secret.column,
            fix="remove it, and replace it wherever it is used",
        )

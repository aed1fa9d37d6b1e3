"""`memrepo upgrade`: migrate a repository to the current format, in one commit.

`memrepo.toml` states the format. Every later version of memrepo can read it, but writing requires
the upgrade first. So a change of format is a separate commit that can be reviewed and reverted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from memrepo.actions.landing import derived_files, prepare
from memrepo.actions.request import DryRun, Reason, VerbResult
from memrepo.actions.run.preconditions import upgrade_due
from memrepo.actions.setup.config import with_value
from memrepo.actions.work import OtherFormat, Work
from memrepo.core import codec
from memrepo.core.changes import Change, Create, Plan, Remove, Step, Write
from memrepo.core.ids import slugify, stem_of
from memrepo.core.memory import Memory
from memrepo.core.patterns import regex
from memrepo.core.state import State, apply
from memrepo.keys import FORMAT
from memrepo.policies.claims import CROWD

_UNDATED = regex(r"(?<=/)undated/[0-9a-f]{2}/(?=[^/]+$)")
Migration: TypeAlias = Callable[[State], Sequence[Change]]


def _short_headers(state: State) -> list[Change]:
    """Return the changes that migrate a repository from format 1 to format 2.

    Header fields that only programs read move to the files of runs. File names are built from the
    words of a memory in its own script, without folders named by digits.
    """
    changes: list[Change] = []
    lines = []
    undated = Counter(_UNDATED.sub("", m.path).rpartition("/")[0] for m in state.every)
    for path in sorted(memory.path for memory in state.every):
        data, left = codec.upgraded(path, old := state.files[path])
        memory, _ = codec.decode(path, data)
        if memory is None:
            continue
        memory = replace(memory, path=_new_path(memory, undated))
        if memory.path in state.files:
            memory = replace(memory, path=path)
        if data == old and memory.path == path:
            continue
        if left:
            lines.append(json.dumps({"id": memory.id, **left}, ensure_ascii=False, sort_keys=True))
        changes += [Remove(id=memory.id), Create(memory=memory, file=data)]
    if lines:
        data = "".join(f"{line}\n" for line in lines).encode("utf-8")
        changes.append(Write(path=state.layout.upgraded, data=data))
    return changes


def _new_path(memory: Memory, undated: Mapping[str, int]) -> str:
    """Return a memory's path in format 2. A file name chosen by a person stays the same."""
    folder, _, name = memory.path.rpartition("/")
    flat = _UNDATED.sub("", memory.path).rpartition("/")[0]
    if undated[flat] < CROWD:
        folder = flat
    text, tail = memory.text("title") or memory.own_text, f"-{memory.id[4:10]}.md"
    if name == slugify(text) + tail:
        name = stem_of(text) + tail
    return f"{folder}/{name}"


MIGRATIONS: Mapping[int, Migration] = MappingProxyType({1: _short_headers})
"""The migration from each format to the next one."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo upgrade`."""

    dry_run: DryRun = False
    reason: Reason = ""


class Result(VerbResult, frozen=True, kw_only=True):
    """The format before and after, the changed files, and the commit."""

    old: int
    new: int
    files: tuple[str, ...]
    commit: str
    """Empty if nothing was written."""
    judge_again: str
    """The reason that the next run judges everything again, or an empty string."""


def do(work: Work, request: Request) -> Result:
    """Migrate one format at a time, and report whether the next run must judge all texts again."""
    found = int(work.config.get("format"))
    if found > FORMAT:
        raise OtherFormat(found, FORMAT)
    due = upgrade_due(work)
    result = Result(
        old=found, new=FORMAT, files=(), commit="", judge_again=due.message if due else ""
    )
    if found == FORMAT:
        return result
    state = work.tree.state()
    changes = _changes(state, found)
    written = {change.path for change in changes if isinstance(change, Write)}
    pages = derived_files(work, apply(state, changes))
    changes += [page for page in pages if isinstance(page, Write) and page.path not in written]
    files = tuple(sorted(_paths(state, changes)))
    result = replace(result, files=files)
    if request.dry_run:
        return result
    step = Step(
        op="edit",
        what=f"Upgrade files from format {found} to format {FORMAT}",
        reason=request.reason or f"this version of memrepo writes format {FORMAT}",
        changes=tuple(changes),
    )
    plan = Plan(base=work.tree.commit, steps=(step,))
    with work.store.writing():
        work.store.refuse_unfit()
    landing = prepare(work.store, state, plan, work.context(), work.call.now, author=work.author)
    return replace(result, commit=work.store.land(landing.chain, "upgrade"))


def _changes(state: State, found: int) -> list[Change]:
    """Return the changes from a given format to the current one. The format number comes last."""
    every: list[Change] = []
    for number in range(found, FORMAT):
        changes = MIGRATIONS[number](state)
        state = apply(state, changes)
        every += changes
    path = state.layout.config
    text = state.files[path].decode("utf-8")
    every.append(Write(path=path, data=with_value(text, ("format",), FORMAT).encode("utf-8")))
    return every


def _paths(before: State, changes: Sequence[Change]) -> set[str]:
    after = apply(before, changes).files
    return {p for p in {*before.files, *after} if before.files.get(p) != after.get(p)}

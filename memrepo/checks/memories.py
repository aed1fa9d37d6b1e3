"""What `check` says of memory files: header and schema, id against file name, ids against ids."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import datetime

from memrepo.core import codec
from memrepo.core.ids import manual_id
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem


def check_files(files: Mapping[str, bytes]) -> list[Problem]:
    """Return every finding in memory files, by path; the contents alone decide."""
    problems: list[Problem] = []
    seen: dict[str, str] = {}
    for path in sorted(files):
        memory, found = codec.decode(path, files[path])
        problems += found
        if memory is None:
            continue
        problems += _id_problems(memory, seen)
    return problems


def completed(memory: Memory, now: datetime, taken: Container[str] = ()) -> Memory:
    """Return a hand-made memory with the id, time, origin and file name that it lacks.

    Its id is none of those `taken`.
    """
    id_ = memory.id or manual_id(
        created=memory.time("created") or now, text=memory.body, scope=memory.text("scope"),
        type_=memory.type, taken=taken,
    )  # fmt: skip
    digits = id_.removeprefix("mem-")[:6]
    stem = memory.path.removesuffix(".md")
    path = memory.path if stem.endswith(f"-{digits}") else f"{stem}-{digits}.md"
    given = {"id": id_, "created": memory.time("created") or now}
    if not memory.id:
        given["origin"] = memory.text("origin") or "manual"
    return replace(memory.with_fields(given), path=path)


def _id_problems(memory: Memory, seen: dict[str, str]) -> list[Problem]:
    if not memory.id:
        return [
            Problem(
                path=memory.path, line=1, rule="memory-no-id", key="id", severity="warning",
                message="found no id: recall does not see the memory",
                fix="`memrepo check --fix` on the file gives it one",
            )
        ]  # fmt: skip
    problems = []
    other = seen.setdefault(memory.id, memory.path)
    if other != memory.path:
        problems.append(
            Problem(
                path=memory.path, line=1, rule="memory-same-id", key="id",
                message=f"found {memory.id}, which {other} has too",
                fix="delete one of the two files, or remove the id of this one",
            )
        )  # fmt: skip
    digits = memory.id.removeprefix("mem-")[:6]
    if not memory.slug.endswith(f"-{digits}"):
        problems.append(
            Problem(
                path=memory.path, rule="memory-file-name", key="id",
                message=f"found a file name that does not end in -{digits}.md, as the id has it",
                fix=f"rename the file so that it ends in -{digits}.md",
            )
        )  # fmt: skip
    return problems

"""Repairs of `check --fix`: fix files in the work tree where this is safe."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from memrepo.actions.check.scenes import Checked
from memrepo.checks import characters, memories
from memrepo.checks.memories import completed, respelled
from memrepo.checks.rules import Group, Scene
from memrepo.core import codec
from memrepo.core.ids import ID_PATTERN
from memrepo.core.memory import LAYER_OF_TYPE, Memory


def repaired_files(
    scene: Scene, now: datetime, only: Collection[Group] = ()
) -> dict[str, tuple[str, bytes]]:
    """Return the repaired memories of a scene, by old path, as (new path, content)."""
    made: dict[str, tuple[str, bytes]] = {}
    known: dict[str, Memory] = {}
    taken = {m.id for m in scene.memories if ID_PATTERN.fullmatch(m.id)}
    for path in scene.decoded:
        data = scene.files[path]
        if not only or "format" in only:
            data = _formatted(data, path)
        memory, _ = codec.decode(path, data)
        if memory is None and (not only or "schema" in only):
            data = _headed(data, path)
            memory, _ = codec.decode(path, data)
        if memory is None:
            continue
        whole = memory
        if not only or "derived" in only:
            whole = _restored(scene, whole)
        if not only or "tags" in only:
            whole = respelled(whole, scene.wants)
        if not only or "schema" in only:
            whole = completed(whole, now, taken if not whole.id else ())
            taken.add(whole.id)
        new = codec.edit(data, replace(whole, path=path)) if whole != memory else data
        known[path] = whole
        if (whole.path, new) != (path, scene.files[path]):
            made[path] = (whole.path, new)
    return made | _relinked(scene, known, made)


def _relinked(
    scene: Scene, known: Mapping[str, Memory], made: Mapping[str, tuple[str, bytes]]
) -> dict[str, tuple[str, bytes]]:
    """Return the files whose links must change because a linked file is renamed."""
    moved = {memory.id: path for path, memory in known.items() if memory.path != path}
    if not moved:
        return {}
    from memrepo.policies.links import Target, Targets, address, rewritten

    targets = Targets(replace(memory, path=path) for path, memory in known.items())
    found: dict[str, tuple[str, bytes]] = {}
    for path, memory in known.items():

        def spelt(link: Target, here: str = path) -> str:
            if link.id not in moved:
                return link.text
            old, new = moved[link.id], known[moved[link.id]].path
            if not link.wiki:
                return address(link, new, here)
            name = link.text.lstrip("![").rstrip("]").partition("|")[0].partition("#")[0]
            if name.strip(" \\").casefold() != PurePosixPath(old).stem.casefold():
                return link.text
            bar = "\\|" if link.row else "|"
            return f"{'!' * link.embed}[[{PurePosixPath(new).stem}{link.part}{bar}{link.shown}]]"

        old = replace(memory, path=path)
        body = rewritten(memory.body, targets.of(old), spelt)
        if body != memory.body:
            to, data = made.get(path, (path, scene.files[path]))
            found[path] = (to, codec.edit(data, replace(old, body=body)))
    return found


def _headed(data: bytes, path: str) -> bytes:
    """Return the content of a note, adding a header if there is none."""
    _, problems = codec.decode(path, data)
    if [p.rule for p in problems] != ["frontmatter-missing"] or not data.strip():
        return data
    layer = path.rpartition("memories/")[2].partition("/")[0]
    type_ = next((t for t, of in LAYER_OF_TYPE.items() if of == layer), "fact")
    return f"---\ntype: {type_}\n---\n\n".encode() + data.lstrip()


def _formatted(data: bytes, path: str) -> bytes:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    clean = characters.cleaned(text).encode("utf-8")
    memory, _ = codec.decode(path, clean)
    return data if memory is None else characters.ordered(clean, path)


def _restored(scene: Scene, memory: Memory) -> Memory:
    """Return a memory with the fields restored that only memrepo writes."""
    if scene.merging:
        return memory
    old = scene.earlier.get(memory.id) or next(
        (old for old in scene.earlier.values() if old.path == memory.path), None
    )
    if old is None:
        return memory
    if old.id != memory.id:
        known = {*scene.earlier, *scene.others, *(m.id for m in scene.memories if m != memory)}
        return memory if memory.id in known or not old.id else memory.with_fields({"id": old.id})
    return memories.restore_fields(memory, old)


def repair_files(
    checked: Checked, now: datetime, only: Collection[Group] = ()
) -> tuple[Scene, list[str]]:
    """Fix files in the work tree, and return the new scene and the changed paths."""
    files, fixed = dict(checked.scene.files), []
    for path, (new, data) in repaired_files(checked.scene, now, only).items():
        if new != path and (checked.root / new).exists():
            continue
        _write(checked.root, path, new, data)
        del files[path]
        files[new] = data
        fixed.append(new)
    return replace(checked.scene, files=files), fixed


def repair_staged(
    checked: Checked, now: datetime, only: Collection[Group] = ()
) -> tuple[Scene, list[str]]:
    """Fix staged files in the work tree and in the index.

    Return the new scene and the changed paths. Skip partially staged files. Skip everything if the
    commit names files (`git commit FILE`), because git discards its temporary index and the next
    commit would undo the fixes.
    """
    from memrepo.store.git import Git, index_of_commit
    from memrepo.store.staged import put_in_index

    files, fixed = dict(checked.scene.files), []
    made = repaired_files(checked.scene, now, only)
    if not made or checked.scene.merging or index_of_commit().startswith("next-index"):
        return checked.scene, []
    with Git(checked.root) as git:
        for path, (new, data) in made.items():
            there = checked.root / path
            whole = there.is_file() and not there.is_symlink() and there.read_bytes() == files[path]
            if not whole or (new != path and (checked.root / new).exists()):
                continue
            put_in_index(git, path, new, data)
            _write(checked.root, path, new, data)
            del files[path]
            files[new] = data
            fixed.append(new)
    return replace(checked.scene, files=files), fixed


def restored(before: Scene, after: Scene, fixed: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of the fields whose values the repair changed, by file."""
    found: dict[str, tuple[str, ...]] = {}
    for path in fixed:
        old, _ = codec.decode(path, before.files.get(path, b""))
        new, _ = codec.decode(path, after.files[path])
        if old is not None and new is not None:
            keys = tuple(k for k in old.fields if old.fields[k] != new.fields.get(k))
            found |= {path: keys} if keys else {}
    return found


def _write(root: Path, path: str, new: str, data: bytes) -> None:
    (root / new).write_bytes(data)
    if new != path:
        (root / path).unlink()

"""What `check --fix` does: it mends in the work tree what is safe to mend, and nothing else."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from memrepo.actions.check.scenes import Checked
from memrepo.checks import characters, tags, transitions
from memrepo.checks.memories import completed
from memrepo.checks.rules import Group, Scene
from memrepo.core import codec
from memrepo.core.ids import ID_PATTERN
from memrepo.core.memory import LAYER_OF_TYPE, Memory


def mended(
    scene: Scene, now: datetime, only: Collection[Group] = ()
) -> dict[str, tuple[str, bytes]]:
    """Return what mending makes of the memories of a scene: old path to new path and bytes.

    Files that cannot be read, and those that need nothing, are left out.
    """
    made: dict[str, tuple[str, bytes]] = {}
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
            whole = tags.mended(whole, scene.wants)
        if not only or "schema" in only:
            whole = completed(whole, now, taken if not whole.id else ())
            taken.add(whole.id)
        new = codec.edit(data, replace(whole, path=path)) if whole != memory else data
        if (whole.path, new) != (path, scene.files[path]):
            made[path] = (whole.path, new)
    return made


def _headed(data: bytes, path: str) -> bytes:
    """Give a note without a header one: its type is what its folder holds, else a fact."""
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
    """Put back what only memrepo writes, where the file was known before."""
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
    return transitions.mended(memory, old)


def mend(checked: Checked, now: datetime, only: Collection[Group] = ()) -> tuple[Scene, list[str]]:
    """Mend files in the work tree; return the scene as it is then, and the paths that changed."""
    files, fixed = dict(checked.scene.files), []
    for path, (new, data) in mended(checked.scene, now, only).items():
        if new != path and (checked.root / new).exists():
            continue
        _write(checked.root, path, new, data)
        del files[path]
        files[new] = data
        fixed.append(new)
    return replace(checked.scene, files=files), fixed


def mend_staged(
    checked: Checked, now: datetime, only: Collection[Group] = ()
) -> tuple[Scene, list[str]]:
    """Mend staged files in the work tree and in the index that git is about to commit.

    Left alone is a file of which only a part is staged, and all of them where a commit names
    files: the index of such a commit is thrown away, and the next one would undo the mending.
    """
    from memrepo.store.gitenv import index_of_commit
    from memrepo.store.light import Git, put_in_index

    files, fixed = dict(checked.scene.files), []
    made = mended(checked.scene, now, only)
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


def _write(root: Path, path: str, new: str, data: bytes) -> None:
    (root / new).write_bytes(data)
    if new != path:
        (root / path).unlink()

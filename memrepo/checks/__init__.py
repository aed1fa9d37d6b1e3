"""Checks of memory files and commits, and the rules about what files contain.

A line with `memrepo:allow-secret` (or detect-secrets' `pragma: allowlist secret`) is skipped, and
so is a secret whose fingerprint is in the repository's baseline. This applies to checks only.
Secrets are always redacted in text that is ingested or sent to a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import zip_longest
from typing import Literal

from msgspec.structs import replace

from memrepo.checks import rules
from memrepo.checks.rules import Group, Scene, all_rules, report
from memrepo.core.errors import Problem
from memrepo.core.ids import find_deceptive
from memrepo.core.layout import HOT_NAMES, below, standing_of
from memrepo.core.memory import REFERENCES, Memory
from memrepo.core.secrets import secrets_of


def _found(find: Callable[[Scene], Iterator[Problem]], scene: Scene) -> Iterable[Problem]:
    """Return what a finder yields. If it fails, the files on which it fails are reported instead.

    A fault in one file must not hide the problems of the others.
    """
    try:
        return list(find(scene))
    except Exception as error:  # noqa: BLE001
        fault = type(error).__name__
    found: list[Problem] = []
    for path, data in scene.files.items():
        one = replace(scene, files={path: data})
        try:
            found += find(one)
        except Exception:  # noqa: BLE001
            found.append(report("file-unreadable", path, fault=fault))
    return found


def find_problems(scene: Scene, groups: Collection[Group] = ()) -> tuple[Problem, ...]:
    """Check a scene and return its distinct problems, sorted by path and line."""
    found = {problem for find in FINDERS for problem in _found(find, scene)}
    wanted = (p for p in found if not groups or all_rules()[p.rule].group in groups)
    return tuple(sorted(wanted, key=lambda p: (p.path, p.line, p.column, p.rule, p.message)))


def find_deceptive_text(scene: Scene) -> Iterator[Problem]:
    """Check the characters of every memory file."""
    for path in scene.decoded:
        text = scene.files[path].decode("utf-8", "replace")
        yield from _characters(path, text)


def _characters(path: str, text: str) -> Iterator[Problem]:
    if found := find_deceptive(text):
        at = found[0].start()
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        yield report(
            "character-invisible",
            path,
            line=text.count("\n", 0, at) + 1,
            column=at - text.rfind("\n", 0, at),
            code=f"{ord(found[0][0]):04X}",
            more=more,
        )


def find_broken_references(scene: Scene) -> Iterator[Problem]:
    """Check every reference of the checked memories."""
    if scene.layout is None or scene.merging:
        return  # the merge is not complete; a later check reports them
    if any(
        not m.fields.keys().isdisjoint(REFERENCES) or m.status != "active" for m in scene.memories
    ):
        from memrepo.merge.states import broken

        # New memories without an id may refer to others too.
        nameless = {memory.path: memory for memory in scene.memories if not memory.id}
        for finding in broken({**scene.by_id, **nameless}):
            if finding.problem.path in scene.files:
                yield finding.problem


def find_secret_or_rejected(scene: Scene) -> Iterator[Problem]:
    """Check every file for secrets, and every memory for rejected statements."""
    for path, data in sorted(scene.files.items()):
        yield from secret_problems(path, data)
    yield from _rejected(scene)


def secret_problems(path: str, data: bytes) -> Iterator[Problem]:
    """Yield a problem for each secret in a file, except on lines marked as allowed."""
    for secret, _ in secrets_of(path, data):
        line, column = secret.line, secret.column
        yield report("secret-found", path, line=line, column=column, kind=secret.kind)


def _rejected(scene: Scene) -> Iterator[Problem]:
    if scene.layout is None or scene.merging:
        return  # what a merge by hand brings back is kept out of recall
    area = scene.layout.area("tombstones")
    paths = [path for path in below(scene.around, area) if path not in scene.gone]
    known = {path: scene.around[path] for path in paths}
    stones = {**known, **scene.in_area("tombstones")}
    if not stones:
        return
    from memrepo.merge.tombstones import read_tombstones

    found = read_tombstones(stones, scene.layout)
    yield from (p for p in found.problems if p.path in scene.files)
    for memory in scene.memories:
        stone = found.find_barring(memory) if memory.status != "forgotten" else None
        if stone is not None:
            values = {"summary": stone.summary, "stone": stone.key}
            yield report("rejected-value", memory.path, line=1, column=1, **values)


def find_stale_bullets(scene: Scene) -> Iterator[Problem]:
    """Yield a problem for each hot memory that differs from its bullet on the hot cache page."""
    hot = [m for m in scene.memories if "hot" in m.fields]
    if scene.layout is None or scene.merging or not hot:
        return
    for name in HOT_NAMES:
        path = scene.layout.prefix + name
        page = scene.files.get(path) or scene.around.get(path) or b""
        if standing_of("hot", page) != "ours":
            continue
        bullets = page.decode("utf-8", "replace").split("\n")
        for memory in hot:
            tags = (f"←{memory.path}", f"←{memory.id}")
            ends = (*tags, *(f"{tag}[pin]" for tag in tags))
            line = next((n for n, b in enumerate(bullets, start=1) if b.endswith(ends)), 0)
            old = scene.earlier.get(memory.id) if path not in scene.files else None
            if line and _is_stale(bullets[line - 1], memory, old):
                yield report("hot-stale", memory.path, line=1, column=1, name=name, bullet=line)


def _is_stale(bullet: str, memory: Memory, old: Memory | None) -> bool:
    """Return whether a bullet has another text than its memory, which was `old` before."""
    if old is not None:
        return old.body != memory.body
    from memrepo.views.hot import condensed

    before, found, _ = bullet.partition(f" {condensed(memory)} ")
    return not (found and (before == "-" or before.endswith(":")))  # the name of a person


def find_edited_pages(scene: Scene) -> Iterator[Problem]:
    """Check that no generated page was edited by hand, and name the first line that was."""
    for path, data in () if scene.merging else scene.files.items():
        is_hot = path.rpartition("/")[2] in HOT_NAMES
        kind: Literal["hot", "view"] = "hot" if is_hot else "view"
        is_page = is_hot or scene.area(path) == "views"
        if not is_page or standing_of(kind, data) != "edited":
            continue
        before, line, restore = scene.before.get(path), 0, ""
        if before is not None and standing_of(kind, before) == "ours":
            restore = f"`git restore -SW {path}`, then "
            pairs = zip_longest(before.split(b"\n"), data.split(b"\n"))
            line = next(n for n, (old, new) in enumerate(pairs, start=1) if old != new)
        yield report(
            "hot-edited" if is_hot else "page-edited",
            path,
            line=line,
            column=1 if line else 0,
            restore=restore,
        )


def find_in_manifests(scene: Scene) -> Iterator[Problem]:
    """Check that run manifests are readable and were not changed or deleted by hand."""
    files = {p: d for p, d in scene.in_area("runs").items() if p.endswith(".json")}
    for path, data in files.items():
        from memrepo.core.manifest import read_manifest

        if isinstance(found := read_manifest(path, data), Problem):
            yield found
    if scene.merging:
        return
    deleted = [path for path in scene.gone if scene.area(path) == "runs"]
    for path in sorted((*files, *deleted)):
        old = scene.before.get(path)
        if old is not None and old != files.get(path):
            was = "was changed" if path in files else "is deleted"
            yield report("manifest-by-hand", path, file=path, was=was)


FINDERS = (
    rules.find_unreadable,
    rules.find,
    rules.find_unknown_tags,
    rules.find_by_hand,
    find_broken_references,
    find_secret_or_rejected,
    find_deceptive_text,
    find_edited_pages,
    find_stale_bullets,
    find_in_manifests,
)
"""The functions that check a scene."""

"""Rules about the files that memrepo generates: pages, run manifests and corrections."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from itertools import zip_longest

from memrepo.checks.rules import Scene, place, report
from memrepo.core import codec
from memrepo.core.ids import visible
from memrepo.core.layout import HOT_NAMES, standing_of
from memrepo.core.memory import Memory
from memrepo.core.messages import counted
from memrepo.core.problems import Problem


def find_over_budget(scene: Scene) -> Iterator[Problem]:
    """Yield a problem if the repository contains more hot memories than the budget allows."""
    if scene.layout is None or scene.merging:
        return
    here = {m.id: m for m in scene.memories if "hot" in m.fields}
    if not here:
        return
    from memrepo.policies.hotcache import hot_of, is_exempt
    from memrepo.policies.rules import HotRules

    hot = [m for m in here.values() if hot_of(m) is not None]
    new = [m for m in hot if (old := scene.earlier.get(m.id)) is None or hot_of(old) is None]
    around = [m for m in _around(scene) if hot_of(m) is not None] if new else []
    budget = HotRules().budget if scene.wants.hot_budget is None else scene.wants.hot_budget
    count = len(hot) + len(around)
    if hot and count > budget:
        kept = sum(map(is_exempt, (*hot, *around)))
        memory = min(new or hot, key=lambda m: m.path)
        line, column = place(scene.files[memory.path], "hot")
        yield report(
            "hot-over-budget",
            memory.path,
            f"found {counted(count, 'memory', 'memories')} on the first page, {kept} of them"
            f" pinned or critical, but hot.budget is {budget}",
            line=line,
            column=column,
            key="hot",
            fix="remove some (`memrepo promote ID --off`, `memrepo pin ID --off`), or raise"
            " hot.budget",
        )


def find_stale_bullets(scene: Scene) -> Iterator[Problem]:
    """Yield a problem for each hot memory that differs from its bullet on the hot cache page."""
    hot = [m for m in scene.memories if "hot" in m.fields]
    if scene.layout is None or scene.merging or not hot:
        return
    for name in HOT_NAMES:
        path = scene.layout.prefix + name
        page = scene.files.get(path) or scene.around.file(path) or b""
        if standing_of("hot", page) != "ours":
            continue
        bullets = page.decode("utf-8", "replace").split("\n")
        for memory in hot:
            tags = (f"←{memory.path}", f"←{memory.id}")
            ends = (*tags, *(f"{tag}[pin]" for tag in tags))
            line = next((n for n, b in enumerate(bullets, start=1) if b.endswith(ends)), 0)
            old = scene.earlier.get(memory.id) if path not in scene.files else None
            if line and _is_stale(bullets[line - 1], memory, old):
                yield report(
                    "hot-stale",
                    memory.path,
                    f"differs from its bullet, {name}:{line}",
                    line=1,
                    column=1,
                    fix="`memrepo run` updates the page; `memrepo edit` changes the memory and"
                    " the page at once",
                )


def _is_stale(bullet: str, memory: Memory, old: Memory | None) -> bool:
    """Return whether a bullet has another text than its memory, which was `old` before."""
    if old is not None:
        return old.body != memory.body
    from memrepo.views.hot import condensed

    return not bullet.startswith(f"- {condensed(memory)} ")


def _around(scene: Scene) -> Iterator[Memory]:
    """Yield the unchecked memories that are, or once were, marked as hot."""
    for path in sorted({*scene.around.naming("hot:")} - {*scene.files, *scene.gone}):
        data = scene.around.file(path)
        memory = codec.decode(path, data)[0] if data is not None else None
        if memory is not None:
            yield memory


def find(scene: Scene) -> Iterator[Problem]:
    """Check each checked file that is a generated page."""

    def memory_at(path: str) -> Memory | None:
        if path.startswith("mem-"):
            here = (m.path for m in scene.memories if m.id == path)
            path = next(here, "") or next(iter(scene.around.naming(f"id: {path}")), "")
        data = scene.files.get(path) or scene.around.file(path)
        return codec.decode(path, data)[0] if data is not None else None

    for path, data in scene.files.items():
        if path.rpartition("/")[2] in HOT_NAMES and not scene.merging:
            yield from check_hot_page(path, data, memory_at)
    for path, data in scene.in_area("views").items():
        if not scene.merging:
            yield from _view_page(path, data, scene.around.before(path))


def _view_page(path: str, data: bytes, before: bytes | None) -> Iterator[Problem]:
    """Yield a problem for a page that was edited by hand."""
    if standing_of("view", data) != "edited":
        return
    fix = "`memrepo edit` the memory that the changed block links to; a run regenerates the page"
    line = 0
    if before is not None and standing_of("view", before) == "ours":
        fix = f"`git restore -SW {path}`, then {fix}"
        pairs = zip_longest(before.split(b"\n"), data.split(b"\n"))
        line = next(n for n, (old, new) in enumerate(pairs, start=1) if old != new)
    yield report(
        "page-edited",
        path,
        "generated by memrepo, but changed by hand",
        line=line,
        column=1 if line else 0,
        fix=fix,
    )


Find = Callable[[str], Memory | None]
"""A function that returns the memory with a path or an id, or None."""


def check_hot_page(path: str, data: bytes, find: Find) -> list[Problem]:
    """Return a problem for each edited line of the page, with a command for the same change."""
    if standing_of("hot", data) != "edited":
        return []
    from memrepo.views.hot import parse_line

    back = f"`git restore -SW {path}`"
    found = []
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        text = parse_line(line)
        if text is not None and (wrong := _wrong(line, *text, find)):
            message, command = wrong
            found.append(
                report(
                    "hot-edited",
                    path,
                    message,
                    line=number,
                    column=1,
                    fix=f"{back}, then {command}",
                )
            )
    return found or [
        report(
            "hot-edited",
            path,
            "generated by memrepo, but changed by hand",
            fix=f"{back}; choose its memories with `memrepo promote ID` and `promote ID --off`",
        )
    ]


def _wrong(line: str, text: str, path: str, find: Find) -> tuple[str, str] | None:
    """Return (problem, command) for an invalid line of the page, or None if the line is valid."""
    from memrepo.policies.hotcache import hot_of
    from memrepo.views.hot import bullet, condensed, unescaped

    shown = visible(unescaped(text))
    if not path:
        return f"found {shown!r}, which is in no memory", f"`memrepo add {shlex.quote(shown)}`"
    memory = find(path)
    if memory is None or hot_of(memory) is None:
        message = f"found a bullet of {visible(path)}, which is not on the first page"
        return message, "`memrepo promote` it"
    if text == condensed(memory):
        message = f"found a different tag for {memory.id}"
        wanted = "to change the tag: `memrepo pin ID` or `memrepo pin ID --off`"
        known = (bullet(memory, short=True), bullet(memory))
        return None if line.rstrip() in known else (message, wanted)
    command = f"`memrepo edit {memory.id} --text {shlex.quote(shown)}`"
    if unescaped(condensed(memory)) != memory.body.strip():
        command = f"`memrepo edit {memory.id}`, whose text is longer than its bullet"
    was = visible(unescaped(condensed(memory)))
    return f"found {shown!r}, where {memory.id} says {was!r}", command


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
        old = scene.around.before(path)
        if old is not None and old != files.get(path):
            yield report(
                "manifest-by-hand",
                path,
                "the manifest of a run was changed by hand"
                if path in files
                else "the manifest of a run is deleted by hand",
                fix=f"`git restore -SW {path}`; to revert a run, use `memrepo revert`",
            )


def find_in_corrections(scene: Scene) -> Iterator[Problem]:
    """Check each correction file, and report correction cases that have two files."""
    files = {p: d for p, d in scene.in_area("corrections").items() if p.endswith(".md")}
    if not files:
        return
    from memrepo.core.corrections import Correction, decode, was_put_aside

    seen: dict[str, str] = {}
    for path, data in ((p, d) for p, d in files.items() if not was_put_aside(p)):
        found = decode(path, data)
        if not isinstance(found, Correction):
            yield from found
        elif seen.setdefault(found.id, path) != path:
            yield report(
                "correction-same-id",
                path,
                f"found {found.id}, which {seen[found.id]} also has; the latest decision is used",
                line=1,
                key="id",
                fix="delete the other file",
            )

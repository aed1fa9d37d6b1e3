"""Which files views may write and delete."""

from __future__ import annotations

import pytest

from memrepo.core.changes import Delete, Write
from memrepo.core.memory import Memory
from memrepo.core.state import Files, State
from memrepo.views import pages


def state(tags: list[str], files: dict[str, bytes] | None = None) -> State:
    memories = {
        f"mem-{n:016x}": Memory(
            path=f"memories/knowledge/m-{n:06x}.md",
            body=f"fact {n}",
            fields={"id": f"mem-{n:016x}", "type": "fact", "home": "LTMEMORY.md", "tags": (tag,)},
        )
        for n, tag in enumerate(tags)
    }
    return State(files=Files(files or {}, {}), memories=memories)


def written(of: State) -> dict[str, bytes]:
    changes = pages.render_views(of, personal=True)
    found = [(c.path, c.data) for c in changes if isinstance(c, Write)]
    assert len({path for path, _ in found}) == len(found)
    return dict(found)


def test_a_numbered_part_is_not_the_page_of_a_numbered_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "LIMIT", 2)
    found = written(state(["a"] * 4 + ["a 1", "a 2"]))
    names = {path.removeprefix("views/LTMEMORY") for path in found if "LTMEMORY" in path}
    assert names == {".md", "-a.1.md", "-a.2.md", "-a-1.md", "-a-2.md"}
    text = b"".join(found.values())
    assert all(f"> fact {n}\n".encode() in text for n in range(6))


def test_only_pages_that_were_written_here_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    one = written(state(["a"]))
    with monkeypatch.context() as patch:
        patch.setattr(pages, "LIMIT", 2)
        many = written(state(["a"] * 3))
    mine = b"# My thoughts\n\non long-term memory\n"
    foreign = {"views/LTMEMORY-thoughts.md": mine, "views/other.md": one["views/LTMEMORY.md"]}
    stale = {"views/LTMEMORY-old.md": many["views/LTMEMORY.md"]}
    stale |= {path: data for path, data in many.items() if "-a" in path}
    changes = pages.render_views(state(["a"], {**one, **foreign, **stale}), personal=True)
    assert set(changes) == {Delete(path=path) for path in stale}

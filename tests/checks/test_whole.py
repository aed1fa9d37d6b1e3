"""A whole tree that is looked at part by part gives what one look at all of it gives."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from rule_examples import EXAMPLES, NAME, OTHER, A, B, Example, memory, raw

from memrepo.actions.check import whole
from memrepo.checks.registry import problems
from memrepo.checks.rules import Nowhere, Scene
from memrepo.core.layout import Layout
from memrepo.core.problems import Problem
from memrepo.store.light import Git

THIRD = NAME.replace("shed-aaaaaa", "yard-cccccc")
TOGETHER = {
    "one id in three files": {NAME: memory(), OTHER: memory(), THIRD: memory()},
    "a ring": {
        NAME: memory("status: superseded", f"superseded_by: [{B}]", f"supersedes: [{B}]"),
        OTHER: memory("status: superseded", f"superseded_by: [{A}]", f"supersedes: [{A}]", id_=B),
    },
    "half a supersession": {NAME: memory(f"supersedes: [{B}]"), OTHER: memory(id_=B)},
    "a reference to what has no id": {NAME: memory(f"supersedes: [{B}]"), OTHER: "no header"},
    "links by name": {
        NAME: memory("origin: manual", body=f"See [[gate]], [[gate-bbbbbb]], [[{B}]], [[barn]]."),
        OTHER: memory("origin: manual", id_=B, body="See [[shed]], [[knowledge:shed]], [[Shed]]."),
    },
    "a name in other letters": {
        NAME: memory("origin: manual", body="See [[Gate]] and [[barn]]."),
        OTHER: memory(id_=B),
    },
}


class Everything(Nowhere):
    """Around all files there is nothing else, and nothing changes."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def before(self, path: str) -> bytes | None:
        return self._files.get(path)

    def there(self, path: str) -> bool:
        return path in self._files


def at_once(example: Example, files: dict[str, bytes]) -> tuple[Problem, ...]:
    return problems(
        Scene(files=files, layout=Layout(), around=Everything(files), wants=example.wants)
    )


def by_parts(
    example: Example, files: dict[str, bytes], where: Path, size: int
) -> tuple[tuple[Problem, ...], int]:
    subprocess.run(["git", "init", "-q", where], check=True)
    stream = [b"commit refs/heads/main\ncommitter a <a@b> 0 +0000\ndata 0\n"]
    for path, data in files.items():
        stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (path.encode(), len(data), data))
    words = ["git", "-C", str(where), "fast-import", "--quiet", "--force"]
    subprocess.run(words, input=b"".join(stream), check=True)
    subprocess.run(["git", "-C", where, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    with pytest.MonkeyPatch.context() as patch, Git(where) as git:
        patch.setattr(whole, "_AT_ONCE", size)
        patch.setattr(whole, "_FEW", size)
        tree = whole.Tree(git, Layout(), example.wants)
        patch.setattr(whole, "opened", lambda _: _Opened(tree))
        looked = whole.look(where)
    assert not looked.early
    return looked.problems, looked.files


class _Opened:
    def __init__(self, tree: whole.Tree) -> None:
        self._tree = tree

    def __enter__(self) -> whole.Tree:
        return self._tree

    def __exit__(self, *_: object) -> None:
        return None


CASES = {
    **{name: (e, {**raw(e.around), **raw(e.bad)}) for name, e in EXAMPLES.items()},
    **{name: (Example(bad=files), raw(files)) for name, files in TOGETHER.items()},
}


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("name", CASES)
def test_parts_find_what_one_look_finds(name: str, size: int, tmp_path: Path) -> None:
    example, files = CASES[name]
    found, count = by_parts(example, files, tmp_path, size)
    assert found == at_once(example, files)
    assert count == len(files)


@pytest.mark.parametrize("name", TOGETHER)
def test_what_several_files_break_together_is_found(name: str) -> None:
    example, files = CASES[name]
    assert at_once(example, files)

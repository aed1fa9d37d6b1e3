"""What several files of a tree break together."""

from __future__ import annotations

import pytest
from rule_examples import NAME, OTHER, A, B, memory, raw

from memrepo.actions.check.scenes import Everything
from memrepo.checks import find_problems as problems
from memrepo.checks.rules import Scene
from memrepo.core.layout import Layout

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


@pytest.mark.parametrize("name", TOGETHER)
def test_what_several_files_break_together_is_found(name: str) -> None:
    files = raw(TOGETHER[name])
    around = Everything(files, frozenset(files))
    assert problems(Scene(files=files, layout=Layout(), around=around))

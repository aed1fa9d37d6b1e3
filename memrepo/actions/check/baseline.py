"""`check --history` and `check --baseline`: secrets of the past, and those that may stand."""

from __future__ import annotations

import json

from memrepo.actions.check import checking
from memrepo.actions.check.pushing import history_problems
from memrepo.actions.work import Answer, Work
from memrepo.checks.secrets import fingerprints
from memrepo.core.errors import Exit
from memrepo.core.layout import Layout
from memrepo.core.messages import counted
from memrepo.store.around import BASELINE


def history(work: Work) -> Answer:
    """Answer 1 where a commit that a ref leads to brought a secret."""
    with checking.opened_git(work.call.where) as git:
        found = tuple(history_problems(git, "--all"))
    lines = [*map(str, found)] or ["no secret was ever committed"]
    if found:
        lines.append(
            "a secret in history is known to whoever has a clone: change it where it is used"
        )
    return Answer(
        data={"problems": [p.as_json() for p in found]},
        text="\n".join(lines),
        exit=Exit.NO if found else Exit.DONE,
    )


def baseline(work: Work, *, dry_run: bool) -> Answer:
    """Write the fingerprints of the secrets that the tree holds; a person commits the file."""
    with checking.tree(work.call.where) as checked:
        files = checked.scene.files
        found = sorted({mark for data in files.values() for mark in fingerprints(data)})
        layout = checked.scene.layout or Layout()
    path = layout.prefix + BASELINE
    said = counted(len(found), "finding", "findings")
    text = f"{path} lets {said} stand; it counts once it is added to the index"
    if dry_run:
        text = f"dry run: {path} would let {said} stand; nothing was written"
    else:
        (checked.root / path).unlink(missing_ok=True)  # never written through a link
        (checked.root / path).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return Answer(data={"path": path, "findings": len(found), "dry_run": dry_run}, text=text)

"""Whether memrepo goes on working on a rewritten history, tried on a copy beside the old one.

The same four things are done on a copy of either: `doctor`, a run, the newest revert that was
possible, and a sync with an empty hub. What works on the old one has to work on the new one.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from memrepo.actions.verbs import VERBS
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError
from memrepo.store import quarantine
from memrepo.store.door import Door
from memrepo.store.quarantine import Plan

TRIED = ("doctor", "run", "revert", "sync")
_CHECKS = ("objects", "state", "memories", "manifests", "history", "runs", "format", "ledger")
"""The checks of `doctor` that are about what history holds, and not about this machine."""
_SETTINGS = ("user.name", "user.email", "memrepo.clone")


class TrialFailed(MemrepoError):
    """Something that worked on the old history does not work on the new one."""

    exit_code = Exit.DECIDE

    def __init__(self, what: str, before: object, after: object) -> None:
        super().__init__(
            f"{what} does not work on the history without the value: nothing was changed "
            f"(before: {before}; after: {after})",
            fix="please report this; docs/purge.md says what else can be done",
        )


def try_out(work: Work, plan: Plan) -> tuple[str, ...]:
    """Return what was tried; raises TrialFailed where the new history is worse than the old."""
    repo = work.store.repo
    folder = quarantine.folder_of(repo)
    old = {ref.name: ref.id for ref in plan.refs}
    new = {ref.new_name: ref.new_id for ref in plan.refs}
    objects = Path(repo.common_dir) / "objects"
    before = _outcome(work, folder / "before", objects, old, repo.refs.branch or repo.refs.head)
    after = _outcome(work, folder / "after", folder / quarantine.NEW / "objects", new, plan.head)
    for what, result in before.items():
        if after[what] != result and result != "failed":
            raise TrialFailed(what, result, after[what])
    return TRIED


def _outcome(
    work: Work, where: Path, objects: Path, refs: Mapping[str, str], head: str
) -> dict[str, object]:
    """Return what each thing came to on a copy, which is thrown away."""
    try:
        _copy(work, where, objects, refs, head)
        call = replace(work.call, where=where, expect="", subject="", tick=str, say=str)

        def did(name: str, **given: object) -> Any:
            with Work(call) as trial:
                verb = VERBS[name].load()
                return verb.do(trial, verb.Request(**given))

        return {
            "doctor": _told(lambda: _sound(did("doctor"))),
            "run": _told(lambda: did("run", judge="offline", take_over=True).exit),
            "revert": _told(lambda: did("revert").exit),
            "sync": _told(lambda: did("sync", remote="trial").exit),
        }
    finally:
        shutil.rmtree(where, ignore_errors=True)


def _told(ask: Callable[[], object]) -> object:
    try:
        return ask()
    except MemrepoError:
        return "failed"


def _sound(result: Any) -> tuple[str, ...]:
    """Return the checks that find something wrong with what history holds."""
    return tuple(check.name for check in result.checks if check.name in _CHECKS and not check.ok)


def _copy(work: Work, where: Path, objects: Path, refs: Mapping[str, str], head: str) -> None:
    """Make a work tree of its own that borrows its objects, with an empty hub."""
    repo = work.store.repo
    form = f"--object-format={'sha256' if len(next(iter(refs.values()))) == 64 else 'sha1'}"
    repo.git.init("--quiet", form, str(where))
    repo.git.init("--quiet", form, "--bare", str(where / ".git" / "hub.git"))
    borrowed = where / ".git" / "objects" / "info" / "alternates"
    borrowed.write_text(f"{objects.resolve()}\n", encoding="utf-8")
    hub = where / ".git" / "hub.git" / "objects" / "info" / "alternates"
    hub.write_text(f"{objects.resolve()}\n", encoding="utf-8")
    git = Door(where)
    lines = (f"create {name} {id_}\n" for name, id_ in refs.items() if name != "HEAD")
    git.update_ref("--stdin", istream="".join(lines))
    if head.startswith("refs/"):
        git.symbolic_ref("HEAD", head)
    else:
        git.update_ref("--no-deref", "HEAD", head)
    settings = {name: repo.config.get(name) for name in _SETTINGS}
    settings["remote.trial.url"] = str(where / ".git" / "hub.git")
    settings["remote.trial.fetch"] = "+refs/heads/*:refs/remotes/trial/*"
    for name, value in settings.items():
        if value:
            git.config(name, value)
    git.reset("--hard", "--quiet")

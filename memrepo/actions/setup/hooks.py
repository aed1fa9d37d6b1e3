"""`memrepo hooks`: install the git hooks of a clone, or run one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError, UsageError

if TYPE_CHECKING:
    from memrepo.actions.check.scenes import CheckResult

_STAGED = ("pre-commit", "pre-merge-commit")


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo hooks`."""

    what: Annotated[
        Literal["install", "run"],
        option("install the hooks; run one (the shim calls this)", choices=("install", "run")),
    ]
    name: Annotated[str, option("the hook (run)", metavar="NAME")] = ""
    given: Annotated[tuple[str, ...], option("what git gives the hook (run)", metavar="ARG")] = ()


class Installed(VerbResult, frozen=True, kw_only=True):
    """The installed hooks, and those left to another program that does not call memrepo."""

    hooks: tuple[str, ...]
    left: tuple[str, ...]


def do(work: Work, request: Request) -> Installed | CheckResult:
    """Install the hooks, or run one hook."""
    if (request.what == "run") != bool(request.name):
        raise UsageError(
            f"memrepo hooks {request.what}: found {request.name or 'no name'}",
            fix="memrepo hooks install, memrepo hooks run NAME [ARG ...]",
        )
    return _hook(work, request.name, request.given) if request.name else _install(work)


def _install(work: Work) -> Installed:
    from memrepo.assets import asset
    from memrepo.store import settings

    repo = work.store.repo
    if path := settings.other_hooks_path(repo):
        raise MemrepoError(
            f"core.hooksPath is {path}, so git does not run the hooks of this clone",
            fix=f"`git config --unset core.hooksPath`; or leave it so: {settings.HOOK_CALL}",
            exit_code=Exit.DECIDE,
        )
    left = settings.install_hooks(repo, asset("hooks", "shim"))
    hooks = tuple(name for name in settings.HOOKS if name not in left)
    return Installed(hooks=hooks, left=tuple(left))


def _hook(work: Work, name: str, given: Sequence[str]) -> CheckResult:
    """Run a hook. Each branch imports only what the hook needs, so that it starts quickly."""
    from memrepo.actions.check import check, scenes

    if name in _STAGED:
        request = check.CheckRequest(staged=True, fix=name == "pre-commit")
        return check.check_files(work, request, merging=name == "pre-merge-commit")
    if name == "commit-msg":
        return check.check_message(work, check.CheckMessageRequest(file=given[0]))
    if name == "pre-push":
        from memrepo.actions.check.commits import pushed

        return scenes.result_of(pushed(work, given))
    raise UsageError(f"memrepo hooks run: {name!r} is not a hook of memrepo")

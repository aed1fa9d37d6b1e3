"""`memrepo hooks`: install the git hooks of a clone, or run one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec

from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.problems import Problem

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


class Ran(VerbResult, frozen=True, kw_only=True):
    """The problems that a hook found, and the files that the hook fixed."""

    problems: tuple[Problem, ...]
    fixed: tuple[str, ...] = ()
    restored: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """The restored fields of each fixed file. Only memrepo sets these fields."""
    foreign: tuple[str, ...] = ()
    """Staged files that do not belong to memrepo. They are only scanned for secrets."""


def do(work: Work, request: Request) -> Installed | Ran:
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


def _hook(work: Work, name: str, given: Sequence[str]) -> Ran:
    """Run a hook. Each branch imports only what the hook needs, so that it starts quickly."""
    if name in _STAGED:
        from memrepo.actions.check import check

        request = check.CheckRequest(staged=True, fix=name == "pre-commit")
        looked = check.check_files(work, request, merging=name == "pre-merge-commit")
        return Ran(
            problems=looked.problems,
            fixed=looked.fixed,
            restored=looked.restored,
            foreign=looked.foreign,
            exit=looked.exit,
        )
    if name == "commit-msg":
        from memrepo.actions.check import check

        message = check.check_message(work, check.CheckMessageRequest(file=given[0]))
        return Ran(problems=message.problems, exit=message.exit)
    if name == "pre-push":
        from memrepo.actions.check.commits import pushed

        found = pushed(work, given)
        return Ran(problems=found, exit=Exit.NO if found else Exit.DONE)
    raise UsageError(f"memrepo hooks run: {name!r} is not a hook of memrepo")

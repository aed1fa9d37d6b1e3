"""`memrepo check`: check files against all rules, for hooks, CI and people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec
from msgspec.structs import replace

from memrepo import checks
from memrepo.actions.check import scenes
from memrepo.actions.request import VerbResult, option
from memrepo.actions.work import Work
from memrepo.checks.memories import message_problems
from memrepo.checks.rules import GROUPS, Group
from memrepo.core.errors import Exit, UsageError
from memrepo.core.problems import Problem

Format = Literal["text", "github", "markdown"]


class CheckRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo check`."""

    files: Annotated[
        tuple[str, ...],
        option("only these files, or the changes of the commits A..B", metavar="FILE|A..B"),
    ] = ()
    fix: Annotated[
        bool, option("fix what is safe to fix in the named or staged files", "--fix")
    ] = False
    staged: Annotated[bool, option("check the staged files", "--staged", group="which")] = False
    all: Annotated[bool, option("the whole tree at HEAD (the default)", "--all", group="which")] = (
        False
    )
    history: Annotated[
        bool, option("search all commits of all refs for secrets", "--history", group="which")
    ] = False
    only: Annotated[
        tuple[Group, ...],
        option(
            f"only rules of a group ({', '.join(GROUPS)}); may be repeated",
            "--only",
            metavar="GROUP",
            choices=tuple(GROUPS),
        ),
    ] = ()
    format: Annotated[
        Format,
        option("output format: text for people, or a format that a forge reads", "--format"),
    ] = "text"


class CheckResult(VerbResult, frozen=True, kw_only=True):
    """The problems found, the number of checked files, and the files that were fixed."""

    problems: tuple[Problem, ...]
    files: int
    fixed: tuple[str, ...] = ()
    restored: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """The restored fields of each fixed file. Only memrepo sets these fields."""
    foreign: tuple[str, ...] = ()
    """Files that do not belong to memrepo. They are only scanned for secrets."""
    range: str = ""
    commits: int = 0
    """The number of commits in the requested range."""


class CommittedSecrets(VerbResult, frozen=True, kw_only=True):
    """The secrets that commits added, searched in all commits reachable from any ref."""

    problems: tuple[Problem, ...]


def check(work: Work, request: CheckRequest) -> CheckResult | CommittedSecrets:
    """Check files, a range of commits or all history. Exit with status 1 if there is an error."""
    _refuse_odd(request)
    if request.history:
        from memrepo.actions.check import commits

        secrets = commits.find_committed_secrets(work)
        return CommittedSecrets(problems=secrets, exit=_exit(secrets))
    if word := _range(work, request):
        from memrepo.actions.check import commits

        brought = commits.check_range(work, word, request.only)
        return CheckResult(
            problems=brought.problems,
            files=brought.files,
            range=word,
            commits=brought.commits,
            exit=_exit(brought.problems),
        )
    return check_files(work, request)


def check_files(work: Work, request: CheckRequest, *, merging: bool = False) -> CheckResult:
    """Check files. `merging` is set if git is about to commit a merge."""
    if not (request.files or request.staged):
        tree = scenes.check_tree(work.call.where, request.only)
        found = (*tree.early, *tree.problems)
        return CheckResult(problems=found, files=tree.files, exit=_exit(found))
    fixed: list[str] = []
    restored: Mapping[str, tuple[str, ...]] = {}
    if request.files:
        opened = scenes.named(work.call.where, request.files)
    else:
        opened = scenes.staged(work.call.where, merging=merging)
    with opened as checked:
        scene = checked.scene
        if request.fix:
            from memrepo.actions.check import repair

            fix = repair.repair_staged if request.staged else repair.repair_files
            scene, fixed = fix(checked, work.call.now, request.only)
            restored = repair.restored(checked.scene, scene, fixed)
        found = (*checked.early, *checks.find_problems(scene, request.only))
    if request.staged:  # before a commit, a misspelt key is an error
        found = tuple(
            replace(p, severity="error") if p.rule == "frontmatter-near-key" else p for p in found
        )
    found = tuple(replace(p, path=checked.names.get(p.path, p.path)) for p in found)
    return CheckResult(
        problems=found,
        files=len(scene.files),
        fixed=tuple(fixed),
        restored=restored,
        foreign=checked.foreign,
        exit=_exit(found),
    )


def _exit(found: tuple[Problem, ...]) -> Exit:
    return Exit.NO if any(p.severity == "error" for p in found) else Exit.DONE


def _range(work: Work, request: CheckRequest) -> str:
    """Return the requested range of commits, or "" if the argument names a file."""
    word = request.files[0] if len(request.files) == 1 and ".." in request.files[0] else ""
    if not word or (work.call.where / word).exists():
        return ""
    from memrepo.actions.check.commits import is_range

    return word if is_range(word) else ""


def _refuse_odd(request: CheckRequest) -> None:
    """Raise UsageError if the given options exclude each other."""
    words = ("staged", "all", "history")
    whole = next((word for word in words if getattr(request, word)), "")
    if request.files and whole:
        raise UsageError(
            f"memrepo check: --{whole} takes no FILE", fix=f"leave out --{whole} or the files"
        )
    if request.fix and not (request.files or request.staged):
        raise UsageError(
            "--fix needs the files to fix",
            fix="memrepo check --fix FILE..., or --staged --fix",
        )
    if request.fix and request.format != "text":
        raise UsageError(
            "memrepo check: --fix changes files and --format prints findings", fix="use one of them"
        )


class CheckMessageRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo check-message`."""

    file: Annotated[str, option("the message, as git hands it to its hook", metavar="FILE")]


class MessageResult(VerbResult, frozen=True, kw_only=True):
    """The problems found in the message."""

    problems: tuple[Problem, ...]


def check_message(work: Work, request: CheckMessageRequest) -> MessageResult:
    """Check a message. Exit with status 1 if it contains memrepo trailers or a secret."""
    path = work.call.where / request.file
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"memrepo check-message: {request.file}: {error.strerror}",
            fix="name the file that holds the message",
        ) from error
    found = tuple(message_problems(request.file, text))
    return MessageResult(problems=found, exit=Exit.NO if found else Exit.DONE)

"""`memrepo hooks`: install the hooks of a clone, say whether they run, and be what they run."""

from __future__ import annotations

import argparse
from dataclasses import replace

from memrepo.actions.work import Answer, Session
from memrepo.faces.cli.table import UsageError
from memrepo.core.errors import Exit, MemrepoError

_STAGED = ("pre-commit", "pre-merge-commit")
_AFTER = ("post-merge", "post-checkout", "post-rewrite")


class HooksInTheTree(MemrepoError):
    """Git is told to run hooks out of the work tree, which others may write."""

    exit_code = Exit.DECIDE

    def __init__(self, path: str, call: str) -> None:
        super().__init__(
            f"core.hooksPath is {path}, inside the work tree: whoever can change the repository"
            " could run programs here",
            fix=f"`git config --unset core.hooksPath`; or leave it so: {call}",
        )


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to do."""
    parser.add_argument(
        "what",
        choices=("install", "status", "run"),
        help="put the hooks in place; say whether they run; do what one does (the shim asks this)",
    )
    parser.add_argument("name", nargs="?", default="", metavar="NAME", help="the hook (run)")
    parser.add_argument("--dry-run", action="store_true", help="say what install would do")
    parser.add_argument("given", nargs="*", metavar="ARG", help="what git gives the hook (run)")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Install, tell, or run one hook."""
    if (options.what == "run") != bool(options.name):
        raise UsageError(
            f"memrepo hooks {options.what}: found {options.name or 'no name'}",
            fix="memrepo hooks install, memrepo hooks status, memrepo hooks run NAME [ARG ...]",
        )
    if options.dry_run and options.what != "install":
        raise UsageError(
            f"memrepo hooks {options.what}: --dry-run goes with install", fix="leave out --dry-run"
        )
    match options.what:
        case "install":
            return _install(session, dry_run=options.dry_run)
        case "status":
            return _status(session)
        case _:
            return _hook(session, options.name, options.given)


def _install(session: Session, *, dry_run: bool) -> Answer:
    from memrepo.assets import asset
    from memrepo.actions.work import opened
    from memrepo.store import hooks

    with opened(session) as desk:
        repo = desk.store.repo
        if path := hooks.in_tree(repo):
            raise HooksInTheTree(path, hooks.CALL)
        before = hooks.other_path(repo) if dry_run else hooks.take_over(repo)
        kept = hooks.install(repo, asset("hooks", "shim"), dry_run=dry_run)
    lines = [f"installed: {', '.join(hooks.HOOKS)}"]
    if kept:
        lines.append(f"kept and asked first: {', '.join(kept)}")
    if before:
        lines.append(f"asked first as well: the hooks in {before} (was core.hooksPath)")
    if dry_run:
        lines = ["dry run: nothing was written", *(f"would be {line}" for line in lines)]
    data = {"hooks": list(hooks.HOOKS), "kept": kept, "before": before, "dry_run": dry_run}
    return Answer(data=data, text="\n".join(lines))


def _status(session: Session) -> Answer:
    from memrepo.assets import asset
    from memrepo.actions.work import opened
    from memrepo.store import hooks, trust

    with opened(session) as desk:
        found = hooks.states(desk.store.repo, asset("hooks", "shim"))
        why = trust.untrusted(desk.store.repo)
    lines = [
        f"{'ok  ' if not said else 'FAIL'}  {name:<16} {said or 'runs'}"
        for name, said in found.items()
    ]
    if any(found.values()):
        lines.append("`memrepo hooks install` puts them in place")
    return Answer(
        data={
            "hooks": [{"name": n, "ok": not said, "message": said} for n, said in found.items()],
            "trust": why,
        },
        text="\n".join([*lines, *([why] if why else [])]),
        exit=Exit.NO if any(found.values()) or why else Exit.DONE,
    )


def _hook(session: Session, name: str, given: list[str]) -> Answer:
    """Do what a hook does; the first import of each is all that it waits for."""
    if name in _STAGED:
        from memrepo.actions.check import check
        from memrepo.faces.cli.table import command_parser

        fix = ["--fix"] if name == "pre-commit" else []
        options = command_parser("check").parse_args(["--staged", *fix])
        found = check.look(session, options, merging=name == "pre-merge-commit")
        # Nothing found is nothing said: whoever commits waits for git's own words.
        silent = not (found.data["problems"] or found.data["fixed"])
        return replace(found, text="") if silent else found
    if name == "commit-msg":
        from memrepo.faces.cli.table import call

        return call(session, ["check-message", *given[:1]])
    if name in _AFTER:
        from memrepo.actions.sync.catching_up import catch_up

        return catch_up(session, name, given)
    if name == "pre-push":
        from memrepo.actions.check.pushing import pushed

        return pushed(session, given)
    raise UsageError(f"memrepo hooks run: {name!r} is no hook of memrepo's")

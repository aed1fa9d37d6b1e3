"""`memrepo check`: validate memory files, for hooks, CI and people."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from pathlib import Path

from memrepo.checks.memories import check_files
from memrepo.commands.session import Answer, Session
from memrepo.core.errors import Exit
from memrepo.core.problems import Problem

HELP = "validate memory files"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these files")
    parser.add_argument("--staged", action="store_true", help="what the next commit would hold")
    parser.add_argument("--all", action="store_true", help="the whole tree at HEAD (the default)")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Check and answer 1 where an error was found."""
    if options.staged:
        problems, count = _staged(session)
    elif options.files and not options.all:
        files, problems = _read(session.where, options.files)
        count = len(files)
        problems += check_files(files)
    else:
        problems, count = _tree(session)
    errors = sum(p.severity == "error" for p in problems)
    text = "\n".join(str(p) for p in problems) or f"{count} files: nothing found"
    return Answer(
        data={"problems": [p.as_json() for p in problems], "files": count},
        text=text,
        exit=Exit.NO if errors else Exit.DONE,
    )


def _read(where: Path, names: Iterable[str]) -> tuple[Mapping[str, bytes], list[Problem]]:
    files, problems = {}, []
    for name in names:
        path = where / name
        try:
            if path.is_symlink():
                raise OSError(0, "it is a symlink, which is never followed")
            files[name] = path.read_bytes()
        except OSError as error:
            problems.append(
                Problem(
                    path=name, rule="file-unreadable",
                    message=f"could not be read: {error.strerror}", fix="name a file that exists",
                )
            )  # fmt: skip
    return files, problems


def _staged(session: Session) -> tuple[list[Problem], int]:
    from memrepo.store.gitenv import opened
    from memrepo.store.staged import staged_memories

    with opened(session.where, keep_index=True) as repo:
        files, problems = staged_memories(repo)
        return [*problems, *check_files(files)], len(files)


def _tree(session: Session) -> tuple[list[Problem], int]:
    from memrepo.commands.session import opened

    with opened(session) as desk:
        tree = desk.tree
        files = {p: tree.files[p] for p in tree.blobs if tree.layout.is_memory(p)}
        return [*tree.problems, *check_files(files)], len(files)

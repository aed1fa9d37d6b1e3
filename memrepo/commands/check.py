"""`memrepo check`: validate memory and correction files, for hooks, CI and people."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from memrepo.checks.corrections import check_corrections, is_correction
from memrepo.checks.derived import check_hot_page, is_hot_name, is_hot_page
from memrepo.checks.memories import check_files, completed
from memrepo.commands.session import Answer, Session
from memrepo.commands.table import UsageError
from memrepo.core import codec
from memrepo.core.corrections import correction_paths
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import Memory
from memrepo.core.problems import Problem


class NothingToFix(MemrepoError):
    """--fix writes into the work tree: the files must be named."""

    exit_code = Exit.USAGE

    def __init__(self) -> None:
        super().__init__("--fix takes the files to mend", fix="memrepo check --fix FILE...")


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="only these files")
    parser.add_argument(
        "--fix", action="store_true",
        help="give hand-made memories among the named files the id and file name they lack",
    )  # fmt: skip
    parser.add_argument("--staged", action="store_true", help="what the next commit would hold")
    parser.add_argument("--all", action="store_true", help="the whole tree at HEAD (the default)")


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Check and answer 1 where an error was found."""
    fixed: list[str] = []
    if options.fix and (options.staged or options.all or not options.files):
        raise NothingToFix
    if options.files and (options.staged or options.all):
        word = "--staged" if options.staged else "--all"
        raise UsageError(
            f"memrepo check: {word} takes no FILE", fix=f"leave out {word} or the files"
        )
    if options.staged:
        problems, count = _staged(session)
    elif options.files:
        files, problems = _read(session.where, options.files)
        if options.fix:
            files, fixed = _fix(session, files)
        count = len(files)
        problems += _check(files, session.where)
    else:
        problems, count = _tree(session)
    errors = sum(p.severity == "error" for p in problems)
    lines = [f"fixed {name}" for name in fixed] + [str(p) for p in problems]
    text = "\n".join(lines) or f"{count} files: nothing found"
    return Answer(
        data={"problems": [p.as_json() for p in problems], "files": count, "fixed": fixed},
        text=text,
        exit=Exit.NO if errors else Exit.DONE,
    )


def _fix(session: Session, files: Mapping[str, bytes]) -> tuple[dict[str, bytes], list[str]]:
    """Complete hand-made memories in the work tree; a file that cannot be read is left alone."""
    found, fixed = dict(files), []
    taken: set[str] = set()
    for name, data in files.items():
        memory, _ = codec.decode(name, data)
        if memory is None:
            continue
        whole = completed(memory, session.now, taken)
        taken.add(whole.id)
        occupied = whole.path != name and (session.where / whole.path).exists()
        if whole == memory or occupied:
            continue
        found[whole.path] = codec.edit(data, replace(whole, path=name))
        (session.where / whole.path).write_bytes(found[whole.path])
        if whole.path != name:
            del found[name]
            (session.where / name).unlink()
        fixed.append(whole.path)
    return found, fixed


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


def _check(files: Mapping[str, bytes], root: Path) -> list[Problem]:
    """Return every finding: files in a folder `corrections/` are corrections, others memories.

    The memories behind a hot cache are read below `root`.
    """
    cases = {path: data for path, data in files.items() if is_correction(path)}
    hot = {path: data for path, data in files.items() if is_hot_page(path, data)}
    rest = {path: data for path, data in files.items() if path not in cases and path not in hot}
    found = [*check_files(rest), *check_corrections(cases)]

    def memory_at(path: str) -> Memory | None:
        outside = path.startswith("/") or ".." in path.split("/")
        read = {} if outside else _read(root, [path])[0]
        return codec.decode(path, read[path])[0] if read else None

    return [*found, *(p for path in hot for p in check_hot_page(path, hot[path], memory_at))]


def _staged(session: Session) -> tuple[list[Problem], int]:
    from memrepo.store.gitenv import opened
    from memrepo.store.staged import staged_files

    with opened(session.where, keep_index=True) as repo:
        files, problems = staged_files(repo)
        root = Path(repo.working_dir)
        foreign = [p for p, data in files.items() if is_hot_name(p) and not is_hot_page(p, data)]
        files = {path: data for path, data in files.items() if path not in foreign}
        return [*problems, *_check(files, root)], len(files)


def _tree(session: Session) -> tuple[list[Problem], int]:
    from memrepo.commands.session import opened

    with opened(session) as desk:
        tree = desk.tree
        kept = [p for p in tree.blobs if tree.layout.is_memory(p)]
        kept += correction_paths(tree.blobs, tree.layout)
        files = {path: tree.files[path] for path in kept}
        for path in filter(tree.layout.is_hot, tree.blobs):
            # A hand edits the page that lies there, committed or not.
            data = desk.store.work.read(path) or tree.files[path]
            if is_hot_page(path, data):
                files[path] = data
        return [*tree.problems, *_check(files, desk.store.root)], len(files)

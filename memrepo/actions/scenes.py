"""The files that `check` examines with their context, and what a check found in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from memrepo.actions.work import VerbResult
from memrepo.checks.rules import Scene, Wants, report
from memrepo.core.errors import Exit, Problem
from memrepo.core.layout import Layout
from memrepo.core.secrets import configure

if TYPE_CHECKING:
    from memrepo.store.git import Git


class CheckResult(VerbResult, frozen=True, kw_only=True):
    """The problems found, the number of checked files, and the files that were fixed."""

    problems: tuple[Problem, ...]
    files: int = 0
    fixed: tuple[str, ...] = ()
    restored: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """The restored fields of each fixed file. Only memrepo sets these fields."""
    foreign: tuple[str, ...] = ()
    """Files that do not belong to memrepo. They are only scanned for secrets."""
    range: str = ""
    commits: int = 0
    """The number of commits in the requested range."""


def result_of(found: Sequence[Problem], **more: Any) -> CheckResult:
    """Return the result of a check. Its exit code is 1 if there is an error."""
    has_error = any(p.severity == "error" for p in found)
    return CheckResult(problems=tuple(found), exit=Exit.NO if has_error else Exit.DONE, **more)


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """A scene, the files that could not be included, and the folder to which paths are relative.

    `names` has the name under which each file was requested. `foreign` has the files that do not
    belong to memrepo.
    """

    scene: Scene
    early: tuple[Problem, ...] = ()
    root: Path
    names: Mapping[str, str] = msgspec.field(default_factory=dict)
    foreign: tuple[str, ...] = ()


@contextmanager
def named(where: Path, names: Sequence[str]) -> Iterator[Checked]:
    """Yield the scene for named files of the work tree. Outside a repository it has no context."""
    top = next((p for p in (where, *where.parents) if (p / ".git").exists()), None)
    paths = {_below(top, where / name): name for name in names} if top else {}
    if top is None or "" in paths:
        files, early = read(where, names)
        yield Checked(scene=Scene(files=files), early=early, root=where)
        return
    from memrepo.store.git import Git
    from memrepo.store.tree import IndexFiles, index_layout

    files, early = read(top, paths)
    with Git(top) as git:
        layout, config = index_layout(git)
        wants = configured(layout, config)
        scene = Scene(files=files)
        if layout is not None:
            before = git.objects.contents(f"HEAD:{path}" for path in files)
            scene = Scene(
                files=files,
                layout=layout,
                around=IndexFiles(git, layout),
                loose=IndexFiles(git, layout, loose=True),
                before={k.removeprefix("HEAD:"): d for k, d in before.items() if d is not None},
                wants=wants,
                merging=git.is_merging,
            )
        foreign = tuple(paths[p] for p in files if layout is not None and not layout.owns(p))
        yield Checked(scene=scene, early=early, root=top, names=paths, foreign=foreign)


def configured(layout: Layout | None, data: bytes) -> Wants:
    """Learn what is a secret in a repository, and return what it requires of files.

    Refuse a repository of an old format. A configuration that cannot be read requires nothing here:
    commands that use it report it.
    """
    lines = [line for line in data.splitlines() if not line.lstrip().startswith(b"#")]
    words = (b"secrets", b"tags", b"ttl")
    is_plain = b"format = 2" in data and not any(word in line for line in lines for word in words)
    if data and not is_plain:  # or without the TOML parser
        from memrepo.actions.work import parsed_config
        from memrepo.config import ConfigError

        with suppress(ConfigError):
            config = parsed_config(layout.config if layout else "", data)
            configure(config.secrets.off, config.secrets.patterns)
            return Wants(
                tags=config.tags.vocabulary,
                tag_pattern=config.tag_pattern,
                decay_classes=tuple(config.decay.ttl),
            )
    configure()
    return Wants()


def _below(top: Path, path: Path) -> str:
    """Return a path relative to the top folder, or "" if the path is outside that folder."""
    whole = Path(normpath(path))
    return whole.relative_to(top).as_posix() if whole.is_relative_to(top) else ""


def read(root: Path, names: Iterable[str]) -> tuple[dict[str, bytes], tuple[Problem, ...]]:
    """Read files of the work tree. Return contents by name, and a problem per unreadable file."""
    files, problems = {}, []
    for name in names:
        path = root / name
        try:
            if _linked(root, name):
                raise OSError(0, "it is a symlink, which is never followed")
            files[name] = path.read_bytes()
        except OSError as error:
            problems.append(report("file-unreadable", name, "named", cause=error.strerror))
    return files, tuple(problems)


def _linked(root: Path, name: str) -> bool:
    """Return whether a file or one of its parent folders is a symlink."""
    if Path(name).is_absolute():
        return Path(name).is_symlink()
    parts = Path(name).parts
    return any(root.joinpath(*parts[: n + 1]).is_symlink() for n in range(len(parts)))


@contextmanager
def staged(where: Path, *, merging: bool = False) -> Iterator[Checked]:
    """Yield the scene for the staged changes, read from the index."""
    from memrepo.store.tree import IndexFiles, index_layout
    from memrepo.store.tree import staged as staged_files

    with opened_git(where) as git:
        known, config = index_layout(git)
        wants, layout = configured(known, config), known or Layout()
        changes = [*staged_files(git)]
        entries = [(path, mode, new) for path, mode, _, new in changes if new]
        files, early = taken(git, layout, entries)
        scene = Scene(
            files=files,
            layout=layout,
            gone=tuple(path for path, _, _, new in changes if not new),
            around=IndexFiles(git, layout),
            loose=IndexFiles(git, layout, loose=True),
            before={path: git.read(old) for path, _, old, _ in changes if old},
            wants=wants,
            merging=merging or git.is_merging,
        )
        yield Checked(scene=scene, early=early, root=git.top)


@contextmanager
def opened_git(where: Path) -> Iterator[Git]:
    """Open the repository that contains a folder, for reading. Raises NotARepository."""
    from memrepo.core.errors import GitFailed, NotARepository
    from memrepo.store.git import Git, found_at, top_of

    top = top_of(where)
    if top is None:
        raise NotARepository("none", where=where)
    with Git(top) as git:
        try:
            yield git
        except GitFailed:
            with found_at(top):  # says so if the repository itself is damaged
                raise


def taken(
    git: Git, layout: Layout, entries: Iterable[tuple[str, str, str]]
) -> tuple[dict[str, bytes], tuple[Problem, ...]]:
    """Read regular files. Return a problem for each other entry inside memrepo's areas."""
    files, problems = {}, []
    for path, mode, blob in entries:
        if any("\ud800" <= ch <= "\udfff" for ch in path):
            problems.append(report("tree-name-not-utf8", ascii(path)[1:-1]))
        elif mode.startswith("100"):
            files[path] = git.read(blob)
        elif layout.owns(path) or layout.owns(path + "/"):
            what = "a symlink" if mode == "120000" else "a submodule"
            problems.append(report("tree-not-a-file", path, what=what))
    return files, tuple(problems)


@contextmanager
def at_head(where: Path) -> Iterator[Checked]:
    """Yield the scene for every file at HEAD. Generated pages are those of the work tree."""
    from memrepo.core.errors import NotARepository
    from memrepo.store.tree import index_layout

    with opened_git(where) as git:
        layout, config = index_layout(git)
        if layout is None:
            raise NotARepository("not-set-up", where=git.top)
        wants = configured(layout, config)
        files_at_head = git.objects.files("HEAD") if git.objects.commit("HEAD") else ()
        entries = [(path, one.mode, one.id) for path, one in files_at_head]
        owned = [entry for entry in entries if layout.owns(entry[0]) or _hides(layout, entry)]
        files, early = taken(git, layout, owned)
        views = layout.area("views")
        pages = [p for p in files if layout.is_hot(p) or p.startswith(views)]
        shown = read(git.top, [p for p in pages if (git.top / p).exists()])[0]
        scene = Scene(files={**files, **shown}, layout=layout, before=files, wants=wants)
        yield Checked(scene=scene, early=early, root=git.top)


def _hides(layout: Layout, entry: tuple[str, str, str]) -> bool:
    """Return whether an entry is a link that replaces a memrepo folder and so hides its files."""
    path, mode, _ = entry
    return not mode.startswith("100") and layout.owns(path + "/")

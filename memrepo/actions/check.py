"""`memrepo check` and `hooks`: check files against all rules, and fix what is safe to fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from memrepo import checks
from memrepo.actions import scenes
from memrepo.actions.scenes import Checked, CheckResult, result_of
from memrepo.actions.work import VerbResult, Work, option
from memrepo.checks import rules
from memrepo.checks.rules import Scene, completed, message_problems, respelled
from memrepo.config import ConfigError
from memrepo.core import codec
from memrepo.core.errors import Exit, MemrepoError, UsageError
from memrepo.core.ids import ID_PATTERN, strip_deceptive
from memrepo.core.memory import LAYER_OF_TYPE, Memory, references

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
    format: Annotated[
        Format,
        option("output format: text for people, or a format that a forge reads", "--format"),
    ] = "text"


def check(work: Work, request: CheckRequest) -> CheckResult:
    """Check files, a range of commits or all history. Exit with status 1 if there is an error."""
    _refuse_odd(request)
    word = "" if request.history else _range(work, request)
    if not (request.history or word):
        return check_files(work, request)
    from memrepo.actions import commits

    with suppress(ConfigError):  # it says what is a secret; a check reports a wrong one
        _ = work.config
    if request.history:
        return result_of(commits.find_committed_secrets(work))
    return commits.check_range(work, word)


def check_files(work: Work, request: CheckRequest, *, merging: bool = False) -> CheckResult:
    """Check files. `merging` is set if git is about to commit a merge."""
    fixed: Mapping[str, Repair] = {}
    if request.files:
        opened = scenes.named(work.call.where, request.files)
    elif request.staged:
        opened = scenes.staged(work.call.where, merging=merging)
    else:
        opened = scenes.at_head(work.call.where)
    with opened as checked:
        scene = checked.scene
        if request.fix:
            scene, fixed = repair_files(checked, work.call.now, staged=request.staged)
        found = (*checked.early, *checks.find_problems(scene))
    # An error before a commit: a misspelt key. One in the tree: a page changed by hand.
    strict = "frontmatter-near-key" if request.staged else "" if request.files else "page-edited"
    found = tuple(replace(p, severity="error") if p.rule == strict else p for p in found)
    if not (request.files or request.staged):
        from memrepo.actions.commits import find_damage

        found += find_damage(work)
    return result_of(
        [replace(p, path=checked.names.get(p.path, p.path)) for p in found],
        files=len(scene.files),
        fixed=tuple(one.path for one in fixed.values()),
        restored={one.path: one.restored for one in fixed.values() if one.restored},
        foreign=checked.foreign,
    )


def _range(work: Work, request: CheckRequest) -> str:
    """Return the requested range of commits, or "" if the argument names a file."""
    word = request.files[0] if len(request.files) == 1 and ".." in request.files[0] else ""
    if not word or (work.call.where / word).exists():
        return ""
    from memrepo.actions.commits import is_range

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


class Repair(NamedTuple):
    """A repaired file: its new path and content, and the restored fields that only memrepo sets."""

    path: str
    data: bytes
    restored: tuple[str, ...] = ()


def repaired_files(scene: Scene, now: datetime, *, staged: bool = False) -> dict[str, Repair]:
    """Return the repairs of a scene's memories, by old path.

    Leave references of staged files as they are: a commit must not change what they say.
    """
    read: dict[str, tuple[bytes, Memory]] = {}
    wholes: dict[str, Memory] = {}
    taken = {m.id for m in scene.memories if ID_PATTERN.fullmatch(m.id)}
    for path in scene.decoded:
        data = _headed(_formatted(scene.files[path], path), path)
        memory, _ = codec.decode(path, data)
        if memory is None:
            continue
        whole = _restored(scene, memory)
        whole = respelled(whole, scene.wants)
        whole = completed(whole, now, taken if not whole.id else ())
        taken.add(whole.id)
        read[path], wholes[path] = (data, memory), whole
    if not staged:
        wholes = _fix_references(scene, wholes)
    made: dict[str, Repair] = {}
    for path, (data, memory) in read.items():
        whole, old = wholes[path], memory.fields
        # Tags are a person's: a new spelling of them restores nothing.
        restored = tuple(k for k in old if k != "tags" and old[k] != whole.fields.get(k))
        new = codec.edit(data, replace(whole, path=path)) if whole != memory else data
        if (whole.path, new) != (path, scene.files[path]):
            made[path] = Repair(whole.path, new, restored)
    return made


def _fix_references(scene: Scene, wholes: Mapping[str, Memory]) -> dict[str, Memory]:
    """Return memories by path, with the references fixed that a merge by git may break.

    What would change another file is left to a check of both. A memory that refers to a file that
    exists but cannot be read, or has another name, is left as it is.
    """
    if scene.layout is None or scene.merging:
        return dict(wholes)
    from memrepo.merge.states import fix_findings

    by_id = {memory.id: memory for memory in wholes.values()}
    known = {**scene.by_id, **by_id}
    missing = {id_ for memory in by_id.values() for id_ in references(memory)} - known.keys()
    unread = {*scene.occurring(missing)}
    fixable = {id_ for id_, memory in by_id.items() if unread.isdisjoint(references(memory))}
    fixed, _ = fix_findings(known, lambda finding: fixable >= finding.repairs.keys())
    # Of two files with one id, only the last is in `by_id`.
    return {p: fixed[m.id] if by_id[m.id] is m else m for p, m in wholes.items()}


def _headed(data: bytes, path: str) -> bytes:
    """Return the content of a note, adding a header if there is none."""
    _, problems = codec.decode(path, data)
    if [p.rule for p in problems if p.severity == "error"] != ["frontmatter-missing"]:
        return data
    layer = path.rpartition("memories/")[2].partition("/")[0]
    type_ = next((t for t, of in LAYER_OF_TYPE.items() if of == layer), "fact")
    return f"---\ntype: {type_}\n---\n\n".encode() + data.lstrip()


def _formatted(data: bytes, path: str) -> bytes:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data
    clean = strip_deceptive(text).encode("utf-8")
    memory, _ = codec.decode(path, clean)
    return data if memory is None else clean


def _restored(scene: Scene, memory: Memory) -> Memory:
    """Return a memory with the fields restored that only memrepo writes."""
    if scene.merging:
        return memory
    old = scene.earlier.get(memory.id) or next(
        (old for old in scene.earlier.values() if old.path == memory.path), None
    )
    if old is None:
        return memory
    if old.id != memory.id:
        known = {*scene.earlier, *scene.others, *(m.id for m in scene.memories if m != memory)}
        return memory if memory.id in known or not old.id else memory.with_fields({"id": old.id})
    return rules.restore_fields(scene, memory, old)


def repair_files(
    checked: Checked, now: datetime, *, staged: bool = False
) -> tuple[Scene, dict[str, Repair]]:
    """Fix files in the work tree, and the index if `staged`.

    Return the new scene, and the repair of each fixed file by its old path.

    Skip partially staged files. Skip everything if the commit names files (`git commit FILE`),
    because git discards its temporary index and the next commit would undo the fixes.
    """
    root, files = checked.root, dict(checked.scene.files)
    fixed: dict[str, Repair] = {}
    made = repaired_files(checked.scene, now, staged=staged)
    if staged and made:
        from memrepo.store.git import index_of_commit

        if checked.scene.merging or index_of_commit().startswith("next-index"):
            return checked.scene, {}
    for path, repair in made.items():
        new, data, _ = repair
        old = root / path
        whole = old.is_file() and not old.is_symlink() and old.read_bytes() == files[path]
        if (staged and not whole) or (new != path and (root / new).exists()):
            continue
        if staged:
            from memrepo.store.git import Git
            from memrepo.store.tree import put_in_index

            with Git(root) as git:
                put_in_index(git, path, new, data)
        (root / new).write_bytes(data)
        if new != path:
            old.unlink()
        del files[path]
        files[new] = data
        fixed[path] = repair
    return replace(checked.scene, files=files), fixed


# -- git hooks ------------------------------------------------------------------------------------


class HooksRequest(msgspec.Struct, frozen=True, kw_only=True):
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


def hooks(work: Work, request: HooksRequest) -> Installed | CheckResult:
    """Install the hooks, or run one hook."""
    if (request.what == "run") != bool(request.name):
        raise UsageError(
            f"memrepo hooks {request.what}: found {request.name or 'no name'}",
            fix="memrepo hooks install, memrepo hooks run NAME [ARG ...]",
        )
    return _hook(work, request.name, request.given) if request.name else _install(work)


def _install(work: Work) -> Installed:
    from memrepo.core.layout import asset
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
    """Run a hook."""
    if name in ("pre-commit", "pre-merge-commit"):
        request = CheckRequest(staged=True, fix=name == "pre-commit")
        return check_files(work, request, merging=name == "pre-merge-commit")
    if name == "commit-msg":
        return _check_message(work, given[0] if given else "")
    if name == "pre-push":
        from memrepo.actions.commits import pushed

        return result_of(pushed(work, given))
    raise UsageError(f"memrepo hooks run: {name!r} is not a hook of memrepo")


def _check_message(work: Work, file: str) -> CheckResult:
    """Check a message. Exit with status 1 if it contains memrepo trailers or a secret."""
    try:
        text = (work.call.where / file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"memrepo hooks run commit-msg: {file or 'no file'}: {error.strerror}",
            fix="name the file that holds the message",
        ) from error
    return result_of([*message_problems(file, text)])

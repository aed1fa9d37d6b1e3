"""`memrepo purge`: remove a value from history and all derived files.

The value is the text of a memory, or is read from standard input. It is never an argument, since
shells store command lines and other users can see them. docs/erasing.md describes the procedure.

`memrepo sync` replaces the old history on the hub, ref by ref, if the hub still has the replaced
commit. Another clone with the old history is refused: it is cloned again.
"""

from __future__ import annotations

import secrets
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import msgspec
from msgspec.structs import replace

from memrepo import views
from memrepo.actions.landing import derived_files
from memrepo.actions.landing import prepare as landing_of
from memrepo.actions.verbs import VERBS
from memrepo.actions.work import Call, DryRun, VerbResult, Work, option
from memrepo.assets import asset
from memrepo.core.errors import Exit, Problem, UsageError
from memrepo.core.layout import AREAS
from memrepo.core.memory import LAYER_OF_TYPE
from memrepo.core.messages import counted
from memrepo.core.patterns import regex
from memrepo.core.state import Op, Step
from memrepo.merge.purging import WORD, Edit, Needle, find, fold, needles_of, prepare
from memrepo.store import purges, settings
from memrepo.store.errors import StoreError, problem
from memrepo.store.git import Git, replaced_commits
from memrepo.store.objects import names
from memrepo.store.purges import RewritePlan
from memrepo.store.remote import Hub

_CHECKS = ("objects", "state", "rules", "runs")
"""The checks of `doctor` that concern the history, not this machine."""
OUTSIDE = ("git configuration", "workspace")
"""The kinds of places that are searched but left to their owner to clean."""
COLLECT = "git reflog expire --expire=now --all && git repack -a -d -q && git prune --expire=now"
"""The command that removes the old objects from a hub."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo purge`."""

    what: Annotated[
        str,
        option(
            "the memory whose text to purge; without it, the value is read from standard input",
            metavar="ID",
        ),
    ] = ""
    dry_run: DryRun = False


class ValuePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place that contains the value, with its kind, its location and the number of hits."""

    kind: str
    where: str
    hits: int


class Result(VerbResult, frozen=True, kw_only=True):
    """The places with the value, and what a purge changed or what remains to do."""

    places: tuple[ValuePlace, ...] = ()
    hits: dict[str, int] = msgspec.field(default_factory=dict)
    """The number of hits by kind, before the purge."""
    left: dict[str, int] = msgspec.field(default_factory=dict)
    """The hits in places that are left to their owner."""
    commits: int = 0
    """The number of rewritten commits."""
    collect: str = ""
    """The command that removes the old objects from a hub."""


def do(work: Work, request: Request) -> Result:
    """Purge a value, or list the places that contain it (dry run)."""
    work.require_writable()
    value = _value(work, request.what)
    needles = needles_of([value])
    own = _own_texts(needles)
    if not request.what:
        _refuse_own(value, own)
    with work.store.running(), work.store.syncing(), work.store.writing():
        edit = _edit(work, needles, own, "" if request.dry_run else secrets.token_hex(32))
        result = _result(places(work, edit))
        if request.dry_run or not result.hits:
            return result if request.dry_run else replace(result, exit=Exit.NO)
        work.store.refuse_unfit()
        purges.refuse_unfit(work.store, edit)
        plan = _purge(work, edit)
    work.refresh()
    _renew_pages(work)
    has_hub = bool(work.store.repo.call("remote").strip())
    return replace(result, commits=len(plan.commits), collect=COLLECT if has_hub else "")


def _purge(work: Work, edit: Edit) -> RewritePlan:
    """Write the new history, prove it, and let it take the old one's place."""
    repo = work.store.repo
    try:
        plan = purges.rewrite(repo, edit)
        new = purges.folder_of(repo) / purges.NEW
        with Git(new) as git:
            left = sum(edit.holds(held.data) for held in _objects(git, {}))
        if left:
            raise StoreError("purge-incomplete", places=counted(left, "place", "places"))
        _refuse_broken(work, new, plan)
        purges.make_ready(repo, plan)
    finally:
        purges.abandon(repo)
    purges.finish(work.store, plan)
    return plan


def _renew_pages(work: Work) -> None:
    """Commit the pages as the memories now give them."""
    state, base = work.tree.state(), work.tree.commit
    pages = derived_files(work, state)
    if pages:
        step = Step(op="view", what="Renew the pages after a purge", changes=tuple(pages))
        now, author = work.call.now, work.author
        landing = landing_of(work.store, state, base, [step], work.context(), now, author=author)
        work.store.land(landing.chain, f"view-{base[:10]}")
        work.refresh()


def _refuse_broken(work: Work, new: Path, plan: RewritePlan) -> None:
    """Check a clone of the new history. Raise if any `doctor` check finds more than before."""
    doctor, where = VERBS["doctor"].load(), new.with_name("check")

    def failing(one: Work) -> dict[tuple[str, str], list[str]]:
        """Return the findings by check and rule."""
        found: Any = doctor.do(one, doctor.Request())
        lines = defaultdict[tuple[str, str], list[str]](list)
        for check in (c for c in found.checks if c.name in _CHECKS and not c.ok):
            for p in check.problems:
                lines[check.name, p.rule].append(f"{p.path}:{p.line}: {p.rule} {p.message}")
            if not check.problems:
                lines[check.name, ""].append(f"{check.name}: {check.message}")
        return lines

    before = failing(work.refreshed())
    work.store.repo.call("clone", "--quiet", "--shared", str(new), str(where))
    with Git(where) as git:
        lines = [f"update {n} {i}\n" for n, i in plan.after.items() if n.startswith("refs/memrepo")]
        git.call("update-ref", "--stdin", lines=lines)
    with Work(Call(where=where, now=work.call.now)) as copy:
        after = failing(copy).items()
    shutil.rmtree(where)
    if broken := [line for key, lines in after for line in lines[len(before.get(key, ())) :]]:
        raise StoreError("purge-harmful", found="; ".join(broken[:3]))


def _value(work: Work, word: str) -> str:
    if not word:
        given = work.call.read().strip()
        if not given:
            fix = "name a memory, or pipe the value to the command"
            raise UsageError("standard input is empty", fix=fix)
        return given
    memory = work.tree.state().memories.get(word)
    if memory is None:
        raise UsageError(
            "no memory has this id, and a value must not be an argument",
            fix="`memrepo purge` reads the value from standard input: `memrepo purge < file`,"
            " or type it and end with Ctrl-D",
        )
    return memory.body


def _refuse_own(value: str, own: Iterable[str]) -> None:
    if fold(value) in _own_words().union(map(fold, own)):
        raise UsageError(
            "memrepo itself writes this value: purging it would change its files",
            fix="give a longer value, such as one with the words around it",
        )


def _edit(work: Work, needles: tuple[Needle, ...], own: Sequence[str], seed: str) -> Edit:
    repo = work.store.repo
    # People use the same phrases of one or two words.
    spared = tuple(text for text in own if len(text.split()) != 2)
    edit = Edit(needles=needles, seed=seed, own=spared)
    return prepare(edit, lambda: purges.files_of(repo), work.tree.layout, _own_words())


@cache
def _own_words() -> frozenset[str]:
    """Return the folded words that memrepo writes into its pages, names and subjects."""
    pages = Path(views.__file__).with_name("words.toml").read_text("utf-8")
    own = {*AREAS, *get_args(Op), *LAYER_OF_TYPE, *LAYER_OF_TYPE.values(), *WORD.findall(pages)}
    return frozenset(map(fold, own))


_NO_TEXT = regex(r'"""[^"]*(?:"(?!"")[^"]*)*"""|(?m:^[ \t]*#.*$)|"\s*\n\s*f?"(?!")')
"""What is no text in a module: docstrings, comments, and the line breaks within a text."""
_GAP = regex(r"""\{+[^{}"'\n]*\}+|\\n|[{}\n"]|(?<!\w)'|'(?!\w)""")
"""What divides a file of the program into texts that are written as they are."""


def _own_texts(needles: Sequence[Needle]) -> list[str]:
    """Return memrepo's names, and the fixed parts of its sentences and pages, that hold a value.

    What is cut from the program's files and is none of these does no harm: nothing contains it.
    """
    package, templates = Path(views.__file__).parents[1], asset("templates")
    shipped = [path for kind in ("repo", "views") for path in (templates / kind).iterdir()]
    names = {path.name for path in shipped}
    files = [path for kind in ("*.py", "*.toml") for path in package.rglob(kind)]
    parts = set(names)
    for path in (*shipped, *(path for path in files if path.parent.name != "languages")):
        text = path.read_text("utf-8")
        plain = text.lower()  # much faster than `find`
        if any(all(word in plain for word in needle.words) for needle in needles):
            text = _NO_TEXT.sub("", text) if path.suffix == ".py" else text
            parts.update(map(str.strip, _GAP.split(text)))
    texts = (part for part in parts if part in names or len(WORD.findall(part)) > 1)
    return sorted(text for text in texts if find(text, needles))


# -- where the value is ------------------------------------------------------------------------


class _Held(NamedTuple):
    """A text that may contain the value: its kind, its place and its bytes."""

    kind: str
    where: str
    data: bytes


def places(work: Work, edit: Edit) -> tuple[ValuePlace, ...]:
    """Return every place that contains the value: in history, in other files and outside.

    What may be the rest of a value counts only if the repository has the value.
    """
    found, is_there = list[ValuePlace](), False
    for held in _everything(work):
        if hits := edit.holds(held.data):
            place = ValuePlace(kind=held.kind, where=edit.path(held.where), hits=hits)
            found.append(place)
            text = held.data.decode("utf-8", "surrogateescape")
            is_there = is_there or (place.kind not in OUTSIDE and bool(edit.spans(text)))
    return tuple(place for place in found if is_there or place.kind in OUTSIDE)


def _everything(work: Work) -> Iterator[_Held]:
    repo, root = work.store.repo, work.store.root
    yield from _objects(repo, {file.blob: file.path for file in purges.files_of(repo)})
    for name in repo.call("for-each-ref", "--format=%(refname)").split():
        yield _Held("ref name", name, name.encode())
    for path, name in purges.git_files(repo):
        kind = "reflog" if name.startswith("logs/") else "git folder"
        kind = "cache" if purges.is_derived(name) and kind != "reflog" else kind
        yield from _file("git configuration" if name == "config" else kind, path, f".git/{name}")
    yield from _folder("work tree", root)
    outside = settings.workspace(repo)
    if outside is not None and outside.is_dir() and outside.resolve() != root.resolve():
        yield from _folder("workspace", outside)


def _objects(git: Git, paths: dict[str, str]) -> Iterator[_Held]:
    """Yield every object, reachable or not. `paths` has a path for each version of a file."""
    known = set[str]()
    for found in git.objects.every():
        if found.kind == "tree":
            new = [name for name in names(found) if name not in known]
            known.update(new)
            data = "\n\n".join(new).encode("utf-8", "surrogateescape")
            yield _Held("file name", found.id[:10], data)
        else:
            path = paths.get(found.id, "")
            kind = {"blob": "file" if path else "loose file"}.get(found.kind, found.kind)
            yield _Held(kind, f"{path} {found.id[:10]}".strip(), found.data)


def _folder(kind: str, root: Path) -> Iterator[_Held]:
    for path, is_folder in purges.work_files(root):
        name = path.relative_to(root).as_posix()
        yield from [_Held(kind, name, path.name.encode())] if is_folder else _file(kind, path, name)


def _file(kind: str, path: Path, name: str) -> Iterator[_Held]:
    yield _Held(kind, name, path.name.encode("utf-8", "surrogateescape"))
    if path.is_symlink():
        yield _Held(kind, name, str(path.readlink()).encode("utf-8", "surrogateescape"))
    elif path.is_file():
        yield _Held(kind, name, path.read_bytes())


def _result(found: Sequence[ValuePlace], **more: Any) -> Result:
    counts: Counter[str] = Counter()
    for place in found:
        counts[place.kind] += place.hits
    hits = {kind: counts[kind] for kind in sorted(counts) if kind not in OUTSIDE}
    left = {kind: counts[kind] for kind in sorted(counts) if kind in OUTSIDE}
    return Result(places=tuple(found), hits=hits, left=left, **more)


# -- the hub -----------------------------------------------------------------------------------

_OURS = ("refs/heads/", "refs/tags/", "refs/notes/", "refs/memrepo/")
"""The refs that a clone may push. A host has other refs, such as those of pull requests."""


def settle_purges(work: Work, hub: Hub) -> tuple[Problem, ...]:
    """Replace the history on the hub that was purged here, and return notices.

    Raises StoreError if the hub still has commits that were purged here. Nothing of them is kept.
    """
    moved = replaced_commits(work.store.repo)
    notices = _replace_on_hub(work, hub)
    with hub.visit(*[hub.head] * bool(moved)) as (git, tips):
        tip = tips.get(hub.head, "")
        commits = git("rev-list", tip, "--not", "HEAD").split() if tip else ()
    if old := [commit for commit in commits if commit in moved]:
        held = counted(len(old), "commit", "commits")
        raise StoreError("history-purged", hub=f"{hub.name}/{hub.branch}", commits=held)
    return notices


def _replace_on_hub(work: Work, hub: Hub) -> tuple[Problem, ...]:
    """Replace the old history on the hub, ref by ref. Skip refs that have moved since."""
    moved = replaced_commits(work.store.repo)
    changed, left = 0, list[str]()
    for ref, old in (hub.every_tip() if moved else {}).items():
        new = moved.get(old, old)
        if new == old:
            continue
        if not ref.startswith(_OURS):
            left.append(ref)
        else:
            changed += hub.replace(ref, old, new)
    problems = []
    if changed:
        refs = counted(changed, "ref", "refs")
        problems.append(problem("purge-hub", hub.name, refs=refs, name=hub.name, collect=COLLECT))
    if left:
        refs = ", ".join(left[:5])
        problems.append(problem("purge-hub-keeps", hub.name, name=hub.name, refs=refs))
    return tuple(problems)

"""`memrepo sync` joins this clone and the hub; `memrepo purge` removes a value from all history.

Git merges files that are not memrepo's. Memories are merged field by field, as the merge driver
does, and pages are rendered again. The hub's tip is the first parent, so that the first-parent line
is the same in every clone. Nothing is force-pushed, but a purge: it replaces the old history on the
hub, ref by ref, if the hub still has the replaced commit. Another clone is cloned again.

The value of a purge is the text of a memory, or is read from standard input. It is never an
argument, since shells store command lines and other users can see them (docs/erasing.md).
"""

from __future__ import annotations

import secrets
import shlex
import shutil
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

import msgspec
from msgspec.structs import replace

from memrepo import views
from memrepo.actions.landing import derived_files, hot_rules
from memrepo.actions.landing import prepare as landing_of
from memrepo.actions.pending import put_decided_away, unknown_person
from memrepo.actions.recall import lookup
from memrepo.actions.verbs import VERBS
from memrepo.actions.work import Call, DryRun, OtherFormat, VerbResult, Work, option
from memrepo.config import FORMAT, parse_config
from memrepo.core.errors import BranchMoved, Exit, Problem, StoreError, UsageError, problem
from memrepo.core.ids import visible
from memrepo.core.layout import AREAS, asset
from memrepo.core.memory import LAYER_OF_TYPE, Memory
from memrepo.core.messages import PREFIX, counted, message
from memrepo.core.patterns import regex
from memrepo.core.state import Op, State, Step, play
from memrepo.core.times import format_time
from memrepo.merge.purging import NAME_MARK, WORD, Edit, Needle, find, fold, needles_of, prepare
from memrepo.merge.states import MergeResult, merge_states
from memrepo.merge.tombstones import tombstones_in
from memrepo.merge.versions import merge_text
from memrepo.store import history, remote, settings
from memrepo.store.git import Git, purged_folder, replaced_commits
from memrepo.store.objects import FILE, FILES, SYNC, Chain, NewCommit, TreeEntry, names
from memrepo.store.remote import Hub, RewritePlan, count, hub_of, merge_trees, pause
from memrepo.store.tree import is_text
from memrepo.views.hot import hot_changes
from memrepo.views.pages import render_views

_CHECKS = ("objects", "state", "rules", "runs")
"""The checks of `doctor` that concern the history, not this machine."""
OUTSIDE = ("git configuration", "workspace")
"""The kinds of places that are searched but left to their owner to clean."""
COLLECT = "git reflog expire --expire=now --all && git repack -a -d -q && git prune --expire=now"
"""The command that removes the old objects from a hub."""


class PurgeRequest(msgspec.Struct, frozen=True, kw_only=True):
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


class PurgeResult(VerbResult, frozen=True, kw_only=True):
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


def purge(work: Work, request: PurgeRequest) -> PurgeResult:
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
        remote.refuse_unfit(work.store, edit)
        plan = _purge(work, edit)
    work.refresh()
    _renew_pages(work)
    has_hub = bool(work.store.repo.call("remote").strip())
    return replace(result, commits=len(plan.commits), collect=COLLECT if has_hub else "")


def _purge(work: Work, edit: Edit) -> RewritePlan:
    """Write the new history, prove it, and let it take the old one's place."""
    repo = work.store.repo
    try:
        plan = remote.rewrite(repo, edit)
        new = remote.folder_of(repo) / remote.NEW
        with Git(new) as git:
            left = sum(edit.holds(held.data) for held in _objects(git, {}))
        if left:
            raise StoreError("purge-incomplete", places=counted(left, "place", "places"))
        _refuse_broken(work, new, plan)
        remote.make_ready(repo, plan)
    finally:
        remote.abandon(repo)
    remote.finish(work.store, plan)
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
    # Whole names only: the beginning of an id may be a value that was given by mistake.
    every = work.tree.state().memories.values()
    found = {m.id: m.body for m in every if word in (m.id, m.path, m.slug, *m.aliases)}
    if len(found) > 1:
        raise lookup.Ambiguous(word, sorted(found))
    if not found:
        raise UsageError(
            "no memory has this id, and a value must not be an argument",
            fix="`memrepo purge` reads the value from standard input: `memrepo purge < file`,"
            " or type it and end with Ctrl-D",
        )
    return next(iter(found.values()))


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
    return prepare(edit, lambda: remote.files_of(repo), work.tree.layout, _own_words())


@cache
def _own_words() -> frozenset[str]:
    """Return the folded words that memrepo writes into its pages, names and subjects."""
    pages = Path(views.__file__).with_name("words.toml").read_text("utf-8")
    own = {
        NAME_MARK,
        *AREAS,
        *get_args(Op),
        *LAYER_OF_TYPE,
        *LAYER_OF_TYPE.values(),
        *WORD.findall(pages),
    }
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
    yield from _objects(repo, {file.blob: file.path for file in remote.files_of(repo)})
    for name in repo.call("for-each-ref", "--format=%(refname)").split():
        yield _Held("ref name", name, name.encode())
    for path, name in remote.git_files(repo):
        kind = "reflog" if name.startswith("logs/") else "git folder"
        kind = "cache" if remote.is_derived(name) and kind != "reflog" else kind
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
    for path, is_folder in remote.work_files(root):
        name = path.relative_to(root).as_posix()
        yield from [_Held(kind, name, path.name.encode())] if is_folder else _file(kind, path, name)


def _file(kind: str, path: Path, name: str) -> Iterator[_Held]:
    yield _Held(kind, name, path.name.encode("utf-8", "surrogateescape"))
    if path.is_symlink():
        yield _Held(kind, name, str(path.readlink()).encode("utf-8", "surrogateescape"))
    elif path.is_file():
        yield _Held(kind, name, path.read_bytes())


def _result(found: Sequence[ValuePlace], **more: Any) -> PurgeResult:
    counts: Counter[str] = Counter()
    for place in found:
        counts[place.kind] += place.hits
    hits = {kind: counts[kind] for kind in sorted(counts) if kind not in OUTSIDE}
    left = {kind: counts[kind] for kind in sorted(counts) if kind in OUTSIDE}
    return PurgeResult(places=tuple(found), hits=hits, left=left, **more)


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


TRIES = 10
"""The maximum number of attempts if the hub or the branch moves during a sync."""
MAX_REPORTED = 20
"""The maximum number of syncs of other clones that are reported."""

MAX_NAMED = 5
"""The maximum number of files that are named if both sides changed them differently."""


class Merged(msgspec.Struct, frozen=True, kw_only=True):
    """A memory that both sides changed, and its current path, which is empty if it was removed."""

    id: str
    path: str


class SyncRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo sync`."""

    remote: Annotated[
        str,
        option("name of the remote (default: the branch's upstream, or origin)", metavar="REMOTE"),
    ] = ""
    accept_rewritten: Annotated[
        bool, option("join a hub whose history was rewritten", "--accept-rewritten")
    ] = False
    dry_run: DryRun = False
    reason: Annotated[str, option("why, for the merge commit", "--reason")] = ""


class SyncResult(VerbResult, frozen=True, kw_only=True):
    """The outcome of a sync."""

    remote: str = ""
    branch: str = ""
    commit: str = ""
    """The new commit of both sides, or an empty string if nothing was written."""
    pulled: int = 0
    pushed: int = 0
    merged: tuple[Merged, ...] = ()
    """The memories that both sides changed."""


def sync(work: Work, request: SyncRequest) -> SyncResult:
    """Fetch, merge, push and land, with retries."""
    work.require_writable()
    work.store.refuse_unfit()
    hub = hub_of(work.store.repo, request.remote, work.store.branch)
    with work.store.syncing():
        purged: tuple[Problem, ...] = ()
        if not request.dry_run:
            work.store.recover()
            purged = _settle_purges(work, hub)
        found = replace(_converge(work, hub, request), remote=hub.name, branch=hub.branch)
        if not request.dry_run:
            hub.follow(work.store.branch, found.commit)
        unreadable: tuple[Problem, ...] = ()
        if found.pulled and not request.dry_run:
            unreadable = work.refreshed().tree.state().problems
            put_decided_away(work.refreshed())
            work.store.maintain()
    notices = (
        *purged,
        *dict.fromkeys((*found.notices, *unreadable)),
        *unknown_person(work.refreshed()),
        *work.store.notices,
    )
    return replace(found, notices=notices)


def _settle_purges(work: Work, hub: Hub) -> tuple[Problem, ...]:
    if not purged_folder(work.store.repo).is_dir():
        return ()

    return settle_purges(work, hub)


def _converge(first: Work, hub: Hub, request: SyncRequest) -> SyncResult:
    """Bring both sides to the same commit. Retry if the hub or the branch moves."""
    sent = 0
    for turn in range(1, TRIES + 1):
        # After half of the attempts, lock out other writers here for one fetch and push.
        patient = first.store.writing() if turn > TRIES // 2 else nullcontext()
        tip = _fetch_tip(hub, first, request)
        try:
            with patient:
                at = first.refreshed()
                found, head = _merge(at, hub, tip, request), at.tree.commit
                if request.dry_run:
                    return found
                if found.commit == tip or hub.push(found.commit, hub.head):
                    hub.remember(found.commit)
                    sent += found.pushed
                    if found.commit != head:
                        first.store.advance(head, found.commit, f"sync-{hub.name}")
                    return replace(found, pushed=sent)
        except BranchMoved:
            # If the hub already has this merge, the next attempt adds the new local commits.
            continue
        pause(first.store.head(), turn)
    raise StoreError("hub-busy", name=hub.name, tries=TRIES)


def _refuse_unreadable(state: State, sent: Collection[str]) -> None:
    """Raise StoreError if a memory file that would be sent to the hub cannot be read."""
    broken = [p for p in state.problems if p.severity == "error" and p.path in sent]
    if broken:
        one, rest = broken[0], counted(len(broken) - 1, "other problem", "other problems")
        raise StoreError(
            "push-broken",
            path=visible(one.path),
            line=one.line or 1,
            what=one.message,
            more=f" (and {rest}, see `memrepo check`)" if len(broken) > 1 else "",
            fix=one.fix,
        )


def _fetch_tip(hub: Hub, at: Work, request: SyncRequest) -> str:
    """Return the hub's tip, or "" if the branch is missing. Raise if its history was rewritten."""
    own = hub.own("trial" if request.dry_run else "incoming")
    tip = hub.fetch({hub.head: own}).get(hub.head, "")
    if request.dry_run:
        hub.forget(own)
    if tip and (old := history.purged_elsewhere(hub.repo, tip)):
        hub.forget(own)
        raise StoreError("purged-elsewhere", commit=old[:10])
    if tip and not at.store.common_ancestors([at.tree.commit, tip]):
        hub.forget(own)
        raise StoreError("history-unrelated", hub=hub.name, branch=hub.branch, tip=tip)
    known = hub.seen()
    if known and not request.accept_rewritten and not (tip and at.store.is_ancestor(known, tip)):
        lost = counted(count(hub.repo, known, tip), "commit", "commits")
        name = f"{hub.name}/{hub.branch}"
        raise StoreError("history-lost", hub=name, commit=known[:10], lost=lost)
    if tip and not request.dry_run:
        hub.remember(tip)
    return tip


def _merge(at: Work, hub: Hub, tip: str, request: SyncRequest) -> SyncResult:
    """Return the result of a merge. Its commit is the one that both sides are to have."""
    head, repo = at.tree.commit, at.store.repo
    if not tip or at.store.is_ancestor(tip, head):
        sent = at.store.work.changed(tip, head) if tip else at.tree.files
        _refuse_unreadable(at.tree.state(), sent)
        return SyncResult(commit=head, pushed=count(repo, head, tip))
    found = SyncResult(
        commit=tip, pulled=count(repo, tip, head), notices=tuple(_reported(at, head, tip))
    )
    if at.store.is_ancestor(head, tip):
        return found
    merged, notices, chain = join(at, hub, tip, request.reason)
    found = replace(found, merged=merged, notices=(*found.notices, *notices))
    if request.dry_run:
        return replace(found, pushed=count(repo, head, tip) + 1)
    new = at.store.prepare(chain)
    return replace(found, commit=new, pushed=count(repo, new, tip))


def _reported(at: Work, head: str, tip: str) -> Iterator[Problem]:
    """Yield what the syncs of other clones decided, oldest first, from their commit messages."""
    words = ("log", "--reverse", "--merges", f"-{MAX_REPORTED}", f"--grep=^{PREFIX}Op: sync$")
    for row in at.store.repo.call(*words, "--format=%x00%h%n%b", f"{head}..{tip}").split("\0")[1:]:
        commit, *lines = row.split("\n")
        for line in lines:
            if line.startswith("- "):
                path = shlex.quote(line[2:].partition(": ")[0])
                yield problem("sync-elsewhere", commit, commit=commit, what=line[2:], file=path)


# -- the merge of two histories ------------------------------------------------------------------


def join(
    work: Work, hub: Hub, tip: str, reason: str = ""
) -> tuple[tuple[Merged, ...], tuple[Problem, ...], Chain]:
    """Merge this clone's HEAD onto the hub's tip.

    Return the memories that both changed, what a person should know, and the merge. Raises
    StoreError or OtherFormat.
    """
    store, head, layout = work.store, work.tree.commit, work.tree.layout
    bases = sorted(store.common_ancestors([head, tip]))
    if layout.config not in store.snapshot(tip).files:
        raise StoreError("no-config", name=hub.name, config=layout.config)
    states = [store.snapshot(c).state() for c in (bases[0], tip, head)]
    changed = frozenset(store.work.changed(bases[0], head))
    picks, texts, open_ = _merge_others(work, bases, hub, tip)
    result = merge_states(*states, changed=changed)
    open_ += [c.path for c in result.conflicts if c.path == layout.config]
    if open_:
        named = ", ".join(map(visible, open_[:MAX_NAMED]))
        more = f" and {len(open_) - MAX_NAMED} more" if len(open_) > MAX_NAMED else ""
        raise StoreError("files-differ", name=hub.name, branch=hub.branch, paths=named + more)
    config = parse_config(result.state.files[layout.config].decode("utf-8", "replace"))
    if config.read_only:
        raise OtherFormat(layout.config, config.format, FORMAT)
    pages = (
        *render_views(result.state, config.is_personal),
        *hot_changes(result.state, hot_rules(work)),
    )
    effects, after = play(result.state, (Step(op="sync", what="", changes=pages),))
    effect = {**texts, **result.effect, **effects[0]}
    _refuse_unreadable(after, effect)
    notices = tuple(_notices(result, states, head, tip))
    merged = tuple(
        Merged(id=id_, path=after.memories[id_].path if id_ in after.memories else "")
        for id_ in result.both
    )
    here, there = count(store.repo, head, tip), count(store.repo, tip, head)
    step = Step(
        op="sync",
        what=f"Merge {counted(here, 'commit', 'commits')} of this clone and {there} of the hub",
        reason=reason,
        memories=result.both,
    )
    lines = tuple(f"{one.path}: {one.message}" for one in notices)
    text = message(step, work.context(lines=lines))
    commit = NewCommit(message=text, effect=effect, picks=picks)
    when = store.not_before(store.not_before(work.call.now, tip), head)
    chain = Chain(base=head, first=tip, author=SYNC, when=when, commits=[commit])
    return merged, notices, chain


def _merge_others(
    work: Work, bases: Sequence[str], hub: Hub, tip: str
) -> tuple[dict[str, TreeEntry | None], dict[str, bytes | None], list[str]]:
    """Merge the files that are not memrepo's: entries to use, merged texts, and open paths."""
    layout, repo = work.tree.layout, work.store.repo
    tree = merge_trees(repo, bases, tip, work.tree.commit)

    def is_own(path: str, versions: Sequence[TreeEntry | None]) -> bool:
        regular = all(v is None or v.mode in FILES for v in versions)
        return regular and layout.owns(path) and is_text(path)

    picks = {path: pick for path, pick in tree.picks.items() if not is_own(path, (pick,))}
    texts: dict[str, bytes | None] = {}
    open_: list[str] = []
    for path, versions in tree.open.items():
        base, *sides = versions
        if base is None and None in sides:
            file = next((p for p in tree.open if path.startswith(f"{p}/")), path)
            raise StoreError(
                "file-and-folder", name=hub.name, branch=hub.branch, path=visible(file)
            )
        if is_own(path, versions):
            continue
        datas = [repo.read(v.id) for v in versions if v is not None and v.mode == FILE]
        text = _joined_text(*datas) if len(datas) == 3 else None
        if text is None:
            open_.append(path)
        else:
            texts[path] = text
    return picks, texts, open_


def _joined_text(base: bytes, first: bytes, second: bytes) -> bytes | None:
    """Merge a text by line, with its line ends. Return None if a person must decide."""
    if b"\0" in base + first + second:
        return None
    try:
        o, a, b = (data.decode("utf-8") for data in (base, first, second))
    except UnicodeDecodeError:
        return None
    joined = merge_text(o, a, b)
    # If both sides added lines at the same place, the order is undefined.
    is_clear = not joined.overlap and joined == merge_text(o, b, a)
    return joined.text.encode("utf-8") if is_clear else None


def _winner(memory: Memory | None, sides: Sequence[State]) -> str:
    """Return whose version of a memory a merge used, and from when, or "" if that is unknown."""
    if memory is None or memory.stamp is None or memory.stamp.at is None:
        return ""
    stamps = [side.memories[memory.id].stamp for side in sides if memory.id in side.memories]
    by, at = memory.stamp.by, format_time(memory.stamp.at)
    return f"{by} of {at}" if stamps.count(memory.stamp) == 1 else ""


def _notices(
    result: MergeResult, states: Sequence[State], here: str, hub: str
) -> Iterator[Problem]:
    """Yield what a merge decided between two sides. `states` are those of the base and the sides.

    `here` and `hub` are the commits of this clone and of the hub.
    """
    base, *sides = states
    for conflict in result.conflicts:
        if conflict.kind == "removed-and-edited":
            yield problem("sync-gave-way", conflict.path, "removed")
    for path in result.lost:
        who = _winner(next((m for m in result.state.every if m.path == path), None), sides)
        mine, theirs, how = here[:10], hub[:10], "won" if who else ""
        yield problem("sync-gave-way", path, how, name=path, who=who, here=mine, hub=theirs)
    for id_ in result.both:
        old = base.memories.get(id_)
        if old is None:
            continue
        new = [
            {*side.memories[id_].superseded_by} - {*old.superseded_by}
            for side in sides
            if id_ in side.memories
        ]
        if len(new) == 2 and all(new) and new[0] != new[1]:
            yield problem("sync-gave-way", old.path, "replaced")
    yield from result.problems
    known = result.state.memories
    before = {id_ for id_, memory in base.memories.items() if memory.status == "forgotten"}
    for id_ in sorted((before | {*result.both}) & known.keys()):
        former = {side.memories[id_].status for side in sides if id_ in side.memories}
        if known[id_].status == "forgotten" and former != {"forgotten"}:
            barred = tombstones_in(result.state).find_barring(known[id_]) is not None
            yield problem("sync-forgotten", known[id_].path, "rejected" if barred else "", id=id_)
        elif known[id_].status == "active" and "forgotten" in former and id_ not in before:
            yield problem("sync-forgotten", known[id_].path, "edited", id=id_)

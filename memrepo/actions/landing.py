"""Turn a plan into commits: apply it to a state, write the messages, build the chain.

Every chain that can contain memories is built by `chain`, which refuses secrets and statements that
a person rejected. A test ensures that no code path bypasses this module. The views and the hot
cache, which are derived from the memories and committed with them, are rendered here too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.core.codec import decode
from memrepo.core.layout import HOT_NAMES, standing_of
from memrepo.core.messages import MAX_STEPS, Context, message
from memrepo.core.secrets import redact
from memrepo.core.state import Change, Delete, State, Step, Write, play
from memrepo.policies.rules import HotRules
from memrepo.store.errors import BranchMoved
from memrepo.store.objects import RUN, Chain, NewCommit
from memrepo.store.repo import Repository

TRIES = 3
"""How often a change is computed again because another commit landed in the meantime."""

_Done = TypeVar("_Done")


def retried(store: Repository, attempt: Callable[[], _Done]) -> _Done:
    """Call a function that computes and commits a change. Retry if another commit landed first.

    From the second attempt on, other writers are locked out. Otherwise a slow writer might never
    succeed.
    """
    for turn in range(1, TRIES + 1):
        with store.writing() if turn > 1 else nullcontext():
            try:
                return attempt()
            except BranchMoved:
                if turn == TRIES:
                    raise
    raise AssertionError("unreachable")


class Landing(msgspec.Struct, frozen=True, kw_only=True):
    """A chain of commits ready to be written, and the resulting state."""

    chain: Chain
    state: State


def prepare(
    store: Repository,
    state: State,
    base: str,
    steps: Sequence[Step],
    context: Context,
    now: datetime,
    *,
    merge: Step | None = None,
    cost: str = "",
    author: str = RUN,
) -> Landing:
    """Validate all new contents and build the commits of steps, ending in `merge` if given.

    `cost` is the judge's receipt, a trailer of the merge commit only. Raises Rejected and
    SecretInText.
    """
    effects, after = play(state, steps)
    commits = [
        NewCommit(message=redact(message(step, context, state, after))[0], effect=effect)
        for step, effect in zip(steps, effects, strict=True)
    ]
    text = ""
    if merge:
        lines = [commit.message.partition("\n")[0] for commit in commits]
        joined = replace(context, lines=listed_steps(lines))
        text = redact(message(merge, _with(joined, Cost=cost)))[0]
    made = chain(store, state, after, commits, base=base, now=now, merge=text, author=author)
    return Landing(chain=made, state=after)


def chain(
    store: Repository,
    before: State,
    after: State,
    commits: Sequence[NewCommit],
    *,
    base: str,
    now: datetime,
    merge: str = "",
    author: str = RUN,
) -> Chain:
    """Return the chain of commits between two states. Raises Rejected and SecretInText."""
    from memrepo.actions.guard import refuse_new_secrets, refuse_rejected, refuse_secret

    refuse_rejected(before, after)
    for text in (merge, *(commit.message for commit in commits)):
        refuse_secret(text, "the commit message")
    refuse_new_secrets(store, base, commits)
    return Chain(
        base=base,
        commits=commits,
        merge=merge,
        author=author,
        when=store.not_before(now, base),
    )


def listed_steps(subjects: Sequence[str]) -> tuple[str, ...]:
    """Return the commit subjects to list in a run's merge message, omitting the last commit."""
    rest = len(subjects) - 1 - MAX_STEPS
    return (*subjects[:-1][:MAX_STEPS], *([f"and {rest} more"] if rest > 0 else []))


def _with(context: Context, **more: str) -> Context:
    given = {key: value for key, value in more.items() if value}
    return replace(context, extra={**(context.extra or {}), **given}) if given else context


def derived_files(work: Work, state: State) -> list[Change]:
    """Return the file changes that update the views and the hot cache to match a state."""
    from memrepo.views.hot import hot_changes
    from memrepo.views.pages import render_views

    return [*render_views(state, work.config.is_personal), *hot_changes(state, hot_rules(work))]


def missing_pages(work: Work) -> list[str]:
    """Return the generated pages that are deleted in the work tree but still in git."""
    layout, tree = work.tree.layout, work.tree.files
    hot = (path for name in HOT_NAMES if tree.regular(path := layout.prefix + name))
    return work.store.work.missing([*tree.below(layout.area("views")), *hot])


def derived_contents(work: Work, state: State) -> dict[str, bytes | None]:
    """Return new contents by path for each outdated derived file, or None for a file to delete."""
    contents: dict[str, bytes | None] = {}
    for page in derived_files(work, state):
        match page:
            case Write(path=path, data=data):
                contents[path] = data
            case Delete(path=path):
                contents[path] = None
            case _:
                raise TypeError(f"a view is a file, not {page!r}")
    return contents


_FEW = 20
"""The most changed memories of which the pages are named without rendering any."""


class _Pages(msgspec.Struct, frozen=True, kw_only=True):
    """The derived files that did not match the memories of a commit."""

    commit: str
    stale: tuple[str, ...] = ()


def stale_pages(work: Work, *, rendered: bool = False) -> tuple[str, ...]:
    """Return the derived files that do not match this commit's memories.

    The answer is stored. Of memories that a few commits changed since, the pages are added.
    `rendered` is true for a commit with all of its pages rendered: none is stale.
    """
    tree, kind, places = work.tree, f"pages {hot_rules(work).path}", ("views", "tombstones")
    paths = [tree.layout.prefix + name for name in (*places, "templates")]

    def found() -> _Pages:
        stale = () if rendered else tuple(sorted(derived_contents(work, tree.state())))
        return _Pages(commit=tree.commit, stale=stale)

    known = work.answer(kind, _Pages, found, of=paths, renew=rendered)
    more = _changed_pages(work, known.commit)
    if more is None:
        known, more = work.answer(kind, _Pages, found, of=paths, renew=True), set()
    return tuple(sorted({*known.stale, *more}))


def _changed_pages(work: Work, commit: str) -> set[str] | None:
    """Return the pages of the memories changed since a commit, or None if all must be rendered."""
    tree = work.tree
    if commit == tree.commit:
        return set()
    from memrepo.views.pages import paths_of

    changed = tree.files.differences(commit)
    if changed is None:
        return None
    files = [(p, blob) for p, both in changed.items() for blob in both if tree.layout.is_memory(p)]
    if len(files) > 2 * _FEW:
        return None
    files = [one for one in files if one[1]]
    pages, is_hot = set[str](), any(tree.layout.prefix + n in changed for n in HOT_NAMES)
    for (path, _), data in zip(files, tree.files.each(files), strict=True):
        memory, _ = decode(path, data)
        if memory is None or any(k.type == "contradicts" for k in memory.links):
            return None
        pages |= paths_of(memory, tree.layout, work.config.is_personal)
        is_hot |= memory.hot is not None
    if is_hot:
        from memrepo.views.hot import hot_changes

        found = hot_changes(tree.state(), hot_rules(work))
        pages |= {page.path for page in found if isinstance(page, Write | Delete)}
    return pages


def hot_rules(work: Work) -> HotRules:
    """Return the rules of the hot cache. Use `HOT.md` if the configured path has another owner."""
    rules = work.config.rules.hot
    path = work.tree.layout.prefix + rules.path
    if work.tree.files.id_of(path):
        return rules
    data = work.store.work.read(path)
    if data is not None and standing_of("hot", data) == "foreign":
        return replace(rules, path="HOT.md")
    return rules

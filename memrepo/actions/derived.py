"""Files derived from the memories and committed with them: the views and the hot cache."""

from __future__ import annotations

from msgspec.structs import replace

from memrepo.actions.work import Work
from memrepo.core.changes import Change, Delete, Write
from memrepo.core.ids import digest
from memrepo.core.layout import HOT_NAMES
from memrepo.core.state import State
from memrepo.policies.rules import HotRules
from memrepo.views.hot import hot_changes, standing_of
from memrepo.views.pages import render_views


def derived_files(work: Work, state: State, *, afresh: bool = False) -> list[Change]:
    """Return the file changes that update the views and the hot cache to match a state.

    A tree that is known to be up to date is not rendered again, unless `afresh` is true.
    """
    is_head = not afresh and state is work.tree.state()
    if is_head and work.store.trees.catalogue.stale.get(_print(work)) == []:
        return []
    return [*render_views(state, work.config.pages), *hot_changes(state, hot_rules(work))]


def stale_files(work: Work) -> tuple[str, ...]:
    """Return the paths of the views and the hot cache page that are outdated at the current commit.

    The result is cached per tree, because `status` needs it on every call.
    """
    catalogue, key = work.store.trees.catalogue, _print(work)
    if key not in catalogue.stale:
        catalogue.stale[key] = sorted(derived_contents(work, work.tree.state()))
    return tuple(catalogue.stale[key])


def call_settled(work: Work) -> None:
    """Record that all derived files of the current commit are up to date, as just rendered."""
    work.store.trees.catalogue.stale[_print(work)] = []


def _print(work: Work) -> str:
    """Return a digest of everything that the derived pages depend on: tree ids, scope and rules."""
    layout, files = work.tree.layout, work.tree.files
    areas = (layout.area(name).rstrip("/") for name in ("memories", "views", "tombstones"))
    hot = (layout.prefix + name for name in HOT_NAMES)
    ids = [files.id_of(path) for path in (*areas, *hot)]
    return digest([ids, work.call.scope, repr(work.config.pages), repr(hot_rules(work))])


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


def hot_rules(work: Work) -> HotRules:
    """Return the rules of the hot cache. Use `HOT.md` if the configured path has another owner.

    The work tree is checked as well, because git may not track that file yet.
    """
    rules = work.config.rules.hot
    path = work.tree.layout.prefix + rules.path
    if work.tree.files.id_of(path):
        return rules
    data = work.store.work.read(path)
    if data is not None and standing_of(data) == "foreign":
        return replace(rules, path="HOT.md")
    return rules

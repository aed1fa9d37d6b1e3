"""What follows from the memories and is committed next to them: the views and the hot cache."""

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
    """Return what makes views and hot cache agree with the memories of a state.

    A tree that is known to agree is not rendered again, unless `afresh`.
    """
    is_head = not afresh and state is work.tree.state()
    if is_head and work.store.trees.catalogue.stale.get(_print(work)) == []:
        return []
    return [*render_views(state, work.config.pages), *hot_changes(state, hot_rules(work))]


def stale_files(work: Work) -> tuple[str, ...]:
    """Return which views, or hot cache, do not agree with the memories of a commit.

    The answer for a tree is stored: `status` asks each time.
    """
    catalogue, key = work.store.trees.catalogue, _print(work)
    if key not in catalogue.stale:
        catalogue.stale[key] = sorted(derived_contents(work, work.tree.state()))
    return tuple(catalogue.stale[key])


def call_settled(work: Work) -> None:
    """Remember of a commit that was drafted with its pages that none of them is stale."""
    work.store.trees.catalogue.stale[_print(work)] = []


def _print(work: Work) -> str:
    """Return the print of what pages follow from: parts of the tree, by their ids, and rules."""
    layout, files = work.tree.layout, work.tree.files
    areas = (layout.area(name).rstrip("/") for name in ("memories", "views", "tombstones"))
    hot = (layout.prefix + name for name in HOT_NAMES)
    ids = [files.id_of(path) for path in (*areas, *hot)]
    return digest([ids, work.call.scope, repr(work.config.pages), repr(hot_rules(work))])


def derived_contents(work: Work, state: State) -> dict[str, bytes | None]:
    """Return the derived files that differ: their new contents by path, None where one goes."""
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
    """Return the rules of the hot cache; it gives way to a file in the work tree that is not ours.

    Git may not know that file yet: only one that HEAD holds is seen in the state.
    """
    rules = work.config.rules.hot
    path = work.tree.layout.prefix + rules.path
    if work.tree.files.id_of(path):
        return rules
    data = work.store.work.read(path)
    if data is not None and standing_of(data) == "foreign":
        return replace(rules, path="HOT.md")
    return rules

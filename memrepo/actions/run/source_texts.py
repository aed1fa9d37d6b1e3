"""The sources as they stand at a commit, and those that runs have taken in and that are gone."""

from __future__ import annotations

from collections.abc import Mapping

from memrepo.actions.work import Work
from memrepo.purify.intake import Cursor, SourceText
from memrepo.purify.sources import kind_of
from memrepo.store import history


def texts_at(
    work: Work, cursor: Mapping[str, Cursor], ahead: Mapping[str, str] | None = None
) -> list[SourceText]:
    """Return the sources at the there's commit, in path order, undated where they are consumed.

    With `ahead` they are what these blobs by path are: what is new would be committed now.
    """
    layout, rules = work.tree.layout, work.config.source_rules()
    area = layout.area("sources")
    here = work.tree.files.below(area)
    blobs = here if ahead is None else ahead
    paths = [p for p in sorted(blobs) if p.startswith(area)]
    fresh = [p for p in paths if not cursor.get(p, Cursor()).is_at(blobs[p])]
    old = [p for p in fresh if here.get(p) == blobs[p]]
    touched = dict.fromkeys(fresh, work.call.now)
    touched |= history.last_touched(work.store.repo, work.tree.commit, old)
    found = []
    for path in paths:
        kind = kind_of(layout.source_name(path), rules)
        if kind is not None:
            when = touched.get(path)
            found.append(
                SourceText(
                    name=layout.source_name(path),
                    resource=path,
                    blob=blobs[path],
                    kind=kind,
                    committed=when.date().isoformat() if when else "",
                )
            )
    return found + _gone(work, cursor, set(paths))


def _gone(work: Work, cursor: Mapping[str, Cursor], present: set[str]) -> list[SourceText]:
    """Return the sources that earlier runs consumed and that the tree no longer holds."""
    layout, rules = work.tree.layout, work.config.source_rules()
    return [
        SourceText(
            name=layout.source_name(path),
            resource=path,
            blob="",
            committed="",
            kind=kind_of(layout.source_name(path), rules) or "claims",
        )
        for path in sorted(cursor)
        if path not in present and cursor[path].last
    ]

"""Deferred candidates come back when new context arrives, and only then.

A candidate that was deferred, and whose line still stands in a source, is judged again when
- the same text was met in another source or on another day than its file says, or
- a candidate of this run's news is context to it: they share a name, heading, parent item or bold
  key and one telling word beside it, or the news holds half of its telling words (two at least).

Nothing else brings one back, so a run without news asks nothing. Both depend on texts alone, never
on a judge. The lineage promised it and did it only where a file was scanned again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from memrepo.core.ids import normalise
from memrepo.core.judging import Candidate
from memrepo.core.state import State
from memrepo.policies.matching import normal_subject, tokens
from memrepo.purify.aside import Aside, deferred
from memrepo.purify.clusters import shared_entities
from memrepo.purify.dates import is_date_heading
from memrepo.purify.gather import Placed, candidate_id
from memrepo.purify.intake import Reader, SourceText
from memrepo.purify.units import Unit, bold_lead

MOST = 40
"""So many come back by context in one run, the nearest first: one question more (Pass 1 batch)."""
_SHORT = 3


class Comeback(msgspec.Struct, frozen=True, kw_only=True):
    """Units to be judged again, and by candidate id the news that each is to be judged with."""

    placed: tuple[Placed, ...] = ()
    beside: Mapping[str, str] | None = None


class _Said(msgspec.Struct, frozen=True):
    """What a text may share with another: what it is about, and its telling words."""

    about: frozenset[str]
    words: frozenset[str]


def come_back(
    state: State,
    fresh: Sequence[Candidate],
    changed: frozenset[str],
    texts: Iterable[SourceText],
    reader: Reader,
) -> Comeback:
    """Return what was deferred and has new context; `changed` are the sources with news."""
    asides = [a for a in deferred(state) if a.ids]
    if not asides or not changed:
        return Comeback()
    places = _Places(texts, reader)
    news = [(c.candidate_id, _said(c.text, c.context, c.key)) for c in fresh]
    ids = {c.candidate_id for c in fresh}
    again, near = [], []
    for aside in asides:
        units = places.units(aside, changed)
        if ids & aside.ids or _elsewhere(aside, units):
            again.append((aside, units, ""))
        elif units and (found := _nearest(aside, news)):
            near.append((found, aside, units))
    near.sort(key=lambda n: (-n[0][0], n[1].path))
    again += [(aside, units, found[1]) for found, aside, units in near[:MOST]]
    return Comeback(
        placed=tuple(p for aside, units, _ in again for p in _placed(aside, units)),
        beside={id_: beside for aside, _, beside in again if beside for id_ in aside.ids},
    )


class _Places:
    """The units of sources by candidate id, each source scanned once."""

    def __init__(self, texts: Iterable[SourceText], reader: Reader) -> None:
        self._texts = {t.resource: t for t in texts if t.blob and t.kind == "claims"}
        self._reader = reader
        self._by_id: dict[str, dict[str, list[Unit]]] = {}

    def units(self, aside: Aside, changed: frozenset[str]) -> list[tuple[SourceText, Unit]]:
        """Return where a candidate stands now: in the sources it came from and in changed ones."""
        resources = sorted({s.resource for s in aside.sources} | changed)
        return [
            (self._texts[resource], unit)
            for resource in resources
            if resource in self._texts
            for id_ in sorted(aside.ids)
            for unit in self._source(resource).get(id_, ())
        ]

    def _source(self, resource: str) -> dict[str, list[Unit]]:
        if resource not in self._by_id:
            text = self._texts[resource]
            found = self._by_id.setdefault(resource, {})
            for unit in self._reader.claims(text.name, text.blob).units:
                found.setdefault(candidate_id(unit), []).append(unit)
        return self._by_id[resource]


def _elsewhere(aside: Aside, units: Iterable[tuple[SourceText, Unit]]) -> bool:
    """Tell whether a text stands in a source, or under a day, that its file does not name."""
    resources = {s.resource for s in aside.sources}
    return any(
        text.resource not in resources
        or (
            unit.captured
            and (text.resource, unit.captured) not in aside.places
            and unit.captured[:10] not in {s.captured[:10] for s in aside.sources}
        )
        for text, unit in units
    )


def _placed(aside: Aside, units: Iterable[tuple[SourceText, Unit]]) -> Iterable[Placed]:
    known = {s.resource: s.captured[:10] for s in aside.sources}
    for text, unit in units:
        yield Placed(
            unit=unit,
            resource=text.resource,
            blob=text.blob,
            committed=text.committed or known.get(text.resource, ""),
        )


def _nearest(aside: Aside, news: Iterable[tuple[str, _Said]]) -> tuple[int, str] | None:
    """Return the news that shares most with a deferred text: how many words, and its id."""
    own = _said(aside.text, aside.context, bold_lead(aside.text)[0])
    shared = [(_shared(own, said), id_) for id_, said in news]
    count, id_ = min(((-n, id_) for n, id_ in shared if n), default=(0, ""))
    return (-count, id_) if count else None


def _said(text: str, context: Sequence[str], key: str) -> _Said:
    heads = [h for h in context if not is_date_heading(h)][-1:]
    about = {normal_subject(h) for h in (*heads, key) if h}
    names = {normalise(name) for name in shared_entities([text])}
    words = {word for word in tokens(text) if len(word) >= _SHORT or not word.isascii()}
    return _Said(frozenset(filter(None, about | names)), frozenset(words))


def _shared(own: _Said, other: _Said) -> int:
    """Return how many words two texts share where one is context to the other, else 0."""
    common = own.words & other.words
    about = own.about & other.about
    beside = common - {word for subject in about for word in tokens(subject)}
    if about and beside:
        return len(common) + 1
    return len(common) if len(common) >= max(2, (len(own.words) + 1) // 2) else 0

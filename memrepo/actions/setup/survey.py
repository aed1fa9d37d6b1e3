"""The figures that `status`, `doctor` and reports of runs share: memories, problems and budgets."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

import msgspec

from memrepo.actions.pending import Spent
from memrepo.actions.work import Work
from memrepo.core import codec
from memrepo.core.manifest import spent_in_day, spent_in_month
from memrepo.core.problems import Problem
from memrepo.merge.tombstones import brought_back
from memrepo.store.errors import problem
from memrepo.store.settings import person


def unhooked_problems(work: Work) -> tuple[Problem, ...]:
    """Return the errors in commits by hand since the last run that are still in the tree.

    No hook runs with `--no-verify`, for edits on a web page, for rebases, or in clones without
    hooks.
    """
    last = next(iter(work.landed()), None)
    if last is None or last.entry.commit == work.tree.commit:
        return ()
    from memrepo.actions.check.commits import errors_since

    return errors_since(work, last.entry.commit)


def unknown_person(work: Work) -> tuple[Problem, ...]:
    """Return a warning if what the person at this clone writes counts as a program's."""
    email = person(work.store.repo)[1]
    if work.call.actor or not email or email in work.config.human_authors:
        return ()
    known = json.dumps([*work.config.human_authors, email], ensure_ascii=False)
    return (problem("person-unknown", work.tree.layout.config, email=email, known=known),)


def uncommitted_rejected(work: Work) -> Iterator[Problem]:
    """Yield problems for uncommitted files that bring back a rejected statement."""
    stones, layout = work.tree.stones, work.tree.layout
    edits = work.store.work.edits(layout.area("memories")) if stones else {}
    for path, data in edits.items():
        memory = codec.decode(path, data)[0] if data and layout.is_memory(path) else None
        if memory is None or memory.status == "forgotten":
            continue
        if (stone := stones.find_barring(memory)) is not None:
            yield brought_back(memory, stone)


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """The bullets of the first page and the cost of judges, today and this month, with the limits.

    A cost is None if a price is unknown. A limit is None if it is not set.
    """

    bullets: int
    max_bullets: int
    usd: float | None
    max_usd: float | None
    tokens: int
    max_tokens: int | None
    today_usd: float | None = 0.0
    today_tokens: int = 0

    @property
    def text(self) -> str:
        """Return a summary of today's and this month's cost, with the limits that are set."""
        limits = [] if self.max_usd is None else [f"${self.max_usd:,.2f}"]
        if self.max_tokens is not None:
            limits.append(f"{self.max_tokens:,} tokens")
        of = f", of {' and '.join(limits)}" if limits else ""
        today = _spent_text(self.today_usd, self.today_tokens)
        return f"{today} today, {_spent_text(self.usd, self.tokens)} this month{of}"

    @property
    def spent(self) -> tuple[Spent, ...]:
        """Return the used part of each of this month's limits, in US dollars and in tokens."""
        found = []
        if self.usd is not None and self.max_usd:
            found.append(Spent(used=self.usd, limit=self.max_usd, unit="US dollars"))
        if self.max_tokens:
            found.append(Spent(used=self.tokens, limit=self.max_tokens, unit="tokens"))
        return tuple(found)


def _spent_text(usd: float | None, tokens: int) -> str:
    if not (usd or tokens):
        return "nothing"
    price = "an unknown price" if usd is None else f"${usd:,.2f}"
    return f"{price} ({tokens:,} tokens)"


def budgets(work: Work, bullets: int, now: datetime) -> Budgets:
    """Return the budgets. `bullets` is the number of bullets on the first page."""
    recorded, zone, limits = work.tree.manifests[0], work.config.zone, work.config.run
    spent, today = spent_in_month(now, recorded, zone), spent_in_day(now, recorded, zone)
    return Budgets(
        bullets=bullets,
        max_bullets=work.config.rules.hot.budget,
        usd=spent.cost_usd,
        max_usd=limits.max_usd_month,
        tokens=spent.total,
        max_tokens=limits.max_tokens_month,
        today_usd=today.cost_usd,
        today_tokens=today.total,
    )

"""What `status` says of budgets: bullets on the hot cache, and what judges cost this month."""

from __future__ import annotations

from datetime import datetime

import msgspec

from memrepo.actions.needs import Spent
from memrepo.actions.work import Work
from memrepo.core.state import State
from memrepo.policies.hotcache import hot_of


class HotBudget(msgspec.Struct, frozen=True, kw_only=True):
    """How many memories stand on the hot cache, and how many have room there."""

    bullets: int
    budget: int


class MonthBudget(msgspec.Struct, frozen=True, kw_only=True):
    """What judges cost this month, and may; None for an unknown price, or no limit."""

    usd: float | None
    max_usd: float | None
    tokens: int
    max_tokens: int | None


class Budgets(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of budgets; of a month only where one is configured."""

    hot: HotBudget
    month: MonthBudget | None = None

    @property
    def spent(self) -> tuple[Spent, ...]:
        """Return what is spent of the limits of this month."""
        found = []
        if self.month and self.month.usd is not None and self.month.max_usd:
            found.append(Spent(used=self.month.usd, limit=self.month.max_usd, unit="US dollars"))
        if self.month and self.month.max_tokens:
            used, limit = self.month.tokens, self.month.max_tokens
            found.append(Spent(used=used, limit=limit, unit="tokens"))
        return tuple(found)


def hot_budget(work: Work, state: State) -> HotBudget:
    """Count the memories on the hot cache."""
    count = sum(hot_of(m) is not None for m in state.active)
    return HotBudget(bullets=count, budget=work.config.rules.hot.budget)


def budgets(work: Work, bullets: int, now: datetime) -> Budgets:
    """Return what is left of the budgets, with so many bullets on the hot cache."""
    hot = HotBudget(bullets=bullets, budget=work.config.rules.hot.budget)
    get = work.config.get
    usd, tokens = get("run.max_usd_month"), get("run.max_tokens_month")
    if usd is None and tokens is None:
        return Budgets(hot=hot)
    from memrepo.judges.budget import spent_in_month

    spent = spent_in_month(now, work.tree.manifests[0])
    month = MonthBudget(usd=spent.cost_usd, max_usd=usd, tokens=spent.total, max_tokens=tokens)
    return Budgets(hot=hot, month=month)

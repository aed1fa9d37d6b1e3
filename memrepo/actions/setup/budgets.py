"""What `status` says of budgets: bullets on the hot cache, and what judges cost this month."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memrepo.actions.work import Work
from memrepo.core.state import State
from memrepo.judges.budget import spent_in_month
from memrepo.policies.hotcache import hot_of
from memrepo.purify.manifest import read_manifests

UNKNOWN = "an unknown price"


def hot_count(work: Work, state: State) -> tuple[int, int]:
    """Return how many memories stand on the hot cache, and how many have room there."""
    return sum(hot_of(m) is not None for m in state.active), work.config.rules.hot.budget


def budgets(work: Work, state: State, now: datetime) -> tuple[dict[str, Any], list[str]]:
    """Return the budgets as JSON and as lines; of a month only where one is configured."""
    count, most = hot_count(work, state)
    data: dict[str, Any] = {"hot": {"bullets": count, "budget": most}, "month": None}
    over = ": more than its budget (`memrepo demote` or `unpin` some)" if count > most else ""
    lines = [f"hot cache  {count} of {most} bullets{over}"] if count else []
    usd, tokens = work.config.get("run.max_usd_month"), work.config.get("run.max_tokens_month")
    if usd is not None or tokens is not None:
        spent = spent_in_month(now, read_manifests(state.files, work.tree.layout)[0])
        data["month"] = {
            "usd": spent.cost_usd,
            "max_usd": usd,
            "tokens": spent.total,
            "max_tokens": tokens,
        }
        price = UNKNOWN if spent.cost_usd is None else f"${spent.cost_usd:.2f}"
        told = [f"{price} of ${usd:.2f}"] if usd is not None else []
        told += [f"{spent.total:,} of {tokens:,} tokens"] if tokens is not None else []
        lines.append(f"budget     {', '.join(told)} this month")
    return data, lines

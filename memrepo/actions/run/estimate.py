"""Estimate what the next run would ask a model: the questions are packed as in the run itself."""

from __future__ import annotations

from msgspec.structs import replace

from memrepo.actions.run.gather import gather, read_commit
from memrepo.actions.run.ingest import preview_ingest, texts_at
from memrepo.actions.run.judge import questions_about
from memrepo.actions.run.judge_choice import (
    PAID,
    SERVICES,
    JudgeChoice,
    desk_of,
    kind_of,
    limits_of,
    own_prompts,
    price_of,
)
from memrepo.actions.run.plan import RunPlan
from memrepo.actions.run.record import Result
from memrepo.actions.run.shelf import MIN_CHANGED, MIN_NEW
from memrepo.actions.work import Work
from memrepo.core.judge import Usage
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.judge.documents import tokens_of
from memrepo.judge.interface import EXPECTED, Kind, Question
from memrepo.judge.reading import MAX_GROUP
from memrepo.judge.related import MAX_SHOWN
from memrepo.read.intake import cursors

MEMORY_TOKENS = 45
"""Typical tokens of a memory in a list."""
TOKENS_PER_MEMORY = 300
"""Typical tokens of shown text that give one memory."""
CHECKED_TOKENS = 130
"""Typical tokens of one item of a verification: its lines, what is above them, and the text."""
CHECKED_SHARE = 0.85
"""Typical share of operations whose wording is verified."""


def estimate_of(work: Work, choice: JudgeChoice) -> Result:
    """Return the estimate for the next run.

    Raise the errors a run would raise before its first question.
    """
    desk_of(work, choice)
    news, kind = preview_ingest(work), kind_of(work, choice)
    here = work.tree.commit
    found = Result(
        mode="incremental",
        status="estimate",
        base=here,
        head=here,
        ingest=news.done,
        notices=news.done.problems,
    )
    if kind not in PAID:
        return found
    plan = read_commit(work, RunPlan(now=work.call.now))
    cursor = cursors(plan.manifests)
    fresh = {news.blobs[name]: data for name, data in news.fresh.items() if name in news.blobs}

    def read(blob: str) -> bytes:
        return fresh[blob] if blob in fresh else work.store.repo.read(blob)

    batches = questions_about(plan, gather(plan, texts_at(work, cursor, news.blobs), cursor, read))
    lines = sum(len(rows) for batch in batches for rows in batch.shown.values())
    shown = sum(tokens_of(batch.text) for batch in batches)
    made = -(-shown // TOKENS_PER_MEMORY)
    known = len(of_types(plan.state.active, CLAIM_TYPES))
    checked = round(made * CHECKED_SHARE)
    asked: dict[str, int] = {}
    own = own_prompts(work)
    read_tokens, written = 0, 0

    def add(kind: Kind, count: int, shown: int, items: int) -> None:
        nonlocal read_tokens, written
        asked_first = Question(kind=kind, data="", items=items, own=own.get(kind, ""))
        fixed = tokens_of(asked_first.text)
        asked[kind] = count
        read_tokens += count * fixed + shown
        written += EXPECTED[kind] * items

    if batches:
        shown += sum(
            MEMORY_TOKENS * min(known + n * made // len(batches), MAX_SHOWN)
            for n in range(len(batches))
        )
        add("read", len(batches), shown, made)
        add("verify", -(-checked // MAX_GROUP), checked * CHECKED_TOKENS, checked)
        is_arranged = any(m.arranged for m in plan.manifests)
        is_due = made >= MIN_CHANGED if is_arranged else known + made >= MIN_NEW
        memories = min(known + made, plan.config.judge.context // MEMORY_TOKENS) if is_due else 0
        add("shelf", int(is_due), memories * MEMORY_TOKENS, memories // 2)
    price = price_of(work, work.config.judge.model) if kind in SERVICES else None
    usage = Usage(
        prompt=read_tokens,
        completion=written,
        source="approximate",
        cost_usd=(price.cost(fresh=read_tokens, output=written) if price else None)
        if batches
        else 0.0,
        calls=sum(asked.values()),
    )
    limits = limits_of(work, choice)
    over = (limit.over(usage.cost_usd or 0.0, usage.total) for limit in limits)
    return replace(
        found,
        why=next(filter(None, over), ""),
        questions=asked,
        lines_read=lines,
        tokens=usage.tokens(),
        cost_usd=usage.cost_usd,
    )

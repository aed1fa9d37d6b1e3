"""Estimate what the next run would ask a model: the questions are packed as in the run itself."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from memrepo.actions.run.gather import gather, read_commit
from memrepo.actions.run.ingest import IngestPreview, preview_ingest, texts_at
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
from memrepo.actions.run.shelf import MIN_CHANGED, MIN_NEW
from memrepo.actions.work import Work
from memrepo.core.judge import Usage
from memrepo.core.memory import CLAIM_TYPES, of_types
from memrepo.core.messages import counted
from memrepo.judge.documents import tokens_of
from memrepo.judge.interface import EXPECTED, Kind, instructions, schema_of
from memrepo.judge.questions import LINES_PER_MEMORY
from memrepo.judge.reading import MAX_GROUP
from memrepo.judge.related import MAX_SHOWN
from memrepo.read.intake import cursors
from memrepo.store.tree import read_blob

MEMORY_TOKENS = 45
"""Typical tokens of a memory in a list."""
CHECKED_TOKENS = 170
"""Typical tokens of one item of a verification: its lines, what is above them, and the text."""
CHECKED_SHARE = 0.85
"""Typical share of operations whose wording is verified."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The expected questions by kind, and the expected tokens and cost of a run.

    `over` names the limit that would stop the run early, if any.
    """

    usage: Usage
    questions: Mapping[str, int]
    news: IngestPreview
    lines: int = 0
    over: str = ""

    @property
    def summary(self) -> str:
        """Return the estimate as a text."""
        used = self.usage
        if not used.calls:
            return "the next run would make no paid call"
        cost = "price unknown" if used.cost_usd is None else f"about {used.cost_usd:.4f} USD"
        calls = counted(used.calls, "question", "questions")
        return (
            f"the next run reads {counted(self.lines, 'new line', 'new lines')}: about {calls},"
            f" {used.total} tokens, {cost}"
        )


def estimate_of(work: Work, choice: JudgeChoice, *, force: bool = False) -> Estimate:
    """Return the estimate for the next run.

    Raise the errors a run would raise before its first question.
    """
    desk_of(work, choice)
    news, kind = preview_ingest(work, force=force), kind_of(work, choice)
    if kind not in PAID:
        return Estimate(usage=Usage(), questions={}, news=news)
    plan = read_commit(work, RunPlan(now=work.call.now))
    cursor = cursors(plan.manifests)
    fresh = {news.blobs[name]: data for name, data in news.fresh.items() if name in news.blobs}

    def read(blob: str) -> bytes:
        return fresh[blob] if blob in fresh else read_blob(work.store.repo, blob)

    batches = questions_about(plan, gather(plan, texts_at(work, cursor, news.blobs), cursor, read))
    lines = sum(len(rows) for batch in batches for rows in batch.shown.values())
    made = lines // LINES_PER_MEMORY
    known = len(of_types(plan.state.active, CLAIM_TYPES))
    checked = round(made * CHECKED_SHARE)
    asked: dict[str, int] = {}
    own = own_prompts(work)
    read_tokens, written = 0, 0

    def add(kind: Kind, count: int, shown: int, items: int) -> None:
        nonlocal read_tokens, written
        fixed = tokens_of(f"{own.get(kind) or instructions(kind)}{schema_of(kind)}")
        asked[kind] = count
        read_tokens += count * fixed + shown
        written += EXPECTED[kind] * items

    if batches:
        shown = sum(tokens_of(batch.text) for batch in batches)
        shown += sum(
            MEMORY_TOKENS * min(known + n * made // len(batches), MAX_SHOWN)
            for n in range(len(batches))
        )
        add("read", len(batches), shown, made)
        add("verify", -(-checked // MAX_GROUP), checked * CHECKED_TOKENS, checked)
        is_due = known < MIN_NEW or made >= MIN_CHANGED
        memories = min(known + made, plan.context // MEMORY_TOKENS) if is_due else 0
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
    return Estimate(
        usage=usage,
        questions=asked,
        news=news,
        lines=lines,
        over=next(filter(None, over), ""),
    )

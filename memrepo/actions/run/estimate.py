"""`memrepo run --estimate`: what a run would ask its judge now, and what that would cost.

The run is computed as a dry one is, on what the workspace holds by now, with rules in the judge's
place. Nothing is asked and nothing is written; answers that were paid for before do not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from memrepo.actions.run.gate import PAID, kept_for
from memrepo.actions.run.ingest import Ahead, ahead, texts_at
from memrepo.actions.run.judge_choice import Choice, judge_of, kind_of, limits_of, price_of
from memrepo.actions.run.proposal import Wish, propose
from memrepo.actions.work import Work
from memrepo.core.judge import Usage
from memrepo.core.manifest import read_manifests
from memrepo.core.messages import counted
from memrepo.purify.intake import Cursor, cursors
from memrepo.store.answers import KeptAnswers
from memrepo.store.tree import read_blob


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What a run would ask: the judge, how many questions of each kind, tokens and US dollars.

    `over` says which limit would end the run before all of it is asked.
    """

    judge: str
    usage: Usage
    questions: Mapping[str, int]
    news: Ahead
    over: str = ""

    @property
    def said(self) -> str:
        """Return it in words."""
        used = self.usage
        if not used.calls:
            return "the next run would ask nothing that costs"
        cost = "price unknown" if used.cost_usd is None else f"about {used.cost_usd:.4f} USD"
        calls = counted(used.calls, "question", "questions")
        return f"the next run would ask {calls}: about {used.total} tokens, {cost}"


class _Read:
    """Answers of a run that broke off, to look at: implements `purify.answers.Kept`."""

    def __init__(self, kept: KeptAnswers) -> None:
        self._kept = kept

    @property
    def unbilled(self) -> Usage:
        """Return nothing: what they cost is spent."""
        return Usage()

    def find(self, key: str) -> Mapping[str, object] | None:
        """Return an answer, or None."""
        return self._kept.find(key)

    def keep(self, answers: Mapping[str, Mapping[str, object]], usage: Usage) -> None:
        """Keep nothing."""


def estimated(
    work: Work, choice: Choice, wish: Wish, *, resume: str | None = None, force: bool = False
) -> Estimate:
    """Compute what a run would ask; raises what it would raise before it asks."""
    judge, news = judge_of(work, choice), ahead(work, force=force)
    if kind_of(work, choice) not in PAID:
        return Estimate(judge=judge.name, usage=Usage(), questions={}, news=news)
    from memrepo.judges.estimate import Estimating

    counting = Estimating(judge.name, price_of(work, choice))
    kept = kept_for(work, wish.mode, resume, choice)
    wish = replace(wish, ahead=news, model=True, kept=_Read(kept) if kept else None)
    propose(work, counting, work.call.now, wish)
    counting.finish(work.call.now)
    usage = counting.usage
    limits = limits_of(work, choice)
    over = (limit.over(usage.cost_usd or 0.0, usage.total) for limit in limits)
    return Estimate(
        judge=judge.name,
        usage=usage,
        questions=counting.questions,
        news=news,
        over=next(filter(None, over), ""),
    )


FEW = 400
"""New lines up to which a run is computed to tell what it would ask: a second or two."""


def roughly(work: Work, choice: Choice) -> str:
    """Say what the next run would ask: computed where little is new, else counted by its lines."""
    lines = list(_new_lines(work))
    if len(lines) <= FEW:
        return estimated(work, choice, Wish()).said
    from memrepo.judges.estimate import by_lines

    used = by_lines(lines, price_of(work, choice))
    cost = "price unknown" if used.cost_usd is None else f"{used.cost_usd:.2f} USD"
    return (
        f"the next run reads {len(lines)} new lines: very roughly"
        f" {counted(used.calls, 'question', 'questions')}, "
        f"{used.total} tokens, {cost} (`memrepo run --estimate` computes it)"
    )


def _new_lines(work: Work) -> Iterator[str]:
    """Yield the lines of sources that no run has consumed as they would be taken in now."""
    news = ahead(work)
    cursor = cursors(read_manifests(work.tree.files, work.tree.layout)[0])
    for text in texts_at(work, cursor, news.blobs):
        if text.blob and not cursor.get(text.resource, Cursor()).is_at(text.blob):
            data = news.fresh.get(text.resource)
            whole = read_blob(work.store.repo, text.blob) if data is None else data
            for line in whole.decode("utf-8", "replace").splitlines():
                if any(ch.isalnum() for ch in line) and not line.startswith("#"):
                    yield line

"""`memrepo run --estimate`: estimate the number of questions and the cost of the next run.

Only the new lines of the sources are counted. No judge is called and nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from memrepo.actions.run.guard import PAID
from memrepo.actions.run.ingest import Ahead, ahead, texts_at
from memrepo.actions.run.judge_choice import Choice, judge_of, kind_of, limits_of, price_of
from memrepo.actions.work import Work
from memrepo.core.judge import Usage
from memrepo.core.manifest import read_manifests
from memrepo.core.messages import counted
from memrepo.purify.intake import Cursor, cursors
from memrepo.store.tree import read_blob


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """The expected questions by kind, and the expected tokens and cost of a run.

    `over` names the limit that would stop the run early, if any.
    """

    usage: Usage
    questions: Mapping[str, int]
    news: Ahead
    lines: int = 0
    over: str = ""

    @property
    def said(self) -> str:
        """Return the estimate as a text."""
        used = self.usage
        if not used.calls:
            return "the next run would ask nothing that costs"
        cost = "price unknown" if used.cost_usd is None else f"about {used.cost_usd:.4f} USD"
        calls = counted(used.calls, "question", "questions")
        return (
            f"the next run reads {counted(self.lines, 'new line', 'new lines')}: about {calls},"
            f" {used.total} tokens, {cost}"
        )


def estimated(work: Work, choice: Choice, *, force: bool = False) -> Estimate:
    """Return the estimate for the next run.

    Raise the errors a run would raise before its first question.
    """
    judge_of(work, choice)
    news = ahead(work, force=force)
    if kind_of(work, choice) not in PAID:
        return Estimate(usage=Usage(), questions={}, news=news)
    from memrepo.judges.budget import by_lines

    lines = list(_new_lines(work, news))
    usage, questions = by_lines(lines, price_of(work, choice))
    limits = limits_of(work, choice)
    over = (limit.over(usage.cost_usd or 0.0, usage.total) for limit in limits)
    return Estimate(
        usage=usage,
        questions=questions,
        news=news,
        lines=len(lines),
        over=next(filter(None, over), ""),
    )


def _new_lines(work: Work, news: Ahead) -> Iterator[str]:
    """Yield the lines of current sources that no run has consumed."""
    cursor = cursors(read_manifests(work.tree.files, work.tree.layout)[0])
    for text in texts_at(work, cursor, news.blobs):
        if text.blob and not cursor.get(text.resource, Cursor()).is_at(text.blob):
            last = cursor.get(text.resource, Cursor()).last
            data = news.fresh.get(text.resource)
            whole = read_blob(work.store.repo, text.blob) if data is None else data
            old = read_blob(work.store.repo, last).splitlines() if last else ()
            known = frozenset(old)
            for line in whole.splitlines():
                shown = line.decode("utf-8", "replace")
                if line not in known and any(map(str.isalnum, shown)) and shown[:1] != "#":
                    yield shown

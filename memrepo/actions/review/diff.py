"""`memrepo diff`: show what a run, a commit or a range of commits changes, by memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from memrepo.actions import result
from memrepo.actions.request import option
from memrepo.actions.review.comparison import Comparison, NothingToCompare, review_of, span_of
from memrepo.actions.work import Work
from memrepo.core.state import Kind
from memrepo.views.review import ChangeRecord, Review, Stage


class HotTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The size of the hot cache, in tokens."""

    before: int
    after: int
    change: int


class GroupRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A heading in the review, and the memories of each decision below that heading."""

    heading: str
    decisions: tuple[tuple[str, ...], ...]
    is_card: bool
    """Whether the group is shown as one card, to be decided as a whole or opened."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo diff`."""

    words: Annotated[
        tuple[str, ...],
        option(
            "a waiting or landed run, a commit, REV..REV or two revisions; "
            "default: the pending run, else the last one",
            metavar="RUN|REV",
        ),
    ] = ()
    stat: Annotated[bool, option("only the totals of each kind", "--stat", group="form")] = False
    git: Annotated[bool, option("git's own diff of the files", "--git", group="form")] = False
    markdown: Annotated[
        bool,
        option("a section of markdown, as a pull request shows it", "--markdown", group="form"),
    ] = False


class Result(result.Result, frozen=True, kw_only=True):
    """The changes, grouped by memory."""

    beside: ClassVar = ("review",)

    run: str
    state: Stage
    base: str
    head: str
    reason: str
    totals: Mapping[Kind, int]
    """The number of memories by main kind of change. Each memory is counted once."""
    also: Mapping[Kind, int]
    """The number of memories by kind of change. A memory counts for each of its kinds."""
    memories: int
    decisions: int
    """The number of decisions. Memories that must be decided together are one decision."""
    groups: tuple[GroupRecord, ...] | msgspec.UnsetType = msgspec.UNSET
    """The decisions in the order of the review. Unset if only the totals were requested."""
    files: Mapping[str, int]
    """The number of other changed files, by folder."""
    hot_tokens: HotTokens | None
    changes: tuple[ChangeRecord, ...] | msgspec.UnsetType = msgspec.UNSET
    """Unset if only the totals were requested."""
    review: Review
    """The review from which the text output is rendered."""


def _result(review: Review, *, stat: bool) -> Result:
    hot = review.hot
    groups = tuple(
        GroupRecord(
            heading=group.heading,
            decisions=tuple(decision.ids for decision in group.decisions),
            is_card=group.is_card,
        )
        for group in review.groups
    )
    return Result(
        run=review.run,
        state=review.state,
        base=review.base,
        head=review.tip,
        reason=review.reason,
        totals=review.totals,
        also=review.kinds,
        memories=len(review.changes),
        decisions=len(review.decisions),
        groups=msgspec.UNSET if stat else groups,
        files=dict(review.files),
        hot_tokens=HotTokens(before=hot[0], after=hot[1], change=hot[1] - hot[0]) if hot else None,
        changes=msgspec.UNSET if stat else tuple(change.record() for change in review.changes),
        review=review,
    )


class Patch(result.Result, frozen=True, kw_only=True):
    """The patch of the files as git shows it."""

    run: str
    diff: str


def do(work: Work, request: Request) -> Result | Patch:
    """Compare the trees before and after a run, a commit or a range of commits."""
    span = span_of(work, request.words)
    if request.git:
        return _patch(work, span)
    return _result(review_of(work, span, quote=False), stat=request.stat)


def _patch(work: Work, span: Comparison) -> Patch:
    if not span.base:
        raise NothingToCompare(
            f"{span.tip[:10]} is the first commit: git has nothing to compare",
            f"`git show {span.tip[:10]}` shows it",
        )
    diff = work.store.repo.git.diff("--no-ext-diff", span.base, span.tip, "--")
    return Patch(run=span.run, diff=diff)

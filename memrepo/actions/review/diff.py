"""`memrepo diff`: what a run, a commit or a range changes, told in memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar

import msgspec

from memrepo.actions import result
from memrepo.actions.recall.destination import place_page
from memrepo.actions.request import option
from memrepo.actions.review.comparison import NothingToCompare, Span, review_of, span_of
from memrepo.actions.work import Work
from memrepo.core.differences import Kind
from memrepo.core.errors import UsageError
from memrepo.views.html import GENERATOR
from memrepo.views.review import ChangeRecord, Review, Standing
from memrepo.views.review_page import review_page


class HotTokens(msgspec.Struct, frozen=True, kw_only=True):
    """The size of the hot cache, in tokens."""

    before: int
    after: int
    change: int


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `diff`."""

    words: Annotated[
        tuple[str, ...],
        option(
            "a waiting or landed run, a commit, REV..REV or two revisions; "
            "the waiting run when left out, else the last",
            metavar="RUN|REV",
        ),
    ] = ()
    stat: Annotated[bool, option("only the totals", "--stat", group="form")] = False
    git: Annotated[bool, option("git's own diff of the files", "--git", group="form")] = False
    markdown: Annotated[
        bool,
        option("a section of markdown, as a pull request shows it", "--markdown", group="form"),
    ] = False
    html: Annotated[
        str | None,
        option(
            "write a page to review it in, by itself; - prints it",
            "--html",
            metavar="FILE",
            group="form",
        ),
    ] = None


class Result(result.Result, frozen=True, kw_only=True):
    """What changed, told in memories; of a page written, the totals and where it lies."""

    beside: ClassVar = ("review",)

    run: str
    state: Standing
    base: str
    head: str
    reason: str
    totals: Mapping[Kind, int]
    """Memories by the kind of change that each is counted as."""
    also: Mapping[Kind, int]
    """Memories by every kind of change that they have."""
    memories: int
    files: Mapping[str, int]
    """Other files that changed, by folder."""
    hot_tokens: HotTokens | None
    changes: tuple[ChangeRecord, ...] | msgspec.UnsetType = msgspec.UNSET
    """Left out where only the totals were asked for."""
    html: str | msgspec.UnsetType = msgspec.UNSET
    """Where a page was written."""
    review: Review
    """What a text is made of."""


def _result(review: Review, *, stat: bool, html: str = "") -> Result:
    return Result(
        run=review.run,
        state=review.state,
        base=review.base,
        head=review.tip,
        reason=review.reason,
        totals=review.totals,
        also=review.kinds,
        memories=len(review.changes),
        files=dict(review.files),
        hot_tokens=HotTokens(before=review.hot[0], after=review.hot[1], change=review.hot_change)
        if review.hot
        else None,
        changes=msgspec.UNSET if stat else tuple(change.record() for change in review.changes),
        html=html or msgspec.UNSET,
        review=review,
    )


class Page(result.Result, frozen=True, kw_only=True):
    """A page to review it in, printed."""

    page: str


class Patch(result.Result, frozen=True, kw_only=True):
    """Git's own diff of the files."""

    run: str
    diff: str


def do(work: Work, request: Request) -> Result | Page | Patch:
    """Compare the tree before with the tree after."""
    if request.html == "-" and work.call.json:
        raise UsageError(
            "memrepo diff: --html - and --json both want standard output",
            fix="name a file for the page",
        )
    span = span_of(work, request.words)
    if request.git:
        return _patch(work, span)
    review = review_of(work, span, quote=bool(request.html))
    if not request.html:
        return _result(review, stat=request.stat)
    page = review_page(review)
    if request.html == "-":
        return Page(page=page.rstrip("\n"))
    where = (work.call.where / request.html).absolute()
    place_page(work, where, page.encode(), ours=GENERATOR)
    return _result(review, stat=True, html=str(where))


def _patch(work: Work, span: Span) -> Patch:
    if not span.base:
        raise NothingToCompare(
            f"{span.tip[:10]} is the first commit: git has nothing to compare",
            f"`git show {span.tip[:10]}` shows it",
        )
    diff = work.store.repo.git.diff("--no-ext-diff", span.base, span.tip, "--")
    return Patch(run=span.run, diff=diff)

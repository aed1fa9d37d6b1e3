"""`memrepo diff`: what a run, a commit or a range changes, told in memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from memrepo.actions.recall.destination import place_page
from memrepo.actions.request import option
from memrepo.actions.review.comparing import NothingToCompare, review_of, span_of
from memrepo.actions.work import Answer, Work
from memrepo.core.errors import UsageError
from memrepo.store.light import ask
from memrepo.views.html import GENERATOR
from memrepo.views.review_page import review_page
from memrepo.views.review_text import review_text

if TYPE_CHECKING:
    from memrepo.actions.review.comparing import Span


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of `diff`."""

    words: Annotated[
        tuple[str, ...],
        option(
            "a waiting or landed run, a commit, REV..REV or two revisions; "
            "the waiting run when left out",
            metavar="RUN|REV",
        ),
    ] = ()
    stat: Annotated[bool, option("only the totals", "--stat", group="form")] = False
    git: Annotated[bool, option("git's own diff of the files", "--git", group="form")] = False
    html: Annotated[
        str | None,
        option(
            "write a page to review it in, by itself; - prints it",
            "--html",
            metavar="FILE",
            group="form",
        ),
    ] = None


def do(work: Work, request: Request) -> Answer:
    """Compare the tree before with the tree after."""
    if request.html == "-" and work.call.json:
        raise UsageError(
            "memrepo diff: --html - and --json both want standard output",
            fix="name a file for the page",
        )
    span = span_of(work, request.words)
    if request.git:
        return _git(work, span)
    review = review_of(work, span, quote=bool(request.html))
    if not request.html:
        return Answer(
            data=review.as_json(stat=request.stat),
            text=review_text(review, stat=request.stat, colour=work.call.colour),
        )
    page = review_page(review)
    if request.html == "-":
        return Answer(text=page.rstrip("\n"))
    where = (work.call.where / request.html).absolute()
    place_page(work, where, page.encode(), ours=GENERATOR)
    return Answer(
        data={**review.as_json(stat=True), "html": str(where)},
        text=f"{review_text(review, stat=True)}\nwritten to {where}",
    )


def _git(work: Work, span: Span) -> Answer:
    if not span.base:
        raise NothingToCompare(
            f"{span.tip[:10]} is the first commit: git has nothing to compare",
            f"`git show {span.tip[:10]}` shows it",
        )
    words = ("diff", "--no-ext-diff", span.base, span.tip, "--")
    raw = ask(work.store.repo, *words).removesuffix("\n")
    return Answer(data={"run": span.run, "diff": raw}, text=raw)

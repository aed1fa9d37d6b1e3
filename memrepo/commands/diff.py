"""`memrepo diff`: what a run, a commit or a range changes, told in memories."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from memrepo.commands.comparing import NothingToCompare, review_of, span_of
from memrepo.commands.placing import place_page
from memrepo.commands.session import Answer, Desk, Session, opened
from memrepo.commands.table import UsageError
from memrepo.store.light import ask
from memrepo.views.html import GENERATOR
from memrepo.views.review_page import review_page
from memrepo.views.review_text import review_text

if TYPE_CHECKING:
    from memrepo.commands.comparing import Span


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "words",
        nargs="*",
        default=[],
        metavar="RUN|REV",
        help="a waiting or landed run, a commit, REV..REV or two revisions; "
        "the waiting run when left out",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--stat", action="store_true", help="only the totals")
    form.add_argument("--git", action="store_true", help="git's own diff of the files")
    form.add_argument(
        "--html", metavar="FILE", help="write a page to review it in, by itself; - prints it"
    )


def run(session: Session, options: argparse.Namespace) -> Answer:
    """Compare the tree before with the tree after."""
    if options.html == "-" and session.json:
        raise UsageError(
            "memrepo diff: --html - and --json both want standard output",
            fix="name a file for the page",
        )
    with opened(session) as desk:
        span = span_of(desk, options.words)
        if options.git:
            return _git(desk, span)
        review = review_of(desk, span, quote=bool(options.html))
        if not options.html:
            return Answer(
                data=review.as_json(stat=options.stat),
                text=review_text(review, stat=options.stat, colour=session.colour),
            )
        page = review_page(review)
        if options.html == "-":
            return Answer(text=page.rstrip("\n"))
        where = (session.where / options.html).absolute()
        place_page(desk, where, page.encode(), ours=GENERATOR)
    return Answer(
        data={**review.as_json(stat=True), "html": str(where)},
        text=f"{review_text(review, stat=True)}\nwritten to {where}",
    )


def _git(desk: Desk, span: Span) -> Answer:
    if not span.base:
        raise NothingToCompare(
            f"{span.tip[:10]} is the first commit: git has nothing to compare",
            f"`git show {span.tip[:10]}` shows it",
        )
    words = ("diff", "--no-ext-diff", span.base, span.tip, "--")
    raw = ask(desk.store.repo, *words).removesuffix("\n")
    return Answer(data={"run": span.run, "diff": raw}, text=raw)

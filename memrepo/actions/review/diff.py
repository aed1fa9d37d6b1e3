"""`memrepo diff`: show what a run, a commit or a range of commits changes, by memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar

import msgspec

from memrepo.actions.past.log import NoSuchRun, landing_of
from memrepo.actions.pending import NothingWaits, the_waiting
from memrepo.actions.work import VerbResult, Work, option
from memrepo.core.errors import UsageError
from memrepo.core.memory import Memory
from memrepo.core.state import EMPTY, ChangeKind, differences
from memrepo.store import history
from memrepo.store.history import newest_in_effect
from memrepo.views.review import Change, Reason, Review, Stage


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
    markdown: Annotated[
        bool,
        option("a section of markdown, as a pull request shows it", "--markdown", group="form"),
    ] = False


class Result(VerbResult, frozen=True, kw_only=True):
    """The changes, grouped by memory."""

    unlisted: ClassVar = ("review",)

    run: str
    state: Stage
    base: str
    head: str
    reason: str
    totals: Mapping[ChangeKind, int]
    """The number of memories by main kind of change. Each memory is counted once."""
    memories: int
    files: Mapping[str, int]
    """The number of other changed files, by folder."""
    changes: tuple[Mapping[str, Any], ...] | msgspec.UnsetType = msgspec.UNSET
    """Unset if only the totals were requested."""
    review: Review
    """The review from which the text output is rendered."""


def do(work: Work, request: Request) -> Result:
    """Compare the trees before and after a run, a commit or a range of commits."""
    review = review_of(work, span_of(work, request.words))
    changes = tuple(change.record() for change in review.changes)
    return Result(
        run=review.run,
        state=review.state,
        base=review.base,
        head=review.tip,
        reason=review.reason,
        totals=review.totals,
        memories=len(review.changes),
        files=dict(review.files),
        changes=msgspec.UNSET if request.stat else changes,
        review=review,
    )


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two commits to compare, and the commits between them, oldest first.

    `base` is empty if there is no earlier commit. `entry` is the merge or commit that is shown.
    """

    title: str
    state: Stage
    base: str
    tip: str
    chain: tuple[history.LogEntry, ...]
    entry: history.LogEntry | None = None

    @property
    def run(self) -> str:
        """Return the id of the compared run, or an empty string."""
        return self.entry.run if self.entry and self.state in ("waits", "landed") else ""


def span_of(work: Work, words: Sequence[str]) -> Comparison:
    """Return the comparison that some words specify: a run, a commit, `A..B` or `A B`.

    Without words, return the comparison of the pending run, or else of the last landed run.
    """
    if len(words) > 2:
        raise UsageError(
            f"found {len(words)} words, expected a run or two revisions",
            fix="`memrepo log` lists runs and commits",
        )
    if len(words) == 2:
        return _range(work, words[0], words[1])
    word = words[0] if words else ""
    if "..." in word:
        raise UsageError(
            f"found {word!r}, expected two dots", fix="A..B compares the two commits themselves"
        )
    if ".." in word:
        first, _, second = word.partition("..")
        return _range(work, first or "HEAD", second or "HEAD")
    try:
        waits = the_waiting(work, word)
    except NothingWaits:
        last = None if word else newest_in_effect(work.landed())
        if not (word or last):
            raise
        word = last.run if last else word
    else:
        return Comparison(
            title=waits.run,
            state="waits",
            base=waits.base,
            tip=waits.tip,
            entry=waits.entry,
            chain=tuple(waits.chain(work)),
        )
    return _landed(work, word)


def _landed(work: Work, word: str) -> Comparison:
    repo = work.store.repo
    try:
        found = landing_of(work, word)
    except NoSuchRun:
        commit = _commit(work, word)
        found = next(history.entries(repo, "-1", commit))
    run = found.landed
    return Comparison(
        title=run or f"{found.commit[:10]} {found.subject}",
        state="landed" if run else "commit",
        entry=found,
        base=found.before,
        tip=found.commit,
        chain=tuple(history.chain_of(repo, found.commit)),
    )


def _range(work: Work, first: str, second: str) -> Comparison:
    base, tip = _commit(work, first), _commit(work, second)
    chain = history.entries(work.store.repo, "--reverse", f"{base}..{tip}")
    return Comparison(
        title=f"{first}..{second}", state="range", base=base, tip=tip, chain=tuple(chain)
    )


def _commit(work: Work, word: str) -> str:
    """Return the commit that a revision or run id identifies."""
    if found := work.store.resolve(word):
        return found
    try:
        return the_waiting(work, word).tip
    except NothingWaits:
        pass
    try:
        return landing_of(work, word).commit
    except NoSuchRun:
        raise UsageError(
            f"no run and no commit is called {word!r}", fix="`memrepo log` lists runs and commits"
        ) from None


def review_of(work: Work, span: Comparison) -> Review:
    """Collect the changes in a comparison."""
    before = work.store.snapshot(span.base).state() if span.base else EMPTY
    after = work.store.snapshot(span.tip).state()
    decisions = _decisions(span.chain)
    changes = []
    for one in differences(before, after):
        id_, new = one.memory.id, one.after
        heirs: list[str] = []
        replaced: list[str] = []
        if new is not None and one.kind == "superseded":
            heirs = [i for i in new.superseded_by if i in after.memories]
        if new is not None and one.kind == "added":
            old = [i for i in new.supersedes if i in before.memories]
            replaced = [i for i in old if before.memories[i].status != "superseded"]
        against = sorted(_contradicted(new) - _contradicted(one.before))
        changes.append(
            Change(
                difference=one,
                decisions=decisions.get(id_, ()),
                successors=tuple(after.memories[i] for i in heirs),
                replaces=tuple(replaced),
                against=tuple(after.memories[i] for i in against if i in after.memories),
            )
        )
    entry = span.entry
    return Review(
        title=span.title,
        state=span.state,
        base=span.base,
        tip=span.tip,
        run=span.run,
        reason=entry.trailer("Reason") if entry else "",
        when=f"{entry.when.astimezone(work.config.zone):%Y-%m-%d %H:%M %Z}" if entry else "",
        files=_files(work, span),
        changes=tuple(changes),
    )


def _contradicted(memory: Memory | None) -> set[str]:
    links = memory.links if memory else ()
    return {link.target for link in links if link.type == "contradicts"}


def _decisions(chain: Iterable[history.LogEntry]) -> Mapping[str, tuple[Reason, ...]]:
    """Return the decisions about each memory."""
    found: dict[str, tuple[Reason, ...]] = {}
    for entry in chain:
        one = Reason(
            op=entry.op,
            reason=entry.trailer("Reason"),
            actor=entry.trailer("Actor"),
            commit=entry.commit,
        )
        for id_ in entry.trailers.get("Memory", ()):
            found[id_] = (*found.get(id_, ()), one)
    return found


def _files(work: Work, span: Comparison) -> dict[str, int]:
    """Return the number of changed files per folder, not counting memories."""
    layout = work.tree.layout
    changed = work.store.work.changed(span.base, span.tip)
    names = (
        path.removeprefix(layout.prefix).partition("/")[0]
        if layout.owns(path)
        else "files that are not memrepo's"
        for path in changed
        if not layout.is_memory(path)
    )
    return dict(sorted(Counter(names).items()))

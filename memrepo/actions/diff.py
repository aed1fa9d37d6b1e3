"""`memrepo diff`: show what a run, a commit or a range of commits changes, by memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Annotated, Any, ClassVar

import msgspec

from memrepo.actions.past import NoSuchRun, landing_of
from memrepo.actions.pending import NothingWaits, the_waiting
from memrepo.actions.work import VerbResult, Work, option
from memrepo.core.errors import UsageError
from memrepo.core.memory import Memory
from memrepo.core.state import EMPTY, ChangeKind, differences
from memrepo.store import history
from memrepo.store.history import newest_in_effect
from memrepo.views.report import Change, Reason, Review, Stage


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of `memrepo diff`."""

    word: Annotated[
        str,
        option(
            "a waiting or landed run, a commit or REV..REV; default: the pending run, else the last"
            " one",
            metavar="RUN|REV",
        ),
    ] = ""
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
    review = review_of(work, request.word)
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


def review_of(work: Work, word: str = "") -> Review:
    """Return the changes that a word names: those of a run, of a commit or of `A..B`.

    Without a word, return those of the pending run, or else of the last landed run.
    """
    repo = work.store.repo
    if "..." in word:
        raise UsageError(f"found {word!r}, expected two dots", fix="A..B compares the two commits")
    if ".." in word:
        first, _, second = word.partition("..")
        base, tip = _commit(work, first or "HEAD"), _commit(work, second or "HEAD")
        chain = history.entries(repo, "--reverse", f"{base}..{tip}")
        return _review(work, "range", word, base, tip, chain)
    try:
        waits = the_waiting(work, word)
    except NothingWaits:
        last = None if word else newest_in_effect(work.landed())
        if not (word or last):
            raise
        word = last.run if last else word
    else:
        steps = waits.chain(work)
        return _review(work, "waits", waits.run, waits.base, waits.tip, steps, waits.entry)
    try:
        found = landing_of(work, word)
    except NoSuchRun:
        found = next(history.entries(repo, "-1", _commit(work, word)))
    state: Stage = "landed" if found.landed else "commit"
    title = found.landed or f"{found.commit[:10]} {found.subject}"
    steps = history.chain_of(repo, found.commit)
    return _review(work, state, title, found.before, found.commit, steps, found)


def _commit(work: Work, word: str) -> str:
    """Return the commit that a revision or run id identifies."""
    if found := work.store.resolve(word):
        return found
    with suppress(NothingWaits):
        return the_waiting(work, word).tip
    try:
        return landing_of(work, word).commit
    except NoSuchRun:
        raise UsageError(
            f"no run and no commit is called {word!r}", fix="`memrepo log` lists runs and commits"
        ) from None


def _review(
    work: Work,
    state: Stage,
    title: str,
    base: str,
    tip: str,
    chain: Iterable[history.LogEntry],
    entry: history.LogEntry | None = None,
) -> Review:
    """Return the changes between two commits, and why the commits between them made them.

    `base` is empty if there is no earlier commit. `entry` is the merge or commit that is shown.
    """
    before = work.store.snapshot(base).state() if base else EMPTY
    after = work.store.snapshot(tip).state()
    decisions = _decisions(chain)
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
    return Review(
        title=title,
        state=state,
        base=base,
        tip=tip,
        run=entry.run if entry and state in ("waits", "landed") else "",
        reason=entry.trailer("Reason") if entry else "",
        when=f"{entry.when.astimezone(work.config.zone):%Y-%m-%d %H:%M %Z}" if entry else "",
        files=_files(work, base, tip),
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


def _files(work: Work, base: str, tip: str) -> dict[str, int]:
    """Return the number of changed files per folder, not counting memories."""
    layout = work.tree.layout
    changed = work.store.work.changed(base, tip)
    names = (
        path.removeprefix(layout.prefix).partition("/")[0]
        if layout.owns(path)
        else "files that are not memrepo's"
        for path in changed
        if not layout.is_memory(path)
    )
    return dict(sorted(Counter(names).items()))

"""memrepo for programs that embed it: `with open_repository(folder, clock=...) as memory:`.

The same paths as the command line: the one writer, the same refusals, the same records. The clock
is the caller's, since nothing but the command line reads one here. docs/python.md shows it at work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.check.secrecy import SecretInText
from memrepo.actions.past.timeline import find_present
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.recalled import RECALL_STATUSES, facts, index_of, recall
from memrepo.actions.recall.search import Hit, bounded, hit_of
from memrepo.actions.recall.usage import HITS
from memrepo.actions.recall.usage import touch as _touch
from memrepo.actions.recall.when import work_at
from memrepo.actions.request import Wish
from memrepo.actions.work import Call, Work
from memrepo.actions.write.commit import Unchanged, said, write
from memrepo.actions.write.drafts import Drafts, Entry, NotOneOf
from memrepo.core.changes import Create, Step
from memrepo.core.errors import Exit, MemrepoError
from memrepo.core.memory import TYPES, Memory, Source
from memrepo.core.messages import counted
from memrepo.core.problems import Problem
from memrepo.core.state import State
from memrepo.policies.terms import query_terms
from memrepo.store.index import Filter
from memrepo.store.ledger import ledger_of
from memrepo.store.repo import Repository
from memrepo.store.repo import open_repository as _open

__all__ = (
    "Entry",
    "Hit",
    "MemrepoError",
    "OpenRepository",
    "Shown",
    "Source",
    "open_repository",
)

ACTOR = "process:python"
"""Who acts unless the program says so: never a person."""


class NoBound(MemrepoError):
    """A number of hits or of tokens below one."""

    exit_code = Exit.USAGE

    def __init__(self, what: str, found: int) -> None:
        super().__init__(f"{what}: found {found}", fix="give a number from 1")


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One memory with its evidence, as `memrepo show --json` tells of it.

    `derived` is what no file holds (retrievals, tier or decay); it is empty for a look into the
    past. `evidence` quotes each source and says where its lines stand by now.
    """

    memory: Memory
    derived: Mapping[str, Any]
    evidence: Sequence[Quote]
    commit: str


class OpenRepository:
    """A repository that is open; made by `open_repository`, for one thread.

    Every call sees HEAD as it is then, whoever committed, and `search` edits of files as well. All
    errors are `MemrepoError`s, with a `message`, a `fix` and the exit code that the command line
    would end with.
    """

    problems: tuple[Problem, ...] = ()
    """What the last write noticed, such as a text that is close to a rejected one."""

    def __init__(self, store: Repository, clock: Callable[[], datetime], actor: str) -> None:
        self._store, self._clock, self._actor = store, clock, actor
        self._last: Work | None = None

    def search(
        self,
        query: str,
        k: int = 10,
        *,
        types: Iterable[str] = (),
        tags: Iterable[str] = (),
        scopes: Iterable[str] = (),
        statuses: Iterable[str] = ("active",),
        at: str | None = None,
        max_tokens: int | None = None,
        now: datetime | None = None,
        touch: bool = True,
    ) -> list[Hit]:
        """Return the at most `k` memories that answer a question best, best first.

        A hit bears all of the `tags`, and is of one of the `scopes` or of the whole repository.
        `at` is a commit, a run or a date: what was known then. `max_tokens` bounds the texts
        together, four characters a token, or one where no blanks stand between words. The first
        three hits count as retrieved, but not with `touch=False` nor in the past. Raises NoBound,
        NotOneOf, NoSuchMoment, BeforeHistory or NotYetSetUp.
        """
        _require(k, "k")
        if max_tokens is not None:
            _require(max_tokens, "max_tokens")
        only = Filter(
            types=_words(types, "types", TYPES),
            limit=k,
            statuses=_words(statuses, "statuses", RECALL_STATUSES) or ("active",),
            tags=_several(tags),
            scopes=_several(scopes),
        )
        here = self._work(now)
        there = work_at(here, at or "")
        found = recall(there, index_of(there, past=bool(at)), [query], only, here.call.now)
        every = [hit_of(one, there.tree.commit) for one in found]
        hits, _ = bounded(every, max_tokens, query_terms(query))
        if touch and not at:
            _touch(here, [hit.id for hit in hits[:HITS]])
        return hits

    def show(
        self,
        id: str,  # noqa: A002 - its name
        *,
        at: str | None = None,
        now: datetime | None = None,
        touch: bool = True,
    ) -> Shown:
        """Return the memory that an id, a unique prefix of one or a slug names; it is retrieved.

        Raises NoSuchMemory, Ambiguous, LeftTheTree or NotThereYet, and for `at` what `search` does.
        """
        here = self._work(now)
        there = work_at(here, at or "")
        memory = find_present(there, there.tree.state(), id, here)
        derived: Mapping[str, Any] = {}
        if not at:
            accesses = ledger_of(self._store).accesses()
            derived = msgspec.to_builtins(
                facts(memory, accesses, here.call.now, there.config.rules)
            )
        quoted = evidence(there, memory)
        if touch and not at:
            _touch(here, [memory.id])
        return Shown(memory=memory, derived=derived, evidence=quoted, commit=there.tree.commit)

    def add(
        self,
        text: str,
        *,
        type: str = "fact",  # noqa: A002 - the field's name
        subject: str = "",
        tags: Iterable[str] = (),
        source: Source | None = None,
        reason: str = "",
        now: datetime | None = None,
    ) -> str:
        """Write one memory in one commit and return its id; see `add_all`."""
        entry = Entry(text=text, type=type, subject=subject, tags=tuple(tags), source=source)
        return self.add_all([entry], reason=reason, now=now)[0]

    def add_all(
        self,
        entries: Iterable[Entry],
        *,
        reason: str = "",
        skip_secrets: bool = False,
        now: datetime | None = None,
    ) -> list[str]:
        """Write memories in one commit, all or none, and return an id for each entry in order.

        What an active memory says already (an equal text in the same scope, about the same subject
        where the entry names one) is not written again: its entry gets the id there is. Raises
        Rejected, SecretInText, NothingSaid, BadValue, NotOneOf, NoSuchClass or NewerFormat, and
        then nothing is written; an entry whose text is at fault is named by its number, from 1.
        With `skip_secrets` an entry whose text may hold a secret is left out: its id is empty.
        """
        wanted = list(_sayable(entries, skip_secrets=skip_secrets))
        work = self._work(now)
        ids: list[str] = []

        def draft(state: State) -> Step | Unchanged:
            drafts = Drafts(work.refreshed(), state)
            ids[:] = [drafts.take(entry)[0].id if entry else "" for entry in wanted]
            made = drafts.made
            if not made:
                return Unchanged()
            what = made[0].slug if len(made) == 1 else counted(len(made), "memory", "memories")
            return Step(
                op="create",
                what=f"{what} by hand",
                reason="added by a program",
                changes=tuple(Create(memory=memory) for memory in made),
            )

        self.problems = write(work, Wish(reason=reason), draft).notices
        return ids

    def _work(self, now: datetime | None) -> Work:
        """Return the work of one call at HEAD; the tree is listed again only when HEAD moved."""
        call = Call(where=self._store.root, now=now or self._clock(), actor=self._actor, quiet=True)
        known = self._last
        head = self._store.head()
        tree = known.tree if known is not None and known.tree.commit == head else None
        self._last = Work(call, store=self._store, tree=tree)
        return self._last


@contextmanager
def open_repository(
    where: str | Path, *, clock: Callable[[], datetime], actor: str = ACTOR
) -> Iterator[OpenRepository]:
    """Open the repository that holds a folder.

    `clock` returns the current time with its zone, and is asked once a call. `actor` is who acts in
    commits: a word is a program, `human:<email>` a person. Raises NotARepository or CannotWork.
    """
    with _open(Path(where).absolute()) as store:
        yield OpenRepository(store, clock, actor if ":" in actor else f"process:{actor}")


def _sayable(entries: Iterable[Entry], *, skip_secrets: bool) -> Iterator[Entry | None]:
    """Yield each entry with its text as a memory keeps it, None for one that is skipped."""
    given = list(entries)
    for number, one in enumerate(given, start=1):
        what = f"the text of entry {number}" if len(given) > 1 else "the text"
        try:
            yield replace(one, text=said(one.text, what))
        except SecretInText:
            if not skip_secrets:
                raise
            yield None


def _require(number: int, what: str) -> None:
    if number < 1:
        raise NoBound(what, number)


def _words(given: Iterable[str], what: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that are given, one alone too; raises NotOneOf."""
    found = _several(given)
    for word in found:
        if word not in known:
            raise NotOneOf(what, word, known)
    return found


def _several(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)

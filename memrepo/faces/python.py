"""memrepo for programs that embed it: `with open_repository(folder, clock=...) as memory:`.

The same paths as the command line: the one writer, the same refusals, the same records. The clock
is the caller's, since nothing but the command line reads one here. docs/python.md shows it at work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from memrepo.actions.guard import SecretInText
from memrepo.actions.past import why
from memrepo.actions.past.timeline import find_present
from memrepo.actions.recall import search
from memrepo.actions.recall.quotes import Quote, evidence
from memrepo.actions.recall.recall import facts
from memrepo.actions.recall.search import Hit, Passage
from memrepo.actions.recall.usage import touch
from memrepo.actions.recall.when import work_at
from memrepo.actions.request import Wish, checked
from memrepo.actions.takeback import reject
from memrepo.actions.verbs import VERBS, perform
from memrepo.actions.work import Call, Work
from memrepo.actions.write.add import Drafts, Entry
from memrepo.actions.write.change import (
    ConfirmRequest,
    EditRequest,
    ForgetRequest,
    SupersedeRequest,
)
from memrepo.actions.write.commit import Unchanged, Written, said, write
from memrepo.core.changes import Create, Step
from memrepo.core.errors import MemrepoError, UsageError
from memrepo.core.memory import Memory, Source
from memrepo.core.problems import Problem
from memrepo.core.state import State
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


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One memory with its evidence, as `memrepo show --json` tells of it.

    `derived` is what no file holds (retrievals, tier or decay); it is empty for a look into the
    past. `evidence` quotes each source and says where its lines stand by now.
    """

    memory: Memory
    derived: Mapping[str, Any]
    evidence: Sequence[Quote]
    commit: str


_VERB_OF = {(verb.module, verb.request): name for name, verb in VERBS.items()}


class OpenRepository:
    """A repository that is open; made by `open_repository`, for one thread.

    Every call sees HEAD as it is then, whoever committed, and `search` edits of files as well. All
    errors are `MemrepoError`s, with a `message`, a `fix` and the exit code that the command line
    would end with.
    """

    problems: tuple[Problem, ...] = ()
    """What the last write noticed, such as a text that is close to a rejected one."""

    def __init__(
        self, store: Repository, clock: Callable[[], datetime], actor: str, scope: str = ""
    ) -> None:
        self._store, self._clock, self._actor, self._scope = store, clock, actor, scope
        self._last: Work | None = None

    def do(self, request: Any, *, now: datetime | None = None) -> Any:
        """Do what a request of any verb asks for, and return that verb's result.

        `do(memrepo.actions.past.log.Request())` is what `memrepo log --json` tells, as a record.
        Raises Unfit for a field outside its bounds, and what the verb raises.
        """
        name = _VERB_OF.get((type(request).__module__, type(request).__name__))
        if name is None:
            raise UsageError(f"{type(request).__name__} is no request of a verb")
        work = self._work(now)
        result = perform(work, name, checked(request))
        self.problems = result.notices
        return result

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a verb that has no method of its own, such as `run`, `revert` or `why_not`.

        It takes the fields of the verb's request, by name or in their order, and `now`.
        """
        verb = VERBS.get(name.replace("_", "-"))
        if verb is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def perform_verb(*given: Any, now: datetime | None = None, **fields: Any) -> Any:
            kind = verb.load().Request
            names = kind.__struct_fields__[: len(given)]
            return self.do(kind(**dict(zip(names, given, strict=True)), **fields), now=now)

        return perform_verb

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        types: Iterable[str] = (),
        tags: Iterable[str] = (),
        scopes: Iterable[str] = (),
        statuses: Iterable[str] = (),
        at: str = "",
        valid_at: str = "",
        max_tokens: int | None = None,
        recency_weight: float | None = None,
        layered: bool = False,
        no_touch: bool = False,
        now: datetime | None = None,
    ) -> list[Hit]:
        """Return the at most `limit` memories that answer a question best, best first.

        A hit bears all of the `tags`, and is of one of the `scopes` or of the whole repository.
        `at` is a commit, a run or a date: what was known then. `max_tokens` bounds the texts
        together, four characters a token, or one where no blanks stand between words. The first
        three hits count as retrieved, but not with `no_touch` nor in the past. Raises Unfit,
        NoSuchMoment, BeforeHistory or NotYetSetUp.
        """
        request = search.Request(
            words=(query,),
            limit=limit,
            types=_several(types),
            tags=_several(tags),
            scopes=_several(scopes),
            statuses=_several(statuses),
            at=at,
            valid_at=valid_at,
            max_tokens=max_tokens,
            recency_weight=recency_weight,
            layered=layered,
            no_touch=no_touch,
        )
        result: search.Result = self.do(request, now=now)
        return list(result.hits)

    def passages(self, query: str, *, now: datetime | None = None) -> list[Passage]:
        """Return up to three thoughts of the sources that answer and that no memory rests on."""
        result: search.Result = self.do(search.Request(words=(query,), no_touch=True), now=now)
        return list(result.passages)

    def show(
        self,
        id: str,  # noqa: A002 - its name
        *,
        at: str = "",
        no_touch: bool = False,
        now: datetime | None = None,
    ) -> Shown:
        """Return the memory that an id, a unique prefix of one or a slug names; it is retrieved.

        Raises NoSuchMemory, Ambiguous, LeftTheTree or NotThereYet, and for `at` what `search` does.
        """
        here = self._work(now)
        there = work_at(here, at)
        memory = find_present(there, there.tree.state(), id, here)
        derived: Mapping[str, object] = {}
        if not at:
            accesses = ledger_of(self._store).accesses()
            derived = msgspec.to_builtins(
                facts(memory, accesses, here.call.now, there.config.rules)
            )
        quoted = evidence(there, memory)
        if not (no_touch or at):
            touch(here, [memory.id])
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
            return Step(
                op="create",
                reason="added by a program",
                changes=tuple(Create(memory=memory) for memory in made),
            )

        self.problems = write(work, Wish(reason=reason), draft).notices
        return ids

    def supersede(
        self,
        id: str,  # noqa: A002 - its name
        text: str,
        *,
        reason: str = "",
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> Written | Unchanged:
        """Replace a memory by a newer statement, indivisibly."""
        request = SupersedeRequest(id=id, text=text, reason=reason, dry_run=dry_run)
        done: Written | Unchanged = self.do(request, now=now)
        return done

    def edit(
        self,
        id: str,  # noqa: A002 - its name
        *,
        text: str | None = None,
        fields: Iterable[str] = (),
        reason: str = "",
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> Written | Unchanged:
        """Reword a memory or set its fields, each `KEY=VALUE`; an empty value removes one."""
        request = EditRequest(
            id=id, text=text, fields=_several(fields), reason=reason, dry_run=dry_run
        )
        done: Written | Unchanged = self.do(request, now=now)
        return done

    def confirm(
        self,
        id: str,  # noqa: A002 - its name
        *,
        reason: str = "",
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> Written | Unchanged:
        """Report that a memory holds."""
        request = ConfirmRequest(id=id, reason=reason, dry_run=dry_run)
        done: Written | Unchanged = self.do(request, now=now)
        return done

    def forget(
        self,
        id: str,  # noqa: A002 - its name
        *,
        reason: str = "",
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> Written | Unchanged:
        """Take a memory out of recall; its file and history stay."""
        request = ForgetRequest(id=id, reason=reason, dry_run=dry_run)
        done: Written | Unchanged = self.do(request, now=now)
        return done

    def reject(
        self,
        id: str,  # noqa: A002 - its name
        *,
        reason: str,
        dry_run: bool = False,
        now: datetime | None = None,
    ) -> Written | Unchanged:
        """Keep what a memory says from ever coming back; the reason is kept in clear."""
        request = reject.Request(id=id, reason=reason, dry_run=dry_run)
        done: Written | Unchanged = self.do(request, now=now)
        return done

    def why(
        self,
        id: str,  # noqa: A002 - its name
        *,
        at: str = "",
        now: datetime | None = None,
    ) -> why.Result:
        """Return the evidence and the judgements that a memory rests on."""
        done: why.Result = self.do(why.Request(id=id, at=at), now=now)
        return done

    def _work(self, now: datetime | None) -> Work:
        """Return the work of one call at HEAD; the tree is listed again only when HEAD moved."""
        call = Call(
            where=self._store.root,
            now=now or self._clock(),
            actor=self._actor,
            quiet=True,
            scope=self._scope,
        )
        known = self._last
        head = self._store.head()
        tree = known.whole if known is not None and known.whole.commit == head else None
        self._last = Work(call, store=self._store, tree=tree)
        return self._last


@contextmanager
def open_repository(
    where: str | Path,
    *,
    clock: Callable[[], datetime] | None = None,
    actor: str = ACTOR,
    scope: str = "",
) -> Iterator[OpenRepository]:
    """Open the repository that holds a folder.

    `clock` returns the current time with its zone, and is asked once a call; without it the
    system's clock is. `actor` is who acts in
    commits: a word is a program, `human:<email>` a person. With a `scope` that and what holds in
    the whole repository is seen, and that alone is written. Raises NotARepository or CannotWork.
    """
    with _open(Path(where).absolute()) as store:
        yield OpenRepository(
            store,
            clock or _system_clock,
            actor if ":" in actor else f"process:{actor}",
            scope,
        )


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


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _several(given: Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)

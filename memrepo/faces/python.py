"""The Python API for programs that embed memrepo. It begins with `open_repository(folder)`.

Calls use the same write path, checks and records as the command line. The caller may supply the
clock. docs/python.md has examples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from memrepo.actions.landing import SecretInText, Unchanged, clean_text, write
from memrepo.actions.recall import search
from memrepo.actions.recall.recall import Hit
from memrepo.actions.recall.search import Passage
from memrepo.actions.verbs import VERBS, perform, refuse_private
from memrepo.actions.work import Call, Wish, Work, checked
from memrepo.actions.write import Drafts, Entry
from memrepo.core.errors import MemrepoError, Problem, UsageError
from memrepo.core.memory import Source, defaults_of
from memrepo.core.state import Create, State, Step
from memrepo.store.repo import Repository
from memrepo.store.repo import open_repository as _open

__all__ = ("Entry", "Hit", "MemrepoError", "OpenRepository", "Source", "open_repository")

ACTOR = "process:python"
"""The default actor of commits: a program, never a person."""


_VERB_OF = {(verb.module, verb.request): name for name, verb in VERBS.items()}


class OpenRepository:
    """An open repository, which `open_repository` returns. Only one thread may use it.

    Every call reads the current HEAD, including commits by others. `search` also sees uncommitted
    edits. All errors are `MemrepoError`s. Each has a `message`, a `fix` and the exit code that the
    command line would return.
    """

    problems: tuple[Problem, ...] = ()
    """Notices of the last write, such as a text that resembles a rejected one."""

    def __init__(
        self, store: Repository, clock: Callable[[], datetime], actor: str, scope: str = ""
    ) -> None:
        self._store, self._clock, self._actor, self._scope = store, clock, actor, scope
        self._last: Work | None = None

    def do(self, request: Any, *, now: datetime | None = None) -> Any:
        """Perform a request of any verb, and return the result of the verb.

        `do(memrepo.actions.past.LogRequest())` returns the same record as `memrepo log --json`.
        Raise Unfit if a field is out of bounds, and any error of the verb.
        """
        name = _VERB_OF.get((type(request).__module__, type(request).__name__))
        if name is None:
            raise UsageError(f"{type(request).__name__} is no request of a verb")
        work = self._work(now)
        result = perform(work, name, checked(request))
        self.problems = result.notices
        return result

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function for a verb that has no method here, such as `forget` or `related`.

        The function accepts the fields of the verb's request, by position or by name, and `now`.
        """
        verb = VERBS.get(name.replace("_", "-"))
        if verb is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

        def perform_verb(*given: Any, now: datetime | None = None, **fields: Any) -> Any:
            kind = verb.load().Request
            names = kind.__struct_fields__[: len(given)]
            return self.do(
                _request(kind, {**dict(zip(names, given, strict=True)), **fields}), now=now
            )

        return perform_verb

    def search(
        self, query: str, limit: int = 10, *, now: datetime | None = None, **fields: Any
    ) -> list[Hit]:
        """Return at most `limit` memories that match a query, with the best match first.

        `fields` are options of `memrepo search`: `types`, `tags`, `scopes`, `statuses`, `at`,
        `max_tokens`, `recency_weight`, `layered` and `no_touch`. A hit has all of the
        `tags`. A hit has one of the `scopes` or belongs to the whole repository. `at` is a commit,
        a run or a date, and searches the memory of that time. `max_tokens` limits the total size of
        the texts. A token is four characters, or one character in scripts without spaces. The first
        three hits count as retrieved, except with `no_touch` or `at`. Raise Unfit, NoSuchMoment,
        BeforeHistory or NotYetSetUp.
        """
        request = _request(search.Request, {"words": (query,), "limit": limit, **fields})
        result: search.Result = self.do(request, now=now)
        return list(result.hits)

    def passages(self, query: str, *, now: datetime | None = None) -> list[Passage]:
        """Return at most three source passages that match a query and that no memory cites."""
        result: search.Result = self.do(search.Request(words=(query,), no_touch=True), now=now)
        return list(result.passages)

    def add(
        self,
        text: str,
        *,
        type: str = "fact",  # noqa: A002 - the name of the field
        subject: str = "",
        tags: Iterable[str] = (),
        source: Source | None = None,
        reason: str = "",
        now: datetime | None = None,
    ) -> str:
        """Write one memory in one commit, and return its id. The rules of `add_all` apply."""
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
        """Write all entries in one commit, or none of them. Return one id per entry, in order.

        An entry that repeats an active memory is not written again and gets the id of that memory.
        A repetition has an equal text and the same scope. If the entry names a subject, the subject
        must match too. Raise Rejected, SecretInText, NothingSaid, UsageError, NotOneOf, NoSuchClass
        or OtherFormat without writing anything. The error gives the number of an unusable entry,
        from 1. With `skip_secrets`, an entry with a possible secret is skipped and its id is empty.
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

    def _work(self, now: datetime | None) -> Work:
        """Return the context of one call at HEAD. If HEAD has not moved, reuse the listed tree."""
        call = Call(
            where=self._store.root,
            now=now or self._clock(),
            actor=self._actor,
            quiet=True,
            scope=self._scope,
            id=session(),
        )
        known = self._last
        head = self._store.head()
        tree = known.whole if known is not None and known.whole.commit == head else None
        self._last = Work(call, store=self._store, tree=tree)
        refuse_private(self._last)
        return self._last


@contextmanager
def open_repository(
    where: str | Path,
    *,
    clock: Callable[[], datetime] | None = None,
    actor: str = ACTOR,
    scope: str = "",
) -> Iterator[OpenRepository]:
    """Open the repository that contains a folder, and close it at the end of the `with` block.

    `clock` returns the current time with its time zone and is called once per call. The default is
    the system clock. `actor` is the author of commits: a plain word is a program, `human:<email>`
    is a person. With a `scope`, calls see that scope and the memories of the whole repository, and
    write only that scope. Raise NotARepository or StoreError.
    """
    with _open(Path(where).absolute()) as store:
        yield OpenRepository(
            store, clock or _system_clock, actor if ":" in actor else f"process:{actor}", scope
        )


def _sayable(entries: Iterable[Entry], *, skip_secrets: bool) -> Iterator[Entry | None]:
    """Yield entries with normalised text. An entry skipped because of a secret becomes None."""
    given = list(entries)
    for number, one in enumerate(given, start=1):
        what = f"the text of entry {number}" if len(given) > 1 else "the text"
        try:
            yield replace(one, text=clean_text(one.text, what))
        except SecretInText:
            if not skip_secrets:
                raise
            yield None


def session() -> str:
    """Return the name of the agent's session, if the environment has one."""
    return " ".join(os.environ.get("MEMREPO_SESSION", "").split())[:100]


def _system_clock() -> datetime:
    return datetime.now(UTC)


def _request(kind: Any, fields: Mapping[str, Any]) -> Any:
    """Return a request. A list, or the single text of a list, becomes the tuple that it holds."""
    defaults = defaults_of(kind)
    return kind(
        **{
            name: _several(value) if isinstance(defaults.get(name), tuple) else value
            for name, value in fields.items()
        }
    )


def _several(value: Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)

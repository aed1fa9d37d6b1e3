"""The verbs of `verbs.txt`: names, help lines, modules, and whether each verb writes history.

A verb's module defines `Request` and `do(work, request)`. If several verbs share a module, each has
`NameRequest` and `name(work, request)`. A module is imported when its verb is called, so `--help`
and `--version` import none.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memrepo.core.errors import MemrepoError, OutOfScope, UsageError

if TYPE_CHECKING:
    from memrepo.actions.work import VerbResult, Work
    from memrepo.core.errors import Problem


class Verb(NamedTuple):
    """One verb of the command table."""

    name: str
    says: str
    module: str
    writes: bool = False
    """Whether the verb writes into the repository's history."""
    everyday: bool = False
    """Whether `memrepo --help` shows it. `memrepo help --all` shows every verb."""

    request: str = "Request"
    """Class name of its request. Verbs that share a module have `PinRequest` and so on."""

    def load(self) -> Loaded:
        """Import the verb's module, and return the request class and the function of the verb."""
        module = import_module(self.module)
        do = "do" if self.request == "Request" else self.name.replace("-", "_")
        return Loaded(getattr(module, self.request), getattr(module, do))


class Loaded(NamedTuple):
    """The request class and the function of a verb, after import."""

    Request: type[Any]
    do: Callable[[Work, Any], VerbResult]


def read_verbs(path: Path, package: str) -> dict[str, tuple[Verb, ...]]:
    """Parse a table of verbs: below each purpose, one line per verb with name, module and help.

    The flags are `w` for a verb that writes history and `e` for an everyday verb.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    modules = [line.split()[1] for line in lines if line.startswith("  ")]
    found: dict[str, tuple[Verb, ...]] = {}
    group = ""
    for line in lines:
        if line.startswith("  "):
            name, module, flags, says = line.split(None, 3)
            is_shared = modules.count(module) > 1
            request = f"{name.title().replace('-', '')}Request" if is_shared else "Request"
            module = f"{package}.{module}"
            found[group] += (Verb(name, says, module, "w" in flags, "e" in flags, request),)
        else:
            group = line
            found[group] = ()
    return found


GROUPS = read_verbs(Path(__file__).with_name("verbs.txt"), "memrepo.actions")
"""The verbs by purpose, in the order of `memrepo help --all`."""

VERBS = {verb.name: verb for group in GROUPS.values() for verb in group}


SCOPED_VERBS = "search show related thread session add supersede forget import".split()
"""Verbs that a caller bound to a scope may call. All others read or write the whole repository."""


def refuse_verb(scope: str, verb: str) -> None:
    """Raise OutOfScope if a scope-restricted caller uses a verb for the whole repository."""
    if scope and verb not in SCOPED_VERBS:
        raise OutOfScope(scope, f"{verb} applies to the whole repository")


def narrowed(bound: str, asked: str) -> str:
    """Return the effective scope of a request. Raise OutOfScope if it requests another scope."""
    if bound and asked and asked != bound:
        raise OutOfScope(bound, f"the scope {asked[:100]} is another one")
    return bound or asked


class PrivateSession(UsageError):
    """Raised when a private session asks for memory, or would store something."""

    def __init__(self) -> None:
        super().__init__(
            "this session is private: memory answers nothing in it, and stores nothing",
            fix="go on without memory; `agents.private` in memrepo.toml lists such sessions",
        )


def refuse_private(work: Work, session: str = "", folder: str = "") -> None:
    """Raise PrivateSession if `agents.private` leaves out a session, by its name or its folder.

    The folder is the one that the session names, and the one in which this process was started.
    """
    wanted = {Path(name).expanduser() for name in work.config.agents.private}
    # A folder next to the repository may be relative to it. A name has one part.
    wanted |= {(work.store.root / path).resolve() for path in wanted if len(path.parts) > 1}
    try:
        here = Path.cwd()
    except FileNotFoundError:  # it was deleted
        here = Path("/")
    folders = [here / folder, here]
    folders += [place.resolve() for place in folders]
    names = {Path(name) for name in ("*", session, work.call.id) if name}
    if not wanted.isdisjoint(names.union(folders, *(place.parents for place in folders))):
        raise PrivateSession


def perform(work: Work, name: str, request: Any) -> VerbResult:
    """Run a verb with a request, and return the result.

    What an agent may call is refused in a private session that the environment names.
    """
    verb = VERBS[name]
    notices: tuple[Problem, ...] = ()
    if work.call.id and name in SCOPED_VERBS:
        refuse_private(work)
    if work.call.scope:
        refuse_verb(work.call.scope, name)
    if verb.writes:
        with suppress(MemrepoError):  # the verb reports it; the configuration says what is a secret
            _ = work.config
    if reason := getattr(request, "reason", ""):
        from memrepo.actions.landing import refuse_secret

        refuse_secret(reason, "the reason")
    if verb.writes and not getattr(request, "list", False):
        from memrepo.actions.work import driver_notices

        notices = driver_notices(work)
    if name == "run":
        from memrepo.actions.work import purge_notices

        notices += purge_notices(work)
    found: VerbResult = verb.load().do(work, request)
    return found.after(notices) if notices else found

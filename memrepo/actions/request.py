"""How the fields of a verb's `Request` are declared, and the fields that many verbs share.

A request is a frozen `msgspec.Struct` whose fields are `Annotated[type, option(...)]`. Every face
is derived from them: the command line's parser, the tools' JSON Schema, the reference pages.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Protocol,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from memrepo.core.errors import UsageError
from memrepo.core.fields import defaults_of

if TYPE_CHECKING:
    from memrepo.merge.takeback import Side


class Option(NamedTuple):
    """What a face may know of a field next to its type, bounds and default."""

    flags: tuple[str, ...] = ()
    """How the command line spells it; empty for what stands without a name."""
    metavar: str = ""
    const: str | None = None
    """What the option is where it is given without a value (`optional`)."""
    optional: bool = False
    several: bool = False
    """Whether one option takes many values, instead of being given many times."""
    least: int = 0
    rest: bool = False
    """Whether it takes all that follows, options too."""
    piped: bool = False
    """Whether `-` on a command line stands for standard input."""
    group: str = ""
    """At most one field of a group is given."""
    read: Callable[[str], Any] | None = None
    """Reads the word of a command line; raises ValueError with what was found and expected."""
    choices: tuple[str, ...] = ()


def option(
    says: str,
    *flags: str,
    metavar: str = "",
    choices: Collection[str] = (),
    ge: float | None = None,
    le: float | None = None,
    const: str | None = None,
    optional: bool = False,
    several: bool = False,
    least: int = 0,
    rest: bool = False,
    piped: bool = False,
    group: str = "",
    read: Callable[[str], object] | None = None,
) -> msgspec.Meta:
    """Describe a field: one line of help, how it is spelled, its bounds and its closed list."""
    known = Option(
        flags, metavar, const, optional, several, least, rest, piped, group, read, tuple(choices)
    )
    return msgspec.Meta(description=says, ge=ge, le=le, extra={"option": known})


def choices_of(type_: object, meta: msgspec.Meta) -> tuple[str, ...]:
    """Return the closed list of a field: what its option names, or what its type spells out."""
    known: Option = (meta.extra or {})["option"]
    if known.choices:
        return known.choices
    if get_origin(type_) is Literal:
        return get_args(type_)
    return tuple(choice for part in get_args(type_) for choice in choices_of(part, meta))


class Unfit(UsageError):
    """A field of a request is outside its bounds or its closed list."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}", fix=f"expected {expected}")


@cache
def _declared(kind: type[msgspec.Struct]) -> dict[str, tuple[msgspec.Meta, tuple[str, ...]]]:
    """Return the option and the closed list of each field of a request."""
    hints = get_type_hints(kind, include_extras=True)
    parts = {name: get_args(hints[name]) for name in kind.__struct_fields__}
    return {name: (meta, choices_of(type_, meta)) for name, (type_, meta) in parts.items()}


def checked(request: msgspec.Struct) -> object:
    """Return a request whose fields are within their bounds and lists; raises Unfit.

    For callers in this process: a command line's parser and a tool's schema have looked already.
    """
    defaults = defaults_of(type(request))
    for name, (meta, choices) in _declared(type(request)).items():
        value = getattr(request, name)
        if value == defaults.get(name):
            continue
        for one in value if isinstance(value, tuple) else (value,):
            if choices and one not in choices:
                raise Unfit(name, one, f"one of {', '.join(choices)}")
            if isinstance(one, int | float) and not isinstance(one, bool):
                if meta.ge is not None and one < meta.ge:
                    raise Unfit(name, one, f"a number from {meta.ge}")
                if meta.le is not None and one > meta.le:
                    raise Unfit(name, one, f"a number up to {meta.le}")
    return request


DryRun = Annotated[bool, option("print what would be done", "--dry-run")]
Reason = Annotated[str, option("why, for the commit", "--reason")]
NoTouch = Annotated[bool, option("do not count this as a retrieval", "--no-touch")]
At = Annotated[
    str, option("as it was at a commit, or at the end of a day", "--at", metavar="REV|DATE")
]
ValidAt = Annotated[str, option("what was true in the world then", "--valid-at", metavar="DATE")]


class Writes(Protocol):
    """What every request of a verb that makes commits holds."""

    @property
    def dry_run(self) -> bool:
        """Return whether only to print what would be done."""

    @property
    def reason(self) -> str:
        """Return why, for the commit."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller in this process says of a write, instead of a verb's own request."""

    dry_run: bool = False
    reason: str = ""


class Sides(Protocol):
    """What a request holds that lets a person choose a side where two clash."""

    @property
    def ours(self) -> bool:
        """Return whether this side is taken."""

    @property
    def theirs(self) -> bool:
        """Return whether the other side is taken."""


def side_of(request: Sides) -> Side:
    """Return the side that is taken; empty where a person has chosen none."""
    return "ours" if request.ours else "theirs" if request.theirs else ""

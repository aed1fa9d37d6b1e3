"""What a verb takes and returns: the fields of its `Request`, and the base class of its result.

A request is a frozen `msgspec.Struct` whose fields are `Annotated[type, option(...)]`. Every
interface is derived from these fields: the command-line parser, the JSON Schema of tools, and the
reference pages. A result contains everything that an interface may show. Its fields are the keys of
`--json`, and the wording is defined in `memrepo.faces.text`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    Protocol,
    Self,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec

from memrepo.core.errors import Exit, Problem, UsageError
from memrepo.core.fields import defaults_of

if TYPE_CHECKING:
    from memrepo.merge.versions import Side


class Option(NamedTuple):
    """The command-line details of a field, in addition to its type, bounds and default."""

    flags: tuple[str, ...] = ()
    """Its flags on the command line; empty for a positional argument."""
    metavar: str = ""
    const: str | None = None
    """The value if the option is given without one (`optional`)."""
    optional: bool = False
    several: bool = False
    """Whether one option accepts many values, instead of being repeated."""
    least: int = 0
    rest: bool = False
    """Whether it accepts all remaining arguments, including options."""
    piped: bool = False
    """Whether `-` on the command line means standard input."""
    group: str = ""
    """Name of a mutually exclusive group: at most one field of a group may be given."""
    read: Callable[[str], Any] | None = None
    """Parses the command-line word; raises ValueError with the value found and the expected form.
    """
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
    """Describe a field: its help line, flags, bounds and choices."""
    known = Option(
        flags, metavar, const, optional, several, least, rest, piped, group, read, tuple(choices)
    )
    return msgspec.Meta(description=says, ge=ge, le=le, extra={"option": known})


def choices_of(type_: object, meta: msgspec.Meta) -> tuple[str, ...]:
    """Return the choices of a field, from its option or else from its `Literal` type."""
    known: Option = (meta.extra or {})["option"]
    if known.choices:
        return known.choices
    if get_origin(type_) is Literal:
        return get_args(type_)
    return tuple(choice for part in get_args(type_) for choice in choices_of(part, meta))


class Unfit(UsageError):
    """Raised when a field of a request is outside its bounds or choices."""

    def __init__(self, field: str, found: object, expected: str) -> None:
        super().__init__(f"{field}: found {found!r}", fix=f"expected {expected}")


@cache
def _declared(kind: type[msgspec.Struct]) -> dict[str, tuple[msgspec.Meta, tuple[str, ...]]]:
    """Return the metadata and the choices of each field of a request."""
    hints = get_type_hints(kind, include_extras=True)
    parts = {name: get_args(hints[name]) for name in kind.__struct_fields__}
    return {name: (meta, choices_of(type_, meta)) for name, (type_, meta) in parts.items()}


def checked(request: msgspec.Struct) -> object:
    """Return the request if its fields are within their bounds and choices. Raises Unfit.

    This is for Python callers. Command-line parsers and tool schemas have already checked their
    input.
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
NoTouch = Annotated[bool, option("do not count this as a use of the memories", "--no-touch")]
At = Annotated[
    str, option("as it was at a commit, or at the end of a day", "--at", metavar="REV|DATE")
]
ValidAt = Annotated[
    str, option("only statements that were valid at that time", "--valid-at", metavar="DATE")
]


class Writes(Protocol):
    """The fields that the request of every committing verb contains."""

    @property
    def dry_run(self) -> bool:
        """Return whether to print the changes without making them."""

    @property
    def reason(self) -> str:
        """Return the reason for the commit."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a write that has no request of its own."""

    dry_run: bool = False
    reason: str = ""


def side_of(*, ours: bool, theirs: bool) -> Side:
    """Return the side of a conflict that a person chose, or "" if there is no choice."""
    return "ours" if ours else "theirs" if theirs else ""


class VerbResult(msgspec.Struct, frozen=True, kw_only=True):
    """The base class of all results. `exit` and `notices` are not part of the JSON record."""

    unlisted: ClassVar[tuple[str, ...]] = ()
    """More fields that interfaces show but that are not part of the JSON record."""
    is_report: ClassVar[bool] = False
    """Whether a verb that may write wrote nothing and reports, so that a pager may show it."""

    exit: Exit = Exit.DONE
    notices: tuple[Problem, ...] = ()
    """Warnings about files, rules and the repository that occurred during the call."""

    def after(self, notices: tuple[Problem, ...]) -> Self:
        """Return the result with the given earlier notices before its own."""
        return msgspec.structs.replace(self, notices=(*notices, *self.notices))

    def as_json(self) -> dict[str, Any]:
        """Return the record as JSON-compatible values."""
        found: dict[str, Any] = msgspec.to_builtins(
            msgspec.structs.replace(
                self, exit=Exit.DONE, notices=(), **dict.fromkeys(self.unlisted, msgspec.UNSET)
            ),
            str_keys=True,
        )
        del found["exit"], found["notices"]
        return found

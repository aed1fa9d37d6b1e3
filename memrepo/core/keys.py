"""The types of configuration values. Each knows what it accepts and how an error describes that.

A field of a section that the docstring of its record describes is a key of `memrepo.toml`. A field
without a description is a constant of the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from memrepo.core.patterns import regex
from memrepo.core.times import format_duration, parse_duration

NEVER = "never"
PATTERN_LENGTH = 200


class Unfit(ValueError):
    """Raised by a reader for a value of another kind. The message is what it expected."""

    def __init__(self, expected: str, fix: str = "") -> None:
        super().__init__(expected)
        self.fix = fix


def _read_age(found: Any) -> timedelta | None:
    return None if found == NEVER else parse_duration(found)


def _read_ages(found: Any) -> dict[str, timedelta | None]:
    return {name: _read_age(age) for name, age in found.items()}


def _read_pattern(found: Any) -> str:
    re.compile(found)
    if len(found) > PATTERN_LENGTH:
        raise ValueError
    return str(found)


_REPEATED = regex(r"(?<!\\)\)(?:[*+]|\{(?:\d*,|\d{2,}))")
"""A repeated group, which can take exponential time."""


def _read_patterns(found: Any) -> tuple[str, ...]:
    form = f"a list of regular expressions of at most {PATTERN_LENGTH} characters"
    parts: list[Any] = found if isinstance(found, list) else [None]
    for part in parts:
        try:
            is_empty = re.search(_read_pattern(part), "") is not None
        except (ValueError, TypeError, re.error) as error:
            raise Unfit(f"{form}, not {part!r}") from error
        if is_empty or _REPEATED.search(part):
            what = "match no empty text" if is_empty else "repeat no group"
            raise Unfit(f"a list of regular expressions that {what}, not {part!r}")
    return tuple(found)


def _read_zone(found: Any) -> str:
    if not is_zone(found):
        raise ValueError
    return str(found)


Text = Annotated[str, Meta(pattern=r"\S", title="a text")]
Texts = Annotated[tuple[str, ...], Meta(title='a list of texts such as ["a", "b"]')]
Flag = Annotated[bool, Meta(title="true or false")]
Whole = Annotated[int, Meta(ge=1, title="a whole number from 1")]
Count = Annotated[int, Meta(ge=0, title="a whole number from 0")]
Share = Annotated[float, Meta(ge=0, le=1, title="a number from 0 to 1")]
Percent = Annotated[float, Meta(ge=0, le=100, title="a number from 0 to 100")]
Money = Annotated[float, Meta(ge=0, lt=1e12, title="an amount of US dollars from 0")]
Seconds = Annotated[float, Meta(gt=0, lt=1e9, title="a number of seconds above 0")]
Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        title="a name of letters, digits, dots, hyphens and underscores",
    ),
]
Prices = Annotated[
    dict[str, tuple[Money, Money, Money, Money]],
    Meta(title='four amounts per model such as "name" = [2.0, 10.0, 2.5, 0.2]'),
]
Zone = Annotated[
    str, Meta(title="a zone of the tz database such as Europe/Berlin", extra={"read": _read_zone})
]
Age = Annotated[
    timedelta | None,
    Meta(title=f'a duration such as "30d", or "{NEVER}"', extra={"read": _read_age}),
]
Ages = Annotated[
    Mapping[str, timedelta | None],
    Meta(
        title=f'a duration by class such as {{ normal = "21d", mine = "{NEVER}" }}',
        extra={"read": _read_ages},
    ),
]
Pattern = Annotated[
    str,
    Meta(
        title=f"a regular expression of at most {PATTERN_LENGTH} characters",
        extra={"read": _read_pattern},
    ),
]
Patterns = Annotated[
    tuple[str, ...],
    Meta(title="a list of regular expressions", extra={"read": _read_patterns}),
]


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration key: its dotted name, its type, default and meaning."""

    name: str
    type: Any
    default: Any
    doc: str

    @property
    def expected(self) -> str:
        """Return what the value may be, as an error and the documentation say it."""
        base, metas = _parts(self.type)
        title = next((meta.title for meta in metas if meta.title), "")
        if not title and get_origin(base) is Literal:
            return f"one of {', '.join(get_args(base))}"
        return title or f"a list of {', '.join(get_args(get_args(base)[0]))}"

    def read(self, found: object) -> Any:
        """Return the value that a file sets. Raise Unfit, with what was expected."""
        base, metas = _parts(self.type)
        read = next((meta.extra["read"] for meta in metas if meta.extra), None)
        try:
            value = read(found) if read is not None else msgspec.convert(found, self.type)
        except Unfit:
            raise
        except (ValueError, TypeError, AttributeError, re.error) as error:
            raise Unfit(self.expected) from error
        if isinstance(found, int) and base is float:
            return found  # shown as it is written
        return {**self.default, **value} if isinstance(value, dict) else value

    def spell(self, value: object) -> Any:
        """Return a value as the file spells it, in types of JSON."""
        if isinstance(value, Mapping):
            return {name: self.spell(part) for name, part in value.items()}
        if isinstance(value, timedelta):
            return format_duration(value)
        if value is None and NEVER in self.expected:
            return NEVER
        return list(value) if isinstance(value, tuple) else value


def _parts(kind: Any) -> tuple[Any, list[Meta]]:
    """Return a type without `Annotated` and `None`, and everything that annotates it."""
    if get_origin(kind) is Annotated:
        base, metas = _parts(kind.__origin__)
        return base, [*kind.__metadata__, *metas]
    if get_origin(kind) in (Union, UnionType):
        (one,) = (part for part in get_args(kind) if part is not NoneType)
        return _parts(one)
    return kind, []


_ENTRY = regex(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


def keys_of(section: str, record: type[msgspec.Struct]) -> Iterator[Key]:
    """Yield the keys of a section: the fields of its record that its docstring describes."""
    docs = {name: " ".join(text.split()) for name, text in _ENTRY.findall(record.__doc__ or "")}
    for field in msgspec.structs.fields(record):
        if field.name not in docs:
            continue
        default = field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory()
        yield Key(
            name=f"{section}.{field.name}" if section else field.name,
            type=field.type,
            default=default,
            doc=docs[field.name],
        )


_NO_ZONES = ("localtime", "posix", "right/")  # the machine's zone, and other leap second rules
_ZONES = "/usr/share/zoneinfo"
_PLAIN_ZONE = regex(r"[A-Za-z]\w*(?:[/+-]\w+)*", re.ASCII)


def is_zone(value: object) -> bool:
    """Return whether a value names a time zone of the tz database.

    Listing all zones would be slow.
    """
    if not isinstance(value, str) or value.startswith(_NO_ZONES):
        return False
    try:
        if _PLAIN_ZONE.fullmatch(value):
            with Path(_ZONES, value).open("rb") as file:
                if file.read(4) == b"TZif":
                    return True  # faster than importing `zoneinfo`
    except OSError:
        pass
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(value)
    except (KeyError, ValueError, OSError):
        return False
    return True

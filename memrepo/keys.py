"""The configuration keys, loaded from `keys.toml`, and the validation of their values."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from memrepo.core.patterns import regex
from memrepo.core.times import parse_duration
from memrepo.policies.rules import LISTS
from memrepo.read.sources import (
    CLAIMS,
    CLASSIC_CLAIMS,
    DENY,
    NOTES,
    VAULT_CLAIMS,
    VAULT_NOTES,
)

FORMAT = 2
"""The repository format that this program reads and writes. A newer format is read-only."""
NEVER = "never"
EXCLUDED = ("superseded", "archived")
"""Statuses that a search leaves out by default. Forgotten memories are always left out."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration key. `keys.toml` explains its attributes."""

    name: str
    kind: str
    doc: str
    default: Any = None
    classic: Any = None
    words: tuple[str, ...] = ()
    plan: str = ""


_DEFAULTS: Mapping[str, object] = {
    "format": FORMAT,
    "sources.claims": CLAIMS,
    "sources.notes": NOTES,
    "sources.deny": DENY,
}
SOURCE_PROFILES: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "notes": {"sources.claims": VAULT_CLAIMS, "sources.notes": VAULT_NOTES},
        "classic": {"sources.claims": CLASSIC_CLAIMS, "sources.notes": (), "sources.days": False},
    }
)
"""Defaults of each source profile that differ from those of `workspace`."""


def _frozen(value: Any) -> Any:
    """Return a TOML value with lists as tuples and tables as read-only mappings."""
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return MappingProxyType({name: _frozen(part) for name, part in value.items()})
    return value


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FIXED: Mapping[str, tuple[object, str]] = _frozen(_TABLE.pop("fixed"))
"""Keys of the engram plan with one allowed value, and the reason. A file may set that value."""
BY_NAME: Mapping[str, Key] = MappingProxyType(
    {
        name: Key(name=name, **{"default": _DEFAULTS.get(name), **_frozen(key)})
        for name, key in _TABLE.items()
    }
)
KEYS: tuple[Key, ...] = tuple(BY_NAME.values())
PLAN_NAMES: Mapping[str, str] = MappingProxyType({key.plan: key.name for key in KEYS if key.plan})
"""Names of keys by their name in the engram plan."""
JUDGES = BY_NAME["run.judge"].words
CLASSIC = tuple(key.name for key in KEYS if key.classic is not None)
"""Keys with another default in the lifecycle profile `classic`."""

PATTERN_LENGTH = 200
_NO_ZONES = ("localtime", "posix", "right/")  # the machine's zone, and other leap second rules
_ZONES = "/usr/share/zoneinfo"
_PLAIN_ZONE = regex(r"[A-Za-z]\w*(?:[/+-]\w+)*", re.ASCII)
_NAME = regex(r"[A-Za-z0-9_][\w.-]*", re.ASCII)
_REF = regex(r"(?:refs/(?:heads|memrepo)/)?(?!refs/)\w[\w-]*(?:[./][\w-]+)*(?<!\.lock)", re.ASCII)


def read_value(key: Key, found: object) -> tuple[object, str]:
    """Validate a value. Return the parsed value and "", or the value and the expected form."""
    match key.kind:
        case "choice":
            return found, "" if found in key.words else f"one of {', '.join(key.words)}"
        case "crons":
            expected = _not_crons(found)
        case "texts" if key.words:
            known = isinstance(found, list) and all(part in key.words for part in found)
            expected = "" if known else f"a list of {', '.join(key.words)}"
        case kind:
            is_valid, form = _KINDS[kind]
            expected = "" if is_valid(found) else form
    return (found, expected) if expected else (_parsed(key, found), "")


def _parsed(key: Key, found: Any) -> Any:
    match key.kind:
        case "texts" | "crons":
            return tuple(found)
        case "prices":
            return {**key.default, **{name: tuple(four) for name, four in found.items()}}
        case "ttls":
            return MappingProxyType({**key.default, **found})
        case _:
            return found


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


def _not_crons(found: object) -> str:
    """Return the expected form if a value is not a list of cron expressions, or ""."""
    if not isinstance(found, list) or not all(isinstance(part, str) for part in found):
        return 'a list of cron expressions such as ["15 5 * * 1-5"]'
    from memrepo.policies.cadence import cron_problem

    wrong = [f"{part!r}: {fault}" for part in found if (fault := cron_problem(part))]
    return f"cron expressions ({wrong[0]})" if wrong else ""


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_amount(value: Any) -> bool:
    number = _is_whole(value) or isinstance(value, float)
    return number and math.isfinite(value) and value >= 0


def _are_prices(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(four, list) and len(four) == 4 and all(map(_is_amount, four))
        for four in value.values()
    )


def _are_texts(value: object) -> bool:
    """Return whether a value is a list of texts, each with at least one letter or digit."""
    from memrepo.text.words import tokens

    return isinstance(value, list) and all(isinstance(text, str) and tokens(text) for text in value)


def _is_pattern(value: Any) -> bool:
    try:
        re.compile(value)
    except (re.error, TypeError):
        return False
    return len(value) <= PATTERN_LENGTH


def _is_duration(value: Any) -> bool:
    try:
        parse_duration(value)
    except (ValueError, AttributeError):
        return False
    return True


def _are_durations(value: object) -> bool:
    return isinstance(value, dict) and all(t == NEVER or _is_duration(t) for t in value.values())


def _are_words(value: Any) -> bool:
    known = isinstance(value, dict) and set(value) <= set(LISTS)
    return known and all(map(_are_texts, value.values()))


def _are_aliases(value: object) -> bool:
    return isinstance(value, dict) and all(n.strip() and _are_texts(v) for n, v in value.items())


_KINDS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "whole": (lambda v: _is_whole(v) and v >= 1, "a whole number from 1"),
        "count": (lambda v: _is_whole(v) and v >= 0, "a whole number from 0"),
        "percent": (lambda v: _is_amount(v) and v <= 100, "a number from 0 to 100"),
        "weight": (lambda v: _is_amount(v) and v <= 1, "a number from 0 to 1"),
        "money": (_is_amount, "an amount of US dollars from 0"),
        "seconds": (lambda v: _is_amount(v) and v > 0, "a number of seconds above 0"),
        "prices": (_are_prices, 'four amounts per model such as "name" = [2.0, 10.0, 2.5, 0.2]'),
        "text": (lambda v: isinstance(v, str) and bool(v.strip()), "a text"),
        "texts": (
            lambda v: isinstance(v, list) and all(isinstance(part, str) for part in v),
            'a list of texts such as ["a", "b"]',
        ),
        "zone": (is_zone, "a zone of the tz database such as Europe/Berlin"),
        "flag": (lambda v: isinstance(v, bool), "true or false"),
        "name": (
            lambda v: isinstance(v, str) and bool(_NAME.fullmatch(v)),
            "a name of letters, digits, dots, hyphens and underscores",
        ),
        "ref": (
            lambda v: isinstance(v, str) and bool(_REF.fullmatch(v)),
            "a branch, or a ref below refs/memrepo/",
        ),
        "duration": (_is_duration, 'a duration such as "4h" or "30d"'),
        "age": (lambda v: v == NEVER or _is_duration(v), f'a duration such as "30d", or "{NEVER}"'),
        "pattern": (_is_pattern, f"a regular expression of at most {PATTERN_LENGTH} characters"),
        "words": (
            _are_words,
            f'lists such as critical = ["urgente"], one each of {", ".join(LISTS)}',
        ),
        "aliases": (_are_aliases, 'lists of names by name such as Kubernetes = ["k8s"]'),
        "ttls": (
            _are_durations,
            f'a duration by class such as {{ normal = "21d", mine = "{NEVER}" }}',
        ),
    }
)
"""By kind: the predicate that accepts a value, and the expected form for error messages."""

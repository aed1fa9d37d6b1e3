"""Validate configuration values by the kind of their key."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memrepo.core.patterns import regex
from memrepo.core.times import parse_duration
from memrepo.keys import NEVER, Key
from memrepo.policies.rules import LISTS

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
            fits, said = _KINDS[kind]
            expected = "" if fits(found) else said
    return (found, expected) if expected else (_kept(key, found), "")


def _kept(key: Key, found: Any) -> Any:
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

    wrong = [f"{part!r}: {said}" for part in found if (said := cron_problem(part))]
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
    from memrepo.text.tokens import tokens

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

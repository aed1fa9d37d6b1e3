"""Hypothesis strategies for memories, drawn from the schema: `memories()` and its parts."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from memrepo.core import codec, ids
from memrepo.core.fields import (
    Choice,
    Day,
    Flag,
    Kind,
    ListOf,
    Number,
    Pair,
    Record,
    Text,
    Time,
    Whole,
)
from memrepo.core.memory import LAYER_OF_TYPE, Memory
from memrepo.core.schema import FIELDS, Field

TRAPS = (
    "no", "yes", "on", "Off", "y", "N", "null", "~", "", "true", "1e3", "0x1F", "0123", "12:30",
    "12:30:45", "1.10", "1_000", "2026-02-07", "2026-02-07 09:00", "=", "<<", ".inf", "-.NaN",
    "+1", "-", "- a", "?", "? a", ": a", "a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "|", ">",
    "%a", "@a", "`a", "'a'", '"a"', "[a]", "{a}", "a, b", "a]b", "a}b", "a\\b", " a", "a ",
    "a\nb", "a\tb", "\t", "a\u0085b", "a\u2028b", "\ufeffa", "a\ufffe", "\x00", "\x1b", "\x7f",
    "a  b", "---", "...",
    "北京", "Привет мир", "👩‍👩‍👧", "🚀 a", "a\u00a0", "\u3000a", "don't", "(a)",
    "https://a.b/c?d=e#f",
    "12e45", "0o17", "0b1", "190:20:30", "1,000", "a\r\nb", "é", "\u0301a", "\U000e0041",
)  # fmt: skip

texts = st.one_of(
    st.sampled_from(TRAPS),
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.text("ab :#-,[]{}\"'\\&*!|>%@`~=.0123456789\n\t", max_size=12),
)
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)
numbers = st.integers(0, 10_000).map(lambda n: n / 10_000)
memory_ids = st.text("0123456789abcdef", min_size=16, max_size=16).map("mem-{}".format)


def values(kind: Kind) -> st.SearchStrategy[Any]:
    """Draw values of a kind in their canonical form."""
    match kind:
        case Text(pattern=pattern, limit=limit):
            if pattern:
                drawn = st.from_regex(
                    pattern, fullmatch=True, alphabet=st.characters(codec="utf-8")
                )
            else:
                drawn = texts
            return drawn.filter(lambda text: len(text) <= limit)
        case Choice(words=words):
            return st.sampled_from(words)
        case Time():
            return times
        case Day():
            return st.one_of(
                st.dates().map(lambda day: day.isoformat()),
                times.map(lambda moment: moment.isoformat()),
                times.map(lambda moment: moment.strftime("%Y-%m-%d %H:%M").zfill(16)),
            )
        case Number():
            return numbers
        case Whole():
            return st.integers(0, 999_999_999)
        case Flag():
            return st.booleans()
        case Pair():
            return st.tuples(st.integers(1, 99_999), st.integers(0, 99)).map(
                lambda pair: (pair[0], sum(pair))
            )
        case ListOf(item=item):
            return st.lists(values(item), max_size=3, unique=True).map(tuple)
        case Record():
            return records(kind)
    raise AssertionError(f"no strategy for {kind}")


def records(kind: Record) -> st.SearchStrategy[Any]:
    """Draw records, with any of their optional members absent."""
    members = {kind.names.get(key, key): values(part) for key, part in kind.members.items()}
    required = {kind.names.get(key, key) for key in kind.required}
    required |= {
        field.name
        for field in dataclasses.fields(kind.make)
        if field.default is dataclasses.MISSING and field.name in members
    }
    return st.fixed_dictionaries(
        {name: part for name, part in members.items() if name in required},
        optional={name: part for name, part in members.items() if name not in required},
    ).map(lambda drawn: kind.make(**drawn))


def field_values(field: Field) -> st.SearchStrategy[Any]:
    """Draw values of a field that differ from its default."""
    return values(field.kind).filter(lambda value: value != field.default)


def fields() -> st.SearchStrategy[dict[str, Any]]:
    """Draw the fields of a memory: a type and any others."""
    drawn = {field.name: field_values(field) for field in FIELDS}
    return st.fixed_dictionaries(
        {"type": drawn.pop("type")},
        optional=drawn,
    )


_body_lines = st.one_of(
    st.sampled_from(
        ("", "  ", "a", "a  ", "    code", "- b", "---", "...", "# c", "type: x", "\u2028", "\x0c")
    ),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
)


def bodies() -> st.SearchStrategy[str]:
    """Draw bodies in normal form that do not begin like a second header."""
    return (
        st.lists(_body_lines, max_size=8)
        .map(lambda lines: codec.normal_body("\n".join(lines)))
        .filter(lambda body: not body.startswith("---"))
    )


@st.composite
def memories(draw: st.DrawFn, *, path: str = "") -> Memory:
    """Draw a valid memory: canonical field values, a body in normal form, a fitting path."""
    drawn = draw(fields())
    identity = drawn.get("id", "mem-0123456789abcdef")
    place = path or (
        f"memories/{LAYER_OF_TYPE[drawn['type']]}/2026-01/"
        f"{ids.slugify(drawn.get('title', 'a'))}-{identity[4:10]}.md"
    )
    return Memory(path=place, fields=drawn, body=draw(bodies()))

"""Hypothesis strategies for memories, drawn from the schema: `memories()` and its parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from memrepo.core import codec, ids
from memrepo.core.layout import Layout
from memrepo.core.memory import FIELDS, LAYER_OF_TYPE, Field, Memory, defaults_of, expected_of
from memrepo.core.state import State, read_state

TRAPS = (
    *("no", "yes", "on", "Off", "y", "N", "null", "~", "", "true", "1e3", "0x1F", "0123", "12:30"),
    *("12:30:45", "1.10", "1_000", "2026-02-07", "2026-02-07 09:00", "=", "<<", ".inf", "-.NaN"),
    *("+1", "-", "- a", "?", "? a", ": a", "a: b", "a:", "a #b", "#a", "&a", "*a", "!a", "|", ">"),
    *("%a", "@a", "`a", "'a'", '"a"', "[a]", "{a}", "a, b", "a]b", "a}b", "a\\b", " a", "a "),
    *("a\nb", "a\tb", "\t", "a\u0085b", "a\u2028b", "\ufeffa", "a\ufffe", "\x00", "\x1b", "\x7f"),
    *("a  b", "---", "...", "北京", "Привет мир", "👩‍👩‍👧", "🚀 a", "a\u00a0", "\u3000a", "don't"),
    *("(a)", "https://a.b/c?d=e#f", "12e45", "0o17", "0b1", "190:20:30", "1,000", "a\r\nb", "é"),
    *("\u0301a", "\U000e0041"),
)

texts = st.one_of(
    st.sampled_from(TRAPS),
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.text("ab :#-,[]{}\"'\\&*!|>%@`~=.0123456789\n\t", max_size=12),
)
times = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=0, tzinfo=UTC)
)
numbers = st.integers(0, 10_000).map(lambda n: n / 10_000)
days = st.one_of(
    st.dates().map(lambda day: day.isoformat()),
    times.map(lambda moment: moment.isoformat()),
    times.map(lambda moment: moment.strftime("%Y-%m-%d %H:%M").zfill(16)),
)


def _parts(type_: Any) -> tuple[Any, str, int]:
    """Return a type without its constraints, its pattern, and the greatest length of a text."""
    metas: list[Any] = []
    while NoneType in get_args(type_) or get_origin(type_) is Annotated:
        type_, *more = (part for part in get_args(type_) if part is not NoneType)
        metas += [meta for meta in more if isinstance(meta, msgspec.Meta)]
    pattern = next((meta.pattern for meta in metas if meta.pattern), "")
    return type_, pattern, next((meta.max_length for meta in metas if meta.max_length), 2000)


def _words(type_: Any) -> tuple[str, ...]:
    """Return the words of a closed list."""
    expected = expected_of(type_)
    return tuple(expected[7:].split(", ")) if expected.startswith("one of ") else ()


def values(type_: Any, name: str = "") -> st.SearchStrategy[Any]:
    """Draw canonical values of a type that msgspec converts to."""
    inner, pattern, limit = _parts(type_)
    if name in ("captured", "valid_from", "valid_until"):
        return days
    if words := _words(type_):
        return st.sampled_from(words)
    if inner is str and pattern:
        drawn = st.from_regex(pattern, alphabet=st.characters(codec="utf-8"))
        return drawn.filter(lambda text: len(text) <= limit and not text.endswith("\n"))
    if inner is str:
        return texts.filter(lambda text: len(text) <= limit)
    if inner in _SIMPLE:
        return _SIMPLE[inner]
    if inner == tuple[int, int]:
        return st.tuples(st.integers(1, 99_999), st.integers(0, 99)).map(
            lambda pair: (pair[0], sum(pair))
        )
    if get_origin(inner) is tuple:
        return st.lists(values(get_args(inner)[0]), max_size=3, unique=True).map(tuple)
    return records(inner)


_SIMPLE: dict[Any, st.SearchStrategy[Any]] = {
    datetime: times,
    float: numbers,
    int: st.integers(0, 999_999_999),
    bool: st.booleans(),
}


def records(make: type[msgspec.Struct]) -> st.SearchStrategy[Any]:
    """Draw records, with any of their optional members absent."""
    hints = get_type_hints(make, include_extras=True)
    members = {name: values(hints[name], name) for name in make.__struct_fields__}
    required = {n for n, default in defaults_of(make).items() if default is msgspec.NODEFAULT}
    return st.fixed_dictionaries(
        {name: part for name, part in members.items() if name in required},
        optional={name: part for name, part in members.items() if name not in required},
    ).map(lambda drawn: make(**drawn))


def field_values(field: Field) -> st.SearchStrategy[Any]:
    """Draw values of a field that differ from its default."""
    return values(field.type, field.name).filter(lambda value: value != field.default)


def fields() -> st.SearchStrategy[dict[str, Any]]:
    """Draw the fields of a memory: a type and any others."""
    drawn = {field.name: field_values(field) for field in FIELDS}
    return st.fixed_dictionaries({"type": drawn.pop("type")}, optional=drawn)


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
    return Memory.of(place, drawn, body=draw(bodies()))


# Three related states


def few(type_: Any, name: str = "") -> tuple[Any, ...]:
    """Return a handful of values of a type: two sides shall meet on the same ones often."""
    inner, pattern, _ = _parts(type_)
    if name in ("captured", "valid_from", "valid_until"):
        return ("2026-01-01", "2026-02-01T09:00:00Z")
    if words := _words(type_):
        return words[:4]
    if inner is str:
        fitting = tuple(text for text in _FEW_TEXTS if not pattern or re.search(pattern, text))
        return fitting[:3] or ("a", "b: c", "no", "né #d")
    if inner in _FEW_OF:
        return _FEW_OF[inner]
    if inner == tuple[int, int]:
        return ((1, 1), (2, 5))
    if get_origin(inner) is tuple:
        found = few(get_args(inner)[0])
        one, two, *_ = (*found, *found)
        return ((one,), (two,), tuple(dict.fromkeys((two, one))), found[:3])
    hints = get_type_hints(inner, include_extras=True)
    columns = {key: few(hints[key], key) for key in inner.__struct_fields__}
    return tuple(
        inner(**{key: column[n % len(column)] for key, column in columns.items()}) for n in range(3)
    )


_FEW_OF: dict[Any, tuple[Any, ...]] = {
    datetime: tuple(datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)),
    float: (0.25, 0.5, 0.1234),
    int: (1, 2, 3),
    bool: (True,),
}


# The last two share their first digits, so they want the same path.
IDS = tuple(f"mem-{n:06x}{m:010x}" for n, m in ((1, 1), (2, 2), (3, 3), (4, 4), (4, 5)))
_FEW_TEXTS = (
    *("a", "b: c", "no", *IDS, "th-" + "0" * 16, "th-" + "1" * 16, "1" * 40, "2" * 40),
    *("cl-" + "0" * 16, "cl-" + "1" * 16, "human:me", "memrepo/0.1", "a/1"),
    *(" ", "\n\n", "\t\n", "n", "nc", "rnn", "unit", "heading", "direct", "merged"),
    *("related", "supports", "high", "low"),
)
FEW: dict[str, tuple[Any, ...]] = {f.name: few(f.type, f.name) for f in FIELDS if f.name != "id"}
FOREIGN = ("name", "metadata")
OTHERS = (
    *("sources/MEMORY.md", "runs/2026-01/r.json", "candidates/deferred/00/th-0.md"),
    *("tombstones/a.md", "memrepo.toml", "memories/knowledge/readme.txt"),
)

_lines = st.sampled_from(("", "a", "b", "c", "d", "e", "f", "g", "h"))
_an_id = st.sampled_from(IDS)
_a_value = st.sampled_from(sorted(FEW)).flatmap(
    lambda key: st.tuples(st.just(key), st.sampled_from((*FEW[key], None)))
)
_folders = st.sampled_from(("knowledge/2026-01", "skills/2026-02"))
_edits = st.one_of(
    st.tuples(st.just("set"), _an_id, _a_value),
    st.tuples(
        st.just("body"), _an_id, st.integers(0, 5), st.integers(0, 2), st.lists(_lines, max_size=3)
    ),
    st.tuples(
        st.just("add"),
        _an_id,
        _folders,
        st.lists(_a_value, max_size=3),
        st.lists(_lines, max_size=3),
    ),
    st.tuples(st.just("remove"), _an_id),
    st.tuples(st.just("move"), _an_id, _folders),
    st.tuples(st.just("swap"), _an_id, _an_id),
    st.tuples(st.just("restore"), _an_id),
    st.tuples(st.just("supersede"), _an_id, _an_id),
    st.tuples(
        st.just("foreign"),
        _an_id,
        st.sampled_from(FOREIGN),
        st.sampled_from(("1", "[a, b]", "\n  deep: {er: x}\n  # why", "|+\n  text\n", "")),
    ),
    st.tuples(st.just("comment"), _an_id, st.sampled_from(("# one", "# two"))),
    st.tuples(st.just("crlf"), _an_id),
    st.tuples(st.just("break"), _an_id),
    st.tuples(
        st.just("write"),
        st.sampled_from(OTHERS),
        st.sampled_from(
            (b"a = 1\n", b"a = 1\nb = 2\n", b"a = 2\n", b"c = 3\r\na = 1\r\n", b"\xff", None)
        ),
    ),
)


def place(id_: str, folder: str = "knowledge/2026-01") -> str:
    """Return a path for a memory."""
    return f"memories/{folder}/m-{id_[4:10]}.md"


def edited_files(files: Mapping[str, bytes], edits: Iterable[tuple[Any, ...]]) -> dict[str, bytes]:
    """Apply drawn edits to files; one that does not fit (no such memory) does nothing."""
    new = dict(files)
    for edit in edits:
        _edit(new, *edit)
    return new


def _edit(files: dict[str, bytes], what: str, *rest: Any) -> None:
    if what == "write":
        path, data = rest
        files.pop(path, None)
        if data is not None:
            files[path] = data
        return
    state = read_state(files, Layout())
    id_ = rest[0]
    memory = state.memories.get(id_)
    if what == "add":
        path = place(id_, rest[1])
        if memory is None and path not in files:
            fields = {"type": "fact", **dict(rest[2]), "id": id_}
            new = Memory(path=path).with_fields({"type": "fact", **fields}, "\n".join(rest[3]))
            files[path] = codec.encode(new.with_fields({"type": fields["type"] or "fact"}))
        return
    if memory is None:
        return
    path, data = memory.path, files[memory.path]
    match what, rest[1:]:
        case "set", ((key, value),):
            if (key, value) != ("type", None):
                files[path] = codec.edit(data, memory.with_fields({key: value}))
        case "body", (at, gone, lines):
            text = memory.body.split("\n") if memory.body else []
            text[at : at + gone] = lines
            files[path] = codec.edit(data, memory.with_fields({}, "\n".join(text)))
        case "remove", ():
            del files[path]
        case "move", (folder,):
            if place(id_, folder) not in files:
                files[place(id_, folder)] = files.pop(path)
        case "swap", (other_id,):
            if other_id in state.memories:
                other = state.memories[other_id].path
                files[path], files[other] = files[other], files[path]
        case "restore", ():
            changes = {"status": None, "superseded_by": None}
            files[path] = codec.edit(data, memory.with_fields(changes))
        case "supersede", (other_id,):
            if other_id in state.memories and other_id != id_:
                other = state.memories[other_id]
                files[path] = codec.edit(
                    data, memory.with_fields({"status": "superseded", "superseded_by": (other_id,)})
                )
                files[other.path] = codec.edit(
                    files[other.path], other.with_fields({"supersedes": (id_,)})
                )
        case "foreign", (key, value):
            files[path] = _with_foreign(data, key, value)
        case "comment", (text,):
            files[path] = data.replace(b"\ntype:", f"\n{text}\ntype:".encode(), 1)
        case "crlf", ():
            files[path] = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        case "break", ():
            files[path] = b"---\ntype: fact\ntype: fact\n---\n" + id_.encode()


def _with_foreign(data: bytes, key: str, value: str) -> bytes:
    """Set or (empty value) remove a foreign entry, at the end of the header."""
    head = codec.split_header(data, "")
    lines = data.decode().splitlines(keepends=True)
    end = "\r\n" if lines[0].endswith("\r\n") else "\n"
    added = [f"{key}: {value}".replace("\n", end) + end] if value else []
    lines[head.body_line - 2 : head.body_line - 2] = added
    for entry in head.entries:
        if entry.key == key:
            del lines[entry.first - 1 : entry.last]
    return "".join(lines).encode()


class Triple(msgspec.Struct, frozen=True, kw_only=True):
    """A base, and two sides that were edited from it."""

    base: State
    ours: State
    theirs: State


@st.composite
def triples(draw: st.DrawFn) -> Triple:
    """Draw three related states: a few memories and files, then edits on each side."""
    adds = st.tuples(
        st.just("add"),
        _an_id,
        _folders,
        st.lists(_a_value, max_size=4),
        st.lists(_lines, max_size=4),
    )
    base = edited_files({}, draw(st.lists(adds, min_size=1, max_size=5)))
    base = edited_files(base, draw(st.lists(_edits, max_size=3)))
    ours = edited_files(base, draw(st.lists(_edits, max_size=5)))
    theirs = edited_files(base, draw(st.lists(_edits, max_size=5)))
    return Triple(
        base=read_state(base, Layout()),
        ours=read_state(ours, Layout()),
        theirs=read_state(theirs, Layout()),
    )


def cases(number: int) -> settings:
    """Return how many cases to draw: `number`, or the profile's if it is for more."""
    is_long = settings.get_current_profile_name() == "long"
    return settings(
        max_examples=max(number, settings().max_examples) if is_long else number,
        suppress_health_check=[HealthCheck.too_slow],
    )

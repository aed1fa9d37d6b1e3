"""Files that are broken in every way, in every format: no crash, nothing lost without a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from test_every_format import EMPTY, EXAMPLES, NOW, imported

from memrepo.actions.import_ import FORMATS
from memrepo.core.state import apply
from memrepo.formats.plan import ImportTerms, take
from memrepo.formats.readers import ImportRecord
from memrepo.merge.states import closure

Break = Callable[[bytes], bytes | None]


def header(line: bytes) -> Break:
    """Return what puts a line at the top of a header, where there is one."""

    def broken(data: bytes) -> bytes | None:
        begins = data.startswith(b"---\n")
        return data.replace(b"---\n", b"---\n" + line + b"\n", 1) if begins else None

    return broken


def leaves(change: Callable[[Any], Any]) -> Break:
    """Return what changes each value of JSON, and of JSON lines."""

    def walked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: walked(part) for key, part in value.items()}
        return [walked(part) for part in value] if isinstance(value, list) else change(value)

    def broken(data: bytes) -> bytes | None:
        for parts in ([data], data.splitlines()):
            try:
                return b"\n".join(json.dumps(walked(json.loads(one))).encode() for one in parts)
            except ValueError:
                continue
        return None

    return broken


def instead(data: bytes) -> Break:
    """Return what puts other JSON in the place of a file of JSON."""
    same = leaves(lambda value: value)
    return lambda old: data if same(old) is not None else None


def amid(what: bytes) -> Break:
    return lambda data: data[: len(data) // 2] + what + data[len(data) // 2 :]


def nested(data: bytes) -> bytes:
    deep = (b" " * (2 * n) + b"- level %d of the list\n" % n for n in range(100))
    return data + b"\n" + b"".join(deep)


BROKEN: dict[str, Break] = {
    "bom": lambda data: b"\xef\xbb\xbf" + data,
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "nul": amid(b"\0"),
    "no_utf8": amid(b"\xff"),
    "surrogate": amid(b"\xed\xa0\x80"),
    "utf16": lambda data: data.decode().encode("utf-16"),
    "yaml_open": header(b"other: ["),
    "yaml_tab": header(b"\tx"),
    "yaml_twice": header(b"type: a\ntype: b\nid: x\nname: y"),
    "yaml_deep": header(b"deep: " + b"[" * 5000),
    "yaml_tag": header(b"a: &a [x]\nb: *a\nc: !!python/object:os.system x"),
    "half": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "blank": lambda data: b" \n\n",
    "numbers": leaves(lambda _: 7),
    "nulls": leaves(lambda _: None),
    "lists": leaves(lambda _: [1]),
    "objects": leaves(lambda _: {"a": 1}),
    "flags": leaves(lambda _: True),
    "large_number": leaves(lambda v: v if isinstance(v, str) else 10**400),
    "no_number": leaves(lambda v: v if isinstance(v, str) else float("nan")),
    "half_pair": leaves(lambda v: v + "\ud800" if isinstance(v, str) and " " in v else v),
    "json_deep": instead(b"[" * 100_000),
    "json_number": instead(b"1" * 5000),
    "json_text": instead(b'"x"'),
    "json_null": instead(b"null"),
    "quotes_deep": lambda data: b"> " * 5000 + b"x\n" + data,
    "list_deep": nested,
    "long_line": lambda data: data + b"\n- " + b"word " * 20_000 + b"\n",
}
SAME = ("bom", "crlf")
"""What changes nothing but bytes."""


def texts(records: tuple[Any, ...], path: str) -> list[str]:
    return [r.text for r in records if isinstance(r, ImportRecord) and r.path == path]


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_a_broken_file_is_told_of_and_the_rest_comes_in(format_: str) -> None:
    one, example = FORMATS[format_], EXAMPLES[format_]
    wanted = {name: data for name, data in example.items() if one.wants(name)}
    terms = ImportTerms(format=format_, profile="personal", now=NOW)
    whole = one.read(wanted)
    ways = ("empty", "bom", "json_text") if one.is_database else tuple(BROKEN)
    for name, way in ((name, way) for name in wanted for way in ways):
        data = BROKEN[way](wanted[name])
        if data is None or data == wanted[name]:
            continue
        read = one.read({**wanted, name: data})
        found = take(EMPTY, read, terms)
        state = apply(EMPTY, found.changes)
        assert (closure(state), state.problems) == ((), ()), (name, way)
        new = [p for p in found.problems if p not in whole]
        assert all(p.path and p.rule and p.message and p.fix for p in new), (name, way, new)
        assert all(len(str(p)) < 600 for p in new), (name, way, new)
        # What other files hold comes as before, a title or a link aside that the file gave them.
        for other in wanted.keys() - {name}:
            assert len(texts(read, other)) >= len(texts(whole, other)), (name, way)
        before, after = texts(whole, name), texts(read, name)
        if way in SAME and not one.is_database:
            assert before == after, (name, way)
        elif before and not after:
            told = any(p.path == name for p in new)
            assert told or not data.strip(), (name, way)


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_a_file_that_is_there_twice_and_names_of_any_script_are_taken_in(format_: str) -> None:
    one, example = FORMATS[format_], EXAMPLES[format_]
    twice = {}
    for name, data in example.items():
        folder, _, last = name.rpartition("/")
        for new in (name, f"{folder}/日本 Ünï {last}".removeprefix("/")):
            if one.wants(new):
                twice[new] = data
    state, once = imported(format_, twice), imported(format_, example)
    assert closure(state) == ()
    assert {m.body for m in once.memories.values()} <= {m.body for m in state.memories.values()}
    assert imported(format_, twice, state) == state

"""Read and write JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import msgspec

from memrepo.core.patterns import regex
from memrepo.core.problems import Problem

_SEPARATORS = regex("[\x85\u2028\u2029]")


class JsonLine(msgspec.Struct, frozen=True, kw_only=True):
    """A record of a JSON lines file and its one-based line number."""

    number: int
    record: Mapping[str, Any]


def read_lines(path: str, data: bytes, rule: str) -> tuple[list[JsonLine], list[Problem]]:
    """Read a JSON lines file. Blank lines are ignored, and invalid lines are reported as Problems.

    Lines end only at line feeds. NaN and infinity are rejected because they are not JSON.
    """
    found: list[JsonLine] = []
    problems: list[Problem] = []
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        record = read_object(raw)
        if isinstance(record, str):
            problems.append(
                Problem(
                    path=path,
                    line=number,
                    column=1,
                    rule=rule,
                    message=f"found {record}, expected one JSON object",
                    fix="fix the line, or remove it",
                )
            )
        else:
            found.append(JsonLine(number=number, record=record))
    return found, problems


def read_object(data: bytes) -> dict[str, object] | str:
    """Decode one JSON object, or return a description of the text that was found instead."""
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        return f"a byte that is not UTF-8 at offset {error.start}"
    except RecursionError:
        return "values nested too deep"
    except ValueError as error:
        return f"text that is not JSON ({error})"
    return value if isinstance(value, dict) else f"a {type(value).__name__}"


def spell_lines(records: Iterable[Mapping[str, object]]) -> bytes:
    """Format records as JSON lines.

    Unicode line separators are escaped because some programs split lines at them.
    """
    text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    return _SEPARATORS.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


def texts(value: object) -> list[str]:
    """Return the strings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Return the mappings in a list, or an empty list for any other value."""
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []

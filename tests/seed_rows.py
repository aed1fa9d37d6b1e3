"""Rows of what memrepo's predecessors promise: each has one of three ends, and a test plays it.

`default`: it works in every repository. `classic`: in the profile `classic`, or by a key. A row
that is `documented` is a deliberate difference; the section of the docs that gives its reason is
read before the test is played.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, get_args

from driving import NOW

from memrepo.core.times import format_time, parse_time

DOCS = Path(__file__).resolve().parents[1] / "docs"
End = Literal["default", "classic", "documented"]
START = parse_time(NOW)
DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)
_HEADING = re.compile(r"^(#{1,6}) (.+)$", re.MULTILINE)


def at(span: timedelta) -> str:
    """Return a moment by its distance from the start."""
    return format_time(START + span)


def row(
    promise: str, end: End, page: str = "", heading: str = "", *words: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Mark a test as the one that plays a promise; `words` must be in the section of the docs."""
    assert end in get_args(End), promise
    assert (end == "documented") == bool(page and heading), promise

    def marked(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def play(*args: Any, **kwargs: Any) -> None:
            if page:
                text = section(page, heading)
                assert [w for w in words if w not in text] == [], (page, heading)
            test(*args, **kwargs)

        play.promise = promise  # type: ignore[attr-defined]
        return play

    return marked


def section(page: str, heading: str) -> str:
    """Return the text below a heading of a page in docs/, on one line."""
    text = (DOCS / page).read_text(encoding="utf-8")
    found = [*_HEADING.finditer(text)]
    (at,) = (n for n, one in enumerate(found) if one[2] == heading)
    level = len(found[at][1])
    end = next((one.start() for one in found[at + 1 :] if len(one[1]) <= level), len(text))
    return " ".join(text[found[at].end() : end].split())


def assert_each_row_has_an_end(module: ModuleType, least: int) -> None:
    """Assert that every test of a module is a row, and that no promise is there twice."""
    tests = [test for name, test in vars(module).items() if name.startswith("test_a_row_")]
    promises = [getattr(test, "promise", test.__name__) for test in tests]
    assert [test.__name__ for test in tests if not hasattr(test, "promise")] == []
    assert len(set(promises)) == len(promises) >= least

"""Patterns that wait for their first use answer as those that are compiled at once."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module

import pytest

import memrepo
from memrepo.core.patterns import _Regex, regex


def test_it_answers_as_a_compiled_pattern_does() -> None:
    lazy, usual = regex(r"(?P<digit>\d)|b", re.IGNORECASE), re.compile(r"(?P<digit>\d)|b", re.I)
    for text in ("1", "B", "c", "", "a1b2"):
        assert lazy.findall(text) == usual.findall(text)
        assert lazy.sub("-", text) == usual.sub("-", text)
        assert lazy.split(text) == usual.split(text)
        assert bool(lazy.fullmatch(text)) == bool(usual.fullmatch(text))
    found = lazy.search("x7")
    assert found is not None
    assert found["digit"] == "7"
    assert lazy.groupindex == usual.groupindex
    assert lazy.flags == usual.flags
    assert regex(rb"\xff").sub(b"", b"a\xff") == b"a"


def test_it_is_compiled_when_it_is_used_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(re, "compile", lambda *given: made.append(given) or _COMPILE(*given))
    lazy = regex("(", re.DOTALL)
    assert lazy.pattern == "("
    assert made == []
    with pytest.raises(re.error):
        lazy.match("")
    assert made == [("(", re.DOTALL)]
    other = regex("a")
    assert other.match("a")
    assert other.match("a")
    assert made[1:] == [("a", 0)]


_COMPILE = re.compile


def patterns() -> Iterator[tuple[str, _Regex]]:
    """Yield each pattern of the program that waits, by its name."""
    for module in pkgutil.walk_packages(memrepo.__path__, "memrepo."):
        if not module.name.endswith("__main__"):
            for name, value in vars(import_module(module.name)).items():
                if isinstance(value, _Regex):
                    yield f"{module.name}.{name}", value


def test_every_pattern_of_the_program_compiles() -> None:
    found = dict(patterns())
    assert len(found) > 50
    for pattern in found.values():
        assert re.compile(pattern.pattern, pattern.flags)

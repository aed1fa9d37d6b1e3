"""Results as a person reads them; the command line prints these texts and tools quote them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from keyword import iskeyword

from memrepo.actions.result import Result
from memrepo.actions.verbs import VERBS

_SHARED = {"takeback": "review", "purge": "review", "exchange": "sync"}
"""Groups of verbs whose wordings are in the module of another group."""


def text_of(name: str, request: object, result: Result, *, colour: bool = False) -> str:
    """Return the text of what a verb answered."""
    return str(wording(name)(request, result, colour=colour))


def wording(name: str) -> Callable[..., str]:
    """Return the function of a verb's name in its group's module.

    Each is `NAME(request, result, *, colour) -> str`, the hyphens of the name being `_`.
    """
    group = VERBS[name].module.split(".")[-2] if name in VERBS else "cli"
    word = name.replace("-", "_")
    texts = import_module(f"memrepo.faces.text.{_SHARED.get(group, group)}")
    found: Callable[..., str] = getattr(texts, f"{word}_" if iskeyword(word) else word)
    return found
